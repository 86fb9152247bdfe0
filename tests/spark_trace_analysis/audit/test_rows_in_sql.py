"""The SQL of docs/audit.md runs over the rows of an audit, in two engines, and gives what the audit counts."""

import re
from pathlib import Path

import polars as pl
import pytest
from pyspark.sql import SparkSession

from conformance.golden_stores import golden_store
from spark_trace_analysis.audit.audit import Audit
from spark_trace_analysis.audit.audit_folders import write_audit
from spark_trace_analysis.audit.audit_store import audit_store
from spark_trace_analysis.audit.opened_store import StoreQuestion
from spark_trace_analysis.audit.rules.state import TransactionState

(QUERY,) = re.findall(r"```sql\n(.*?)```", Path("docs/audit.md").read_text(encoding="utf-8"), re.DOTALL)
GRAVE = ("doubled", "lost", "parked")


@pytest.fixture(scope="module")
def audited(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Audit]:
    rows = tmp_path_factory.mktemp("audit") / "rows"
    audit = audit_store(golden_store("5.3.3", "late").path, question=StoreQuestion(most_events=0))
    write_audit(audit, rows)
    return rows, audit


def counted(audit: Audit) -> list[tuple[str, str, int]]:
    grave = [(row.topic, row.state.value) for row in audit.transactions if row.state in GRAVE]
    return sorted((topic, state, grave.count((topic, state))) for topic, state in set(grave))


def test_polars_takes_it(audited: tuple[Path, Audit]) -> None:
    rows, audit = audited
    found = pl.SQLContext(transactions=pl.scan_parquet(rows / "*.parquet")).execute(QUERY, eager=True)
    assert [row[:3] for row in found.iter_rows()] == counted(audit) != []
    first = min(row.moments.stored_at or 0 for row in audit.transactions if row.state is TransactionState.DOUBLED)
    (moment,) = found.filter(pl.col("state") == "doubled")["first_one"]
    assert moment.timestamp() * 1000 == pytest.approx(first)


@pytest.mark.untraced
def test_spark_takes_it(audited: tuple[Path, Audit], spark: SparkSession) -> None:
    rows, audit = audited
    spark.read.parquet(str(rows)).createOrReplaceTempView("transactions")
    assert [tuple(row)[:3] for row in spark.sql(QUERY).collect()] == counted(audit)
