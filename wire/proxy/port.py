"""The gRPC port: it listens, hands each call to its handler, and refuses with a sentence what it does not do."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from typing import TYPE_CHECKING, Any, Final, NoReturn

import grpc
from google.protobuf.message import DecodeError

from reference.client.producer_messages import RemotingError
from reference.errors import BrokerIsDownError
from wire.connections import LOOPBACK
from wire.proxy.activities.clients import heartbeat, notify_client_termination, take_telemetry
from wire.proxy.activities.consume import ack_message, change_invisible_duration, forward_to_dead_letter_queue
from wire.proxy.activities.end_transaction import end_transaction
from wire.proxy.activities.receive_message import receive_message
from wire.proxy.activities.routes import query_assignment, query_route
from wire.proxy.activities.send_message import send_message
from wire.proxy.caller import Caller
from wire.proxy.front import GrpcFront
from wire.proxy.grpc_client_channel import TelemetryStream
from wire.proxy.limits import MOST_IDLE_MS, MOST_REQUEST_BYTES
from wire.proxy.protocol.messages import CALLS, SERVICE, GrpcCall
from wire.proxy.refusal import ProxyRefusal

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable, Mapping

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

_OPTIONS: Final = (
    ("grpc.so_reuseport", 0),
    ("grpc.max_receive_message_length", MOST_REQUEST_BYTES),
    ("grpc.max_send_message_length", -1),
    ("grpc.max_connection_idle_ms", MOST_IDLE_MS),
)
_GONE: Final = "the broker's process is gone; the next one has not started yet"
_GLANCE_SECONDS: Final = 0.002


class GrpcPort:
    """The port of a proxy.

    Parameters
    ----------
    host, port
        Where it listens; a port of 0 is chosen by the machine, and stays.
    """

    def __init__(self, proxy: Proxy, host: str, port: int, advertised_host: str) -> None:
        self._proxy = proxy
        self._front = GrpcFront(host, port, proxy.node.say)
        self._advertised_host = advertised_host
        self._server: Any = None
        self._closing: asyncio.Task[Any] | None = None
        self.address = ""
        """``127.0.0.1:8081``, once it listens."""
        if proxy.mode.is_in_broker:
            proxy.node.ports.append(self)
        proxy.node.proxies.append(self)

    async def listen(self) -> None:
        """Begin to listen; `WireError` if the port is taken, or the address is none of this machine."""
        server = grpc.aio.server(options=_OPTIONS)
        server.add_generic_rpc_handlers((_Handlers(self._proxy, self._front.clients),))
        self._front.behind = server.add_insecure_port(f"{LOOPBACK}:0")
        await server.start()
        self._server = server
        await self._front.listen()
        self._proxy.mode.host, self._proxy.mode.port = self._advertised_host, self._front.port
        self.address = f"{self._advertised_host}:{self._front.port}"
        self._proxy.mode.begin()

    def stop(self) -> None:
        """Listen no more, and end every call; what the proxy knew is gone."""
        self._proxy.forget()
        self._proxy.mode.end()
        self._front.stop()
        if self._server is not None:
            self._closing = asyncio.get_running_loop().create_task(self._server.stop(None))
            self._server = None

    async def closed(self) -> None:
        """Wait until the port is closed, if it is to be."""
        if self._closing is not None:
            await self._closing
            self._closing = None

    # --- what a test may order ----------------------------------------------------------------------------------------

    @property
    def transactions(self) -> int:
        """How many entries of transactions the proxy has."""
        return len(self._proxy.transactions)

    @property
    def producers(self) -> dict[str, list[str]]:
        """By group the ids of the proxy's clients that can be asked."""
        return self._proxy.mode.producers()

    def lose_broker(self) -> None:
        """The broker's process is gone."""
        self._proxy.lose_broker()

    async def restart(self) -> None:
        """Stop the proxy, and start it again on the same port."""
        self.stop()
        await self.closed()
        await self.listen()

    def drop_transaction_data(self) -> int:
        """Forget all transactions; gives how many entries there were."""
        return self._proxy.transactions.clear()


class _Handlers(grpc.GenericRpcHandler):  # type: ignore[misc]
    """The handler of each call, by its path."""

    def __init__(self, proxy: Proxy, clients: Mapping[str, str]) -> None:
        self._proxy = proxy
        self._clients = clients
        self._handlers = {f"/{SERVICE}/{name}": self._unary(CALLS[name], work) for name, work in UNARY.items()}
        self._handlers |= {
            f"/{SERVICE}/ReceiveMessage": self._receive(CALLS["ReceiveMessage"]),
            f"/{SERVICE}/Telemetry": self._telemetry(CALLS["Telemetry"]),
        }

    def service(self, handler_call_details: Any) -> Any:
        """See :class:`grpc.GenericRpcHandler`."""
        method = handler_call_details.method
        return self._handlers.get(method) or _unimplemented(method)

    def _unary(self, call: GrpcCall, work: Work) -> Any:
        async def respond(request: Any, context: Any) -> Any:
            await self._until_time_stands()
            if isinstance(request, _Unreadable):
                return await _abort(context, grpc.StatusCode.INVALID_ARGUMENT, str(request))
            try:
                answer = work(self._proxy, Caller.of(context, self._clients), request)
                self._settle()
            except ProxyRefusal as refusal:
                return call.response(status=refusal.status)
            except (RemotingError, BrokerIsDownError) as error:
                status = self._proxy.mode.status_without_broker(call.name, error)
                if status is None:
                    await _abort(context, grpc.StatusCode.UNAVAILABLE, _GONE)
                return call.response(status=status)
            return answer

        return grpc.unary_unary_rpc_method_handler(respond, _reader(call), _bytes_of)

    def _receive(self, call: GrpcCall) -> Any:
        async def respond(request: Any, context: Any) -> AsyncIterator[Any]:
            await self._until_time_stands()
            if isinstance(request, _Unreadable):
                await _abort(context, grpc.StatusCode.INVALID_ARGUMENT, str(request))
            try:
                async for part in receive_message(self._proxy, Caller.of(context, self._clients), request):
                    yield part
            except ProxyRefusal as refusal:
                yield call.response(status=refusal.status)
            except (RemotingError, BrokerIsDownError):
                await _abort(context, grpc.StatusCode.UNAVAILABLE, _GONE)

        return grpc.unary_stream_rpc_method_handler(respond, _reader(call), _bytes_of)

    def _telemetry(self, call: GrpcCall) -> Any:
        async def respond(requests: Any, context: Any) -> None:
            stream, wrong = TelemetryStream(), list[str]()
            try:
                caller = Caller.of(context, self._clients)
            except ProxyRefusal as refusal:
                await _abort(context, grpc.StatusCode.INVALID_ARGUMENT, str(refusal))
            reading = asyncio.create_task(self._read(requests, caller, stream, wrong))
            try:
                while (command := await stream.next()) is not None:
                    await context.write(command)
            finally:
                stream.end()
                reading.cancel()
                self._proxy.detach(caller.client_id, stream)
                with suppress(asyncio.CancelledError):
                    await reading
            if wrong:
                await _abort(context, grpc.StatusCode.INVALID_ARGUMENT, wrong[0])

        return grpc.stream_stream_rpc_method_handler(respond, _reader(call), _bytes_of)

    async def _read(self, requests: Any, caller: Caller, stream: TelemetryStream, wrong: list[str]) -> None:
        """Take what a client says, until it says no more; then, and where that is refused, its stream ends."""
        try:
            async for command in requests:
                await self._until_time_stands()
                if isinstance(command, _Unreadable):
                    raise ProxyRefusal(None, str(command))
                take_telemetry(self._proxy, caller, command, stream)
        except ProxyRefusal as refusal:
            wrong.append(str(refusal))
        except (RemotingError, BrokerIsDownError):
            wrong.append(_GONE)
        finally:
            stream.end()

    async def _until_time_stands(self) -> None:
        """Wait while time is pushed, as every client does."""
        while self._proxy.node.is_pushed:
            await asyncio.sleep(_GLANCE_SECONDS)

    def _settle(self) -> None:
        """Dispatch messages that were just stored before anybody asks for them."""
        if self._proxy.node.is_up:
            self._proxy.node.run_threads()


class _Unreadable(str):
    """Bytes that are no such message, and why."""

    __slots__ = ()


def _reader(call: GrpcCall) -> Callable[[bytes], Any]:
    def read(raw: bytes) -> Any:
        try:
            return call.request.FromString(raw)
        except DecodeError:
            return _Unreadable(f"{call.name}: the bytes are no {call.request.DESCRIPTOR.name} of apache.rocketmq.v2")

    return read


def _bytes_of(message: Any) -> bytes:
    return bytes(message.SerializeToString())


def _unimplemented(method: str) -> Any:
    """Refuse a call by its name, before anything of it is read."""

    async def refuse(_: Any, context: Any) -> None:
        known = method.startswith(f"/{SERVICE}/")
        message = f"Method {method[1:]} is unimplemented" if known else f"Method not found: {method[1:80]}"
        await _abort(context, grpc.StatusCode.UNIMPLEMENTED, message)

    return grpc.stream_stream_rpc_method_handler(refuse)


async def _abort(context: Any, code: Any, message: str) -> NoReturn:
    await context.abort(code, message)
    raise AssertionError
