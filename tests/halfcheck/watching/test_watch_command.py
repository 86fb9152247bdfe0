"""``halfcheck audit --watch``: lines, JSON, metrics and exit codes."""

from __future__ import annotations

import json
import socket
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.request import Request, urlopen

import promql_parser
import pytest
import yaml
from prometheus_client.openmetrics import parser

from halfcheck import app
from halfcheck.auditing.watches import WatchOptions, _Looks
from halfcheck.errors import ExitCode
from halfcheck.watching.memory import WatchMemory
from halfcheck.watching.metrics import WatchMetrics, served
from halfcheck.watching.sources import BrokerSource
from halfcheck.watching.watch import BrokerWatch
from tests.halfcheck.watching.watched import SETTINGS
from tests.wire.copying.traffic import COMMIT
from tests.wire.one_broker import broker
from tests.wire.one_producer import GROUP, TOPIC, OneProducer, unique_key
from wire.client.channel import Address

if TYPE_CHECKING:
    from wire.broker_thread import BrokerThread

MONITORING = Path("docs/monitoring")


def disorder(running: BrokerThread, one: OneProducer) -> None:
    """One transaction doubled, one parked, one delivered, one pending."""
    running.controller.topic(TOPIC)
    for key, ends in (("twice", 2), ("parked", 0), ("once", 1)):
        half = one.half(key)
        for _ in range(ends):
            one.end(half, COMMIT)
    running.controller.push_clock(150_000)
    one.half("open")


def test_what_is_new_is_printed_once_and_fails_a_script_that_asks_for_it(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with broker(tmp_path, "5.3.3", conf=SETTINGS) as running, OneProducer(running.address) as one:
        disorder(running, one)
        words = ["audit", "--broker", running.address, "--watch", "1s", "--for", "0s", "--memory", str(tmp_path / "m")]
        assert app.run([*words, "--json", "--fail-on", "parked"]) == ExitCode.SAFETY_VIOLATED
        first = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
        assert app.run([*words, "--json", "--fail-on", "parked"]) == ExitCode.OK
        (second,) = map(json.loads, capsys.readouterr().out.splitlines())
        assert app.run([*words[:-1], str(tmp_path / "n")]) == ExitCode.OK
        lines = capsys.readouterr().out
    told = {(event["event"], event["transaction"]["unique_key"]) for event in first if "transaction" in event}
    assert told == {("doubled", unique_key("twice")), ("parked", unique_key("parked"))}
    assert first[-1]["event"] == second["event"] == "look"
    assert second["counts"] == {
        **dict.fromkeys(second["counts"], 0),
        "doubled": 1,
        "parked": 1,
        "delivered": 1,
        "pending": 1,
    }
    assert second["producers"] == {GROUP: 0}
    assert f"parked: {unique_key('parked')} (parked) of {GROUP}, for {TOPIC}: 4 checks, 0 messages delivered. " in lines
    assert "1 doubled, 1 parked, 1 pending, 1 delivered; before the check service 1 halves" in lines
    assert f"no producer of {GROUP} is connected" in lines


def test_a_broker_that_goes_away_is_told_and_asked_again(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with broker(tmp_path, "5.3.3", conf=SETTINGS) as running, OneProducer(running.address) as one:
        disorder(running, one)
        address = running.address
        source = BrokerSource(Address.of(address), 1e9)
        with WatchMemory(tmp_path / "memory", address) as memory:
            metrics = WatchMetrics([address])
            looks = _Looks(
                [BrokerWatch(source, memory, 10**9)], WatchOptions(interval_ms=1, as_json=True), metrics, set()
            )
            looks.all(is_first=True)
            assert metrics.is_reachable(address)
            source_port = int(address.partition(":")[2])
    with WatchMemory(tmp_path / "memory", address) as memory:
        looks.watches = [BrokerWatch(source, memory, 10**9)]
        looks.all(is_first=False)
        looks.all(is_first=False)
        assert not metrics.is_reachable(address)
        with broker(tmp_path, "5.3.3", port=source_port, conf=SETTINGS):
            looks.all(is_first=False)
            looks.all(is_first=False)
    events = [json.loads(line)["event"] for line in capsys.readouterr().out.splitlines()]
    assert sorted(events[:2]) == ["doubled", "parked"]
    assert events[2:] == ["look", "unreachable", "reachable", "look", "look"]


def test_what_can_not_be_watched_is_one_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    store = "conformance/golden/5.3.3/late"
    with socket.create_server(("127.0.0.1", 0)) as closed:
        port = closed.getsockname()[1]
    with socket.create_server(("127.0.0.1", 0)) as taken:
        busy = str(taken.getsockname()[1])
        for words, code, sentence in (
            (["--broker", f"127.0.0.1:{port}", "--watch", "1s"], 150, "Connection refused"),
            ([store, "--watch", "often"], 151, "--watch 'often': expected a length of time such as 30s, 5m or 2h, 1 s"),
            ([store, "--watch", "0s"], 151, "--watch '0s'"),
            ([store, "--watch", "1s", "--for", "x"], 151, "--for 'x'"),
            ([store, "--watch", "1s", "--state", "lost"], 151, "--state lost: a watch reports what is new of all"),
            ([store, "--watch", "1s", "--metrics-port", busy], 151, "another process listens there"),
            ([str(tmp_path), "--watch", "1s"], 150, "has no commitlog/"),
        ):
            assert app.run(["audit", *words, "--memory", str(tmp_path / "memory")]) == code
            (line,) = capsys.readouterr().err.splitlines()
            assert sentence in line


@pytest.fixture(scope="module")
def families(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """The metrics of one look, as OpenMetrics' own parser reads them, by name."""
    folder = tmp_path_factory.mktemp("metrics")
    with broker(folder, "5.3.3", conf=SETTINGS) as running, OneProducer(running.address) as one:
        disorder(running, one)
        one.heartbeat()
        with WatchMemory(folder / "memory", running.address) as memory:
            look = BrokerWatch(BrokerSource(Address.of(running.address), 1e9), memory, 10**9).look()
    metrics = WatchMetrics([look.source, "10.0.0.9:1"])
    metrics.take(look)
    accepted = {"Accept": "application/openmetrics-text; version=1.0.0"}
    with served(metrics, 0) as port, urlopen(Request(f"http://127.0.0.1:{port}/metrics", headers=accepted)) as answer:
        assert answer.headers["Content-Type"].startswith("application/openmetrics-text")
        text = answer.read().decode()
    read: Any = parser.text_string_to_metric_families
    return {family.name: (look.source, family) for family in read(text)}


def samples(families: dict[str, Any], name: str, *labels: str) -> dict[tuple[str, ...], float]:
    source, family = families[name]
    return {
        tuple(one.labels[label] for label in labels): one.value
        for one in family.samples
        if one.labels["source"] == source and not one.name.endswith("_created")
    }


def test_the_metrics_say_what_the_look_found(families: dict[str, Any]) -> None:
    states = samples(families, "halfcheck_transactions", "state")
    assert {state for (state,), count in states.items() if count == 1} == {"doubled", "parked", "delivered", "pending"}
    told = samples(families, "halfcheck_reported", "event")
    assert {event: count for (event,), count in told.items() if count} == {"doubled": 1, "parked": 1}
    assert {"lost", "unknown", "hanging"} <= {event for (event,) in told}
    _, of_all = families["halfcheck_reported"]
    unread = [one.value for one in of_all.samples if one.labels["source"] != families["halfcheck_reported"][0]]
    assert unread == [0] * len(told)
    assert samples(families, "halfcheck_findings", "id") == {("A13",): 1}
    assert samples(families, "halfcheck_discards", "cause") == {("unanswered",): 1, ("immune",): 0}
    assert samples(families, "halfcheck_put_backs") == {(): 4}
    assert samples(families, "halfcheck_producers", "group") == {(GROUP,): 1}
    _, pending = families["halfcheck_pending_age_seconds"]
    counts = {(one.name, one.labels.get("le")): one.value for one in pending.samples}
    assert counts["halfcheck_pending_age_seconds_gcount", None] == 1
    assert counts["halfcheck_pending_age_seconds_bucket", "+Inf"] == 1
    _, reachable = families["halfcheck_reachable"]
    assert sorted(one.value for one in reachable.samples) == [0, 1]


def named_in(expression: str) -> set[str]:
    """The metrics that a PromQL expression names, after the parser of PromQL has taken it."""
    found: set[str] = set()

    def walk(node: Any) -> None:
        if isinstance(node, promql_parser.VectorSelector):
            found.add(str(node.name))
        for name in ("expr", "lhs", "rhs", "vector_selector"):
            if getattr(node, name, None) is not None:
                walk(getattr(node, name))
        for argument in getattr(node, "args", ()):
            walk(argument)

    walk(promql_parser.parse(expression))
    return found


def expressions() -> dict[str, str]:
    rules = yaml.safe_load((MONITORING / "alerts.yml").read_text(encoding="utf-8"))
    dashboard = json.loads((MONITORING / "grafana-dashboard.json").read_text(encoding="utf-8"))
    asked = {rule["alert"]: rule["expr"] for group in rules["groups"] for rule in group["rules"]}
    for panel in dashboard["panels"]:
        asked |= {f"{panel['title']} {target['refId']}": target["expr"] for target in panel.get("targets", ())}
    return asked


def test_alerts_and_dashboard_ask_for_metrics_that_there_are(families: dict[str, Any]) -> None:
    known = {one.name for _, family in families.values() for one in family.samples}
    asked = expressions()
    assert len(asked) > 15
    for what, expression in asked.items():
        names = named_in(expression)
        assert names, what
        assert names <= known, what
