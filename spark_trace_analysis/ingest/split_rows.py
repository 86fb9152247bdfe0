"""The records of one split as rows of the columns of ``spark.read.format("rocketmq_store")``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from reference.format.properties import parse_properties
from reference.format.record import LogRecord, MalformedRecordError
from reference.format.stored_message import host_text
from spark_trace_analysis.records.bytes_kernels import gather
from spark_trace_analysis.records.record_kernels import Outline
from spark_trace_analysis.records.split_records import SplitRecords, encoded_hosts

if TYPE_CHECKING:
    from collections.abc import Mapping


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
NUMBERS = {
    name: Outline[name.upper()]
    for name, kind in SCHEMA.items()
    if kind in ("bigint", "int") and name != "physical_offset"
}
"""Column to the number of a record's outline that it is."""


class SplitRows:
    """The records of one split, and its damage, as rows of the wanted columns."""

    def __init__(self, records: SplitRecords, columns: tuple[str, ...]) -> None:
        self._records = records
        self._columns = columns
        self._schema = pa.schema([(name, _ARROW[SCHEMA[name]]) for name in columns])

    def batch(self, chosen: Numbers) -> pa.RecordBatch:
        """The records with these places in the split."""
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
        return pa.RecordBatch.from_pylist(rows, self._schema)

    def _array(self, name: str, chosen: Numbers) -> pa.Array:
        kind = _ARROW[SCHEMA[name]]
        o, start = self._records.outlines, self._records.reader.file.start
        if any(int(number) in self._records.by_python for number in chosen) and name not in ("file", "problem"):
            return pa.array([self._by_python(int(number)).get(name) for number in chosen], kind)
        if name in NUMBERS:
            return pa.array(o[NUMBERS[name], chosen]).cast(kind)
        if name == "physical_offset":
            return pa.array(o[Outline.POSITION, chosen] + start)
        if name == "file":
            return pa.array([self._records.reader.file.name] * len(chosen), kind)
        if name == "problem":
            problem = "its body does not match its checksum"
            return pa.array([None if sound else problem for sound in o[Outline.IS_BODY_SOUND, chosen]], kind)
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
        encoded = encoded_hosts(self._records, chosen, of_store=name == "store_host")
        words = pa.array([host_text(host) for host in encoded.dictionary.to_pylist()], pa.string())
        return words.take(encoded.indices)

    def _by_python(self, number: int) -> Mapping[str, Any]:
        """A row of a batch in which Python had to read something."""
        at = int(self._records.outlines[Outline.POSITION, number])
        known = self._records.by_python.get(number)
        try:
            record = known if isinstance(known, LogRecord) else self._records.reader.record_at(at)
        except MalformedRecordError:
            return {"position": at, "physical_offset": self._records.reader.file.start + at}
        row = {name: getattr(record, name) for name in self._columns if hasattr(record, name)}
        properties = list(record.properties.items())
        return row | {
            "position": at,
            "size": record.total_size,
            "body_size": len(record.body),
            "properties": properties,
        }


def _text(raw: pa.Array) -> pa.Array:
    """Bytes as text; those that are no UTF-8 become the replacement character."""
    try:
        return raw.cast(pa.string())
    except pa.ArrowInvalid:
        return pa.array([one.decode(errors="replace") for one in raw.to_pylist()], pa.string())
