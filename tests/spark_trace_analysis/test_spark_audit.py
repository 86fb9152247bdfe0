"""Spark itself runs the stages of the audit, and reads a store as a data frame."""

from __future__ import annotations

import shutil
from typing import TYPE_CHECKING

import pyarrow.parquet as pq
import pytest

from conformance.golden_stores import golden_store
from reference.store.commit_log import CommitLog
from spark_trace_analysis.audit.audit_store import audit_store
from spark_trace_analysis.audit.large_audit import row_from
from spark_trace_analysis.audit.record_kind import HALF_TOPIC, OP_TOPIC
from spark_trace_analysis.audit.spark_audit import Options, audit_by_spark
from spark_trace_analysis.ingest.rocketmq_store import SCHEMA, RocketmqStore
from tests.spark_trace_analysis.audit.both_audits import NO_TRACE, assert_same

if TYPE_CHECKING:
    from pathlib import Path

    from pyspark.sql import DataFrame, SparkSession

CRASH = golden_store("5.3.3", "crash").path
LOG = f"commitlog/{0:020d}"


@pytest.mark.untraced
def test_spark_tells_the_same_and_writes_every_row(spark: SparkSession, tmp_path: Path) -> None:
    one = audit_store(CRASH, question=NO_TRACE)
    options = Options(
        everything=True, question=NO_TRACE, out=tmp_path / "rows", split_bytes=20_000, bucket_bytes=30_000
    )
    assert_same(one, audit_by_spark(spark, CRASH, options))
    rows = [row_from(told) for told in pq.read_table(tmp_path / "rows").to_pylist()]
    assert sorted(rows, key=lambda row: row.first_offset) == list(one.transactions)
    assert [path.name for path in tmp_path.iterdir()] == ["rows"]


def frame(spark: SparkSession, store: Path, **options: str) -> DataFrame:
    spark.dataSource.register(RocketmqStore)
    return spark.read.format("rocketmq_store").options(**options).load(str(store))


@pytest.mark.untraced
def test_the_data_source_gives_every_record_and_field(spark: SparkSession) -> None:
    store = golden_store("5.3.3", "wide").path
    rows = frame(spark, store).orderBy("physical_offset").collect()
    records = list(CommitLog.open(store).records())
    assert [list(row.asDict()) for row in rows[:1]] == [list(SCHEMA)]
    for row, record in zip(rows, records, strict=True):
        for name in set(SCHEMA) - {"file", "position", "size", "problem", "body_size", "properties", "body"}:
            assert row[name] == getattr(record, name)
        assert (row["size"], row["body_size"], bytes(row["body"])) == (
            record.total_size,
            len(record.body),
            record.body,
        )
        assert (row["properties"], row["problem"]) == (record.properties, None)
        assert int(row["file"].rpartition("/")[2]) + row["position"] == record.physical_offset


@pytest.mark.untraced
def test_conditions_and_columns_reach_the_scan(spark: SparkSession) -> None:
    columns = frame(spark, CRASH, columns="topic,queue_offset")
    ops = columns.where(f"topic = '{OP_TOPIC}'")
    plan = ops._jdf.queryExecution().executedPlan().toString()  # type: ignore[operator]
    assert "Filter" not in plan.replace("PushedFilters", "")
    expected = [record.queue_offset for record in CommitLog.open(CRASH).records() if record.topic == OP_TOPIC]
    assert sorted(row["queue_offset"] for row in ops.collect()) == expected
    both = columns.where(f"topic in ('{OP_TOPIC}', '{HALF_TOPIC}') and queue_offset >= 3").count()
    assert both == sum(
        record.topic in (OP_TOPIC, HALF_TOPIC) and record.queue_offset >= 3
        for record in CommitLog.open(CRASH).records()
    )


@pytest.mark.untraced
def test_damage_is_a_row_with_its_place(spark: SparkSession, tmp_path: Path) -> None:
    store = tmp_path / "s"
    shutil.copytree(CRASH, store, ignore=shutil.ignore_patterns("*.gz", "at_kill"))
    raw = bytearray((store / LOG).read_bytes())
    records = list(CommitLog.open(CRASH).records())
    torn, flipped = records[5], records[9]
    raw[torn.physical_offset : torn.physical_offset + torn.total_size] = bytes(torn.total_size)
    raw[flipped.physical_offset + 88] ^= 1
    (store / LOG).write_bytes(raw)
    rows = frame(spark, store, columns="file,position,problem").collect()
    problems = {row["position"]: row["problem"] for row in rows if row["problem"]}
    assert list(problems) == [flipped.physical_offset, torn.physical_offset]
    assert "bytes are passed over" in problems[torn.physical_offset]
    assert "does not match its checksum" in problems[flipped.physical_offset]
    assert len(rows) == len(records)


@pytest.mark.untraced
@pytest.mark.parametrize(
    ("options", "words"),
    [({"columns": "topic,nope"}, "no column 'nope'"), ({"splitMegabytes": "x"}, "splitMegabytes is 'x'")],
)
def test_a_bad_option_of_the_data_source_is_named(spark: SparkSession, options: dict[str, str], words: str) -> None:
    with pytest.raises(Exception, match=words):
        frame(spark, CRASH, **options).count()
