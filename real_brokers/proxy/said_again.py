"""What a gRPC client said to a real proxy, said again to ours: each answer is compared, and the store is left."""

from __future__ import annotations

import queue
import threading
from contextlib import suppress
from typing import TYPE_CHECKING, Any, Final, Self

import grpc

from real_brokers.errors import RealBrokerError
from real_brokers.proxy.relay import TELEMETRY, Said
from real_brokers.proxy.topics import TOPIC
from wire.broker_thread import BrokerThread
from wire.node.start import Start
from wire.proxy.protocol.messages import CALLS, SERVICE
from wire.service import ServicePorts

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from wire.control.controller import Controller

_SECONDS: Final = 60.0
_END_MS: Final = 10_000
"""So long behind the last word op messages are written, read and the offsets saved."""
_MOST_ROUNDS: Final = 10
_A_ROUND_SECONDS: Final = 1.0


def say_again(said: Sequence[Said], conf: Path, store: Path) -> list[str]:
    """Say what a client said to our broker of 5.5.0, and stop it.

    Parameters
    ----------
    said
        Of one client, with what a real proxy answered.
    conf
        The ``broker.conf`` of that run.
    store
        The folder of the store that is left, which is not there yet.

    Returns
    -------
    list of str
        In what the answers differ, a line each.
    """
    start = Start.of("5.5.0", store, conf, speed=None)
    with BrokerThread(start, ports=ServicePorts(grpc_port=0), trace=store.with_suffix(".jsonl")) as broker:
        broker.controller.topic(TOPIC, "TRANSACTION", 1)
        with _Client(broker.grpc_address, said[0].headers) as client:
            differences = list(_said(client, broker.controller, said))
        broker.controller.push_clock(_END_MS)
    return differences


def _said(client: _Client, controller: Controller, said: Sequence[Said]) -> Iterator[str]:
    for each in said:
        call = CALLS[each.call]
        if each.call == TELEMETRY:
            if each.is_from_client:
                client.out.put(each.content)
                continue
            wanted = call.response.FromString(each.content)
            is_check = wanted.HasField("recover_orphaned_transaction_command")
            found = call.response.FromString(
                client.check(controller) if is_check else client.heard.get(timeout=_SECONDS)
            )
        elif each.is_from_client:
            client.ask(each.call, each.content)
            continue
        else:
            wanted, found = (call.response.FromString(one) for one in (each.content, client.answers[each.call].pop(0)))
        for one in (wanted, found):
            _mask(one)
        if wanted != found:
            yield f"{each.call}: {_text(found)}, and from the real proxy {_text(wanted)}"


def _text(message: Any) -> str:
    return " ".join(str(message).split())


def _mask(message: Any) -> None:
    """Take out where a proxy and its broker are, and when a record was born and stored."""
    for field, value in message.ListFields():
        if field.name in {"born_timestamp", "store_timestamp", "store_host", "endpoints"}:
            message.ClearField(field.name)
        elif field.message_type is not None:
            is_map = field.message_type.GetOptions().map_entry
            is_many = hasattr(value, "append")
            for each in () if is_map else value if is_many else (value,):
                _mask(each)


class _Client:
    """A client that says bytes: calls one after the other, and a stream."""

    def __init__(self, address: str, headers: tuple[tuple[str, str], ...]) -> None:
        self._headers = headers
        self._channel = grpc.insecure_channel(address, (("grpc.use_local_subchannel_pool", 1),))
        self.out: queue.SimpleQueue[bytes | None] = queue.SimpleQueue()
        self.heard: queue.Queue[bytes] = queue.Queue()
        self.answers: dict[str, list[bytes]] = {}

    def __enter__(self) -> Self:
        stream = self._channel.stream_stream(f"/{SERVICE}/{TELEMETRY}")
        self._stream = stream(iter(self.out.get, None), metadata=self._headers)
        threading.Thread(target=self._hear, daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        self.out.put(None)
        self._channel.close()

    def _hear(self) -> None:
        try:
            for content in self._stream:
                self.heard.put(content)
        except grpc.RpcError:
            return

    def ask(self, name: str, content: bytes) -> None:
        """Make a call, and keep its answer."""
        answer = self._channel.unary_unary(f"/{SERVICE}/{name}")(content, timeout=_SECONDS, metadata=self._headers)
        self.answers.setdefault(name, []).append(bytes(answer))

    def check(self, controller: Controller) -> bytes:
        """Let rounds pass until the broker sends something over the stream, as it does in one of the first."""
        for _ in range(_MOST_ROUNDS):
            controller.round()
            with suppress(queue.Empty):
                return self.heard.get(timeout=_A_ROUND_SECONDS)
        message = f"our broker has sent no check in {_MOST_ROUNDS} rounds, and the real one has"
        raise RealBrokerError(message)
