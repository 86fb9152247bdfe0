"""A real broker, its producer, and an operator who plans through a relay and sends what they decide."""

from __future__ import annotations

import io
import json
import time
from contextlib import ExitStack, redirect_stdout
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any, Final, Self, TypeVar

from files.content import parse_json
from files.reading import read_text
from halfcheck import app
from halfcheck.plan.sending import send_plan
from real_brokers.errors import RealBrokerError
from real_brokers.plan.relay import RemotingRelay
from real_brokers.rocketmq.broker import RealBroker
from reference.format.properties import UNIQUE_KEY
from reference.format.system_topics import CHECK_GROUP, DISCARD_TOPIC, HALF_TOPIC
from wire.client.broker_facts import runtime_info
from wire.client.channel import BrokerChannel
from wire.client.queries import end_of_queue, pull_all
from wire.client.transactions import HalfName, end_transaction, half_of_check, heartbeat, send_half
from wire.remoting.codes import RequestCode, ResponseCode

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from halfcheck.plan.sending import SentPlan
    from wire.client.transactions import HalfName

Found = TypeVar("Found")

GROUP: Final = "plan"
TOPIC: Final = "Planned"
LONG_BATCH: Final = {"transactionOpBatchInterval": "60000"}
MANY_CHECKS: Final = {"transactionCheckMax": "30"}
"""A broker that starts has rounds long before its producer is back."""
SETTINGS: Final = {
    "transactionTimeOut": "1000", "transactionCheckInterval": "8000", "transactionCheckMax": "2",
}  # fmt: skip
"""A half is put back and checked by two rounds, 8 s apart; the second of them discards it at once, or the third."""

_OLD_ENOUGH_S: Final = 2.2
"""The broker tells its time to the second: a half that is older than 1 s may look younger."""
_PATIENCE_S: Final = 60.0
_PAUSE_S: Final = 0.05


class EnoughSeenError(Exception):
    """Ends the reading back of a plan."""


class PlanStage:
    """One broker of a release, from entering the context on; raises as `RealBroker`."""

    def __init__(self, release: str) -> None:
        self.release = release
        self.broker = RealBroker(release, "plan", SETTINGS)
        self._exit = ExitStack()
        self._names: dict[str, HalfName] = {}
        self._asked: list[HalfName] = []
        self._rounds = 0

    def __enter__(self) -> Self:
        with ExitStack() as undo:
            self._file = Path(undo.enter_context(TemporaryDirectory(prefix="halfcheck-plan-"))) / "plan.json"
            undo.enter_context(self.broker)
            self.relay = undo.enter_context(RemotingRelay(self.broker.address))
            self.connect()
            self._exit = undo.pop_all()
        return self

    def __exit__(self, *_: object) -> None:
        self.producer.close()
        self._exit.close()

    # --- the producer -------------------------------------------------------------------------------------------------

    def connect(self) -> None:
        """Connect the producer, as after a start of the broker."""
        self.producer = BrokerChannel(self.broker.address)
        heartbeat(self.producer, "plan@stage", GROUP)

    def send(self, *keys: str) -> None:
        """Send a half each."""
        for key in keys:
            self._names[key] = send_half(self.producer, GROUP, TOPIC, _id(key), key.encode())

    def end(self, key: str, outcome: int) -> int:
        """The producer's own END_TRANSACTION for the half as it was sent; the code of its answer."""
        return end_transaction(self.producer, GROUP, self._names[key], outcome)

    def check_of(self, key: str) -> HalfName:
        """Wait for the next check of a half that came since a plan was sent, and give the copy that it names."""

        def arrived() -> HalfName | None:
            self._hear()
            return next((one for one in self._asked if one.unique_key == _id(key)), None)

        found = self.wait_for(arrived, f"a check of {key}")
        self._asked.remove(found)
        return found

    def _hear(self) -> None:
        while (request := self.producer.asked()) is not None:
            if request.code == RequestCode.CHECK_TRANSACTION_STATE:
                self._asked.append(half_of_check(request))

    def _forget_checks(self) -> None:
        self._hear()
        self._asked.clear()

    def answer(self, half: HalfName, outcome: int) -> int:
        """Answer a check; the code of the broker's answer."""
        return end_transaction(self.producer, GROUP, half, outcome, answers_check=True)

    # --- what the broker has ------------------------------------------------------------------------------------------

    @property
    def log_end(self) -> int:
        """Where its commit log ends (commitLogMaxOffset)."""
        return runtime_info(self.producer).log_end

    def deliveries(self, key: str) -> int:
        """How many real messages of a half there are."""
        return self._count(TOPIC, key)

    def discards(self, key: str) -> int:
        """How often it lies in the discard topic."""
        return self._count(DISCARD_TOPIC, key)

    def copies(self, key: str) -> int:
        """How often it stands in the half queue."""
        return self._count(HALF_TOPIC, key)

    def _count(self, topic: str, key: str) -> int:
        found = pull_all(self.producer, "stage", topic, 0)
        return sum(record.properties.get(UNIQUE_KEY) == _id(key) for record in found)

    def wait_for(self, seen: Callable[[], Found | None], what: str) -> Found:
        """Wait for something that the broker does; `RealBrokerError` if it does not in a minute."""
        end = time.monotonic() + _PATIENCE_S
        while not (found := seen()):
            if time.monotonic() > end:
                message = f"{self.release}: {what} did not come in {_PATIENCE_S:.0f} s"
                raise RealBrokerError(message)
            time.sleep(_PAUSE_S)
        return found

    def park(self, *keys: str) -> None:
        """Send halves and let rounds discard them, as nobody answers."""
        self.send(*keys)
        self.wait_for(lambda: all(self.discards(key) for key in keys), f"a discard of {', '.join(keys)}")

    def pass_a_round(self) -> None:
        """Wait until a round has just put something back: the next one begins 8 s later."""
        self._rounds += 1
        key = f"round-{self._rounds}"
        self.send(key)
        self.wait_for(lambda: self.copies(key) > 1, "a round")

    def lose(self, key: str) -> None:
        """Send a half, and set the check service's offset behind it, as anybody may (B57)."""
        self.send(key)
        end = self.wait_for(lambda: end_of_queue(self.producer, HALF_TOPIC), "the half")
        fields = {"consumerGroup": CHECK_GROUP, "topic": HALF_TOPIC, "queueId": 0, "commitOffset": end}
        self.producer.ask(RequestCode.UPDATE_CONSUMER_OFFSET, fields)

    # --- the operator -------------------------------------------------------------------------------------------------

    def plan(self, decisions: Mapping[str, str] | None = None) -> dict[str, Any]:
        """Plan anew by the command, decide about some halves and about nothing else; the requests by halves' names."""
        self._file.unlink(missing_ok=True)
        time.sleep(_OLD_ENOUGH_S)
        self.command()
        content = parse_json(read_text(self._file))
        for one in content["requests"]:
            one["decision"] = (decisions or {}).get(_name(one["unique_key"]))
        self._file.write_text(json.dumps(content), encoding="utf-8")
        found = {_name(one["unique_key"]): one for one in content["requests"]}
        if missing := set(decisions or ()) - set(found):
            message = f"{self.release}: no request is planned for {', '.join(missing)}: {content['withheld']}"
            raise RealBrokerError(message)
        return found

    def command(self, *more: str) -> str:
        """The command, through the relay; what it prints; `RealBrokerError` if it fails."""
        self._forget_checks()
        printed = io.StringIO()
        with redirect_stdout(printed):
            code = app.run(["audit", "--broker", str(self.relay.address), "--plan", str(self._file), *more])
        if code:
            message = f"{self.release}: the command ended with {code}"
            raise RealBrokerError(message)
        return printed.getvalue()

    def sent(self) -> dict[str, Any]:
        """The requests of the file that were sent, by halves' names."""
        content = parse_json(read_text(self._file))
        return {_name(one["unique_key"]): one["sent"] for one in content["requests"] if one["sent"] is not None}

    def send_plan(self, meanwhile: Callable[[], None] | None = None) -> SentPlan | None:
        """Send what is decided; with something that happens while it is read back, that ends the reading."""

        def sleep(seconds: float) -> None:
            if meanwhile is None:
                time.sleep(seconds)
                return
            meanwhile()
            raise EnoughSeenError

        self._forget_checks()
        try:
            return send_plan(self._file, self.relay.address, sleep)
        except EnoughSeenError:
            return None

    def resume_again(self, request: Mapping[str, Any]) -> int:
        """Send a request of a plan once more, by hand; the code of the answer."""
        return self.producer.ask(request["code"], request["fields"]).code

    def set(self, settings: Mapping[str, str]) -> None:
        """Change settings, and wait until the threads go by them."""
        self.broker.change(settings)
        time.sleep(1)


def _id(key: str) -> str:
    return key.encode().hex().upper().ljust(32, "0")


def _name(unique_key: str) -> str:
    return bytes.fromhex(unique_key).rstrip(b"\0").decode()


SUCCESS: Final = int(ResponseCode.SUCCESS)
