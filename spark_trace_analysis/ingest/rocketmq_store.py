"""``spark.read.format("rocketmq_store")``: the records of a RocketMQ store as a data frame.

::

    register(spark)
    spark.read.format("rocketmq_store").load("/home/rocketmq/store").where("topic = 'Orders'")

The commit log is shared out into splits; each is scanned by compiled kernels over mapped bytes. Conditions on `topic`,
`queue_id`, `store_timestamp` and `physical_offset` reach the scan, so that only what fits is copied out of the file.
Spark's interface tells a data source nothing of the columns that a query needs; `columns` says which to give.

Damage is a row, too: its `problem` says what is wrong, and `file` and `position` say where. What could be read of it is
in the row. A condition on a column that is null there drops such rows, as in any data frame; count them by
``where("problem is not null")``.

Options
-------
path
    The store, the directory with ``commitlog/`` in it; the workers must see it under the same path.
columns
    Names joined by commas; without it all of :data:`SCHEMA`. A query may name only these.
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
import pyarrow as pa
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

from reference.store.commit_log import CommitLog
from reference.store.properties import parse_properties
from reference.store.record import MalformedRecordError, Record
from reference.store.stored_message import host_text
from spark_trace_analysis.errors import BadOptionError
from spark_trace_analysis.ingest.property_kernels import gather
from spark_trace_analysis.ingest.record_kernels import BORN_HOST_AT, Outline
from spark_trace_analysis.ingest.split_records import SplitRecords, read_split
from spark_trace_analysis.ingest.store_splits import Split, splits_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, MutableMapping, Sequence

    from pyspark.sql import SparkSession
    from pyspark.sql.types import StructType

    Numbers = np.ndarray[Any, np.dtype[np.int64]]

SCHEMA = {
    "file": "string",
    "position": "bigint",
    "physical_offset": "bigint",
    "size": "int",
    "topic": "string",
    "queue_id": "int",
    "queue_offset": "bigint",
    "flag": "int",
    "sys_flag": "int",
    "born_timestamp": "bigint",
    "store_timestamp": "bigint",
    "born_host": "string",
    "store_host": "string",
    "reconsume_times": "int",
    "prepared_transaction_offset": "bigint",
    "body_crc": "bigint",
    "body_size": "int",
    "body": "binary",
    "properties": "map<string,string>",
    "problem": "string",
}
"""Column to its type."""

_ARROW = {
    "string": pa.string(),
    "bigint": pa.int64(),
    "int": pa.int32(),
    "binary": pa.binary(),
    "map<string,string>": pa.map_(pa.string(), pa.string()),
}
_NUMBERS = {
    "position": Outline.POSITION,
    "size": Outline.SIZE,
    "queue_id": Outline.QUEUE_ID,
    "queue_offset": Outline.QUEUE_OFFSET,
    "flag": Outline.FLAG,
    "sys_flag": Outline.SYS_FLAG,
    "born_timestamp": Outline.BORN_TIMESTAMP,
    "store_timestamp": Outline.STORE_TIMESTAMP,
    "reconsume_times": Outline.RECONSUME_TIMES,
    "prepared_transaction_offset": Outline.PREPARED_OFFSET,
    "body_crc": Outline.BODY_CRC,
    "body_size": Outline.BODY_SIZE,
}
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
_V6_BORN, _V6_STORE = 1 << 4, 1 << 5


def register(spark: SparkSession) -> None:
    """Let a session know the data source, and hand conditions down to it."""
    spark.conf.set("spark.sql.python.filterPushdown.enabled", "true")
    spark.dataSource.register(RocketmqStore)


class RocketmqStore(DataSource):
    """The data source; see the module."""

    @classmethod
    def name(cls) -> str:
        """What ``format`` calls it."""
        return "rocketmq_store"

    def __init__(self, options: MutableMapping[str, str]) -> None:
        super().__init__(options)
        self._columns = _columns(options.get("columns"))

    def schema(self) -> str:
        """The columns, as SQL declares them."""
        return ", ".join(f"{name} {SCHEMA[name]}" for name in self._columns)

    def reader(self, schema: StructType) -> DataSourceReader:
        """What reads it."""
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
        return _Reader(Path(path), tuple(schema.names), int(megabytes) << 20, checks_bodies=checks == "true")


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


class _Reader(DataSourceReader):
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
            if name == "topic" and isinstance(one, EqualTo | In):
                wanted = {one.value} if isinstance(one, EqualTo) else set(one.value)
                self._topics = wanted if self._topics is None else self._topics & wanted
            elif name in _NEVER_NULL and isinstance(one, IsNotNull):
                self._drops_damage = True
            elif name in _COMPARED and type(one) in _COMPARISONS:
                self._filters.append(one)
            else:
                yield one

    def partitions(self) -> Sequence[InputPartition]:
        """The splits that can hold what is asked for."""
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
        rows = _Rows(log, records, self._columns)
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
            column = o[Outline.POSITION] + records.reader.file.start if name == "physical_offset" else o[_NUMBERS[name]]
            fits &= _COMPARISONS[type(one)](column, value)
        if self._topics is not None:
            from spark_trace_analysis.ingest.bytes_kernels import hash_bytes

            hashes = [hash_bytes(topic.encode()) for topic in self._topics]
            fits &= np.isin(o[Outline.TOPIC_HASH], hashes)
        return np.flatnonzero(fits)


class _Rows:
    """The records of one split as rows of the wanted columns."""

    def __init__(self, log: CommitLog, records: SplitRecords, columns: tuple[str, ...]) -> None:
        self._log = log
        self._records = records
        self._columns = columns
        self._schema = pa.schema([(name, _ARROW[SCHEMA[name]]) for name in columns])

    def batch(self, chosen: Numbers) -> pa.RecordBatch:
        arrays = [self._array(name, chosen) for name in self._columns]
        return pa.RecordBatch.from_arrays(arrays, schema=self._schema)

    def damage(self) -> pa.RecordBatch:
        """A row for each piece of damage that is no record."""
        rows = [
            {
                "file": region.file,
                "position": region.offset,
                "physical_offset": self._records.reader.file.start + region.offset,
                "problem": region.reason,
            }
            for region in self._records.damage
        ]
        return pa.RecordBatch.from_pylist(
            [{name: row.get(name) for name in self._columns} for row in rows], self._schema
        )

    def _array(self, name: str, chosen: Numbers) -> pa.Array:
        kind = _ARROW[SCHEMA[name]]
        o, start = self._records.outlines, self._records.reader.file.start
        if any(int(number) in self._records.by_python for number in chosen) and name not in ("file", "problem"):
            return pa.array([self._by_python(int(number)).get(name) for number in chosen], kind)
        if name in _NUMBERS:
            return pa.array(o[_NUMBERS[name], chosen]).cast(kind)
        if name == "physical_offset":
            return pa.array(o[Outline.POSITION, chosen] + start)
        if name == "file":
            return pa.array([self._records.reader.file.name] * len(chosen), kind)
        if name == "problem":
            return pa.array([self._problem(int(number)) for number in chosen], kind)
        if name in ("born_host", "store_host"):
            return self._hosts(name, chosen)
        if name == "properties":
            texts = self._bytes(Outline.PROPERTIES_AT, Outline.PROPERTIES_SIZE, chosen).to_pylist()
            return pa.array(
                [list(dict(parse_properties(text.decode(errors="replace"))).items()) for text in texts], kind
            )
        at, size = (Outline.BODY_AT, Outline.BODY_SIZE) if name == "body" else (Outline.TOPIC_AT, Outline.TOPIC_SIZE)
        raw = self._bytes(at, size, chosen)
        return raw if name == "body" else _text(raw)

    def _bytes(self, at: Outline, size: Outline, chosen: Numbers) -> pa.Array:
        o = self._records.outlines
        raw, offsets = gather(self._records.data, o[at, chosen], o[size, chosen])
        buffers = [None, pa.py_buffer(offsets.astype(np.int32)), pa.py_buffer(raw)]
        return pa.Array.from_buffers(pa.binary(), len(chosen), buffers)

    def _hosts(self, name: str, chosen: Numbers) -> pa.Array:
        o = self._records.outlines
        flags = o[Outline.SYS_FLAG, chosen]
        born = np.where(flags & _V6_BORN, 20, 8)
        at = o[Outline.POSITION, chosen] + BORN_HOST_AT
        size = born
        if name == "store_host":
            at, size = at + born + 8, np.where(flags & _V6_STORE, 20, 8)
        raw, offsets = gather(self._records.data, at, size)
        buffers = [None, pa.py_buffer(offsets.astype(np.int32)), pa.py_buffer(raw)]
        encoded = pa.Array.from_buffers(pa.binary(), len(chosen), buffers).dictionary_encode()
        words = pa.array([host_text(host) for host in encoded.dictionary.to_pylist()], pa.string())
        return words.take(encoded.indices)

    def _problem(self, number: int) -> str | None:
        if self._records.outlines[Outline.IS_BODY_SOUND, number]:
            return None
        return "its body does not match its checksum"

    def _by_python(self, number: int) -> Mapping[str, Any]:
        """A row of a batch in which Python had to read something."""
        at = int(self._records.outlines[Outline.POSITION, number])
        known = self._records.by_python.get(number)
        try:
            record = known if isinstance(known, Record) else self._records.reader.record_at(at)
        except MalformedRecordError:
            return {"position": at, "physical_offset": self._records.reader.file.start + at}
        return {
            "position": at,
            "physical_offset": record.physical_offset,
            "size": record.total_size,
            "topic": record.topic,
            "queue_id": record.queue_id,
            "queue_offset": record.queue_offset,
            "flag": record.flag,
            "sys_flag": record.sys_flag,
            "born_timestamp": record.born_timestamp,
            "store_timestamp": record.store_timestamp,
            "born_host": record.born_host,
            "store_host": record.store_host,
            "reconsume_times": record.reconsume_times,
            "prepared_transaction_offset": record.prepared_transaction_offset,
            "body_crc": record.body_crc,
            "body_size": len(record.body),
            "body": record.body,
            "properties": list(record.properties.items()),
        }


def _text(raw: pa.Array) -> pa.Array:
    """Bytes as text; what is no UTF-8 becomes the replacement character."""
    try:
        return raw.cast(pa.string())
    except pa.ArrowInvalid:
        return pa.array([one.decode(errors="replace") for one in raw.to_pylist()], pa.string())
