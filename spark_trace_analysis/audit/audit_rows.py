"""The rows that an audit has written into a folder, piece by piece, and their events by columns."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, Self

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from files.parquet import parquet_file
from spark_trace_analysis.audit.rules.transaction_row import DISCARDED, PUT_BACK, TransactionRow

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence
    from pathlib import Path

    from spark_trace_analysis.audit.columns.bucket import Flags, Numbers

OF_ROUNDS: Final = (PUT_BACK, DISCARDED)
_ROWS_AT_A_TIME: Final = 1 << 15


class AuditRows:
    """The files with the rows of all transactions, of the folder that an audit has written.

    Raises
    ------
    BadContentError
        By each reading: a file is no Parquet.
    """

    def __init__(self, folder: Path) -> None:
        self._paths = sorted(folder.glob("*.parquet"))

    def tables(self, columns: Sequence[str] | None = None) -> Iterator[tuple[int, pa.Table]]:
        """Some thousand rows at a time, all columns or some, with the place of the first among all rows."""
        place = 0
        for path in self._paths:
            with parquet_file(path) as file:
                for batch in file.iter_batches(_ROWS_AT_A_TIME, columns=columns, use_threads=False):
                    yield place, pa.Table.from_batches([batch])
                    place += batch.num_rows

    def rows_at(self, places: Iterable[int]) -> list[TransactionRow]:
        """The rows of some places, in that order."""
        wanted = np.fromiter(places, np.int64)
        found: dict[int, TransactionRow] = {}
        for place, table in self.tables() if len(wanted) else ():
            here = wanted[(wanted >= place) & (wanted < place + table.num_rows)]
            for at, row in zip(here.tolist(), table.take(pa.array(here - place)).to_pylist(), strict=True):
                found[at] = TransactionRow.of(row)
        return [found[at] for at in wanted.tolist()]

    def times_of_rounds(self) -> Numbers:
        """When the copies and the discards of check rounds were stored, in no order."""
        times = [np.empty(0, np.int64)]
        for _, table in self.tables(["history.list.element.event", "history.list.element.time"]):
            events = RowEvents.of(table)
            times.append(events.numbers("time")[events.are(*OF_ROUNDS)])
        return np.concatenate(times)

    def last_time(self) -> int:
        """When the last record of them all was stored, in milliseconds since the epoch; 0 without one."""
        latest = (pc.max(table.column("last_at").cast(pa.int64())).as_py() for _, table in self.tables(["last_at"]))
        return max((one for one in latest if one is not None), default=0)


@dataclass(frozen=True, slots=True)
class RowEvents:
    """The events of some rows one behind the other, each row's in the order of the log.

    Attributes
    ----------
    count
        How many rows there are.
    owner
        The number of the row of each event.
    """

    count: int
    owner: Numbers
    _events: pa.StructArray

    @classmethod
    def of(cls, rows: pa.Table) -> Self:
        """Those of a table with the column ``history``, or some fields of it."""
        histories = rows.column("history").combine_chunks()
        histories = histories.chunk(0) if isinstance(histories, pa.ChunkedArray) else histories
        sizes = pc.list_value_length(histories).to_numpy(zero_copy_only=False)
        return cls(rows.num_rows, np.repeat(np.arange(rows.num_rows), sizes), histories.flatten())

    def numbers(self, name: str) -> Numbers:
        """``at``, ``time``, ``queue`` or ``offset`` of each event."""
        values: Numbers = self._events.field(name).to_numpy()
        return values

    def are(self, *kinds: str) -> Flags:
        """Which events are of some kinds."""
        flags: Flags = pc.is_in(self._events.field("event"), pa.array(kinds)).to_numpy(zero_copy_only=False)
        return flags

    def rows_with(self, flags: Flags) -> Flags:
        """The rows that have one of some events."""
        return np.bincount(self.owner[flags], minlength=self.count) > 0

    def behind(self, saved: Mapping[int, int], flags: Flags) -> Flags:
        """Which of some events, of the half queue, stand at or behind the offset of its queue; 0 of one without."""
        queues, offsets = self.numbers("queue"), np.zeros(len(flags), np.int64)
        for queue_id, offset in saved.items():
            offsets[queues == queue_id] = offset
        return np.asarray(flags & (self.numbers("offset") >= offsets), bool)
