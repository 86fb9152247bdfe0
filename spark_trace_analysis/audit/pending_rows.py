"""The pending halves in the row files of an audit, and the times of its rounds, by columns: there may be millions."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from files.parquet import parquet_file
from spark_trace_analysis.audit.columns.row_tables import ROW_SCHEMA
from spark_trace_analysis.audit.rules.forecast import PendingHalves
from spark_trace_analysis.audit.rules.state import TransactionState
from spark_trace_analysis.audit.rules.transaction_row import TransactionRow
from spark_trace_analysis.audit.selection import COLUMNS, Selection
from spark_trace_analysis.records.transaction_record import NOTHING

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path

    from spark_trace_analysis.audit.columns.bucket import Flags, Numbers

_IS_PENDING = Selection(states=(TransactionState.PENDING,))
_AS_THEY_ARE = ("born", "checks", "immunity_ms")
_PENDING: Final = {
    "group": np.int32, "is_selected": np.bool_, "place": np.int32,
    "queue_offset": np.int64, "born": np.int64, "checks": np.int32, "immunity_ms": np.int64,
}  # fmt: skip
"""The columns of what is pending; the last ones are those of :class:`PendingHalves`."""

_OF_ROUNDS = ("put back", "discarded")


@dataclass(frozen=True, slots=True)
class PendingRows:
    """The pending transactions of an audit.

    Attributes
    ----------
    group
        The number of each one's producer group in `groups`.
    is_selected
        Whether a selection has it.
    place
        A number for where its row stands.
    """

    halves: PendingHalves
    group: Numbers
    groups: list[str]
    is_selected: Flags
    place: Numbers


class AuditRows:
    """The files with the rows of all transactions, of the folder that an audit has written."""

    def __init__(self, folder: Path) -> None:
        self._paths = sorted(folder.glob("*.parquet"))
        self._rows = sum(map(_rows_in, self._paths))

    def pending(self, selection: Selection) -> PendingRows:
        """The pending ones among all; what a selection leaves out decides, too, when a round comes to the others."""
        columns: dict[str, np.ndarray[Any, Any]] = {
            name: np.empty(self._rows, kind) for name, kind in _PENDING.items()
        }  # room that is not used costs none
        groups: dict[str, int] = {}
        count = 0
        needed = {"state", "also", "group", "half_offsets", *_AS_THEY_ARE}
        for place, table in self._tables(sorted(needed if selection.is_everything else needed | {*COLUMNS})):
            numbers = np.flatnonzero(_IS_PENDING.flags(table))
            chosen = table.take(pa.array(numbers))
            names = chosen.column("group").cast(pa.string()).combine_chunks().dictionary_encode()
            codes = np.array([groups.setdefault(name, len(groups)) for name in names.dictionary.to_pylist()], np.int64)
            here = slice(count, count + len(numbers))
            columns["queue_offset"][here] = _last(chosen)
            for name in _AS_THEY_ARE:
                columns[name][here] = pc.fill_null(chosen.column(name), NOTHING).to_numpy()
            columns["group"][here] = codes[names.indices.to_numpy()]
            columns["is_selected"][here] = selection.flags(chosen)
            columns["place"][here] = numbers + place
            count = here.stop
        group, is_selected, place_of, *halves = (column[:count] for column in columns.values())
        return PendingRows(PendingHalves(*halves), group, list(groups), is_selected, place_of)

    def rows_at(self, places: Iterable[int]) -> list[TransactionRow]:
        """The rows of some places, in that order."""
        wanted = np.fromiter(places, np.int64)
        found: dict[int, TransactionRow] = {}
        for place, table in self._tables(None, wanted):
            here = wanted[(wanted >= place) & (wanted < place + table.num_rows)]
            for at, row in zip(here.tolist(), table.take(pa.array(here - place)).to_pylist(), strict=True):
                found[at] = TransactionRow.of(row)
        return [found[at] for at in wanted.tolist()]

    def times_of_rounds(self) -> Numbers:
        """When the copies and the discards of check rounds were stored, in no order."""
        times = [np.empty(0, np.int64)]
        for _, table in self._tables(["history.list.element.event", "history.list.element.time"]):
            events = pc.list_flatten(table.column("history"))
            is_of_a_round = pc.is_in(pc.struct_field(events, "event"), pa.array(_OF_ROUNDS))
            times.append(pc.struct_field(events, "time").filter(is_of_a_round).to_numpy())
        return np.concatenate(times)

    def _tables(self, columns: list[str] | None, wanted: Numbers | None = None) -> Iterator[tuple[int, pa.Table]]:
        """Row group by row group, with the place of its first row; only those with a place that is wanted, if given."""
        place = 0
        for path in self._paths:
            with parquet_file(path) as file:
                for number in range(file.num_row_groups):
                    rows = file.metadata.row_group(number).num_rows
                    if wanted is None or ((wanted >= place) & (wanted < place + rows)).any():
                        names = ROW_SCHEMA.names if columns is None else columns
                        yield place, file.read_row_group(number, names, use_threads=False)
                    place += rows


def _rows_in(path: Path) -> int:
    with parquet_file(path) as file:
        return int(file.metadata.num_rows)


def _last(table: pa.Table) -> Numbers:
    """The last half offset of each row: that of the copy which a round visits."""
    lists = table.column("half_offsets").combine_chunks()
    ends = lists.offsets.to_numpy()[1:]
    return np.asarray(lists.values.to_numpy()[ends - 1])
