"""The pending transactions among the rows of an audit, by columns: there may be millions."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any, Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from spark_trace_analysis.audit.audit_rows import RowEvents
from spark_trace_analysis.audit.rules.forecast import PendingHalves
from spark_trace_analysis.audit.rules.open_copies import open_copies
from spark_trace_analysis.audit.rules.state import TransactionState
from spark_trace_analysis.audit.rules.transaction_row import OF_HALF_QUEUE, OP, HistoryEvent
from spark_trace_analysis.audit.selection import COLUMNS, Selection
from spark_trace_analysis.records.transaction_record import NOTHING, check_times, parse_op_body

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from reference.format.commit_log import CommitLog
    from spark_trace_analysis.audit.audit_rows import AuditRows
    from spark_trace_analysis.audit.columns.bucket import Flags, Numbers
    from spark_trace_analysis.audit.rules.rounds import ShownRound

_IS_PENDING = Selection(states=(TransactionState.PENDING,))


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


_AS_THEY_ARE: Final = ("born", "checks", "immunity_ms")
_OF_A_TRANSACTION: Final = {"group": np.int32, "is_selected": np.bool_, "place": np.int32}
_OF_A_COPY: Final = {
    "queue_offset": np.int64, "born": np.int64, "stored": np.int64, "checks": np.int32, "immunity_ms": np.int64,
    "owner": np.int32, "queue_id": np.int32,
}  # fmt: skip


def pending_rows(rows: AuditRows, selection: Selection, when: WhenOpen) -> PendingRows:
    """The pending ones among all; what a selection leaves out decides, too, when a round comes to the others."""
    groups: dict[str, int] = {}
    transactions, copies = _Growing(_OF_A_TRANSACTION), _Growing(_OF_A_COPY)
    needed = {"state", "also", "group", "history", *_AS_THEY_ARE}
    for place, table in rows.tables(sorted(needed if selection.is_everything else needed | {*COLUMNS})):
        numbers = np.flatnonzero(_IS_PENDING.flags(table))
        if not len(numbers):
            continue
        chosen = table.take(pa.array(numbers))
        names = chosen.column("group").cast(pa.string()).combine_chunks().dictionary_encode()
        codes = np.array([groups.setdefault(name, len(groups)) for name in names.dictionary.to_pylist()], np.int64)
        of_chosen = _open_copies_of(chosen, when)
        of_chosen["owner"] += transactions.size
        copies.append(of_chosen)
        transactions.append(
            {
                "group": codes[names.indices.to_numpy()],
                "is_selected": selection.flags(chosen),
                "place": numbers + place,
            }
        )
    of_copies = copies.columns()
    halves = PendingHalves(*(of_copies.pop(one.name) for one in fields(PendingHalves)))
    return PendingRows(groups=list(groups), halves=halves, **transactions.columns(), **of_copies)


class _Growing:
    """Columns that grow in place: a list of their pieces, and then them as a whole, would take the room twice."""

    def __init__(self, kinds: Mapping[str, Any]) -> None:
        self._room = {name: np.empty(1 << 16, kind) for name, kind in kinds.items()}
        self.size = 0

    def append(self, columns: Mapping[str, np.ndarray[Any, Any]]) -> None:
        """Add some values to each."""
        end = self.size + len(next(iter(columns.values())))
        for name, room in self._room.items():
            if end > len(room):
                self._room[name] = np.empty(2 * end, room.dtype)  # memory that is not used is not taken
                self._room[name][: self.size] = room[: self.size]
            self._room[name][self.size : end] = columns[name]
        self.size = end

    def columns(self) -> dict[str, np.ndarray[Any, Any]]:
        """Each as far as it was filled."""
        return {name: room[: self.size] for name, room in self._room.items()}


def _open_copies_of(rows: pa.Table, when: WhenOpen) -> dict[str, Numbers]:
    """The copies of some pending rows that stand before the rounds to come, by column, and whose each is.

    Of nearly all that is the last one, which the columns say; the others are gone through one by one
    (:mod:`spark_trace_analysis.audit.rules.open_copies`).
    """
    born, checks, immunity = (pc.fill_null(rows.column(name), NOTHING).to_numpy() for name in _AS_THEY_ARE)
    events = RowEvents.of(rows)
    is_half = events.are(*OF_HALF_QUEUE)
    numbers = np.arange(events.count)
    last = np.flatnonzero(is_half)[np.searchsorted(events.owner[is_half], numbers, side="right") - 1]
    is_plain = ~events.rows_with(events.are(OP)) & ~_takes_long(events, is_half, when)
    columns = {
        "owner": numbers,
        "queue_id": events.numbers("queue")[last],
        "queue_offset": events.numbers("offset")[last],
        "stored": events.numbers("time")[last],
        "born": born,
        "checks": checks,
        "immunity_ms": immunity,
    }
    if is_plain.all():
        return columns
    others: dict[str, list[int]] = {name: [] for name in columns}
    places = np.flatnonzero(~is_plain)
    for place, history in zip(places.tolist(), rows.column("history").take(pa.array(places)).to_pylist(), strict=True):
        for event in _one_by_one([HistoryEvent(**event) for event in history], when):
            record = when.log.record_at(event.at)
            values = (
                place,
                event.queue,
                event.offset,
                event.time,
                born[place],
                max(check_times(record) or 0, 0),
                immunity[place],
            )
            for name, value in zip(columns, values, strict=True):
                others[name].append(int(value))
    whole = {name: np.concatenate([column[is_plain], others[name]]) for name, column in columns.items()}
    order = np.argsort(whole["owner"], kind="stable")
    return {name: column[order] for name, column in whole.items()}


def _takes_long(events: RowEvents, is_half: Flags, when: WhenOpen) -> Flags:
    """The rows of which not surely the last copy alone is open.

    It is where each round that has put back a copy behind the saved offset has visited the one before it.
    """
    copies = np.flatnonzero(events.behind(when.saved, is_half))
    owner, times = events.owner[copies], events.numbers("time")[copies]
    begins = np.array([one.began_at for one in when.rounds] or [0], np.int64)
    began = begins[np.maximum(np.searchsorted(begins, times[1:], side="right") - 1, 0)]
    is_visited = (times[1:] > when.booted_at) & (times[:-1] < began)
    follows = owner[1:] == owner[:-1]
    flags: Flags = np.bincount(owner[1:][follows & ~is_visited], minlength=events.count) > 0
    return flags


def _one_by_one(history: list[HistoryEvent], when: WhenOpen) -> list[HistoryEvent]:
    """The copies of one transaction that stand before the rounds to come; the last one where none is known to."""
    settled = {
        int(offset)
        for event in history
        if event.event == OP
        for offset in parse_op_body(when.log.record_at(event.at).body) or ()
    }
    copies = [event for event in history if event.event in OF_HALF_QUEUE]
    saved = when.saved.get(copies[-1].queue, 0)
    found = open_copies(history, when.rounds, saved=saved, settled=settled, booted_at=when.booted_at)
    return found or copies[-1:]
