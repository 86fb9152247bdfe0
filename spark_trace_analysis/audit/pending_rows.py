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
from spark_trace_analysis.audit.rules.open_copies import open_copies
from spark_trace_analysis.audit.rules.state import TransactionState
from spark_trace_analysis.audit.rules.transaction_row import HistoryEvent, TransactionRow
from spark_trace_analysis.audit.selection import COLUMNS, Selection
from spark_trace_analysis.records.transaction_record import NOTHING, check_times, parse_op_body

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence
    from pathlib import Path

    from reference.format.commit_log import CommitLog
    from reference.format.record import LogRecord
    from spark_trace_analysis.audit.columns.bucket import Flags, Numbers
    from spark_trace_analysis.audit.rules.rounds import ShownRound

_IS_PENDING = Selection(states=(TransactionState.PENDING,))
_OF_ROUNDS = ("put back", "discarded")
_OF_HALVES = ("half", "put back")


@dataclass(frozen=True, slots=True)
class PendingRows:
    """The pending transactions of an audit, and the copies of their halves that stand before the rounds to come.

    Attributes
    ----------
    group
        The number of each one's producer group in `groups`.
    is_selected
        Whether a selection has it.
    place
        A number for where its row stands.
    halves, queue_id, owner
        The copies, in the order of the transactions; the half queue of each, and the number of its transaction.
    """

    group: Numbers
    groups: list[str]
    is_selected: Flags
    place: Numbers
    halves: PendingHalves
    queue_id: Numbers
    owner: Numbers


@dataclass(frozen=True, slots=True)
class WhenOpen:
    """What decides which copies stand before the rounds to come.

    Attributes
    ----------
    rounds
        Those that the store shows, the earliest first.
    saved
        Half queue id to the check service's offset.
    booted_at
        When the broker's process began, in milliseconds since the epoch.
    """

    log: CommitLog
    rounds: Sequence[ShownRound]
    saved: Mapping[int, int]
    booted_at: int


class AuditRows:
    """The files with the rows of all transactions, of the folder that an audit has written."""

    def __init__(self, folder: Path) -> None:
        self._paths = sorted(folder.glob("*.parquet"))
        self._rows = sum(map(_rows_in, self._paths))

    def pending(self, selection: Selection, when: WhenOpen) -> PendingRows:
        """The pending ones among all; what a selection leaves out decides, too, when a round comes to the others."""
        groups: dict[str, int] = {}
        parts: dict[str, list[np.ndarray[Any, Any]]] = {name: [np.zeros(0, kind)] for name, kind in _COLUMNS.items()}
        count = 0
        needed = {"state", "also", "group", "history", *_AS_THEY_ARE}
        for place, table in self._tables(sorted(needed if selection.is_everything else needed | {*COLUMNS})):
            numbers = np.flatnonzero(_IS_PENDING.flags(table))
            if not len(numbers):
                continue
            chosen = table.take(pa.array(numbers))
            names = chosen.column("group").cast(pa.string()).combine_chunks().dictionary_encode()
            codes = np.array([groups.setdefault(name, len(groups)) for name in names.dictionary.to_pylist()], np.int64)
            copies = _open_copies_of(chosen, when)
            columns = {
                "group": codes[names.indices.to_numpy()],
                "is_selected": selection.flags(chosen),
                "place": numbers + place,
                **copies,
                "owner": copies["owner"] + count,
            }
            for name, kind in _COLUMNS.items():
                parts[name].append(columns[name].astype(kind))
            count += len(numbers)
        whole = {}
        for name in _COLUMNS:  # one after the other, so that no column is held twice for long
            whole[name] = np.concatenate(parts.pop(name))
        halves = PendingHalves(*(whole.pop(name) for name in _OF_A_COPY))
        return PendingRows(groups=list(groups), halves=halves, **whole)

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

    def last_time(self) -> int:
        """When the last record of them all was stored, in milliseconds since the epoch; 0 without one."""
        latest = (pc.max(table.column("last_at").cast(pa.int64())).as_py() for _, table in self._tables(["last_at"]))
        return max((one for one in latest if one is not None), default=0)

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


_AS_THEY_ARE: Final = ("born", "checks", "immunity_ms")
_OF_A_COPY: Final = ("queue_offset", "born", "stored", "checks", "immunity_ms")
_COLUMNS: Final = {
    "group": np.int32, "is_selected": np.bool_, "place": np.int32, "owner": np.int32, "queue_id": np.int32,
    "queue_offset": np.int64, "born": np.int64, "stored": np.int64, "checks": np.int32, "immunity_ms": np.int64,
}  # fmt: skip


def _open_copies_of(rows: pa.Table, when: WhenOpen) -> dict[str, Numbers]:
    """The copies of some pending rows that stand before the rounds to come, by column, and whose each is.

    Of nearly all that is the last one, which the columns say; the others are gone through one by one
    (:mod:`spark_trace_analysis.audit.rules.open_copies`).
    """
    born, checks, immunity = (pc.fill_null(rows.column(name), NOTHING).to_numpy() for name in _AS_THEY_ARE)
    lists = rows.column("history").combine_chunks()
    lists = lists.chunk(0) if isinstance(lists, pa.ChunkedArray) else lists
    owner = np.repeat(np.arange(rows.num_rows), pc.list_value_length(lists).to_numpy(zero_copy_only=False))
    events = lists.flatten()
    is_half = _is_in(events.field("event"), _OF_HALVES)
    has_op = np.bincount(owner[_is_in(events.field("event"), ("op",))], minlength=rows.num_rows) > 0
    of_half = {name: events.field(name).to_numpy()[is_half] for name in ("time", "queue", "offset")}
    owner_of_half = owner[is_half]
    last = np.searchsorted(owner_of_half, np.arange(rows.num_rows), side="right") - 1
    is_plain = ~has_op & ~_takes_long(owner_of_half, of_half, when, rows.num_rows)
    columns = {
        "owner": np.arange(rows.num_rows),
        "queue_id": of_half["queue"][last],
        "queue_offset": of_half["offset"][last],
        "stored": of_half["time"][last],
        "born": born,
        "checks": checks,
        "immunity_ms": immunity,
    }
    if is_plain.all():
        return columns
    others: dict[str, list[int]] = {name: [] for name in columns}
    places = np.flatnonzero(~is_plain)
    for place, history in zip(places.tolist(), lists.take(pa.array(places)).to_pylist(), strict=True):
        for event in _one_by_one([HistoryEvent(**event) for event in history], when):
            record = when.log.record_at(event.at)
            values = (place, event.queue, event.offset, event.time, born[place], _checks(record), immunity[place])
            for name, value in zip(columns, values, strict=True):
                others[name].append(int(value))
    whole = {name: np.concatenate([column[is_plain], others[name]]) for name, column in columns.items()}
    order = np.argsort(whole["owner"], kind="stable")
    return {name: column[order] for name, column in whole.items()}


def _takes_long(owner: Numbers, of_half: dict[str, Numbers], when: WhenOpen, count: int) -> Flags:
    """The rows of which not surely the last copy alone is open.

    It is where each round that has put back a copy behind the saved offset has visited the one before it.
    """
    saved = np.zeros(len(owner), np.int64)
    for queue_id, offset in when.saved.items():
        saved[of_half["queue"] == queue_id] = offset
    times, is_before_rounds = of_half["time"], of_half["offset"] >= saved
    follows = np.flatnonzero((owner[1:] == owner[:-1]) & is_before_rounds[:-1] & is_before_rounds[1:]) + 1
    begins = np.array([one.began_at for one in when.rounds] or [0], np.int64)
    began = begins[np.maximum(np.searchsorted(begins, times[follows], side="right") - 1, 0)]
    is_visited = (times[follows] > when.booted_at) & (times[follows - 1] < began)
    flags: Flags = np.bincount(owner[follows[~is_visited]], minlength=count) > 0
    return flags


def _one_by_one(history: list[HistoryEvent], when: WhenOpen) -> list[HistoryEvent]:
    """The copies of one transaction that stand before the rounds to come; the last one where none is known to."""
    settled = {
        int(offset)
        for event in history
        if event.event == "op"
        for offset in parse_op_body(when.log.record_at(event.at).body) or ()
    }
    copies = [event for event in history if event.event in _OF_HALVES]
    saved = when.saved.get(copies[-1].queue, 0)
    found = open_copies(history, when.rounds, saved=saved, settled=settled, booted_at=when.booted_at)
    return found or copies[-1:]


def _checks(record: LogRecord) -> int:
    return max(check_times(record) or 0, 0)


def _is_in(column: pa.Array, words: tuple[str, ...]) -> Flags:
    flags: Flags = pc.is_in(column, pa.array(words)).to_numpy(zero_copy_only=False)
    return flags
