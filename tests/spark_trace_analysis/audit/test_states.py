"""Each state of a transaction follows from the records and the saved offsets as a broker would act on them."""

from __future__ import annotations

import struct
from typing import TYPE_CHECKING

import pytest

from reference.format.errors import NotAStoreError, StoreError
from spark_trace_analysis.audit.audit_store import audit_store
from tests.reference.format.store_writer import StoreWriter, record_bytes
from tests.spark_trace_analysis.audit.both_audits import assert_both

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from spark_trace_analysis.audit.rules.transaction_row import TransactionRow

BOTH = pytest.mark.parametrize("version", ["4.5.1", "4.9.7", "5.3.3", "5.4.0"])


def only_row(store: Path) -> TransactionRow:
    audit = assert_both(store)
    assert audit.corrupt == ()
    (row,) = audit.transactions
    return row


def states(store: Path) -> list[str]:
    row = only_row(store)
    return [row.state, *row.also]


@BOTH
def test_one_commit_is_delivered(tmp_path: Path, version: str) -> None:
    writer = StoreWriter(version)
    writer.commit(writer.put_back(writer.half()))
    row = only_row(writer.write(tmp_path / "s"))
    assert [row.state, *row.also] == ["delivered"]
    assert row.is_plain
    assert (row.deliveries, row.checks, row.put_backs, row.half_offsets, row.op_offsets) == (1, 1, 1, (0, 1), (0,))


@BOTH
def test_an_op_without_a_delivery_is_rolled_back(tmp_path: Path, version: str) -> None:
    writer = StoreWriter(version)
    writer.op(writer.half().offset)
    assert states(writer.write(tmp_path / "s")) == ["rolled_back"]


@BOTH
@pytest.mark.parametrize("immunity", ["100", "-1"])
def test_an_op_for_a_stale_copy_and_an_immunity_put_back_do_not_make_a_rollback_lost(
    tmp_path: Path, version: str, immunity: str
) -> None:
    """An immunity of -1 stands for the transaction timeout."""
    writer = StoreWriter(version)
    half = writer.half(CHECK_IMMUNITY_TIME_IN_SECONDS=immunity)
    copy = writer.put_back(half, immune=True)
    writer.op(half.offset)
    last = writer.put_back(copy, immune=True)
    assert states(writer.write(tmp_path / "s")) == ["rolled_back"]
    assert states(writer.write(tmp_path / "t", half=last.offset)) == ["pending", "rolled_back"]


@BOTH
def test_two_real_records_are_doubled(tmp_path: Path, version: str) -> None:
    writer = StoreWriter(version)
    half = writer.half()
    writer.commit(half)
    writer.commit(half)
    assert states(writer.write(tmp_path / "s")) == ["doubled"]


def test_a_discard_is_parked_and_what_else_it_is_is_listed(tmp_path: Path) -> None:
    writer = StoreWriter()
    half = writer.half()
    copy = writer.put_back(half)
    writer.discard(copy)
    assert states(writer.write(tmp_path / "s")) == ["parked"]
    writer.commit(copy)
    assert states(writer.write(tmp_path / "t")) == ["parked", "delivered"]
    writer.commit(copy)
    assert states(writer.write(tmp_path / "u")) == ["doubled", "parked"]


@BOTH
def test_a_half_at_the_saved_offset_is_pending_and_one_behind_it_is_lost(tmp_path: Path, version: str) -> None:
    writer = StoreWriter(version)
    writer.half()
    assert states(writer.write(tmp_path / "s", half=0)) == ["pending"]
    assert states(writer.write(tmp_path / "t", half=1)) == ["lost"]


def stores_with_an_older_log(folder: Path) -> Iterator[Path]:
    """A half behind the saved offset, and each file that may be of a later moment than the log."""
    writer = StoreWriter()
    writer.half()
    yield writer.write(folder / "op", op=1)
    checkpoint = writer.write(folder / "checkpoint")
    (checkpoint / "checkpoint").write_bytes(struct.pack(">qqq", writer.now + 1, 0, 0).ljust(4096, b"\0"))
    yield checkpoint
    log = bytes(writer.log)
    writer.put("Orders", b"ordinary", {"WAIT": "true"})
    queue = writer.write(folder / "queue")
    (queue / "commitlog" / f"{0:020d}").write_bytes(log)
    yield queue
    group = writer.write(folder / "group")
    offsets = group / "config" / "consumerOffset.json"
    offsets.write_text(offsets.read_text().replace('"offsetTable":{', '"offsetTable":{"Orders@readers":{0:2},'))
    yield group


def test_where_a_file_shows_that_the_log_is_older_nobody_knows_of_what_seems_lost(tmp_path: Path) -> None:
    for number, store in enumerate(stores_with_an_older_log(tmp_path)):
        audit = assert_both(store, split_bytes=300)
        assert [(row.state, row.unknown_cause) for row in audit.transactions] == [("unknown", "skewed")], store
        assert any("of different moments" in note for note in audit.notes) == (number > 0)


def test_a_half_that_a_round_has_passed_without_a_trace_is_lost_however_old_the_log_is(tmp_path: Path) -> None:
    writer = StoreWriter()
    writer.half()
    writer.commit(writer.put_back(writer.half("K2", body=b"other")))
    for folder, half, state in (("s", None, "lost"), ("t", 0, "pending")):
        store = writer.write(tmp_path / folder, half=half)
        (store / "checkpoint").write_bytes(struct.pack(">qqq", writer.now + 1, 0, 0))
        audit = assert_both(store, split_bytes=300)
        assert next(row.state for row in audit.transactions) == state
        assert "of different moments: checkpoint" in audit.notes[0]


def test_a_superseded_half_is_hidden_by_the_offset_alone(tmp_path: Path) -> None:
    writer = StoreWriter()
    copy = writer.put_back(writer.half())
    writer.commit(copy)
    assert states(writer.write(tmp_path / "s", half=1, op=0)) == ["delivered"]
    row = only_row(writer.write(tmp_path / "t", half=0, op=0))
    assert ([row.state, *row.also], row.unknown_cause) == (["unknown", "delivered"], "passed_already")
    assert states(writer.write(tmp_path / "u", half=1, op=1)) == ["pending", "delivered"]


def test_an_op_that_the_saved_op_offset_has_passed_does_not_resolve_a_half_that_is_still_ahead(tmp_path: Path) -> None:
    writer = StoreWriter()
    writer.commit(writer.half())
    assert states(writer.write(tmp_path / "s", half=0, op=0)) == ["delivered"]
    assert states(writer.write(tmp_path / "t", half=0, op=1)) == ["pending", "delivered"]


def test_without_saved_offsets_every_copy_is_checked_again_and_a_note_says_so(tmp_path: Path) -> None:
    writer = StoreWriter()
    writer.commit(writer.put_back(writer.half()))
    audit = assert_both(writer.write(tmp_path / "s", has_offsets=False))
    assert [(row.state, row.unknown_cause) for row in audit.transactions] == [("unknown", "no_offsets")]
    assert audit.notes == ("no saved consumer offsets: a broker that starts here checks every copy again",)


def test_what_4_5_1_discarded_left_no_record_and_is_lost(tmp_path: Path) -> None:
    writer = StoreWriter("4.5.1")
    copy = writer.half()
    for _ in range(2):
        copy = writer.put_back(copy)
    conf = "transactionCheckMax=2\n"
    row = only_row(writer.write(tmp_path / "s", conf=conf))
    assert (row.state, row.checks, row.resembles) == ("lost", 2, ("A31",))
    assert states(writer.write(tmp_path / "t", conf=conf, half=copy.offset)) == ["pending"]


def test_without_a_broker_conf_the_highest_check_count_in_the_store_counts_as_the_maximum(tmp_path: Path) -> None:
    writer = StoreWriter("4.5.1")
    copy = writer.half()
    for _ in range(3):
        copy = writer.put_back(copy)
    row = only_row(writer.write(tmp_path / "s"))
    assert (row.state, row.checks, row.resembles) == ("lost", 3, ("A31",))


@pytest.mark.parametrize(("later_ms", "resembles"), [(6_000, ()), (6_001, ("B02",))])
def test_a_commit_without_an_op_message_resembles_b02_once_no_batch_can_hold_it_any_more(
    tmp_path: Path, later_ms: int, resembles: tuple[str, ...]
) -> None:
    writer = StoreWriter()
    writer.deliver(writer.half())
    writer.now += later_ms - 1
    writer.put("Other", b"", {})
    row = only_row(writer.write(tmp_path / "s", half=0))
    assert ([row.state, *row.also], row.resembles) == (["pending", "delivered"], resembles)


def test_both_decisions_accepted_is_said(tmp_path: Path) -> None:
    writer = StoreWriter()
    half = writer.half()
    writer.op(half.offset)
    writer.commit(half)
    assert states(writer.write(tmp_path / "s")) == ["delivered", "rolled_back"]


def test_one_op_record_may_name_a_half_twice_and_others_too(tmp_path: Path) -> None:
    writer = StoreWriter()
    first, second = writer.half("K1"), writer.half("K2")
    writer.deliver(first)
    writer.deliver(first)
    writer.op(first.offset, first.offset, second.offset)
    rows = assert_both(writer.write(tmp_path / "s")).transactions
    assert [(row.unique_key, row.state, row.op_offsets) for row in rows] == [
        ("K1", "doubled", (0,)),
        ("K2", "rolled_back", (0,)),
    ]


def test_a_message_without_unique_key_is_followed_by_what_never_changes(tmp_path: Path) -> None:
    writer = StoreWriter()
    writer.half("K0")
    half = writer.half("")
    writer.commit(writer.put_back(half))
    rows = assert_both(writer.write(tmp_path / "s")).transactions
    assert [(row.unique_key, row.state, row.put_backs) for row in rows] == [
        ("K0", "lost", 0),
        (f"@{half.physical}", "delivered", 1),
    ]


def test_the_same_key_in_another_group_is_another_transaction_and_named_as_suspicious(tmp_path: Path) -> None:
    writer = StoreWriter()
    writer.commit(writer.half("K1", group="a"))
    writer.op(writer.half("K1", group="b", body=b"other").offset)
    audit = assert_both(writer.write(tmp_path / "s"))
    assert [(row.group, row.state) for row in audit.transactions] == [("a", "delivered"), ("b", "rolled_back")]
    assert len(audit.corrupt) == 1
    assert "group" in audit.corrupt[0].reason


def test_a_consumers_retry_and_ordinary_messages_are_no_deliveries(tmp_path: Path) -> None:
    writer = StoreWriter()
    half = writer.half()
    writer.put("T", b"ordinary", {"WAIT": "true"})
    writer.commit(half)
    for topic in ("%RETRY%consumers", "%DLQ%consumers", "SCHEDULE_TOPIC_XXXX"):
        writer.put(topic, half.body, half.properties, sys_flag=8, born=half.born)
    audit = assert_both(writer.write(tmp_path / "s"))
    assert audit.corrupt == ()
    assert audit.records == 7
    assert audit.events == 3
    assert [row.state for row in audit.transactions] == ["delivered"]


def test_a_store_without_transactions_has_an_empty_table(tmp_path: Path) -> None:
    writer = StoreWriter()
    for index in range(3):
        writer.put("T", b"%d" % index, {"WAIT": "true"})
    audit = assert_both(writer.write(tmp_path / "s"))
    assert (audit.records, audit.events, audit.transactions, audit.version, audit.corrupt) == (3, 0, (), None, ())
    blank = tmp_path / "blank" / "commitlog"
    blank.mkdir(parents=True)
    (blank / f"{0:020d}").write_bytes(bytes(4096))
    assert assert_both(blank.parent).records == 0


def test_a_log_whose_first_files_were_deleted_is_audited_without_alarm(tmp_path: Path) -> None:
    writer = StoreWriter()
    half = writer.half()
    copy = writer.put_back(half)
    cut = copy.physical
    writer.commit(copy)
    writer.write(tmp_path / "s")
    raw = (tmp_path / "s" / "commitlog" / f"{0:020d}").read_bytes()
    (tmp_path / "s" / "commitlog" / f"{0:020d}").unlink()
    (tmp_path / "s" / "commitlog" / f"{cut:020d}").write_bytes(raw[cut:])
    row = only_row(tmp_path / "s")
    assert (row.state, row.put_backs, row.half_offsets) == ("delivered", 1, (1,))


def test_bytes_that_are_no_records_at_all_are_not_a_store(tmp_path: Path) -> None:
    folder = tmp_path / "commitlog"
    folder.mkdir()
    (folder / f"{0:020d}").write_bytes(b"PK\x03\x04" * 200)
    with pytest.raises(NotAStoreError, match="is not a commit log"):
        audit_store(tmp_path)


def test_an_offset_beyond_the_half_queue_is_named_and_nobody_knows_of_the_skipped_half(tmp_path: Path) -> None:
    writer = StoreWriter()
    writer.half()
    audit = assert_both(writer.write(tmp_path / "s", half=9))
    (row,) = audit.transactions
    assert (row.state, row.resembles, row.unknown_cause) == ("unknown", (), "half_offset_ahead")
    assert [region.file for region in audit.corrupt] == ["config/consumerOffset.json"]
    writer.commit(writer.put_back(writer.half("K2", body=b"other")))
    row = assert_both(writer.write(tmp_path / "t", half=9)).transactions[0]
    assert (row.state, row.resembles) == ("lost", ("B13",))


def test_an_op_offset_beyond_the_op_queue_is_named_and_nobody_knows_of_what_is_open(tmp_path: Path) -> None:
    writer = StoreWriter()
    writer.commit(writer.half())
    writer.half("K2", body=b"other")
    audit = assert_both(writer.write(tmp_path / "s", half=1, op=4))
    assert [(row.state, row.unknown_cause) for row in audit.transactions] == [
        ("delivered", None),
        ("unknown", "op_offset_ahead"),
    ]
    assert [region.file for region in audit.corrupt] == ["config/consumerOffset.json"]
    assert "op queue ends at 1" in audit.corrupt[0].reason


def test_errors_of_a_store_share_one_family() -> None:
    assert issubclass(NotAStoreError, StoreError)
    assert StoreError.exit_code == 150


def test_a_record_that_only_looks_like_a_half_is_read(tmp_path: Path) -> None:
    folder = tmp_path / "commitlog"
    folder.mkdir()
    (folder / f"{0:020d}").write_bytes(record_bytes(0, "RMQ_SYS_TRANS_HALF_TOPIC", b"", ""))
    audit = assert_both(tmp_path)
    assert [(row.unique_key, row.group, row.state) for row in audit.transactions] == [("@0", "", "pending")]
    assert len(audit.corrupt) == 1
