"""The table of findings: each state, defect and cause of each transaction once, of whatever was asked for."""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl
import pyarrow.parquet as pq
import pytest

from conformance.golden_stores import golden_store
from spark_trace_analysis.audit.audit_store import audit_store
from spark_trace_analysis.audit.columns.audited_tables import FINDINGS
from spark_trace_analysis.audit.opened_store import StoreQuestion
from spark_trace_analysis.audit.row_files import RowFiles
from spark_trace_analysis.audit.rules.state import TransactionState
from spark_trace_analysis.audit.selection import Selection

if TYPE_CHECKING:
    from pathlib import Path

    from spark_trace_analysis.audit.audit import Audit
    from spark_trace_analysis.audit.rules.transaction_row import TransactionRow


def audited(store: str, out: Path, selection: Selection) -> Audit:
    files = RowFiles(findings_path=out, selection=selection)
    path = golden_store("5.3.3", store).path
    return audit_store(path, question=StoreQuestion(most_events=0), row_files=files).narrowed(selection)


def findings_of_row(row: TransactionRow) -> list[tuple[str, str, int, str, str, str, bool]]:
    of = row.first_offset, row.unique_key, row.group, row.topic
    found = [("state", row.state.value, *of, True), *(("state", state.value, *of, False) for state in row.also)]
    found += [("defect", defect, *of, False) for defect in row.resembles]
    return [*found, *(("cause", cause.value, *of, False) for cause in (row.unknown_cause,) if cause is not None)]


@pytest.mark.parametrize("selection", [Selection(), Selection(states=(TransactionState.DOUBLED,))], ids=str)
@pytest.mark.parametrize("store", ["late", "mixed", "crash"])
def test_findings_are_those_of_the_rows(store: str, selection: Selection, tmp_path: Path) -> None:
    out = tmp_path / "findings.parquet"
    audit = audited(store, out, selection)
    found = pl.read_parquet(out).with_columns(pl.col("kind", "group", "topic").cast(pl.String)).rows()
    expected = [finding for row in audit.transactions for finding in findings_of_row(row)]
    assert sorted(found) == sorted(expected)
    assert found == sorted(found, key=lambda row: row[:3])
    assert pq.read_schema(out).equals(FINDINGS.schema, check_metadata=True)


def test_nothing_found_is_a_table_without_rows(tmp_path: Path) -> None:
    out = tmp_path / "findings.parquet"
    audited("ten", out, Selection(topics=("NoSuchTopic",)))
    assert pq.read_table(out).num_rows == 0
    assert pq.read_schema(out).equals(FINDINGS.schema, check_metadata=True)
