"""A relay between gRPC clients and proxies: it notes what is said, and an END_TRANSACTION may get lost or go elsewhere.

The routes that a proxy gives name the relay in its place, so that clients stay with it.
"""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, Self

import grpc

from real_brokers.loopback import LOOPBACK
from wire.proxy.protocol.messages import CALLS, SERVICE
from wire.proxy.refusal import OK

if TYPE_CHECKING:
    from collections.abc import Iterator

END: Final = "EndTransaction"
SEND: Final = "SendMessage"
TELEMETRY: Final = "Telemetry"
_ROUTES: Final = ("QueryRoute", "QueryAssignment")
_OWN_HEADERS: Final = "x-mq-"
_THREADS: Final = 64
_OWN_POOL: Final = (("grpc.use_local_subchannel_pool", 1),)


@dataclass(frozen=True, slots=True)
class Said:
    """A message of one side.

    Attributes
    ----------
    call
        The name of the call.
    is_from_client
        Whether the client said it, and not the proxy.
    content
        The message as it went over the wire.
    headers
        Those of the client's call that RocketMQ reads.
    """

    call: str
    is_from_client: bool
    content: bytes
    headers: tuple[tuple[str, str], ...]


class GrpcRelay:
    """Listens on loopback from entering the context on, and passes each call on.

    Parameters
    ----------
    target
        The address of the proxy.
    end_target
        That of the one which END_TRANSACTIONs go to; the same if none is given.
    lost
        Keys of messages: the first END_TRANSACTION of each is answered OK here, and no proxy hears of it.
    """

    def __init__(self, target: str, end_target: str = "", lost: frozenset[str] = frozenset()) -> None:
        self._targets = {END: end_target or target}
        self._target = target
        self._lost = set(lost)
        self.ends_lost = 0
        self._keys: dict[str, str] = {}
        self._lock = threading.Lock()
        self._exit = ExitStack()
        self._port = 0
        self.said: list[Said] = []
        """In the order in which it came."""

    def __enter__(self) -> Self:
        self._open()
        return self

    def __exit__(self, *_: object) -> None:
        self._exit.close()

    @contextmanager
    def away(self) -> Iterator[None]:
        """It has ended all connections, as a proxy does that dies, and takes none until the context is left."""
        self._exit.close()
        yield
        self._open()

    def _open(self) -> None:
        with ExitStack() as undo:
            self._channels = {
                address: undo.enter_context(grpc.insecure_channel(address, _OWN_POOL))
                for address in {self._target, *self._targets.values()}
            }
            handlers = grpc.method_handlers_generic_handler(SERVICE, {name: self._handler(name) for name in CALLS})
            server = grpc.server(undo.enter_context(ThreadPoolExecutor(_THREADS)), handlers=(handlers,))
            self._port = server.add_insecure_port(f"{LOOPBACK}:{self._port}")
            server.start()
            undo.callback(lambda: server.stop(0).wait())
            self._exit = undo.pop_all()

    @property
    def address(self) -> str:
        """Where clients connect to, instead of the proxy."""
        return f"{LOOPBACK}:{self._port}"

    def _handler(self, name: str) -> Any:
        call = CALLS[name]
        if call.streams_requests:
            return grpc.stream_stream_rpc_method_handler(
                lambda requests, context: self._stream(name, requests, context)
            )
        if call.streams_responses:
            return grpc.unary_stream_rpc_method_handler(lambda request, context: self._parts(name, request, context))
        return grpc.unary_unary_rpc_method_handler(lambda request, context: self._one(name, request, context))

    def _one(self, name: str, request: bytes, context: Any) -> bytes:
        headers = _headers_of(context)
        self._note(name, request, headers, is_from_client=True)
        if name == END and self._is_lost(request):
            return bytes(CALLS[END].response(status=OK).SerializeToString())
        stub = self._channel(name).unary_unary(f"/{SERVICE}/{name}")
        answer = _passed_on(context, lambda: stub(request, metadata=headers, timeout=context.time_remaining()))
        answer = self._with_own_address(name, answer)
        self._note(name, answer, headers, is_from_client=False)
        return answer

    def _parts(self, name: str, request: bytes, context: Any) -> Iterator[bytes]:
        headers = _headers_of(context)
        self._note(name, request, headers, is_from_client=True)
        stub = self._channel(name).unary_stream(f"/{SERVICE}/{name}")
        yield from _passed_on(context, lambda: stub(request, metadata=headers, timeout=context.time_remaining()))

    def _stream(self, name: str, requests: Iterator[bytes], context: Any) -> Iterator[bytes]:
        headers = _headers_of(context)

        def noted() -> Iterator[bytes]:
            for request in requests:
                self._note(name, request, headers, is_from_client=True)
                yield request

        answers = self._channel(name).stream_stream(f"/{SERVICE}/{name}")(noted(), metadata=headers)
        context.add_callback(answers.cancel)
        try:
            for answer in answers:
                self._note(name, answer, headers, is_from_client=False)
                yield answer
        except grpc.RpcError as error:
            context.abort(error.code(), error.details())

    def _with_own_address(self, name: str, content: bytes) -> bytes:
        if name not in _ROUTES:
            return bytes(content)
        answer = CALLS[name].response.FromString(content)
        queues = answer.message_queues if name == "QueryRoute" else [one.message_queue for one in answer.assignments]
        for each in queues:
            for address in each.broker.endpoints.addresses:
                address.host, address.port = LOOPBACK, self._port
        return bytes(answer.SerializeToString())

    def _channel(self, name: str) -> Any:
        return self._channels[self._targets.get(name, self._target)]

    def _note(self, name: str, content: bytes, headers: Any, *, is_from_client: bool) -> None:
        with self._lock:
            self.said.append(Said(name, is_from_client, content, headers))
            if name == SEND and is_from_client:
                for message in CALLS[SEND].request.FromString(content).messages:
                    system = message.system_properties
                    self._keys[system.message_id] = next(iter(system.keys), "")

    def _is_lost(self, request: bytes) -> bool:
        with self._lock:
            key = self._keys.get(CALLS[END].request.FromString(request).message_id, "")
            is_lost = key in self._lost
            self.ends_lost += is_lost
            self._lost.discard(key)
        return is_lost


def _headers_of(context: Any) -> tuple[tuple[str, str], ...]:
    own = sorted((key, value) for key, value in context.invocation_metadata() if key.startswith(_OWN_HEADERS))
    return tuple(own)


def _passed_on(context: Any, ask: Any) -> Any:
    try:
        return ask()
    except grpc.RpcError as error:
        context.abort(error.code(), error.details())
