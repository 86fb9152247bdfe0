"""Of what grows with a store the driver keeps the gravest rows and the first damage; all rows go into files."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from operator import itemgetter
from typing import TYPE_CHECKING

import pyarrow.parquet as pq
import pytest

from reference.format.errors import CorruptRegion
from spark_trace_analysis.audit.audit_folders import write_audit
from spark_trace_analysis.audit.audit_store import audit_store
from spark_trace_analysis.audit.rules import damage as damage_module
from spark_trace_analysis.audit.rules.damage import Damage, DamageFinding, Rank
from spark_trace_analysis.audit.rules.transaction_row import Moments, TransactionRow
from tests.reference.format.store_writer import StoreWriter
from tests.spark_trace_analysis.audit.both_audits import FEW, NO_TRACE, in_stages

if TYPE_CHECKING:
    from pathlib import Path

MANY = {**FEW, "bucket_bytes": 1_500}


@pytest.fixture
def store(tmp_path: Path) -> Path:
    """Delivered, doubled, parked, pending and unknown transactions in turn, and two ops that name halves to come."""
    writer = StoreWriter()
    pending = []
    for number in range(40):
        body = b"%d" % number
        half = (
            writer.half(f"K{number}", body=body, KEYS="order 7", TAGS="paid")
            if number % 3
            else writer.half(f"K{number}", body=body)
        )
        if number % 5 == 0:
            writer.commit(half)
        elif number % 5 == 1:
            writer.commit(half)
            writer.commit(half)
        elif number % 5 == 2:
            writer.discard(writer.put_back(half))
        elif number % 5 == 3:
            pending.append(half)
    copies = [writer.put_back(half) for half in pending]
    writer.op(900)
    writer.op(901)
    return writer.write(tmp_path / "s", half=copies[0].offset)


@pytest.mark.parametrize("limit", [0, 1, 7, 31, 32, 1000])
def test_the_gravest_rows_of_all_buckets_are_listed_up_to_the_limit(store: Path, limit: int) -> None:
    one = audit_store(store, question=NO_TRACE)
    assert {"doubled", "unknown", "parked", "pending"} <= {row.state.value for row in one.transactions}
    other = in_stages(store, everything=False, limit=limit, **MANY)
    assert len(other.transactions) == min(limit, 32)
    assert list(other.listed(everything=False, limit=limit)) == list(one.listed(everything=False, limit=limit))


def as_ms(moment: datetime) -> int:
    return (moment - datetime.fromtimestamp(0, UTC)) // timedelta(milliseconds=1)


def test_both_ways_write_the_same_rows_and_summary(store: Path, tmp_path: Path) -> None:
    one = audit_store(store, question=NO_TRACE)
    write_audit(one, tmp_path / "one")
    in_stages(store, out=tmp_path / "other", **MANY)
    rows = [
        sorted(map(TransactionRow.of, pq.read_table(tmp_path / name).to_pylist()), key=lambda row: row.first_offset)
        for name in ("one", "other")
    ]
    assert rows[0] == rows[1] == list(one.transactions)
    flat = [
        [
            {name: value for name, value in row.items() if not isinstance(value, list)}
            for row in sorted(pq.read_table(tmp_path / name).to_pylist(), key=itemgetter("first_offset"))
        ]
        for name in ("one", "other")
    ]
    assert flat[0] == flat[1]
    assert {(row["keys"], row["tags"]) for row in flat[0]} == {("order 7", "paid"), ("", "")}
    for row, content in zip(rows[0], flat[0], strict=True):
        milliseconds = {name: None if content[name] is None else as_ms(content[name]) for name in Moments._fields}
        assert milliseconds == row.moments._asdict()
    summaries = [json.loads((tmp_path / name / "_audit.json").read_text(encoding="utf-8")) for name in ("one", "other")]
    assert summaries[0] == summaries[1]
    assert [len(summaries[0][name]) for name in ("corrupt", "transactions")] == [2, 0]
    assert sorted(path.name for path in tmp_path.iterdir()) == ["one", "other", "s"]


def finding(rank: Rank, offset: int, reason: str = "wrong") -> DamageFinding:
    return DamageFinding(rank, offset, "commitlog/0", offset, reason)


def test_of_two_findings_in_one_place_the_first_rule_is_told_whichever_came_first() -> None:
    early, late = finding(Rank.QUEUE, 7, "first"), finding(Rank.FORM, 7, "second")
    for order in ([early, late], [late, early]):
        damage = Damage()
        damage.take(order)
        assert (damage.count, list(damage.regions())) == (1, [CorruptRegion("commitlog/0", 7, "first")])


def test_two_findings_of_the_log_in_one_place_are_both_told_and_hide_what_else_is_found_there() -> None:
    damage = Damage()
    damage.take([finding(Rank.FORM, 7), finding(Rank.LOG, 7, "a"), finding(Rank.LOG, 7, "b"), finding(Rank.KEYS, 8)])
    assert [region.reason for region in damage.regions()] == ["a", "b", "wrong"]
    assert (damage.count, damage.of_log, damage.first_of_log) == (3, 2, "a")


def test_damage_beyond_a_number_is_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(damage_module, "_MOST_DAMAGE", 3)
    damage = Damage()
    damage.take(finding(Rank.LOG, offset) for offset in range(10))
    assert (damage.count, len(list(damage.regions()))) == (10, 3)
