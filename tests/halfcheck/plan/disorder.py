"""A broker on the wire that was left in disorder: a parked, a pending and a lost half, and one that is young."""

from __future__ import annotations

import json
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from halfcheck import app
from halfcheck.errors import ExitCode
from reference.format.system_topics import CHECK_GROUP, HALF_TOPIC
from tests.wire.one_broker import broker
from tests.wire.one_producer import TOPIC, OneProducer, unique_key
from wire.client.broker_facts import runtime_info
from wire.client.queries import end_of_queue
from wire.remoting.codes import RequestCode, ResponseCode

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    import pytest

    from wire.broker_thread import BrokerThread

SETTINGS: Final = {"transactionTimeOut": 30_000, "transactionCheckInterval": 20_000, "transactionCheckMax": 2}
PARKED, LOST, PENDING, YOUNG = (unique_key(name) for name in ("parked", "lost", "pending", "young"))


@dataclass(frozen=True, slots=True)
class Disorder:
    """The broker, a producer, and the file of the plan."""

    running: BrokerThread
    producer: OneProducer
    file: Path

    @property
    def log_end(self) -> int:
        """Where its commit log ends."""
        return runtime_info(self.producer).log_end

    def command(self, *more: str) -> int:
        return app.run(["audit", "--broker", self.running.address, "--plan", str(self.file), *more])

    def content(self) -> dict[str, Any]:
        content: dict[str, Any] = json.loads(self.file.read_text(encoding="utf-8"))
        return content

    def requests(self) -> dict[str, dict[str, Any]]:
        """The requests of the plan by UNIQ_KEY; of two the later one."""
        return {one["unique_key"]: one for one in self.content()["requests"]}

    def decide(self, **decisions: str | None) -> None:
        """Fill in decisions, by the names of the halves."""
        content = self.content()
        for name, decision in decisions.items():
            (one,) = (one for one in content["requests"] if one["unique_key"] == unique_key(name) and not one["sent"])
            one["decision"] = decision
        self.file.write_text(json.dumps(content), encoding="utf-8")


@contextmanager
def disorder(folder: Path, profile: str) -> Iterator[Disorder]:
    """The halves, in this order: parked, lost, pending, young."""
    with broker(folder, profile, conf=SETTINGS) as running, OneProducer(running.address) as producer:
        running.controller.topic(TOPIC)
        producer.heartbeat()
        producer.half("parked")
        running.controller.push_clock(130_000)
        producer.half("lost")
        running.controller.push_clock(1_000)
        pass_all_halves(producer)
        producer.half("pending")
        running.controller.push_clock(50_000)
        producer.half("young")
        yield Disorder(running, producer, folder / "plan.json")


def pass_all_halves(producer: OneProducer) -> None:
    """Set the check service's half offset to the end of the half queue, as anybody may (B57)."""
    fields = {"consumerGroup": CHECK_GROUP, "topic": HALF_TOPIC, "queueId": 0}
    offset = end_of_queue(producer, HALF_TOPIC)
    answer = producer.ask(RequestCode.UPDATE_CONSUMER_OFFSET, {**fields, "commitOffset": offset})
    assert answer.code == ResponseCode.SUCCESS


def one_line(capsys: pytest.CaptureFixture[str]) -> str:
    """What a command has said on stderr, in one line."""
    (line,) = capsys.readouterr().err.splitlines()
    return line


OK: Final = ExitCode.OK
BAD: Final = ExitCode.BAD_CONTENT
