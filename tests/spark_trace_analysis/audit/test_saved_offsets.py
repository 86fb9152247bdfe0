"""Saved offsets that can't be read, or lie in RocksDB, are said to be unknown; the log is judged all the same."""

from __future__ import annotations

import shutil
from collections import Counter
from typing import TYPE_CHECKING

import pytest

from conformance.golden_stores import golden_store
from spark_trace_analysis.audit.audit_store import audit_store
from tests.spark_trace_analysis.audit.both_audits import NO_TRACE, assert_both

if TYPE_CHECKING:
    from pathlib import Path

FIVE = golden_store("5.3.3", "five").path
OFFSETS = "consumerOffset.json"
ZEROS = bytes(200)


@pytest.fixture
def store(tmp_path: Path) -> Path:
    return shutil.copytree(FIVE, tmp_path / "s")


def test_where_both_files_are_broken_the_log_is_judged_without_offsets(store: Path) -> None:
    for name in (OFFSETS, f"{OFFSETS}.bak"):
        (store / "config" / name).write_bytes(ZEROS)
    found = assert_both(store)
    causes = Counter(row.unknown_cause for row in found.transactions)
    assert causes == {"offsets_unreadable": 3, None: 2}
    (store / "config" / OFFSETS).unlink()
    (store / "config" / f"{OFFSETS}.bak").unlink()
    without = audit_store(store, question=NO_TRACE)
    assert Counter(row.unknown_cause for row in without.transactions) == {"no_offsets": 3, None: 2}
    assert [(region.file, region.offset) for region in found.corrupt] == [(f"config/{OFFSETS}", 0)]
    assert any("a broker does not start so" in note for note in found.notes)


def test_where_the_only_file_is_broken_a_broker_starts_without_offsets(store: Path) -> None:
    (store / "config" / OFFSETS).write_bytes(ZEROS)
    (store / "config" / f"{OFFSETS}.bak").unlink()
    found = assert_both(store)
    assert any("checks every copy again" in note for note in found.notes)
    assert not any("does not start" in note for note in found.notes)


@pytest.mark.parametrize("broken", [ZEROS, None])
def test_where_the_backup_is_read_the_trace_is_asked(store: Path, broken: bytes | None) -> None:
    path = store / "config" / OFFSETS
    shutil.copy(path, store / "config" / f"{OFFSETS}.bak")
    path.write_bytes(path.read_bytes() + b"0}}}" if broken is None else broken)
    found = audit_store(store)
    assert "config/consumerOffset.json.bak was read instead" in found.corrupt[0].reason
    assert found.trace.accepted is True
    assert found.transactions == audit_store(FIVE).transactions
    assert_both(store)


@pytest.mark.parametrize("half", [2, 1_000])
def test_an_offset_beyond_its_queue_is_no_damaged_record(store: Path, half: int) -> None:
    path = store / "config" / OFFSETS
    path.write_text(f'{{"offsetTable":{{"RMQ_SYS_TRANS_HALF_TOPIC@CID_RMQ_SYS_TRANS":{{0:{half}}}}}}}')
    reason = audit_store(store).trace.reason or ""
    assert "a record is damaged" not in reason
    assert ("the saved offsets are of no such store" in reason) is (half == 1_000)


@pytest.mark.parametrize(
    ("conf", "folder", "is_unknown"),
    [
        (None, "config/consumerOffsets", True),
        (None, "config/rdb", True),
        (None, "config/other", False),
        ("storeType=defaultRocksDB", "config/consumerOffsets", True),
        ("storeType=DefaultRocksDB", "none", True),
        ("configManagerVersion=v2", "config/rdb", True),
        ("storeType=default", "config/consumerOffsets", False),
    ],
)
def test_offsets_in_rocksdb_are_unknown_and_not_those_of_the_file_beside_it(
    store: Path, conf: str | None, folder: str, *, is_unknown: bool
) -> None:
    (store / folder).mkdir()
    (store / folder / "CURRENT").touch()
    (store / "broker.conf").unlink()
    if conf is not None:
        (store / "broker.conf").write_text(conf)
    found = assert_both(store)
    assert any("lie in RocksDB" in note for note in found.notes) is is_unknown
    assert any("checks every copy again" in note for note in found.notes) is False
    causes = {row.unknown_cause for row in found.transactions} - {None}
    assert causes == ({"offsets_in_rocksdb"} if is_unknown else set())
