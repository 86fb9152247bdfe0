"""What an audit is asked for it lists, in one process and in the stages of the Spark job, and writes as flat lines."""

from __future__ import annotations

import csv
from datetime import UTC, datetime
from typing import TYPE_CHECKING

import pytest

from reference.format.commit_log import CommitLog
from spark_trace_analysis.audit.audit_store import audit_store
from spark_trace_analysis.audit.row_files import CSV_COLUMNS, RESEND_COLUMNS, RowFiles, flat, needs_a_decision
from spark_trace_analysis.audit.rules.state import TransactionState
from spark_trace_analysis.audit.selection import Selection, since, states_called
from spark_trace_analysis.errors import BadOptionError
from tests.reference.format.store_writer import StoreWriter
from tests.spark_trace_analysis.audit.both_audits import FEW, NO_TRACE, in_stages

if TYPE_CHECKING:
    from pathlib import Path

LOST, DOUBLED, PARKED, PENDING = (
    TransactionState.LOST, TransactionState.DOUBLED, TransactionState.PARKED, TransactionState.PENDING,
)  # fmt: skip


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """In turn delivered, doubled, parked, rolled back, lost and parked and rolled back; the last two are pending."""
    writer = StoreWriter()
    for number in range(42):
        name = f"order-{number}, 中文" if number % 7 == 0 else f"order-{number} customer-{number % 5}"
        half = writer.half(
            f"K{number}",
            group=f"g{number % 2}",
            body=b"%d" % number,
            KEYS=name,
            TAGS="paid",
            REAL_TOPIC=f"T{number % 3}",
        )
        fate = number % 6
        if fate in (0, 1):
            writer.commit(half)
        if fate == 1:
            writer.commit(half)
        if fate == 2:
            writer.discard(writer.put_back(half))
        if fate == 3:
            writer.op(half.offset)
        if fate == 5:
            copy = writer.put_back(half)
            writer.op(copy.offset)
            writer.discard(copy)
    saved = writer.half("late-1", KEYS="order-7").offset
    writer.put_back(writer.half("late-2", group="g1"))
    return writer.write(tmp_path_factory.mktemp("store") / "s", half=saved)


@pytest.mark.parametrize(
    ("selection", "count"),
    [
        (Selection(), 44),
        (Selection(topics=("T0", "T"), groups=("g1",)), 8),
        (Selection(states=(LOST,)), 7),
        (Selection(states=(PARKED, DOUBLED)), 21),
        (Selection(states=(PENDING, TransactionState.ROLLED_BACK)), 16),
        (Selection(keys=("order-7",)), 1),
        (Selection(keys=("customer-1", "order-0,")), 9),
        (Selection(keys=("order",)), 0),
        (Selection(since_ms=1_014_127), 2),
    ],
)
def test_both_ways_list_and_count_the_same(store: Path, selection: Selection, count: int) -> None:
    one = audit_store(store, question=NO_TRACE).narrowed(selection)
    assert (one.asked_for.total, one.total) == (count, 44)
    limited = in_stages(store, everything=False, limit=5, selection=selection, **FEW)
    assert list(limited.transactions) == list(one.listed(everything=False, limit=5))
    own, other = one.to_json(limit=5), limited.to_json(limit=5)
    assert {name: own[name] for name in ("omitted", "counts", "selected")} == {
        name: other[name] for name in ("omitted", "counts", "selected")
    }
    everything = in_stages(store, selection=selection, **FEW)
    assert (everything.transactions, everything.asked_for) == (one.transactions, one.asked_for)


def lines_of(path: Path) -> list[dict[str, str]]:
    with path.open(encoding="utf-8", newline="") as stream:
        return list(csv.DictReader(stream))


def test_the_lines_of_both_ways_are_those_of_the_rows_that_are_asked_for(store: Path, tmp_path: Path) -> None:
    selection = Selection(groups=("g0",))
    one = RowFiles(csv_path=tmp_path / "one.csv", resend_path=tmp_path / "r1.csv", selection=selection)
    other = RowFiles(csv_path=tmp_path / "other.csv", resend_path=tmp_path / "r2.csv", selection=selection)
    audit = audit_store(store, question=NO_TRACE, row_files=one).narrowed(selection)
    in_stages(store, selection=selection, row_files=other, **FEW)
    names = ("one", "other", "r1", "r2")
    lines = {name: lines_of(tmp_path / f"{name}.csv") for name in names}
    assert lines["one"] == [
        {name: "" if value is None else str(value) for name, value in flat(row).items()} for row in audit.transactions
    ]
    assert (tuple(lines["one"][0]), tuple(lines["r1"][0])) == (CSV_COLUMNS, RESEND_COLUMNS)
    for first, second in (("one", "other"), ("r1", "r2")):
        assert sorted(map(str, lines[first])) == sorted(map(str, lines[second]))
    (parked,) = (line for line in lines["one"] if line["unique_key"] == "K14")
    assert (parked["keys"], parked["state"], parked["half_offsets"]) == ("order-14, 中文", "parked", "18 19")
    assert len(parked["born_at"]) > len("1970-01-01T00:16:40.100+00")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["one.csv", "other.csv", "r1.csv", "r2.csv"]


def test_what_nobody_will_deliver_or_roll_back_is_to_be_decided_by_the_database(store: Path, tmp_path: Path) -> None:
    audit = audit_store(store, question=NO_TRACE, row_files=RowFiles(resend_path=tmp_path / "resend.csv"))
    lines = lines_of(tmp_path / "resend.csv")
    assert {line["state"] for line in lines} == {"lost", "parked"}
    assert {line["unique_key"] for line in lines} == {f"K{number}" for number in range(42) if number % 6 in (2, 4)}
    states = {row.unique_key: (row.state, *row.also) for row in audit.transactions}
    assert states["K5"] == (PARKED, TransactionState.ROLLED_BACK), "rolled back: nothing to send"
    assert all("database" in line["decided_by"] for line in lines)
    log = CommitLog.open(store)
    for line in lines:
        record = log.record_at(int(line["commit_log_offset"]))
        assert (record.properties["UNIQ_KEY"], len(record.body)) == (line["unique_key"], int(line["body_bytes"]))
        assert (line["file"], int(line["byte"])) == log.place(record.physical_offset)
        assert int(line["message_id"][16:], 16) == record.physical_offset
    assert sum(needs_a_decision(row) for row in audit.transactions) == len(lines)


def test_the_lines_say_why_nobody_knows_what_became_of_a_half(tmp_path: Path) -> None:
    writer = StoreWriter()
    writer.commit(writer.half())
    writer.half("K2")
    store = writer.write(tmp_path / "s", half=9)
    audit_store(store, question=NO_TRACE, row_files=RowFiles(csv_path=tmp_path / "rows.csv"))
    lines = [(line["state"], line["unknown_cause"]) for line in lines_of(tmp_path / "rows.csv")]
    assert lines == [("delivered", ""), ("unknown", "half_offset_ahead")]


@pytest.mark.parametrize("commits", [0, 1, 2])
def test_nobody_decides_about_a_discarded_one_that_was_delivered_as_well(tmp_path: Path, commits: int) -> None:
    writer = StoreWriter()
    copy = writer.put_back(writer.half())
    writer.discard(copy)
    for _ in range(commits):
        writer.commit(copy)
    (row,) = audit_store(writer.write(tmp_path / "s"), question=NO_TRACE).transactions
    assert PARKED in (row.state, *row.also)
    assert needs_a_decision(row) is (commits == 0)


def test_what_is_no_state_or_no_time_is_named() -> None:
    assert states_called("--state", ["lost", "rolled back"]) == (LOST, TransactionState.ROLLED_BACK)
    with pytest.raises(BadOptionError, match="--state: no state 'gone'; there are lost, doubled"):
        states_called("--state", ["lost", "gone"])
    now = datetime(2026, 3, 1, 12, tzinfo=UTC)
    assert since("90s", now) == now.timestamp() * 1_000 - 90_000
    assert since("1w", now) == since("7d", now)
    for text in ("yesterday", "2 fortnights", "-3h", "99999-01-01", "10000000000d"):
        with pytest.raises(BadOptionError, match="expected a time such as"):
            since(text, now)
