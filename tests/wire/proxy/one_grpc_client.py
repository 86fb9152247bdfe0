"""A gRPC client of a few lines, which speaks to the port as a stub would; one call after the other."""

from __future__ import annotations

import queue
import threading
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Final, Self

import grpc

from tests.wire.one_broker import MINUTE, broker
from tests.wire.one_producer import TOPIC, OneProducer, unique_key
from wire.proxy.protocol.messages import CALLS, SERVICE, ClientType, Code, MessageType, Settings, TelemetryCommand

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from wire.broker_thread import BrokerThread

GROUP: Final = "order-readers"
SECONDS: Final = 60.0


class OneGrpcClient:
    """A client with its telemetry stream; what it is asked over it waits until somebody looks."""

    def __init__(self, address: str, client_id: str = "one") -> None:
        self.client_id = client_id
        self.heard: queue.Queue[Any] = queue.Queue()
        self.ended = ""
        self._channel = grpc.insecure_channel(address, (("grpc.use_local_subchannel_pool", 1),))
        self._out: queue.Queue[Any] = queue.Queue()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._out.put(None)
        self._channel.close()

    @property
    def headers(self) -> tuple[tuple[str, str], ...]:
        return (("x-mq-client-id", self.client_id), ("x-mq-language", "JAVA"), ("x-mq-client-version", "5.1.0"))

    def call(self, name: str, /, **fields: Any) -> Any:
        call = CALLS[name]
        stub = self._channel.unary_unary(
            f"/{SERVICE}/{name}", lambda request: request.SerializeToString(), call.response.FromString
        )
        return stub(call.request(**fields), timeout=SECONDS, metadata=self.headers)

    def raw(self, path: str, content: bytes) -> bytes:
        """A call with any bytes to any path."""
        stub = self._channel.unary_unary(path)
        return bytes(stub(content, timeout=SECONDS, metadata=self.headers))

    def telemetry(self, **settings: Any) -> Any:
        """Open the stream if there is none, send settings, and give those that come back."""
        call = CALLS["Telemetry"]
        if not hasattr(self, "_answers"):
            stub = self._channel.stream_stream(
                f"/{SERVICE}/Telemetry", lambda request: request.SerializeToString(), call.response.FromString
            )
            self._answers = stub(iter(self._out.get, None), metadata=self.headers)
            threading.Thread(target=self._hear, daemon=True).start()
        self._settings = TelemetryCommand(settings=Settings(**settings))
        self._out.put(self._settings)
        command = self.heard.get(timeout=SECONDS)
        return command if command is None else command.settings

    def be_producer(self, *topics: str) -> Any:
        return self.telemetry(
            client_type=ClientType.PRODUCER, publishing={"topics": [{"name": topic} for topic in topics or (TOPIC,)]}
        )

    def be_consumer(self, group: str = GROUP, topic: str = TOPIC, kind: Any = ClientType.SIMPLE_CONSUMER) -> Any:
        entries = [{"topic": {"name": topic}, "expression": {"expression": "*", "type": 1}}]
        return self.telemetry(
            client_type=kind,
            subscription={"group": {"name": group}, "subscriptions": entries},
        )

    def end_stream(self) -> None:
        self._answers.cancel()

    def check(self) -> Any:
        """The next check."""
        return self.heard.get(timeout=SECONDS).recover_orphaned_transaction_command

    def checks(self) -> list[Any]:
        """All that were sent so far: the answer to settings comes behind them in the stream."""
        self._out.put(self._settings)
        found = []
        while not (command := self.heard.get(timeout=SECONDS)).HasField("settings"):
            found.append(command.recover_orphaned_transaction_command)
        return found

    def message(self, key: str, kind: Any = MessageType.TRANSACTION, topic: str = TOPIC, **more: Any) -> dict[str, Any]:
        system = {"message_id": unique_key(key), "keys": [key], "tag": "paid", "message_type": kind}
        system["born_timestamp"] = {"seconds": 1_700_000_000}
        return {"topic": {"name": topic}, "body": key.encode(), "system_properties": {**system, **more}}

    def send(self, key: str, kind: Any = MessageType.TRANSACTION, topic: str = TOPIC, **more: Any) -> Any:
        """What is answered to one message."""
        answer = self.call("SendMessage", messages=[self.message(key, kind, topic, **more)])
        return answer.entries[0] if answer.entries else answer

    def end(self, key: str, resolution: Any, topic: str = TOPIC, source: Any = 1) -> Any:
        """The status that an END is answered with."""
        name = unique_key(key)
        return self.call(
            "EndTransaction",
            topic={"name": topic}, message_id=name, transaction_id=name, resolution=resolution, source=source,
        ).status  # fmt: skip

    def receive(self, most: int = 16, invisible_s: int = 10, seconds: float = SECONDS, **more: Any) -> list[Any]:
        """All parts of what is answered to a pop; it may wait for as long as the deadline."""
        call = CALLS["ReceiveMessage"]
        stub = self._channel.unary_stream(
            f"/{SERVICE}/ReceiveMessage", lambda request: request.SerializeToString(), call.response.FromString
        )
        fields = {
            "group": {"name": GROUP}, "message_queue": {"topic": {"name": TOPIC}}, "batch_size": most,
            "filter_expression": {"expression": "*"}, "invisible_duration": {"seconds": invisible_s},
        } | more  # fmt: skip
        return list(stub(call.request(**fields), timeout=seconds, metadata=self.headers))

    def messages(self, **more: Any) -> list[Any]:
        """The messages that a pop gives."""
        return [part.message for part in self.receive(**more) if part.WhichOneof("content") == "message"]

    def ack(self, *messages: Any, group: str = GROUP) -> Any:
        entries = [
            {"message_id": each.system_properties.message_id, "receipt_handle": each.system_properties.receipt_handle}
            for each in messages
        ]
        return self.call("AckMessage", group={"name": group}, topic={"name": TOPIC}, entries=entries).status

    def _hear(self) -> None:
        try:
            for command in self._answers:
                self.heard.put(command)
        except grpc.RpcError as error:
            self.ended = f"{error.code().name}: {error.details()}"
        self.heard.put(None)


def key_of(message: Any) -> str:
    return str(message.system_properties.keys[0])


def code_of(status: Any) -> str:
    return str(Code(status.code).name)


@contextmanager
def grpc_broker(folder: Path, topic_type: str = "MIXED", **more: Any) -> Iterator[BrokerThread]:
    """A broker with a gRPC port whose clock stands still unless it is pushed, and a topic."""
    with broker(folder, grpc_port=0, **more) as running:
        running.controller.topic(TOPIC, topic_type)
        yield running


def delivered(running: BrokerThread) -> list[str]:
    """The keys of all that is delivered, queue by queue."""
    with OneProducer(running.address) as reader:
        return [key for queue_id in range(4) for key in reader.keys(queue_id=queue_id)]


def a_round(running: BrokerThread) -> None:
    """Let a check round pass, where one comes each minute."""
    running.controller.push_clock(MINUTE + 2_000)
