"""A wrong byte that no checksum covers is found where the rest of the store says otherwise."""

from __future__ import annotations

import random
import shutil
from typing import TYPE_CHECKING

import pytest

from conformance.golden_stores import golden_store
from reference.format.commit_log import CommitLog
from reference.format.errors import CorruptRegion, StoreError
from spark_trace_analysis.audit.audit_store import audit_store
from tests.reference.format.store_writer import PRODUCER, StoreWriter
from tests.spark_trace_analysis.audit.both_audits import FEW, assert_both

if TYPE_CHECKING:
    from pathlib import Path


FLIPS = 120


def found_in(store: Path) -> list[CorruptRegion]:
    try:
        return list(audit_store(store).corrupt)
    except StoreError:
        return []


@pytest.mark.parametrize(
    ("version", "scenario"), [("4.5.1", "late"), ("4.9.7", "ten"), ("5.3.3", "five"), ("5.4.0", "immunity")]
)
def test_of_random_single_bit_flips_anywhere_in_a_log_at_least_nineteen_in_twenty_are_found(
    tmp_path: Path, version: str, scenario: str
) -> None:
    """What is left is said once only: some milliseconds, the keys of a message rolled back at once."""
    source = golden_store(version, scenario).path
    store = tmp_path / "store"
    shutil.copytree(source, store, ignore=shutil.ignore_patterns("*.gz"))
    path = store / "commitlog" / f"{0:020d}"
    good = path.read_bytes()
    choose = random.Random(f"{version} {scenario}")
    found = 0
    for _ in range(FLIPS):
        raw = bytearray(good)
        raw[choose.randrange(len(raw))] ^= 1 << choose.randrange(8)
        path.write_bytes(raw)
        found += bool(found_in(store))
    path.write_bytes(good)
    assert found_in(store) == []
    assert found >= FLIPS * 19 // 20


def test_a_record_that_disagrees_with_its_siblings_is_named(tmp_path: Path) -> None:
    writer = StoreWriter()
    half = writer.half(KEYS="order-1")
    copy = writer.put_back(half)
    copy.properties["KEYS"] = "order-2"
    place = len(writer.log)
    last = writer.put_back(copy)
    last.properties["KEYS"] = "order-1"
    writer.commit(last)
    (region,) = assert_both(writer.write(tmp_path / "s"), **FEW).corrupt
    assert region.offset == place
    assert region.reason == "the property KEYS is 'order-2', in the transaction's other records it is 'order-1'"


def test_a_half_that_an_operator_has_resumed_is_no_damage(tmp_path: Path) -> None:
    """RESUME_CHECK_HALF_MESSAGE puts a discarded half back with no check counted; without a discard nobody does."""
    for is_discarded in (True, False):
        writer = StoreWriter()
        last = writer.put_back(writer.half())
        if is_discarded:
            writer.discard(last)
        last.properties["TRANSACTION_CHECK_TIMES"] = "-1"
        place = len(writer.log)
        writer.commit(writer.put_back(last))
        audit = assert_both(writer.write(tmp_path / f"{is_discarded}"), **FEW)
        assert [region.offset for region in audit.corrupt] == ([] if is_discarded else [place])
        (row,) = audit.transactions
        assert (row.state == "parked", row.deliveries) == (is_discarded, 1)


def test_a_commit_from_a_place_where_no_half_stands_is_named(tmp_path: Path) -> None:
    writer = StoreWriter()
    writer.put("T", b"first", {"WAIT": "true"})
    half = writer.half()
    half.physical += 8
    place = len(writer.log)
    writer.commit(half)
    (region,) = assert_both(writer.write(tmp_path / "s"), **FEW).corrupt
    assert (region.offset, "where no half of its transaction stands" in region.reason) == (place, True)


@pytest.mark.parametrize(("version", "dropped"), [("5.3.3", ()), ("5.4.0", ("REAL_TOPIC", "REAL_QID"))])
def test_a_message_that_was_delivered_to_another_topic_than_its_half_says_is_named(
    tmp_path: Path, version: str, dropped: tuple[str, ...]
) -> None:
    writer = StoreWriter(version)
    half = writer.half()
    place = len(writer.log)
    shared = {name: value for name, value in half.properties.items() if name not in dropped}
    writer.put("U", half.body, shared, born=half.born, born_host=PRODUCER, prepared=half.physical, sys_flag=8)
    writer.op(half.offset)
    (region,) = assert_both(writer.write(tmp_path / "s"), **FEW).corrupt
    assert (region.offset, region.reason.startswith("the real topic is 'U")) == (place, True)


@pytest.mark.parametrize(
    ("own", "is_damage"),
    [
        ({"WAIT": "false", "UNIQ_KEY": "7F000001"}, False),
        ({"WAIT": "true", "UNIQ_KEY": "7F000001"}, True),
        ({"WAIT": "false"}, True),
        ({"WAIT": "true", "KEYS": "7F000001"}, True),
    ],
)
def test_an_op_message_may_be_as_rocketmq_rust_writes_it(
    tmp_path: Path, own: dict[str, str], *, is_damage: bool
) -> None:
    writer = StoreWriter()
    half = writer.half()
    writer.deliver(half)
    place = len(writer.log)
    writer.put("RMQ_SYS_TRANS_OP_HALF_TOPIC", b"0,", {**own, "TAGS": "d"}, born_host=bytes([127, 0, 0, 1]))
    audit = assert_both(writer.write(tmp_path / "s"), **FEW)
    assert [region.offset for region in audit.corrupt] == ([place] if is_damage else [])
    assert [row.state for row in audit.transactions] == ["delivered"]


@pytest.mark.parametrize(("waits", "is_damage"), [("false", False), ("true", True)])
def test_a_half_that_was_handed_on_twice_may_be_for_two_queues(tmp_path: Path, waits: str, *, is_damage: bool) -> None:
    """An acting slave of a real 5.5.1 handed on each copy of a half, and each to the next queue of another master."""
    writer = StoreWriter()
    halves = [writer.half(WAIT=waits)]
    for checks in ("1", "2"):
        halves.append(writer.put_back(halves[-1]))
        halves[-1].properties["TRANSACTION_CHECK_TIMES"] = checks
    place = len(writer.log)
    halves[-1].properties["REAL_QID"] = "3"
    writer.put_back(halves[-1])
    audit = assert_both(writer.write(tmp_path / "s"), **FEW)
    assert [(one.offset, "the real queue is '3'" in one.reason) for one in audit.corrupt] == (
        [(place, True)] if is_damage else []
    )


def test_an_op_that_names_a_half_which_did_not_exist_is_named(tmp_path: Path) -> None:
    writer = StoreWriter()
    writer.half()
    place = len(writer.log)
    writer.op(5)
    (region,) = assert_both(writer.write(tmp_path / "s"), **FEW).corrupt
    assert (region.offset, region.reason) == (
        place,
        "the op names half 5, but the half queue ended at 1 when it was written",
    )


def test_an_op_body_that_is_no_list_of_offsets_is_named(tmp_path: Path) -> None:
    writer = StoreWriter("4.9.7")
    writer.half()
    place = len(writer.log)
    writer.put("RMQ_SYS_TRANS_OP_HALF_TOPIC", b"zero", {"WAIT": "true", "TAGS": "d"}, born_host=bytes([127, 0, 0, 1]))
    (region,) = assert_both(writer.write(tmp_path / "s"), **FEW).corrupt
    assert (region.offset, region.reason) == (place, "the op body b'zero' is not a list of half offsets")


def test_without_consume_queues_each_queue_must_count_up(tmp_path: Path) -> None:
    writer = StoreWriter()
    writer.half()
    writer.ends["RMQ_SYS_TRANS_HALF_TOPIC", 0] = 4
    place = len(writer.log)
    writer.half("K2", body=b"other")
    (region,) = assert_both(writer.write(tmp_path / "s", has_queues=False), **FEW).corrupt
    assert (region.offset, region.reason) == (place, "RMQ_SYS_TRANS_HALF_TOPIC/0 goes on at 4, expected 1")


def test_a_deleted_and_recreated_topic_raises_no_alarm(tmp_path: Path) -> None:
    writer = StoreWriter()
    for _ in range(3):
        writer.put("T", b"old", {"WAIT": "true"})
    writer.ends.pop(("T", 0))
    writer.entries.pop(("T", 0))
    writer.put("T", b"new", {"WAIT": "true"})
    assert assert_both(writer.write(tmp_path / "s"), **FEW).corrupt == ()


def test_a_put_back_without_the_copy_before_it_is_named(tmp_path: Path) -> None:
    writer = StoreWriter()
    half = writer.half()
    half.properties["TRANSACTION_CHECK_TIMES"] = "3"
    place = len(writer.log) + 0
    writer.commit(writer.put_back(half))
    (region,) = assert_both(writer.write(tmp_path / "s"), **FEW).corrupt
    assert (region.offset, "no copy with the one before it" in region.reason) == (place, True)


def test_the_reader_of_a_damaged_store_still_gives_every_other_record(tmp_path: Path) -> None:
    writer = StoreWriter()
    for index in range(5):
        writer.commit(writer.half(f"K{index}", body=b"body %d" % index))
    store = writer.write(tmp_path / "s")
    path = store / "commitlog" / f"{0:020d}"
    starts = [record.physical_offset for record in CommitLog.open(store).records()]
    raw = bytearray(path.read_bytes())
    raw[starts[3] : starts[4]] = bytes(starts[4] - starts[3])
    path.write_bytes(raw)
    audit = assert_both(store, **FEW)
    assert audit.records == 14
    assert [row.state for row in audit.transactions] == ["delivered"] * 5
    assert audit.corrupt[0].offset == starts[3]
