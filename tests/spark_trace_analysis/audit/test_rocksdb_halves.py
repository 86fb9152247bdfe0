"""A store whose halves lie in RocksDB is not judged, and not called damaged."""

from __future__ import annotations

import shutil
from typing import TYPE_CHECKING

import pytest

from conformance.golden_stores import golden_store, golden_stores
from halfcheck.app import run
from halfcheck.errors import ExitCode
from reference.format.commit_log import CommitLog
from reference.format.errors import CorruptRegion
from spark_trace_analysis.audit.audit_store import audit_store
from spark_trace_analysis.ingest.store_trace import read_store_trace
from spark_trace_analysis.records.rocksdb_halves import (
    StoreNotJudgedError,
    require_deliveries_from_the_queue,
    require_no_rocksdb_queue,
)
from tests.spark_trace_analysis.audit.both_audits import in_stages

if TYPE_CHECKING:
    from pathlib import Path

STORE = golden_store("5.5.1", "rocksdb_five").path
FIVE = golden_store("5.5.1", "immunity").path
LOG = f"commitlog/{0:020d}"
SAID = "not judged: its halves lie in RocksDB"


@pytest.fixture
def log_alone(tmp_path: Path) -> Path:
    """The commit log, and nothing that says more."""
    shutil.copytree(STORE / "commitlog", tmp_path / "commitlog")
    return tmp_path


def test_its_own_records_say_so(log_alone: Path) -> None:
    for store in (*(one.path for one in golden_stores(in_rocksdb=True)), log_alone):
        with pytest.raises(StoreNotJudgedError, match=f"{SAID} \\(byte 0 of the log is one\\)"):
            audit_store(store)
        with pytest.raises(StoreNotJudgedError, match=SAID):
            read_store_trace(store)


def test_a_large_audit_sees_it_by_the_consume_queue_or_by_a_delivery_whose_half_is_not_in_the_half_queue() -> None:
    with pytest.raises(StoreNotJudgedError, match="there is a consumequeue/RMQ_SYS_ROCKSDB_TRANS_HALF_TOPIC"):
        require_no_rocksdb_queue(STORE)
    require_no_rocksdb_queue(FIVE)
    delivery = CorruptRegion(LOG, 2623, "it was committed from 1909, where no half of its transaction stands")
    with pytest.raises(StoreNotJudgedError, match="byte 1909 of the log is one"):
        require_deliveries_from_the_queue(STORE, CommitLog.open(STORE), [delivery])
    delivered = next(r for r in CommitLog.open(FIVE).records() if r.topic == "TopicImm")
    region = CorruptRegion(LOG, delivered.physical_offset, "as if its half were not there")
    require_deliveries_from_the_queue(FIVE, CommitLog.open(FIVE), [region])


def test_the_stages_end_with_the_same_words(log_alone: Path) -> None:
    with pytest.raises(StoreNotJudgedError, match=f"{SAID} \\(byte 1909 of the log is one\\)"):
        in_stages(log_alone)
    with pytest.raises(StoreNotJudgedError, match="there is a consumequeue/"):
        in_stages(STORE)


@pytest.mark.parametrize("arguments", [("audit", str(STORE)), ("diff", str(STORE), "spec:5.5.1")])
def test_the_command_says_it_in_one_line(arguments: tuple[str, ...], capfd: pytest.CaptureFixture[str]) -> None:
    assert run(list(arguments)) == ExitCode.OTHER
    out, err = capfd.readouterr()
    assert (out, err.count("\n")) == ("", 1)
    assert SAID in err
