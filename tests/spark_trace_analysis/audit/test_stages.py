"""An audit in stages says what one process says: of real stores, of damaged ones, and of random ones."""

from __future__ import annotations

import random
import re
import shutil
from typing import TYPE_CHECKING

import pytest

from conformance.golden_stores import GoldenStore, golden_store, golden_stores
from reference.format.commit_log import CommitLog
from reference.format.errors import NotAStoreError, StoreError
from spark_trace_analysis.audit.audit_store import audit_store
from spark_trace_analysis.records.transaction_record import HALF_TOPIC, OP_TOPIC
from tests.reference.format.store_writer import StoreWriter
from tests.sampled import sampled
from tests.spark_trace_analysis.audit.both_audits import FEW, NO_TRACE, assert_both, in_stages
from tests.spark_trace_analysis.audit.random_broker import write_random_store

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

LOG = f"commitlog/{0:020d}"
DAMAGED = 25
RANDOM_STORES = 12


@pytest.mark.untraced
@pytest.mark.parametrize("golden", sampled(golden_stores(), 2), ids=lambda golden: golden.name)
def test_every_golden_store_is_told_the_same(golden: GoldenStore) -> None:
    size = CommitLog.open(golden.path).size_bytes
    assert_both(golden.path, split_bytes=max(size // 5, 3_000), bucket_bytes=max(size // 3, 5_000))
    if golden.at_kill is not None:
        assert_both(golden.at_kill, **FEW)


def test_a_short_store_is_held_against_the_specification_in_stages_too() -> None:
    store = golden_store("5.3.3", "five").path
    trace = in_stages(store, question=type(NO_TRACE)()).trace
    assert (trace.accepted, str(trace.profile), trace.faults) == (True, "5.3.3", {})


@pytest.fixture
def store(tmp_path: Path) -> Path:
    """A copy of a golden store that a test may damage."""
    source = golden_store("5.3.3", "late").path
    shutil.copytree(source, tmp_path / "store", ignore=shutil.ignore_patterns("*.gz", "at_kill"))
    return tmp_path / "store"


def place_of(store: Path, topic: str, number: int) -> tuple[int, int]:
    """Where the record of a number of a topic stands, and its size."""
    records = [record for record in CommitLog.open(store).records() if record.topic == topic]
    return records[number].physical_offset, records[number].total_size


def overwrite(path: Path, at: int, raw: bytes) -> None:
    content = bytearray(path.read_bytes())
    content[at : at + len(raw)] = raw
    path.write_bytes(content)


def zero_an_op(store: Path) -> None:
    at, size = place_of(store, OP_TOPIC, 1)
    overwrite(store / LOG, at, bytes(size))


def name_other_halves(store: Path) -> None:
    at, size = place_of(store, OP_TOPIC, 1)
    raw = (store / LOG).read_bytes()[at : at + size]
    body = re.search(rb"\d+,(\d+,)*", raw[84:])
    assert body is not None
    overwrite(store / LOG, at + 84 + body.start(), b"9" * (len(body[0]) - 1))


def flip_a_byte(store: Path) -> None:
    at, _ = place_of(store, HALF_TOPIC, 2)
    overwrite(store / LOG, at + 88, bytes([(store / LOG).read_bytes()[at + 88] ^ 1]))


def cut_the_file(store: Path) -> None:
    at, size = place_of(store, HALF_TOPIC, 5)
    (store / LOG).write_bytes((store / LOG).read_bytes()[: at + size - 7])


def overwrite_a_copy(store: Path) -> None:
    at, size = place_of(store, HALF_TOPIC, 8)
    overwrite(store / LOG, at, bytes(size))


def store_it_elsewhere(store: Path) -> None:
    at, _ = place_of(store, HALF_TOPIC, 2)
    overwrite(store / LOG, at + 66, bytes([(store / LOG).read_bytes()[at + 66] ^ 1]))


FAULTS: dict[Callable[[Path], None], str] = {
    zero_an_op: "bytes are passed over",
    name_other_halves: "does not match its checksum",
    flip_a_byte: "does not match its checksum",
    cut_the_file: "the file ends inside a record",
    overwrite_a_copy: "bytes are passed over",
    store_it_elsewhere: "no other record was",
}


@pytest.mark.parametrize("plant", FAULTS, ids=lambda plant: plant.__name__)
def test_a_planted_fault_is_found_and_named_in_both_ways(store: Path, plant: Callable[[Path], None]) -> None:
    assert assert_both(store, **FEW).corrupt == ()
    plant(store)
    audit = assert_both(store, **FEW)
    assert FAULTS[plant] in str(audit.corrupt[0])
    assert "commitlog/00000000000000000000" in str(audit.corrupt[0])


def test_an_op_that_names_a_half_beyond_the_queue_is_found_across_splits(tmp_path: Path) -> None:
    writer = StoreWriter()
    for number in range(30):
        writer.commit(writer.half(f"K{number}", body=b"%d" % number))
    for _ in range(10):
        writer.put("T", bytes(200), {"WAIT": "true"})
    place = len(writer.log)
    writer.op(77)
    (region,) = assert_both(writer.write(tmp_path / "s"), split_bytes=700).corrupt
    assert (region.offset, region.reason) == (
        place,
        "the op names half 77, but the half queue ended at 30 when it was written",
    )


def test_a_real_message_that_was_appended_twice_is_doubled(tmp_path: Path) -> None:
    writer = StoreWriter()
    for number in range(9):
        half = writer.half(f"K{number}", body=b"%d" % number)
        writer.commit(half)
        if number == 4:
            writer.deliver(half)
    rows = {row.unique_key: row for row in assert_both(writer.write(tmp_path / "s"), **FEW).transactions}
    assert (rows["K4"].state, rows["K4"].resembles, rows["K4"].deliveries) == ("doubled", ("A13",), 2)
    assert [row.state for key, row in rows.items() if key != "K4"] == ["delivered"] * 8


def test_a_half_behind_the_saved_offset_without_a_copy_is_lost(tmp_path: Path) -> None:
    writer = StoreWriter()
    for number in range(5):
        half = writer.half(f"K{number}", body=b"%d" % number)
        if number != 2:
            writer.commit(half)
    rows = assert_both(writer.write(tmp_path / "s"), **FEW).transactions
    assert [(row.state, row.resembles) for row in rows if row.unique_key == "K2"] == [("lost", ("B13",))]


def test_of_a_log_whose_middle_file_misses_both_ways_say_so_and_nothing_else(tmp_path: Path) -> None:
    shutil.copytree(golden_store("5.3.3", "wide").path, tmp_path / "s", ignore=shutil.ignore_patterns("*.gz"))
    (tmp_path / "s" / "commitlog" / f"{524288:020d}").unlink()
    shutil.rmtree(tmp_path / "s" / "consumequeue")
    (tmp_path / "s" / "commitlog" / f"{0:020d}").write_bytes(
        (golden_store("5.3.3", "wide").path / LOG).read_bytes()[:600_000]
    )
    audit = assert_both(tmp_path / "s", split_bytes=200_000)
    assert [region.reason for region in audit.corrupt] == ["the file is missing"]


@pytest.mark.untraced
def test_randomly_damaged_stores_are_told_the_same(tmp_path: Path) -> None:
    choose = random.Random("damaged stores")
    names = [("4.5.1", "late"), ("4.9.7", "crash2"), ("5.3.3", "five"), ("5.3.3", "crash2"), ("5.4.0", "immunity")]
    damaged = 0
    for number in range(DAMAGED):
        store = tmp_path / str(number)
        source = golden_store(*choose.choice(names)).path
        shutil.copytree(source, store, ignore=shutil.ignore_patterns("*.gz", "at_kill"))
        raw = bytearray((store / LOG).read_bytes())
        for _ in range(choose.choice([1, 1, 2, 4])):
            at = choose.randrange(len(raw))
            manner = choose.randrange(4)
            if manner == 0:
                raw[at:] = b""
            elif manner == 1:
                raw[at : at + 400] = bytes(len(raw[at : at + 400]))
            else:
                raw[at] ^= 1 << choose.randrange(8)
        (store / LOG).write_bytes(raw)
        if choose.random() < 0.3:
            shutil.rmtree(store / "consumequeue")
        try:
            one = audit_store(store, question=NO_TRACE)
        except StoreError as error:
            with pytest.raises(NotAStoreError, match=re.escape(str(error))):
                in_stages(store)
            continue
        assert_both(
            store, one, split_bytes=choose.choice([900, 3_000, 1 << 20]), bucket_bytes=choose.choice([4_000, 1 << 20])
        )
        damaged += bool(one.corrupt)
    assert damaged > DAMAGED // 2


@pytest.mark.untraced
@pytest.mark.parametrize("version", sampled(["4.5.1", "4.9.7", "5.3.3", "5.4.0"], 2))
def test_random_stores_of_the_reference_broker_are_told_the_same(tmp_path: Path, version: str) -> None:
    seen = set()
    for seed in range(RANDOM_STORES // 4):
        store = tmp_path / str(seed)
        write_random_store(version, store, seed)
        audit = assert_both(store, split_bytes=20_000, bucket_bytes=30_000)
        assert audit.corrupt == ()
        seen |= {row.state.value for row in audit.transactions}
    assert {"delivered", "rolled_back"} < seen


def test_a_copy_at_whose_place_another_half_was_written_later_is_no_parent_and_has_none(tmp_path: Path) -> None:
    """As after a crash that lost the end of the half queue but not of the log."""
    writer = StoreWriter()
    half = writer.half("K0", body=b"0")
    copy = writer.put_back(half)
    writer.ends[HALF_TOPIC, 0] = copy.offset
    other = writer.half("K1", body=b"1")
    writer.commit(writer.put_back(half))
    writer.commit(other)
    audit = assert_both(writer.write(tmp_path / "s", has_queues=False), **FEW)
    assert [(row.unique_key, row.put_backs) for row in audit.transactions] == [("K0", 2), ("K1", 0)]
    assert (copy.physical, "no copy with the one before it was put back") in [
        (region.offset, region.reason.split("but ")[-1]) for region in audit.corrupt
    ]


def test_a_finding_of_each_stage_changes_what_a_lost_half_resembles(tmp_path: Path) -> None:
    """B13 is said of an undamaged log only; here the damage shows when another transaction's records are compared."""
    writer = StoreWriter()
    writer.half("K0", body=b"lost")
    half = writer.half("K1", KEYS="one")
    copy = writer.put_back(half)
    copy.properties["KEYS"] = "two"
    last = writer.put_back(copy)
    last.properties["KEYS"] = "one"
    writer.commit(last)
    audit = assert_both(writer.write(tmp_path / "s"), **FEW)
    assert next((row.state, row.resembles) for row in audit.transactions) == ("lost", ())
    assert len(audit.corrupt) == 1


def test_a_cut_short_audit_goes_on_from_its_files_with_the_same_result(
    store: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from spark_trace_analysis.audit.stages import group_stage, scan_stage
    from spark_trace_analysis.records.split_records import read_split

    work, out = tmp_path / "work", tmp_path / "rows"
    times = []

    def counted(*arguments: object) -> object:
        times.append(1)
        return read_split(*arguments)  # type: ignore[arg-type]

    def killed(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(scan_stage, "read_split", counted)
    with monkeypatch.context() as patch:
        patch.setattr(group_stage._Judging, "run", killed)
        with pytest.raises(KeyboardInterrupt):
            in_stages(store, work=work, out=out, **FEW)
    assert len(times) > 1
    assert not out.exists()
    before = len(times)
    resumed = in_stages(store, work=work, out=out, **FEW)
    assert len(times) == before
    buckets = len(list(out.glob("*.parquet")))
    assert resumed.tasks_found == before + buckets > buckets > 1
    assert resumed.transactions == audit_store(store, question=NO_TRACE).transactions
    assert not work.exists()
    assert min(path.name for path in out.iterdir()) == "_audit.json"
    overwrite(store / LOG, 9, b"\x00")
    with pytest.raises(Exception, match="exists already"):
        in_stages(store, work=work, out=out, **FEW)


def test_the_files_of_an_audit_of_another_store_are_not_taken(store: Path, tmp_path: Path) -> None:
    other = StoreWriter()
    other.commit(other.half())
    work = tmp_path / "work"
    from spark_trace_analysis.audit.audit_folders import work_folder
    from spark_trace_analysis.audit.opened_store import OpenedStore
    from spark_trace_analysis.audit.staged_audit import StagedAuditOptions, _Job
    from spark_trace_analysis.audit.stages.stage_runner import Threads

    options = StagedAuditOptions(work=work)
    opened = OpenedStore(other.write(tmp_path / "other"), None, NO_TRACE)
    job = _Job(Threads(1), opened, options)
    with pytest.raises(KeyboardInterrupt), work_folder(job.key, work):
        raise KeyboardInterrupt
    assert work.is_dir()
    assert in_stages(store, work=work).total == 7
