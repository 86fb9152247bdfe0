"""What stood in damage nobody knows: it may have settled a half, or have been its real message."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from spark_trace_analysis.audit.row_files import needs_a_decision
from tests.reference.format.store_writer import StoreWriter
from tests.spark_trace_analysis.audit.both_audits import assert_both

if TYPE_CHECKING:
    from pathlib import Path


@pytest.mark.parametrize("is_behind", [False, True])
def test_of_a_half_that_a_damaged_record_may_have_settled_nobody_knows(tmp_path: Path, *, is_behind: bool) -> None:
    writer = StoreWriter()
    writer.put("T", b"before", {"WAIT": "true"})
    writer.half()
    writer.commit(writer.put_back(writer.half("K2", body=b"other")))
    writer.put("T", b"behind", {"WAIT": "true"})
    writer.log[writer.log.index(b"behind" if is_behind else b"before")] ^= 1
    row = assert_both(writer.write(tmp_path / "s")).transactions[0]
    assert (row.state, row.unknown_cause) == (("unknown", "damaged") if is_behind else ("lost", None))
    assert row.resembles == (), "a copy that outlived nothing (B13) may have stood in what is damaged"


@pytest.mark.parametrize("version", ["4.5.1", "4.9.7", "5.3.3", "5.4.0"])
@pytest.mark.parametrize(("damaged", "state"), [(0, "rolled_back"), (1, "unknown"), (2, "rolled_back")])
def test_an_op_stands_for_no_rollback_where_damage_between_may_hide_the_delivery(
    tmp_path: Path, version: str, damaged: int, state: str
) -> None:
    writer = StoreWriter(version)
    places = [writer.put("Orders", b"before", {"WAIT": "true"})[0]]
    half = writer.half()
    places.append(writer.put("Orders", b"between", {"WAIT": "true"})[0])
    writer.op(half.offset)
    places.append(writer.put("Orders", b"behind", {"WAIT": "true"})[0])
    writer.put("Orders", b"last", {"WAIT": "true"})
    at = places[damaged]
    writer.log[at : at + 40] = bytes(40)
    (row,) = assert_both(writer.write(tmp_path / "s"), split_bytes=300).transactions
    assert (row.state, row.also, row.unknown_cause) == (state, (), "damaged" if state == "unknown" else None)


@pytest.mark.parametrize(("damaged", "states"), [(0, ["parked"]), (1, ["parked", "unknown"]), (2, ["parked"])])
def test_before_a_discard_too_damage_may_hide_a_delivery(tmp_path: Path, damaged: int, states: list[str]) -> None:
    writer = StoreWriter()
    places = [writer.put("Orders", b"before", {"WAIT": "true"})[0]]
    copy = writer.put_back(writer.half())
    places.append(writer.put("Orders", b"between", {"WAIT": "true"})[0])
    writer.discard(copy)
    places.append(writer.put("Orders", b"behind", {"WAIT": "true"})[0])
    writer.put("Orders", b"last", {"WAIT": "true"})
    at = places[damaged]
    writer.log[at : at + 40] = bytes(40)
    (row,) = assert_both(writer.write(tmp_path / "s"), split_bytes=300).transactions
    assert [row.state, *row.also] == states
    assert needs_a_decision(row) is (states == ["parked"])


@pytest.mark.parametrize(("op", "states"), [(0, ["unknown", "delivered"]), (2, ["pending", "delivered"])])
def test_of_two_ops_one_may_be_of_a_delivery_that_is_damaged(tmp_path: Path, op: int, states: list[str]) -> None:
    writer = StoreWriter()
    half = writer.half()
    writer.commit(half)
    at = writer.deliver(half)
    writer.op(half.offset)
    writer.log[at : at + 40] = bytes(40)
    (row,) = assert_both(writer.write(tmp_path / "s", half=0, op=op), split_bytes=300).transactions
    assert [row.state, *row.also] == states
