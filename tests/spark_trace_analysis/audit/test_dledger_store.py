"""A store of a broker with DLedger says the same as the commit log with the same records, in both audits."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from conformance.golden_stores import golden_store
from reference.format.errors import NotAStoreError
from spark_trace_analysis.audit.audit_store import audit_store
from tests.reference.format.dledger_store import HEADER, dledger_store
from tests.spark_trace_analysis.audit.both_audits import NO_TRACE, assert_both

if TYPE_CHECKING:
    from pathlib import Path

    from spark_trace_analysis.audit.rules.transaction_row import TransactionRow

MIXED = golden_store("5.3.3", "mixed").path


FEW: dict[str, Any] = {"split_bytes": 30_000, "bucket_bytes": 100_000}


def without_places(row: TransactionRow) -> dict[str, Any]:
    """A row without its places in the commit log, which differ behind headers."""
    return {**row.to_json(), "history": [event.event for event in row.history]}


@pytest.mark.parametrize("earlier", [0, 20])
def test_what_dledger_logs_is_judged_like_a_commit_log(tmp_path: Path, earlier: int) -> None:
    wanted = audit_store(MIXED, question=NO_TRACE)
    store = dledger_store(MIXED, tmp_path / "s", file_bytes=40_000, first=earlier)
    assert len(list((store / "dledger-n0" / "data").iterdir())) > 1
    found = assert_both(store, **FEW)
    assert found.corrupt == ()
    assert list(map(without_places, found.transactions)) == list(map(without_places, wanted.transactions))
    assert any("its log is read from dledger-n0/data" in note for note in found.notes)


def test_the_specification_explains_it_as_well(tmp_path: Path) -> None:
    store = dledger_store(golden_store("5.3.3", "five").path, tmp_path / "s")
    assert audit_store(store).trace.accepted is True


@pytest.mark.parametrize("at", [0, 4, 24, 44])
def test_damage_in_a_header_is_said_and_the_record_behind_it_is_read(tmp_path: Path, at: int) -> None:
    store = dledger_store(MIXED, tmp_path / "s")
    file = store / "dledger-n0" / "data" / f"{0:020d}"
    raw = bytearray(file.read_bytes())
    second = int.from_bytes(raw[4:8])
    raw[second + at + 3] ^= 1
    file.write_bytes(raw)
    found = assert_both(store, **FEW)
    assert found.records == audit_store(MIXED, question=NO_TRACE).records
    assert [(region.offset, "DLedger's entry" in region.reason) for region in found.corrupt] == [(second, True)]


def test_a_torn_entry_is_passed_over(tmp_path: Path) -> None:
    store = dledger_store(MIXED, tmp_path / "s")
    file = store / "dledger-n0" / "data" / f"{0:020d}"
    raw = bytearray(file.read_bytes())
    second = int.from_bytes(raw[4:8])
    size = int.from_bytes(raw[second + 4 : second + 8])
    raw[second : second + size] = bytes(size)
    file.write_bytes(raw)
    found = assert_both(store, **FEW)
    assert found.records == audit_store(MIXED, question=NO_TRACE).records - 1
    assert "passed over" in found.corrupt[0].reason


def test_records_that_do_not_count_the_headers_are_no_log_of_dledgers(tmp_path: Path) -> None:
    store = dledger_store(MIXED, tmp_path / "s")
    file = store / "dledger-n0" / "data" / f"{0:020d}"
    raw = bytearray(file.read_bytes())
    at = headers = 0
    while at + HEADER < len(raw):
        headers += HEADER
        raw[at + HEADER + 28 : at + HEADER + 36] = (at + HEADER - headers).to_bytes(8)
        at += int.from_bytes(raw[at + 4 : at + 8])
    file.write_bytes(raw)
    with pytest.raises(NotAStoreError, match="no log of DLedger's"):
        audit_store(store)
