"""``spark.read.format("rocketmq_store")``: the records of a RocketMQ store as a data frame.

::

    register(spark)
    spark.read.format("rocketmq_store").load("/home/rocketmq/store").where("topic = 'Orders'")

The commit log is shared out into splits; each is scanned by compiled kernels over mapped bytes. Conditions on `topic`,
`queue_id`, `store_timestamp` and `physical_offset` reach the scan, so that only matching records are copied out of the
file. Spark does not name the columns of a query to a data source; `columns` does.

Damage is a row, too: its `problem` says what is wrong, and `file` and `position` say where. The readable parts are in
the row. A condition on a column that is null there drops such rows, as in any data frame; count them by
``where("problem is not null")``.

Options
-------
path
    The store, the directory with ``commitlog/`` in it; the workers must see it under the same path.
columns
    Names joined by commas; without it all of ``split_rows.SCHEMA``. A query may name only these.
splitMegabytes
    About so many bytes of the log a task, 64 if it is not given.
checkBodies
    ``false`` leaves the checksums of bodies aside.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from pyspark.sql.datasource import (
    DataSource,
    DataSourceReader,
    EqualTo,
    Filter,
    GreaterThan,
    GreaterThanOrEqual,
    In,
    InputPartition,
    IsNotNull,
    LessThan,
    LessThanOrEqual,
)

from reference.format.commit_log import CommitLog
from reference.format.record import LogRecord
from spark_trace_analysis.errors import BadOptionError
from spark_trace_analysis.ingest.split_rows import NUMBERS, SCHEMA, Numbers, SplitRows
from spark_trace_analysis.records.record_kernels import Outline
from spark_trace_analysis.records.split_records import SplitRecords, read_split
from spark_trace_analysis.records.store_splits import Split, splits_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, MutableMapping, Sequence

    import pyarrow as pa
    from pyspark.sql import SparkSession
    from pyspark.sql.types import StructType


_COMPARISONS: dict[type[Filter], Callable[[Any, Any], Any]] = {
    EqualTo: np.equal,
    GreaterThan: np.greater,
    GreaterThanOrEqual: np.greater_equal,
    LessThan: np.less,
    LessThanOrEqual: np.less_equal,
}
_COMPARED = {"queue_id", "store_timestamp", "physical_offset"}
_NEVER_NULL = {"topic", "queue_id", "store_timestamp"}
"""Columns that only a row of damage lacks."""

_BATCH_ROWS = 8_192


def register(spark: SparkSession) -> None:
    """Let a session know the data source, and hand conditions down to it."""
    spark.conf.set("spark.sql.python.filterPushdown.enabled", "true")
    spark.dataSource.register(RocketmqStore)


class RocketmqStore(DataSource):
    """The data source; see the module."""

    @classmethod
    def name(cls) -> str:
        """Its name for ``format``."""
        return "rocketmq_store"

    def __init__(self, options: MutableMapping[str, str]) -> None:
        super().__init__(options)
        self._columns = _columns(options.get("columns"))

    def schema(self) -> str:
        """The columns, as SQL declares them."""
        return ", ".join(f"{name} {SCHEMA[name]}" for name in self._columns)

    def reader(self, schema: StructType) -> DataSourceReader:
        """The reader of the store."""
        path = self.options.get("path")
        if not path:
            message = "rocketmq_store: no path is given; expected the directory with commitlog/ in it"
            raise BadOptionError(message)
        megabytes = self.options.get("splitMegabytes", "64")
        if not megabytes.isdecimal() or not 1 <= int(megabytes) <= 1 << 20:
            message = f"rocketmq_store: splitMegabytes is {megabytes!r}, expected a number from 1 on"
            raise BadOptionError(message)
        checks = self.options.get("checkBodies", "true").lower()
        if checks not in ("true", "false"):
            message = f"rocketmq_store: checkBodies is {checks!r}, expected true or false"
            raise BadOptionError(message)
        return _StoreReader(Path(path), tuple(schema.names), int(megabytes) << 20, checks_bodies=checks == "true")


def _columns(text: str | None) -> tuple[str, ...]:
    if text is None:
        return tuple(SCHEMA)
    names = tuple(name.strip() for name in text.split(","))
    for name in names:
        if name not in SCHEMA:
            message = f"rocketmq_store: there is no column {name!r}; expected some of {', '.join(SCHEMA)}"
            raise BadOptionError(message)
    return names


@dataclass
class _SplitPartition(InputPartition):
    """One split, as a task of Spark."""

    split: Split


class _StoreReader(DataSourceReader):
    def __init__(self, store: Path, columns: tuple[str, ...], split_bytes: int, *, checks_bodies: bool) -> None:
        self._store = store
        self._columns = columns
        self._split_bytes = split_bytes
        self._checks_bodies = checks_bodies
        self._topics: set[str] | None = None
        self._filters: list[Filter] = []
        self._drops_damage = False

    def pushFilters(self, filters: list[Filter]) -> Iterable[Filter]:  # noqa: N802 - Spark's name
        """Take the conditions that the scan can decide by itself."""
        for one in filters:
            name = ".".join(getattr(one, "attribute", ()))
            wanted = {one.value} if isinstance(one, EqualTo) else set(one.value) if isinstance(one, In) else set()
            if name == "topic" and wanted and all(map(_is_exact, wanted)):
                self._topics = wanted if self._topics is None else self._topics & wanted
            elif name in _NEVER_NULL and isinstance(one, IsNotNull):
                self._drops_damage = True
            elif name in _COMPARED and type(one) in _COMPARISONS:
                self._filters.append(one)
            else:
                yield one

    def partitions(self) -> Sequence[InputPartition]:
        """The splits that can hold matching records."""
        log = CommitLog.open(self._store)
        return [
            _SplitPartition(split)
            for split in splits_of(log, self._split_bytes)
            if self._may_hold(log.files[split.file].start + split.start, log.files[split.file].start + split.end)
        ]

    def _may_hold(self, start: int, end: int) -> bool:
        """Whether records that begin in a stretch of the log can fit the conditions on their offset."""
        for one in self._filters:
            if one.attribute != ("physical_offset",):  # type: ignore[attr-defined]
                continue
            value = one.value  # type: ignore[attr-defined]
            if isinstance(one, EqualTo | LessThan | LessThanOrEqual) and value < start:
                return False
            if isinstance(one, EqualTo | GreaterThan | GreaterThanOrEqual) and value >= end + self._split_bytes:
                return False
        return True

    def read(self, partition: InputPartition) -> Iterator[pa.RecordBatch]:
        """The rows of one split."""
        assert isinstance(partition, _SplitPartition)  # noqa: S101 - Spark gives back what it was given
        log = CommitLog.open(self._store)
        records = read_split(log, partition.split, checks_bodies=self._checks_bodies)
        rows = SplitRows(records, self._columns)
        chosen = self._chosen(records)
        for start in range(0, len(chosen), _BATCH_ROWS):
            yield rows.batch(chosen[start : start + _BATCH_ROWS])
        drops_damage = self._drops_damage or self._topics is not None or self._filters
        if records.damage and not drops_damage:
            yield rows.damage()

    def _chosen(self, records: SplitRecords) -> Numbers:
        o = records.outlines
        fits = np.ones(o.shape[1], bool)
        for one in self._filters:
            name, value = one.attribute[0], one.value  # type: ignore[attr-defined]
            column = o[Outline.POSITION] + records.reader.file.start if name == "physical_offset" else o[NUMBERS[name]]
            fits &= _COMPARISONS[type(one)](column, value)
        if self._topics is not None:
            fits &= self._has_topic(records, self._topics)
        return np.flatnonzero(fits)

    def _has_topic(self, records: SplitRecords, topics: set[str]) -> Any:
        """For each record, whether it has one of some topics: candidates by a hash, each of them compared."""
        from spark_trace_analysis.records.bytes_kernels import are_bytes, hash_bytes

        o = records.outlines
        has_topic = np.zeros(o.shape[1], bool)
        for topic in topics:
            raw = np.frombuffer(topic.encode(), np.uint8)
            candidates = np.flatnonzero(o[Outline.TOPIC_HASH] == hash_bytes(topic.encode()))
            has_topic[candidates] = are_bytes(
                records.data, o[Outline.TOPIC_AT, candidates], o[Outline.TOPIC_SIZE, candidates], raw
            )
        for number, entry in records.by_python.items():
            name = entry.topic if isinstance(entry, LogRecord) else entry.topic.decode(errors="replace")
            has_topic[number] = name in topics
        return has_topic


def _is_exact(topic: object) -> bool:
    """Whether a topic is shown as the log holds it; bytes that are no UTF-8 are all shown as one character."""
    return isinstance(topic, str) and "\ufffd" not in topic
