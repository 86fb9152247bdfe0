"""For every golden store the audit says what the client saw and what another program decoded."""

from __future__ import annotations

import json
import shutil
from collections import Counter
from typing import TYPE_CHECKING

import pytest
from jsonschema import Draft202012Validator

from conformance.golden_stores import GoldenStore, golden_store, golden_stores
from spark_trace_analysis.audit.audit import SCHEMA
from spark_trace_analysis.audit.audit_store import audit_store
from tests.conformance.decoded_store import decoded_records
from tests.model_check.checked import untraced

if TYPE_CHECKING:
    from pathlib import Path

    from spark_trace_analysis.audit.audit import Audit

HALF, OP, DISCARD = "RMQ_SYS_TRANS_HALF_TOPIC", "RMQ_SYS_TRANS_OP_HALF_TOPIC", "TRANS_CHECK_MAX_TIME_TOPIC"
SYSTEM = {HALF, OP, DISCARD}

COUNTS = {
    "4.5.1/five": "1 lost, 2 delivered, 2 rolled_back",
    "4.5.1/forever": "1 lost",
    "4.5.1/immunity": "1 doubled, 6 delivered",
    "4.5.1/late": "4 doubled, 3 delivered",
    "4.5.1/mixed": "6 lost, 67 doubled, 50 delivered, 77 rolled_back",
    "4.5.1/ten": "1 lost, 6 delivered, 3 rolled_back",
    "4.9.7/crash2": "3 parked, 4 delivered, 2 rolled_back",
    "4.9.7/five": "1 parked, 2 delivered, 2 rolled_back",
    "4.9.7/forever": "1 parked",
    "4.9.7/gone": "3 delivered, 1 rolled_back",
    "4.9.7/immunity": "1 doubled, 6 delivered",
    "4.9.7/late": "4 doubled, 3 delivered",
    "4.9.7/mixed": "6 parked, 117 delivered, 77 rolled_back",
    "4.9.7/ten": "1 parked, 6 delivered, 3 rolled_back",
    "4.9.7/wide": "1 parked, 1252 delivered, 156 rolled_back",
    "5.0.0/forever_short": "1 parked",
    "5.1.0/forever_short": "1 parked",
    "5.2.0/forever_short": "1 parked",
    "5.3.3/crash": "3 doubled, 1 parked, 2 delivered, 3 rolled_back",
    "5.3.3/crash2": "1 doubled, 1 parked, 4 delivered, 3 rolled_back",
    "5.3.3/five": "1 parked, 2 delivered, 2 rolled_back",
    "5.3.3/forever": "1 parked",
    "5.3.3/immunity": "1 doubled, 6 delivered",
    "5.3.3/late": "3 doubled, 1 parked, 3 delivered",
    "5.3.3/mixed": "4 doubled, 6 parked, 113 delivered, 77 rolled_back",
    "5.3.3/seed394": "1 parked",
    "5.3.3/ten": "1 parked, 6 delivered, 3 rolled_back",
    "5.3.3/wide": "5 doubled, 1 parked, 1247 delivered, 156 rolled_back",
    "5.4.0/crash": "3 doubled, 1 parked, 2 delivered, 3 rolled_back",
    "5.4.0/five": "1 parked, 2 delivered, 2 rolled_back",
    "5.4.0/forever": "1 parked",
    "5.4.0/immunity": "1 doubled, 6 delivered",
    "5.4.0/late": "3 doubled, 1 parked, 3 delivered",
    "5.4.0/ten": "1 parked, 6 delivered, 3 rolled_back",
    "5.5.0/crash2": "1 doubled, 1 parked, 4 delivered, 3 rolled_back",
    "5.5.0/five": "1 parked, 2 delivered, 2 rolled_back",
    "5.5.0/immunity": "1 doubled, 6 delivered",
    "5.5.0/late": "3 doubled, 1 parked, 3 delivered",
    "5.5.0/mixed": "4 doubled, 6 parked, 113 delivered, 77 rolled_back",
    "5.5.1/five": "1 parked, 2 delivered, 2 rolled_back",
    "5.5.1/gone": "3 delivered, 1 rolled_back",
    "5.5.1/immunity": "1 doubled, 6 delivered",
    "5.5.1/late": "3 doubled, 1 parked, 3 delivered",
}

RESEMBLES = {
    "4.5.1/five": "A31",
    "4.5.1/forever": "A31",
    "4.5.1/immunity": "B01",
    "4.5.1/late": "A11, 2 A12, 2 A13, 2 A14",
    "4.5.1/mixed": "104 A02, 6 A31",
    "4.5.1/ten": "A31",
    "4.9.7/crash2": "3 B16",
    "4.9.7/immunity": "B01",
    "4.9.7/late": "A11, 2 A12, 2 A13, 3 A14",
    "4.9.7/wide": "2 B32",
    "5.3.3/crash": "B02, 4 B16",
    "5.3.3/crash2": "3 B16",
    "5.3.3/immunity": "B01",
    "5.3.3/late": "A11, A12, A13, 2 A14",
    "5.3.3/mixed": "6 B06",
    "5.3.3/wide": "5 B05, 2 B32",
    "5.4.0/crash": "B02, 4 B16",
    "5.4.0/immunity": "B01",
    "5.4.0/late": "A11, A12, A13, 2 A14",
    "5.5.0/crash2": "3 B16",
    "5.5.0/immunity": "B01",
    "5.5.0/late": "A10, A11, A12, A13, 2 A14",
    "5.5.0/mixed": "6 B06",
    "5.5.1/immunity": "B01",
    "5.5.1/late": "A10, A11, A12, A13, 2 A14",
}

STORES = golden_stores()
AUDITS: dict[str, Audit] = {}


@pytest.fixture(
    params=[
        pytest.param(store, id=store.name, marks=pytest.mark.sweep if store.scenario == "wide" else ())
        for store in STORES
    ]
)
def golden(request: pytest.FixtureRequest) -> GoldenStore:
    store = request.param
    assert isinstance(store, GoldenStore)
    return store


def audit_of(golden: GoldenStore) -> Audit:
    """Each store is audited once for all the tests of this file."""
    if golden.name not in AUDITS:
        with untraced():
            AUDITS[golden.name] = audit_store(golden.path)
    return AUDITS[golden.name]


def test_there_are_43_stores_to_judge() -> None:
    assert [store.name for store in STORES] == sorted(COUNTS)


def test_a_clean_store_raises_no_alarm(golden: GoldenStore) -> None:
    assert audit_of(golden).corrupt == ()
    assert audit_of(golden).notes == ()


def test_the_json_of_all_transactions_holds_to_its_schema(golden: GoldenStore) -> None:
    schema = json.loads(SCHEMA.read_text(encoding="utf-8"))
    content = audit_of(golden).to_json(everything=True)
    assert not list(Draft202012Validator(schema).iter_errors(content))
    assert content["trace"]["accepted"] is True


def test_the_counts_by_state_are_pinned(golden: GoldenStore) -> None:
    counts = audit_of(golden).counts
    assert ", ".join(f"{count} {state}" for state, count in counts.items() if count) == COUNTS[golden.name]


def test_the_resembled_defects_are_pinned(golden: GoldenStore) -> None:
    seen = Counter(name for row in audit_of(golden).transactions for name in row.resembles)
    text = ", ".join(name if count == 1 else f"{count} {name}" for name, count in sorted(seen.items()))
    assert text == RESEMBLES.get(golden.name, "")


def test_the_consumer_got_each_message_as_often_as_the_table_says(golden: GoldenStore) -> None:
    seen: Counter[str] = Counter()
    for event in golden.driver_events():
        if event["ev"] == "delivered":
            seen[dict(event["msg"]["properties"])["UNIQ_KEY"]] += 1
    rows = audit_of(golden).transactions
    assert {row.unique_key: row.deliveries for row in rows if row.deliveries} == seen


def test_the_producer_sent_exactly_the_transactions_of_the_table(golden: GoldenStore) -> None:
    sent = Counter(
        event["msgId"] for event in golden.driver_events() if event["ev"] == "send" and event.get("status") == "SEND_OK"
    )
    assert Counter(row.unique_key for row in audit_of(golden).transactions) == sent


def test_no_transaction_was_checked_more_often_than_it_was_put_back(golden: GoldenStore) -> None:
    checked: Counter[str] = Counter()
    for event in golden.driver_events():
        if event["ev"] == "check":
            checked[dict(event["msg"]["properties"])["UNIQ_KEY"]] += 1
    put_backs = {row.unique_key: row.put_backs for row in audit_of(golden).transactions}
    assert all(count <= put_backs[key] for key, count in checked.items())


def test_every_column_agrees_with_the_independent_decoding(golden: GoldenStore) -> None:
    halves: dict[str, list[int]] = {}
    checks: dict[str, int] = {}
    put_backs: Counter[str] = Counter()
    deliveries: Counter[str] = Counter()
    discards: Counter[str] = Counter()
    ops: dict[int, list[int]] = {}
    names: dict[str, tuple[str, str]] = {}
    records = events = 0
    for line in decoded_records(golden):
        if line.get("blank"):
            continue
        records += 1
        events += 1
        properties, topic = dict(line["properties"]), line["topic"]
        if topic == OP:
            for offset in filter(None, line["body"].split(",")):
                ops.setdefault(int(offset), []).append(line["queueOffset"])
            continue
        key = properties["UNIQ_KEY"]
        if topic == HALF:
            halves.setdefault(key, []).append(line["queueOffset"])
            checks[key] = int(properties.get("TRANSACTION_CHECK_TIMES", "0"))
            put_backs[key] += "TRANSACTION_CHECK_TIMES" in properties
            names[key] = properties["PGROUP"], properties["REAL_TOPIC"]
        elif topic == DISCARD:
            discards[key] += 1
        else:
            deliveries[key] += 1
    audit = audit_of(golden)
    assert (audit.records, audit.events) == (records, events)
    assert [row.unique_key for row in audit.transactions] == list(halves)
    for row in audit.transactions:
        key = row.unique_key
        assert (row.group, row.topic) == names[key]
        assert list(row.half_offsets) == halves[key]
        assert (row.checks, row.put_backs, row.deliveries) == (checks[key], put_backs[key], deliveries[key])
        named = sorted({op for offset in halves[key] for op in ops.get(offset, [])})
        assert sorted(row.op_offsets) == named
        states = {row.state, *row.also}
        assert ("parked" in states) is bool(discards[key])
        assert ("doubled" in states) is (deliveries[key] > 1)
        assert ("delivered" in states) is (deliveries[key] == 1)
        assert "pending" not in states
        is_lost = not deliveries[key] and not discards[key] and not named
        assert (row.state == "lost") is is_lost


def test_the_version_of_every_golden_store_is_found(golden: GoldenStore) -> None:
    """A delivery tells the releases from 5.4.0 on from those before, and the configuration these from each other."""
    ranges = {"5.2.0": "5.2.0-5.3.3", "5.3.3": "5.2.0-5.3.3"}
    assert audit_of(golden).version == ranges.get(golden.version, golden.version)


@pytest.mark.parametrize(
    ("name", "without", "version"),
    [
        ("5.4.0/late", ("consumerOrderInfo.json",), "5.4.0-5.5.1"),
        ("5.4.0/forever", ("consumerOrderInfo.json",), "5.2.0-5.5.1"),
        ("5.5.0/late", ("consumerOrderInfo.json",), "5.5.0"),
        ("5.5.0/late", ("consumerOffset.json", "consumerOrderInfo.json"), "5.4.0-5.5.1"),
        ("5.5.0/late", ("consumerOffset.json",), "5.5.0-5.5.1"),
        ("5.5.1/late", ("consumerOrderInfo.json",), "5.4.0-5.5.1"),
    ],
)
def test_without_its_configuration_a_store_does_not_tell_the_newest_releases_apart(
    name: str, without: tuple[str, ...], version: str, tmp_path: Path
) -> None:
    store = tmp_path / "store"
    shutil.copytree(golden_store(*name.split("/")).path, store)
    for file in without:
        (store / "config" / file).unlink()
    assert audit_store(store).version == version


def test_a_configuration_that_no_writer_of_the_records_saved_tells_nothing(tmp_path: Path) -> None:
    shutil.copytree(golden_store("4.9.7", "five").path, tmp_path / "store")
    shutil.copytree(golden_store("5.5.1", "five").path / "config", tmp_path / "store/config", dirs_exist_ok=True)
    assert audit_store(tmp_path / "store").version == "4.9.7"


@pytest.mark.parametrize("version", ["4.9.7", "5.3.3"])
def test_what_was_pending_at_the_kill_is_pending_in_the_store_of_that_moment(version: str) -> None:
    at_kill = golden_store(version, "crash2").at_kill
    assert at_kill is not None
    audit = audit_store(at_kill)
    assert audit.corrupt == ()
    states = [(row.state, row.put_backs, len(row.op_offsets)) for row in audit.transactions]
    assert states == [
        ("delivered", 0, 1),
        ("rolled_back", 0, 1),
        ("delivered", 1, 1),
        ("pending", 3, 0),
        ("pending", 3, 0),
        ("pending", 3, 0),
        ("delivered", 0, 1),
        ("rolled_back", 0, 1),
    ]
