"""What becomes of each call: one answer, several, or a stream that stands; all else is refused by its name."""

from __future__ import annotations

import asyncio
from contextlib import aclosing
from typing import TYPE_CHECKING, Any, Final

from google.protobuf.message import DecodeError

from reference.client.producer_messages import RemotingError
from reference.errors import BrokerIsDownError
from wire.proxy.activities.clients import heartbeat, notify_client_termination, take_telemetry
from wire.proxy.activities.consume import ack_message, change_invisible_duration, forward_to_dead_letter_queue
from wire.proxy.activities.end_transaction import end_transaction
from wire.proxy.activities.receive_message import receive_message
from wire.proxy.activities.routes import query_assignment, query_route
from wire.proxy.activities.send_message import send_message
from wire.proxy.caller import Caller
from wire.proxy.grpc_client_channel import TelemetryStream
from wire.proxy.protocol.messages import CALLS, SERVICE, GrpcCall
from wire.proxy.refusal import ProxyRefusal
from wire.proxy.server_call import GrpcStatus, ServerCall

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from wire.proxy.http2.stream import Http2Stream
    from wire.proxy.proxy import Proxy

    Work = Callable[[Proxy, Caller, Any], Any]

UNARY: Final[dict[str, Work]] = {
    "QueryRoute": query_route,
    "QueryAssignment": query_assignment,
    "Heartbeat": heartbeat,
    "NotifyClientTermination": notify_client_termination,
    "SendMessage": send_message,
    "EndTransaction": end_transaction,
    "AckMessage": ack_message,
    "ChangeInvisibleDuration": change_invisible_duration,
    "ForwardMessageToDeadLetterQueue": forward_to_dead_letter_queue,
}
"""By name of the call; ReceiveMessage and Telemetry are streams besides. All else is UNIMPLEMENTED, as a real proxy of
5.5.0 has it for PullMessage, QueryOffset, GetOffset and UpdateOffset; RecallMessage and SyncLiteSubscription it has."""

_GONE: Final = "the broker's process is gone; the next one has not started yet"
_SHOWN: Final = 80


def handler_of(proxy: Proxy, stream: Http2Stream, headers: Mapping[str, str]) -> ServerCall:
    """Who handles a call; one that is none is refused at once, before anything of it is read."""
    path = headers.get(":path", "")
    known = _BY_PATH.get(path)
    if known is not None and headers.get("content-type", "").startswith("application/grpc"):
        return known[0](known[1], proxy, stream, headers)
    refused = ServerCall(stream)
    if known is not None:
        message = f"content-type {headers.get('content-type', '')[:_SHOWN]!r}, application/grpc was expected"
        refused.refuse(GrpcStatus.INTERNAL, message)
    elif path.startswith(f"/{SERVICE}/"):
        refused.refuse(GrpcStatus.UNIMPLEMENTED, f"Method {path[1:]} is unimplemented")
    else:
        refused.refuse(GrpcStatus.UNIMPLEMENTED, f"Method not found: {path[1:_SHOWN]}")
    return refused


class HandledCall(ServerCall):
    """A call that is handled."""

    __slots__ = ("began_at", "headers", "method", "proxy", "request")

    def __init__(self, method: GrpcCall, proxy: Proxy, stream: Http2Stream, headers: Mapping[str, str]) -> None:
        super().__init__(stream)
        self.method = method
        self.proxy = proxy
        self.headers = headers
        self.request: Any = None
        self.began_at = stream.connection.active_at = asyncio.get_running_loop().time()

    @property
    def is_due(self) -> bool:
        """Whether its client is to send the rest of its request; a stream of requests has no end."""
        return not self.stream.is_taken and not self.method.streams_requests

    def handle(self) -> None:
        """Do what is asked for."""

    def take_message(self, raw: bytes) -> None:
        """Of several messages the last counts."""
        method = self.method
        try:
            self.request = method.request.FromString(raw)
        except DecodeError:
            wanted = f"{method.request.DESCRIPTOR.name} of apache.rocketmq.v2"
            self.refuse(GrpcStatus.INVALID_ARGUMENT, f"{method.name}: the bytes are no {wanted}")

    def take_end(self) -> None:
        """Handle it."""
        if self.request is None:
            self.refuse(GrpcStatus.INTERNAL, f"{self.method.name}: the call ends without a message")
        else:
            self.attempt(self.handle)

    def attempt(self, work: Callable[[], None]) -> None:
        """Do something of it; what goes wrong ends this call alone."""
        try:
            work()
        except (RemotingError, BrokerIsDownError) as error:
            self.end_without_broker(error)
        except Exception as error:  # noqa: BLE001 - the other calls of the connection go on
            self.failed(error)

    def end_without_broker(self, _: Exception) -> None:
        """The broker was not reached, or has died over it."""
        self.refuse(GrpcStatus.UNAVAILABLE, _GONE)

    def failed(self, error: Exception) -> None:
        """It can't be handled for a fault of this proxy, of which its log tells."""
        self.refuse(GrpcStatus.UNKNOWN, f"{self.method.name}: {error!r}"[:_SHOWN])
        context = {"message": f"{self.method.name} failed", "exception": error}
        asyncio.get_running_loop().call_exception_handler(context)

    def the_caller(self) -> Caller:
        """Who makes it; `ProxyRefusal` of one without an id."""
        waited_ms = (asyncio.get_running_loop().time() - self.began_at) * 1_000
        return Caller.of(self.headers, self.stream.connection.address, waited_ms)


class UnaryCall(HandledCall):
    """A call with one answer."""

    __slots__ = ()

    def handle(self) -> None:
        """Answer it."""
        try:
            answer = UNARY[self.method.name](self.proxy, self.the_caller(), self.request)
        except ProxyRefusal as refusal:
            answer = self.method.response(status=refusal.status)
        self._answer(answer)

    def end_without_broker(self, error: Exception) -> None:
        """A proxy that outlives its broker answers with a status of its own."""
        status = self.proxy.mode.status_without_broker(self.method.name, error)
        if status is None:
            super().end_without_broker(error)
        else:
            self._answer(self.method.response(status=status))

    def _answer(self, answer: Any) -> None:
        self.send(answer.SerializeToString())
        self.succeed()


class ReceiveCall(HandledCall):
    """ReceiveMessage, which waits for messages."""

    __slots__ = ("_answering",)

    def handle(self) -> None:
        """Begin to answer it."""
        self._answering = asyncio.get_running_loop().create_task(self._answer())

    def take_loss(self) -> None:
        """Wait no more; what was found and not sent is given back."""
        answering = getattr(self, "_answering", None)
        if answering is not None:
            answering.cancel()

    async def _answer(self) -> None:
        try:
            async with aclosing(receive_message(self.proxy, self.the_caller(), self.request)) as parts:
                async for part in parts:
                    self.send(part.SerializeToString())
                    await self.stream.drained()
        except ProxyRefusal as refusal:
            self.send(self.method.response(status=refusal.status).SerializeToString())
        except (RemotingError, BrokerIsDownError) as error:
            self.end_without_broker(error)
        except Exception as error:  # noqa: BLE001 - the other calls of the connection go on
            self.failed(error)
        self.succeed()


class TelemetryCall(HandledCall):
    """Telemetry: it stands as long as its client does."""

    __slots__ = ("_commands", "caller")

    def __init__(self, method: GrpcCall, proxy: Proxy, stream: Http2Stream, headers: Mapping[str, str]) -> None:
        super().__init__(method, proxy, stream, headers)
        self._commands = TelemetryStream(self)
        try:
            self.caller = self.the_caller()
        except ProxyRefusal as refusal:
            self.refuse(GrpcStatus.INVALID_ARGUMENT, str(refusal))

    def take_message(self, raw: bytes) -> None:
        """Take what the client says; where that is refused, its stream ends."""
        super().take_message(raw)
        if self.stream.is_open:
            self.attempt(self.handle)
        if not self.stream.is_open:
            self.take_loss()

    def handle(self) -> None:
        """Take it."""
        try:
            take_telemetry(self.proxy, self.caller, self.request, self._commands)
        except ProxyRefusal as refusal:
            self.refuse(GrpcStatus.INVALID_ARGUMENT, str(refusal))

    def take_end(self) -> None:
        """The client says no more, and its stream ends."""
        self._commands.end()
        self.take_loss()

    def take_loss(self) -> None:
        """Nothing can be sent any more."""
        self._commands.is_open = False
        self.proxy.detach(self.caller.client_id, self._commands)


_KINDS: Final[dict[str, type[HandledCall]]] = {
    **dict.fromkeys(UNARY, UnaryCall),
    "ReceiveMessage": ReceiveCall,
    "Telemetry": TelemetryCall,
}
_BY_PATH: Final = {f"/{SERVICE}/{name}": (kind, CALLS[name]) for name, kind in _KINDS.items()}
