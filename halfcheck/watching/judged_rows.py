"""What a watch asks of the rows of an audit, by columns: which are open, which settled, what is new in them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from files.parquet import parquet_file
from halfcheck.watching.memory import half_place, transaction_hash
from reference.format.system_topics import HALF_TOPIC
from spark_trace_analysis.audit.rules.state import TransactionState
from spark_trace_analysis.audit.rules.transaction_row import TransactionRow

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from wire.copying.moment import StoreMoment

    Flags = np.ndarray[Any, np.dtype[np.bool_]]
    Numbers = np.ndarray[Any, np.dtype[np.int64]]

OF_HALF_QUEUE: Final = ("half", "put back")
_OPEN: Final = [TransactionState.PENDING.value, TransactionState.UNKNOWN.value]


def row_groups(folder: Path) -> Iterator[pa.Table]:
    """The rows of an audit, piece by piece."""
    for path in sorted(folder.glob("transactions-*.parquet")):
        with parquet_file(path) as file:
            for group in range(file.num_row_groups):
                yield file.read_row_group(group).combine_chunks()


@dataclass(frozen=True, slots=True)
class JudgedRows:
    """Some rows, and their events one behind the other.

    Attributes
    ----------
    owner
        The row of each event.
    """

    rows: pa.Table
    owner: Numbers
    events: pa.StructArray

    @classmethod
    def of(cls, rows: pa.Table) -> JudgedRows:
        """From a piece of the rows of an audit."""
        column = rows.column("history")
        histories = column.chunk(0) if column.num_chunks else pa.array([], column.type)
        sizes = pc.list_value_length(histories).to_numpy(zero_copy_only=False)
        return cls(rows, np.repeat(np.arange(len(sizes)), sizes), histories.flatten())

    def chosen(self, flags: Flags) -> JudgedRows:
        """Some of the rows."""
        return JudgedRows.of(self.rows.filter(pa.array(flags)).combine_chunks())

    def as_rows(self) -> list[TransactionRow]:
        """The rows as objects."""
        return [TransactionRow.of(row) for row in self.rows.to_pylist()]

    def stands_at(self, places: Numbers) -> Flags:
        """The rows that have a record at some places of the half queue."""
        is_half, own = self.half_places()
        is_there = np.zeros(len(is_half), bool)
        is_there[is_half] = np.isin(own, places)
        return self.with_event(is_there)

    def numbers(self, name: str) -> Numbers:
        """One column of the events."""
        values: Numbers = self.events.field(name).to_numpy()
        return values

    def is_event(self, *kinds: str) -> Flags:
        """Which events are of some kinds."""
        flags: Flags = pc.is_in(self.events.field("event"), pa.array(kinds)).to_numpy(zero_copy_only=False)
        return flags

    def with_event(self, flags: Flags) -> Flags:
        """The rows that have one of some events."""
        return np.bincount(self.owner[flags], minlength=self.rows.num_rows) > 0

    def last_time(self, flags: Flags) -> Numbers:
        """For each row the time of the last one of some events; 0 where it has none."""
        times = np.zeros(self.rows.num_rows, np.int64)
        np.maximum.at(times, self.owner[flags], self.numbers("time")[flags])
        return times

    def hashes(self) -> list[int]:
        """By which the memory of a watch knows them."""
        names = (self.rows.column(name).to_pylist() for name in ("unique_key", "group"))
        return [transaction_hash(key, group) for key, group in zip(*names, strict=True)]

    def in_state(self, *states: str) -> Flags:
        """The rows of which one of some states holds."""
        first = pc.is_in(self.rows.column("state").cast(pa.string()), pa.array(states)).to_numpy()
        also = self.rows.column("also").combine_chunks()
        also = also.chunk(0) if isinstance(also, pa.ChunkedArray) else also
        sizes = pc.list_value_length(also).to_numpy(zero_copy_only=False)
        holds = pc.is_in(also.flatten(), pa.array(states)).to_numpy(zero_copy_only=False)
        counts = np.bincount(np.repeat(np.arange(len(sizes)), sizes)[holds], minlength=len(sizes))
        flags: Flags = first | (counts > 0)
        return flags

    @property
    def is_open(self) -> Flags:
        """The rows that are pending, or may be."""
        return self.in_state(*_OPEN)

    def half_places(self) -> tuple[Flags, Numbers]:
        """Which events are records of the half queue, and the places of these."""
        is_half = self.is_event(*OF_HALF_QUEUE)
        places: Numbers = half_place(self.numbers("queue")[is_half], self.numbers("offset")[is_half])
        return is_half, places

    def is_passed(self, moment: StoreMoment) -> Flags:
        """The rows of which the check service has passed all copies: no round visits them any more."""
        is_half = self.is_event(*OF_HALF_QUEUE)
        queues, offsets = self.numbers("queue"), self.numbers("offset")
        saved = np.zeros(len(queues), np.int64)
        for queue_id, offset in moment.offsets[HALF_TOPIC].items():
            saved[queues == queue_id] = offset
        return ~self.with_event(is_half & (offsets >= saved))


def shared_places(folder: Path) -> Numbers:
    """The places of the half queue at which two halves stand, or stood: a round goes by the place alone."""
    places = [JudgedRows.of(rows).half_places()[1] for rows in row_groups(folder)]
    values, counts = np.unique(np.concatenate([np.zeros(0, np.int64), *places]), return_counts=True)
    shared: Numbers = values[counts > 1]
    return shared
