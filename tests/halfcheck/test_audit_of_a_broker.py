"""``halfcheck audit --broker``: a running broker is audited, and what is foretold of pending halves comes so."""

from __future__ import annotations

import json
import random
import socket
import subprocess
import sys
from typing import TYPE_CHECKING, Any

import pytest
from jsonschema import Draft202012Validator

from halfcheck import app, running_broker, whole_store
from halfcheck.errors import ExitCode
from halfcheck.running_broker import audited_broker
from reference.format.commit_log import CommitLog
from reference.format.properties import CHECK_TIMES
from reference.format.system_topics import CHECK_GROUP, HALF_TOPIC
from spark_trace_analysis.audit import staged_audit
from spark_trace_analysis.audit.audit import SCHEMA
from spark_trace_analysis.audit.audit_store import audit_store
from spark_trace_analysis.audit.row_files import RowFiles
from spark_trace_analysis.audit.selection import Selection
from tests.wire.one_broker import broker
from tests.wire.one_producer import GROUP, TOPIC, OneProducer, unique_key
from wire.client.channel import Address, BrokerChannel
from wire.remoting.codes import RequestCode, ResponseCode
from wire.requests.handlers import HANDLERS

if TYPE_CHECKING:
    from pathlib import Path

    from halfcheck.pending_transactions import PendingTransaction
    from spark_trace_analysis.audit.audit import Audit
    from spark_trace_analysis.audit.rules.transaction_row import TransactionRow
    from wire.remoting.command import RemotingCommand
    from wire.requests.request import Request

INTERVAL_MS = 20_000
OP_BATCH_MS = 4_000
"""By then the op message of a commit is stored; before, its half is pending in the store."""
SETTINGS = {"transactionTimeOut": 30_000, "transactionCheckInterval": INTERVAL_MS, "transactionCheckMax": 5}


def when_it_came(store: Path, row: TransactionRow, foretold: PendingTransaction, since: int) -> tuple[int | None, int]:
    """When its producer was asked next, None if never, and when it was discarded."""
    log = CommitLog.open(store)
    asked = [
        event.time
        for event in row.history
        if event.event == "put back"
        and event.time > since
        and int(log.record_at(event.at).properties[CHECK_TIMES]) > foretold.row.checks
        and event.time >= row.born + foretold.immunity_ms
    ]
    (discarded,) = (event.time for event in row.history if event.event == "discarded")
    return min(asked, default=None), discarded


@pytest.mark.parametrize(("profile", "seed"), [("4.9.7", 1), ("5.5.1", 2), ("5.3.3", 3), ("5.5.1", 4)])
def test_the_next_check_and_the_discard_come_as_they_were_foretold(tmp_path: Path, profile: str, seed: int) -> None:
    chance = random.Random(seed)
    with broker(tmp_path, profile, conf=SETTINGS) as running, OneProducer(running.address) as one:
        running.controller.topic(TOPIC)
        one.heartbeat()
        for number in range(160):
            immunity = {"CHECK_IMMUNITY_TIME_IN_SECONDS": str(chance.choice([5, 50, 90]))} if number % 5 == 0 else {}
            half = one.half(f"k{number}", **immunity)
            if number % 4 == 0:
                one.end(half, 8)
            if chance.random() < 0.2:
                running.controller.push_clock(chance.randint(100, 9_000))
        running.controller.push_clock(OP_BATCH_MS)
        found = audited_broker(Address.of(running.address), None, None, RowFiles())
        running.controller.push_clock(INTERVAL_MS * 20)
    rows = {row.unique_key: row for row in audit_store(tmp_path / "store").transactions}
    assert len(found.pending) > 100
    for foretold in found.pending:
        row, forecast = rows[foretold.row.unique_key], foretold.forecast
        assert forecast is not None
        asked, discarded = when_it_came(tmp_path / "store", row, foretold, found.copy.read_at_ms)
        assert (asked is None) == (forecast.next_check_at is None)
        assert asked is None or abs(asked - (forecast.next_check_at or 0)) <= INTERVAL_MS
        assert abs(discarded - forecast.discarded_at) <= INTERVAL_MS


def test_the_command_prints_what_is_pending_and_keeps_a_copy_that_is_audited_again(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    copy = tmp_path / "copy"
    with broker(tmp_path) as running, OneProducer(running.address) as one:
        running.controller.topic(TOPIC)
        one.heartbeat()
        one.end(one.half("committed"), 8)
        one.half("open")
        running.controller.push_clock(61_000)
        assert app.run(["audit", "--broker", running.address, "--json", "--copy", str(copy)]) == ExitCode.OK
        found = json.loads(capsys.readouterr().out)
        assert app.run(["audit", "--broker", running.address]) == ExitCode.OK
        words = capsys.readouterr().out
        for asked in (["--namesrv", running.address], ["--namesrv", running.address, "--cluster", "DefaultCluster"]):
            assert app.run(["audit", *asked, "--json"]) == ExitCode.OK
            assert json.loads(capsys.readouterr().out)["counts"] == found["counts"]
        assert app.run(["audit", "--broker", f"{running.address},{running.address}", "--json"]) == ExitCode.OK
        assert [each["counts"] for each in json.loads(capsys.readouterr().out)["brokers"]] == [found["counts"]] * 2
        assert app.run(["audit", "--namesrv", running.address, "--cluster", "x"]) == ExitCode.BAD_OPTION
        assert "--cluster x: the name server knows DefaultCluster" in capsys.readouterr().err
    Draft202012Validator(json.loads(SCHEMA.read_text(encoding="utf-8"))).validate(found)
    assert found["counts"] | {"pending": 0, "delivered": 0} == dict.fromkeys(found["counts"], 0)
    (pending,) = found["broker"]["pending"]
    assert (pending["unique_key"], pending["checks"], pending["checks_left"]) == (unique_key("open"), 2, 13)
    assert (len(pending["producers"]), found["broker"]["release"], found["version"]) == (1, "5.5.1", "5.5.1")
    assert "1 pending" in words
    assert found["broker"]["producers"] == {GROUP: 1}
    assert f"producers that are connected to it now, by group: {GROUP} 1" in words
    assert app.run(["audit", str(copy), "--json", "--version", "5.5.1"]) == ExitCode.OK
    again = json.loads(capsys.readouterr().out)
    assert [again[name] for name in ("transactions", "counts")] == [found[name] for name in ("transactions", "counts")]


@pytest.mark.parametrize(("becomes", "role"), [("slave", "slave"), ("acting_master", "acting slave")])
def test_of_a_slave_nothing_is_foretold_and_who_checks_is_said(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, becomes: str, role: str
) -> None:
    for code in (RequestCode.PULL_MESSAGE, RequestCode.LITE_PULL_MESSAGE):
        monkeypatch.setitem(
            HANDLERS, code, lambda _, request: request.answer(ResponseCode.SYSTEM_BUSY, "[REJECTREQUEST]system busy")
        )
    with broker(tmp_path) as running, OneProducer(running.address) as one:
        running.controller.topic(TOPIC)
        one.heartbeat()
        one.half("open")
        running.controller.role(becomes)
        assert app.run(["audit", "--broker", running.address, "--json"]) == ExitCode.OK
        found = json.loads(capsys.readouterr().out)
        assert app.run(["audit", "--broker", running.address]) == ExitCode.OK
        words = capsys.readouterr().out
    Draft202012Validator(json.loads(SCHEMA.read_text(encoding="utf-8"))).validate(found)
    (pending,) = found["broker"]["pending"]
    assert found["broker"]["role"] == role
    assert [pending[name] for name in ("next_check_at", "checks_left", "discarded_at")] == [None] * 3
    assert ("It is a slave: its master checks" in words) == (role == "slave")
    assert ("It is a slave that acts for its master" in words) == (role == "acting slave")


def test_of_a_broker_that_does_not_tell_the_settings_of_its_rounds_nothing_is_foretold(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def answer(_: object, request: Request) -> RemotingCommand:
        return request.answer(body=b"brokerName=b\ntransactionTimeout=6000\n")

    monkeypatch.setitem(HANDLERS, RequestCode.GET_BROKER_CONFIG, answer)
    with broker(tmp_path) as running, OneProducer(running.address) as one:
        running.controller.topic(TOPIC)
        one.half("open")
        assert app.run(["audit", "--broker", running.address, "--json"]) == ExitCode.OK
        found = json.loads(capsys.readouterr().out)
        assert app.run(["audit", "--broker", running.address]) == ExitCode.OK
        words = capsys.readouterr().out
    (pending,) = found["broker"]["pending"]
    assert [pending[name] for name in ("next_check_at", "checks_left", "discarded_at")] == [None] * 3
    names = ["transactionTimeOut", "transactionCheckInterval", "transactionCheckMax"]
    assert found["broker"]["untold_settings"] == names
    assert f"It does not tell {', '.join(names)}: when a half is checked" in " ".join(words.split())


def test_what_an_acting_slave_has_gone_past_is_unknown_and_on_a_master_it_is_lost(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    found = {}
    with broker(tmp_path) as running, OneProducer(running.address) as one:
        running.controller.topic(TOPIC)
        one.half("passed")
        fields = {"consumerGroup": CHECK_GROUP, "topic": HALF_TOPIC, "queueId": 0, "commitOffset": 1}
        one.ask(RequestCode.UPDATE_CONSUMER_OFFSET, fields)
        for role in ("master", "acting_master"):
            running.controller.role(role)
            assert app.run(["audit", "--broker", running.address, "--json"]) == ExitCode.OK
            found[role] = json.loads(capsys.readouterr().out)
    Draft202012Validator(json.loads(SCHEMA.read_text(encoding="utf-8"))).validate(found["acting_master"])
    rows = {role: each["transactions"][0] for role, each in found.items()}
    assert {role: (row["state"], row["unknown_cause"]) for role, row in rows.items()} == {
        "master": ("lost", None),
        "acting_master": ("unknown", "handed_on"),
    }
    assert {role: each["trace"]["accepted"] for role, each in found.items()} == {"master": False, "acting_master": True}
    assert "audit the other masters" in rows["acting_master"]["advice"]


def test_a_connection_that_a_broker_closes_while_its_store_is_judged_is_made_anew(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    channels: list[BrokerChannel] = []

    class Noted(BrokerChannel):
        def __init__(self, address: Address) -> None:
            super().__init__(address)
            channels.append(self)

    def closed_meanwhile(*arguments: Any, **options: Any) -> Audit:
        for channel in channels:
            channel.close()
        return whole_store.audited_apart(*arguments, **options)

    monkeypatch.setattr(running_broker, "BrokerChannel", Noted)
    monkeypatch.setattr(running_broker, "audited_apart", closed_meanwhile)
    with broker(tmp_path) as running, OneProducer(running.address) as one:
        one.heartbeat()
        one.half("open")
        found = audited_broker(Address.of(running.address), None, None, RowFiles())
    assert [len(each.producers) for each in found.pending] == [1]


def test_neither_an_audit_of_a_broker_nor_its_plan_loads_an_engine(tmp_path: Path) -> None:
    script = """
import sys
from halfcheck.app import run
assert run(sys.argv[1:]) == 0
print(sorted({"numba", "llvmlite"} & set(sys.modules)))
"""
    with broker(tmp_path) as running, OneProducer(running.address) as one:
        one.half("open")
        words = ["audit", "--broker", str(running.address), "--plan", str(tmp_path / "plan.toml")]
        out = subprocess.run([sys.executable, "-c", script, *words], capture_output=True, text=True, check=True).stdout
    assert out.splitlines()[-1] == "[]"


def test_what_is_pending_in_a_large_store_is_told_by_columns_as_in_a_small_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with broker(tmp_path, "5.3.3", conf=SETTINGS) as running, OneProducer(running.address) as one:
        running.controller.topic(TOPIC)
        for number in range(40):
            one.half(f"k{number}", **({"CHECK_IMMUNITY_TIME_IN_SECONDS": "50"} if number % 5 == 0 else {}))
            running.controller.push_clock(1_500)
        running.controller.push_clock(OP_BATCH_MS)
        address = Address.of(running.address)
        small = audited_broker(address, None, None, RowFiles())
        selected = RowFiles(selection=Selection(keys=tuple(unique_key(f"k{number}") for number in (3, 20, 37))))
        few = audited_broker(address, None, None, selected)
        monkeypatch.setattr(whole_store, "_SMALL_BYTES", 0)
        monkeypatch.setattr(staged_audit, "SMALL_SPLIT_BYTES", 4_000)
        monkeypatch.setattr(staged_audit, "SMALL_BUCKET_BYTES", 6_000)
        large = audited_broker(address, None, None, RowFiles(), limit=7)
    assert len(small.rounds) > 1
    assert len(small.pending) == small.pending_total == large.pending_total == 40
    assert {one.immunity_ms for one in small.pending} == {30_000, 50_000}
    assert (large.pending, large.rounds, large.unasked) == (small.pending[:7], small.rounds, small.unasked)
    assert [(group.pending, len(group.keys)) for group in large.unasked] == [(40, 3)]
    chosen = {row.unique_key for row in few.audit.transactions}
    assert list(few.pending) == [one for one in small.pending if one.row.unique_key in chosen]
    assert len(chosen) == few.pending_total == 3


def test_what_can_not_be_read_is_one_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with socket.create_server(("127.0.0.1", 0)) as closed:
        port = closed.getsockname()[1]
    asked = {
        f"127.0.0.1:{port}": (150, "no connection: Connection refused"),
        "nowhere": (151, "'nowhere': expected HOST:PORT"),
    }
    for address, (code, sentence) in asked.items():
        assert app.run(["audit", "--broker", address]) == code
        (line,) = capsys.readouterr().err.splitlines()
        assert sentence in line
    for words in (["--copy", str(tmp_path)], ["--out", "rows"], ["--work", "w"], [str(tmp_path)], ["--cluster", "x"]):
        assert app.run(["audit", "--broker", f"127.0.0.1:{port}", *words]) == ExitCode.BAD_OPTION
        (line,) = capsys.readouterr().err.splitlines()
        assert words[0] in line


def test_a_broker_that_has_stored_nothing_has_no_transactions(tmp_path: Path) -> None:
    with broker(tmp_path) as running:
        found = audited_broker(Address.of(running.address), None, None, RowFiles())
    assert (found.audit.total, found.audit.records, found.audit.damage, found.pending) == (0, 0, 0, ())
