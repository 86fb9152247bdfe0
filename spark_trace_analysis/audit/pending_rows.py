"""The pending halves in the row files of an audit, and the times of its rounds, by columns: there may be millions."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

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
_OF_ROUNDS = ("put back", "discarded")
_FIELDS = ("queue_offset", "born", "checks", "immunity_ms")


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

    def pending(self, selection: Selection) -> PendingRows:
        """The pending ones among all; what a selection leaves out decides, too, when a round comes to the others."""
        parts: list[dict[str, Numbers]] = []
        groups: dict[str, int] = {}
        for place, table in self._tables([*COLUMNS, "born", "checks", "immunity_ms", "half_offsets"]):
            numbers = np.flatnonzero(_IS_PENDING.flags(table))
            chosen = table.take(pa.array(numbers))
            names = chosen.column("group").cast(pa.string()).combine_chunks().dictionary_encode()
            codes = np.array([groups.setdefault(name, len(groups)) for name in names.dictionary.to_pylist()], np.int64)
            parts.append(
                {
                    "queue_offset": _last(chosen),
                    "born": chosen.column("born").to_numpy(),
                    "checks": chosen.column("checks").to_numpy(),
                    "immunity_ms": pc.fill_null(chosen.column("immunity_ms"), NOTHING).to_numpy(),
                    "group": codes[names.indices.to_numpy()],
                    "is_selected": selection.flags(chosen).astype(np.int64),
                    "place": numbers + place,
                }
            )
        whole = {name: np.concatenate([part[name] for part in parts]) for name in parts[0]} if parts else {}
        empty = np.empty(0, np.int64)
        return PendingRows(
            PendingHalves(*(whole.get(name, empty) for name in _FIELDS)),
            whole.get("group", empty),
            list(groups),
            whole.get("is_selected", empty).astype(bool),
            whole.get("place", empty),
        )

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
                        yield place, file.read_row_group(number, names)
                    place += rows


def _last(table: pa.Table) -> Numbers:
    """The last half offset of each row: that of the copy which a round visits."""
    lists = table.column("half_offsets").combine_chunks()
    ends = lists.offsets.to_numpy()[1:]
    return np.asarray(lists.values.to_numpy()[ends - 1])
