"""The scenarios of the harness for real brokers, led without one, and the client's pipe with a process of Python."""

from __future__ import annotations

import itertools
import subprocess
import sys
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from conformance.golden_stores import golden_store
from real_brokers.errors import RealBrokerError
from real_brokers.rocketmq.client import (
    COMMIT,
    UNKNOWN,
    Checks,
    Client,
    ClientHalf,
    ClientMessage,
    ClientPlan,
    SendRefusedError,
)
from real_brokers.rocketmq.scenarios import SCENARIOS
from tests.conformance.decoded_store import decoded_records

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

CHECK_TIMES = "TRANSACTION_CHECK_TIMES"


class LedClient:
    """Takes every command and notes it; each half gets the next offset, each message has been checked often."""

    leave, wait_for_checks = Client.leave, Client.wait_for_checks

    def __init__(self, broker: LedBroker) -> None:
        self.broker = broker

    def send(self, producer: str, message: ClientMessage, plan: ClientPlan) -> ClientHalf:
        self.broker.commands["send"] += 1
        self.broker.sent.append((message, plan))
        return ClientHalf(offset := next(self.broker.offsets), offset * 300, f"K{offset}")

    def checks(self, message: ClientMessage) -> Checks:
        return Checks(99, ClientHalf(1, 300, ""))

    def __getattr__(self, name: str) -> Any:
        return lambda *_, **__: self.broker.commands.update([name])


class LedBroker:
    """Takes what a scenario does to a broker."""

    check_interval_ms = 1_000
    run = Path("run")

    def __init__(self, settings: Mapping[str, str]) -> None:
        self.settings = settings
        self.sent: list[tuple[ClientMessage, ClientPlan]] = []
        self.commands: Counter[str] = Counter()
        self.offsets = itertools.count()

    def client(self, group: str | None = None) -> LedClient:
        return LedClient(self)

    def __getattr__(self, name: str) -> Any:
        return lambda *_, **__: self.commands.update([name])


def led(name: str, monkeypatch: pytest.MonkeyPatch) -> LedBroker:
    monkeypatch.setattr("time.sleep", lambda _: None)
    monkeypatch.setattr("real_brokers.rocketmq.scenario_runs.utime", lambda *_: None)
    broker = LedBroker(SCENARIOS[name].settings)
    SCENARIOS[name].lead(broker)  # type: ignore[arg-type]
    return broker


@pytest.mark.parametrize("name", SCENARIOS)
def test_a_scenario_tells_its_story_and_ends_in_order(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    broker = led(name, monkeypatch)
    assert SCENARIOS[name].story.endswith(".")
    assert broker.sent
    assert broker.commands["settle"] == (name != "gone_half"), "what is gone is never settled"
    assert broker.commands["drain"] == 1
    assert broker.commands["halt"] == (2 if name == "gone" else 1)


@pytest.mark.parametrize(
    ("version", "name"),
    [
        *(("5.3.3", name) for name in ("ten", "five", "forever", "immunity", "late", "crash", "crash2")),
        ("4.9.7", "gone"),
    ],
)
def test_what_a_scenario_sends_is_what_lies_in_the_golden_store(
    version: str, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """All but what the broker refuses: the last message of `late` comes when transactions are rejected."""
    stored: Counter[tuple[object, ...]] = Counter()
    for record in decoded_records(golden_store(version, name)):
        own = dict(record.get("properties", ()))
        if record.get("topic") == "RMQ_SYS_TRANS_HALF_TOPIC" and CHECK_TIMES not in own:
            key = (own["REAL_TOPIC"], record["body"], own.get("TAGS", ""), own.get("KEYS", ""), record["flag"])
            stored[*key, own.get("CHECK_IMMUNITY_TIME_IN_SECONDS")] += 1
    sent = Counter(
        (m.topic, m.body, m.tags, m.keys, m.flag, m.properties.get("CHECK_IMMUNITY_TIME_IN_SECONDS"))
        for m, _ in led(name, monkeypatch).sent
        if m.body != "rej-9"
    )
    assert sent == stored


def test_a_plan_is_found_again_by_what_stands_before_the_stroke() -> None:
    assert ClientMessage("T", "wide-h|zzz").key == "wide-h"
    assert ClientMessage("T", b"wide-g|\xff\x00").key == "wide-g"
    assert ClientMessage("T", "x" * 50).key == "x" * 40


# --- the pipe ---------------------------------------------------------------------------------------------------------

_ECHO = """
import sys
for line in sys.stdin:
    verb, _, fields = line.strip().partition(" ")
    print("a line that is no answer", flush=True)
    if verb == "send": print("= ok queue_offset=3&commit_log_offset=400&transaction_id=K%201&", flush=True)
    elif verb == "send_plain": print("= error error=MQClientException&cause=no+route&", flush=True)
    elif verb == "end": print("= ok " + fields, flush=True)
    elif verb == "checks": print("= ok count=0&", flush=True)
    elif verb == "shutdown": sys.exit(0)
    else: print("= ok ", flush=True)
"""


@pytest.fixture
def client() -> Iterator[Client]:
    with subprocess.Popen([sys.executable, "-c", _ECHO], stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        yield Client(process)
        process.kill()


def test_an_answer_comes_back_as_what_it_says(client: Client) -> None:
    assert client.send("P", ClientMessage("T", "b"), ClientPlan.of(UNKNOWN, COMMIT)) == ClientHalf(3, 400, "K 1")
    assert client.checks(ClientMessage("T", "b")) == Checks(0, None)
    with pytest.raises(KeyError, match="code"):
        client.end("P", "label & more", ClientHalf(1, 2, "K"), COMMIT, group="g")


def test_what_the_client_throws_is_told(client: Client) -> None:
    with pytest.raises(SendRefusedError, match="send_plain: MQClientException no route"):
        client.send_plain("P", ClientMessage("T", "b"))


def test_a_client_that_is_gone_is_told_so(client: Client) -> None:
    with pytest.raises(RealBrokerError, match=r"the client ended at 'shutdown'; its last words are in client\.err"):
        client.shut_down("P")


def test_a_client_that_does_not_answer_is_told_so() -> None:
    silent = [sys.executable, "-c", "import time; time.sleep(60)"]
    with subprocess.Popen(silent, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        with pytest.raises(RealBrokerError, match="the client did not answer 'producer' in 0 s"):
            Client(process, seconds=0.1).producer("P", "g")
        process.kill()
