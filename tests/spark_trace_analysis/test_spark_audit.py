"""Spark itself runs the stages of the audit, and reads a store as a data frame."""

from __future__ import annotations

import shutil
from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pyspark.sql.datasource import EqualTo, In, LessThan
from pyspark.sql.types import StructType

from conformance.golden_stores import golden_store
from reference.format.commit_log import CommitLog
from spark_trace_analysis.audit.audit_store import audit_store
from spark_trace_analysis.audit.rules.transaction_row import TransactionRow
from spark_trace_analysis.audit.staged_audit import StagedAuditOptions, audit_in_stages
from spark_trace_analysis.audit.stages.spark_jobs import SparkJobs
from spark_trace_analysis.errors import BadOptionError
from spark_trace_analysis.ingest.rocketmq_store import RocketmqStore, register
from spark_trace_analysis.ingest.split_rows import SCHEMA
from spark_trace_analysis.records.transaction_record import HALF_TOPIC, OP_TOPIC
from tests.spark_trace_analysis.audit.both_audits import NO_TRACE, assert_same

if TYPE_CHECKING:
    from pathlib import Path

    from pyspark.sql import DataFrame, SparkSession

CRASH = golden_store("5.3.3", "crash").path
LOG = f"commitlog/{0:020d}"


@pytest.mark.untraced
def test_spark_tells_the_same_and_writes_every_row(spark: SparkSession, tmp_path: Path) -> None:
    one = audit_store(CRASH, question=NO_TRACE)
    options = StagedAuditOptions(
        everything=True, question=NO_TRACE, out=tmp_path / "rows", split_bytes=20_000, bucket_bytes=30_000
    )
    assert_same(one, audit_in_stages(SparkJobs(spark), CRASH, options))
    rows = [TransactionRow.of(row) for row in pq.read_table(tmp_path / "rows").to_pylist()]
    assert sorted(rows, key=lambda row: row.first_offset) == list(one.transactions)
    assert [path.name for path in tmp_path.iterdir()] == ["rows"]


def frame(spark: SparkSession, store: Path, **options: str) -> DataFrame:
    register(spark)
    return spark.read.format("rocketmq_store").options(**options).load(str(store))


@pytest.mark.untraced
def test_the_data_source_gives_every_record_and_field_and_damage_as_rows_with_their_place(
    spark: SparkSession, tmp_path: Path
) -> None:
    store = tmp_path / "s"
    shutil.copytree(CRASH, store, ignore=shutil.ignore_patterns("*.gz", "at_kill"))
    raw = bytearray((store / LOG).read_bytes())
    records = list(CommitLog.open(CRASH).records())
    torn, flipped = records[5], records[9]
    raw[torn.physical_offset : torn.physical_offset + torn.total_size] = bytes(torn.total_size)
    raw[flipped.physical_offset + 88] ^= 1
    (store / LOG).write_bytes(raw)
    rows = frame(spark, store).orderBy("physical_offset").collect()
    for row, record in zip(rows, records, strict=True):
        assert list(row.asDict()) == list(SCHEMA)
        assert (row["file"], row["position"]) == (LOG, record.physical_offset)
        if record is torn:
            assert "bytes are passed over" in row["problem"]
            assert row["topic"] is None
            continue
        for name in set(SCHEMA) - {"file", "position", "size", "problem", "body_size", "properties", "body"}:
            assert row[name] == getattr(record, name)
        assert (row["size"], row["body_size"], row["properties"]) == (
            record.total_size,
            len(record.body),
            record.properties,
        )
        assert (bytes(row["body"]) == record.body) == (record is not flipped)
        assert row["problem"] == ("its body does not match its checksum" if record is flipped else None)


@pytest.mark.untraced
def test_conditions_and_columns_reach_the_scan(spark: SparkSession) -> None:
    columns = frame(spark, CRASH, columns="topic,queue_offset", splitMegabytes="1")
    ops = columns.where(f"topic = '{OP_TOPIC}'")
    seen = [row["queue_offset"] for row in ops.collect()]
    assert sorted(seen) == [
        record.queue_offset for record in CommitLog.open(CRASH).records() if record.topic == OP_TOPIC
    ]
    plan = ops._jdf.queryExecution().executedPlan().toString()
    assert "Filter (" not in plan


def test_a_pushed_condition_leaves_out_splits_and_what_it_cannot_decide_goes_back() -> None:
    reader = RocketmqStore({"path": str(CRASH)}).reader(StructType().add("topic", "string"))
    unknown = EqualTo(("flag",), 3)
    assert list(reader.pushFilters([In(("topic",), (OP_TOPIC, HALF_TOPIC)), unknown])) == [unknown]
    (partition,) = reader.partitions()
    batches = [batch for batch in reader.read(partition) if isinstance(batch, pa.RecordBatch)]
    kinds = [topic for batch in batches for topic in batch.column("topic").to_pylist()]
    records = CommitLog.open(CRASH).records()
    assert kinds == [record.topic for record in records if record.topic in (OP_TOPIC, HALF_TOPIC)]
    assert list(reader.pushFilters([LessThan(("physical_offset",), -5)])) == []
    assert list(reader.partitions()) == []


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"columns": "topic,nope"}, "no column 'nope'"),
        ({"path": "x", "splitMegabytes": "x"}, "splitMegabytes is 'x'"),
        ({"path": "x", "checkBodies": "maybe"}, "checkBodies is 'maybe'"),
        ({}, "no path is given"),
    ],
)
def test_a_bad_option_of_the_data_source_is_named(options: dict[str, str], words: str) -> None:
    with pytest.raises(BadOptionError, match=words):
        RocketmqStore(options).reader(StructType())
