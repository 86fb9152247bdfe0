"""A client before a broker of this project, whose time passes by order."""

from __future__ import annotations

import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from real_brokers.patience import wait_until
from wire.broker_thread import BrokerThread
from wire.node.start import Start
from wire.service import ServicePorts

if TYPE_CHECKING:
    from collections.abc import Iterator
    from concurrent.futures import Future
    from pathlib import Path

    from real_brokers.clients.scenario_client import ScenarioClient
    from real_brokers.habits.led_clients import LedClient
    from wire.control.controller import Controller

PROFILE: Final = "5.5.0"
TOPIC: Final = "Orders"

_ANSWER_SECONDS: Final = 2.5
"""For the answer to a check, where it is not certain that one comes."""


@dataclass(frozen=True, slots=True)
class HabitStage:
    """A client that the broker knows as a producer."""

    client: ScenarioClient
    controller: Controller
    speaks_grpc: bool
    _orders: ThreadPoolExecutor

    @property
    def group(self) -> str:
        """Of the producer: behind a proxy it is the topic's name."""
        return TOPIC if self.speaks_grpc else "order-service"

    def send(self, key: str, end: str) -> str:
        """Send a message in a transaction, and end that; what the client says of it."""
        return self.client.attempt(f"send {TOPIC} {key} {end}")

    def begin(self, key: str, end: str) -> Future[str]:
        """The same, while the caller goes on; its half is stored."""
        sent = self._orders.submit(self.send, key, end)
        wait_until(lambda: bool(self.transaction(key)), f"the half of {key}")
        return sent

    def transaction(self, key: str) -> dict[str, Any]:
        """What the broker has of a message; empty if it has none."""
        found = self.controller.transactions(key)
        return found[0] if found else {}

    def count(self, key: str, what: str) -> int:
        """How many ``halves`` or ``deliveries`` of a message there are."""
        return len(self.transaction(key).get(what, ()))

    def check(self, times: int = 1) -> None:
        """Let check rounds pass, with time for answers behind each."""
        for _ in range(times):
            self.controller.round()
            time.sleep(_ANSWER_SECONDS)
            self.controller.push_clock(10_000)  # the op batch is written

    def check_to_the_end(self) -> None:
        """Let as many check rounds pass as a half has checks, and one more: what was not answered is discarded."""
        for _ in range(self.controller.status()["transactionCheckMax"] + 1):
            self.controller.round()

    def is_known(self) -> bool:
        """Whether the broker knows the producer."""
        status = self.controller.status()
        return bool(status["is_up"]) and self.group in status["producers"]


@contextmanager
def habit_stage(led: LedClient, folder: Path) -> Iterator[HabitStage]:
    """A broker and a process of a client, which has sent one message, so that the broker knows it."""
    start = Start.of(PROFILE, folder / "store", None, speed=None)
    with (
        BrokerThread(start, ports=ServicePorts(grpc_port=0)) as broker,
        ThreadPoolExecutor(1) as orders,
    ):
        broker.controller.topic(TOPIC, "TRANSACTION", 1)
        broker.controller.topic("Plain", "NORMAL", 1)  # of the same programs' scenario
        with led.process(broker, folder) as client:
            stage = HabitStage(client, broker.controller, led.speaks_grpc, orders)
            client.order(f"send {TOPIC} first commit")
            wait_until(stage.is_known, "the producer of the group")
            stage.check()  # what is sent now is less than 30 s old at its first check
            yield stage
