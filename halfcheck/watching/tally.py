"""Goes through the rows of one look: what is new and to be reported, what is settled, and the counts of the rest."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from files.durations import about
from halfcheck.watching.news import AGES_S, REPORTED, REPORTED_STATES, Ages, News, NewsKind
from spark_trace_analysis.audit.audit_rows import OF_ROUNDS
from spark_trace_analysis.audit.rules.state import TransactionState
from spark_trace_analysis.audit.rules.transaction_row import DELIVERED, DISCARDED, PUT_BACK

if TYPE_CHECKING:
    from collections.abc import Iterator

    from halfcheck.watching.judged_rows import JudgedRows
    from halfcheck.watching.memory import WatchMemory
    from halfcheck.watching.news import Counters
    from spark_trace_analysis.audit.columns.bucket import Flags, Numbers
    from spark_trace_analysis.audit.rules.transaction_row import TransactionRow
    from wire.copying.moment import StoreMoment

_INTERVALS: Final = 3
_NEVER_ASKED: Final = "A09"
_OPEN: Final = (TransactionState.PENDING, TransactionState.UNKNOWN)


@dataclass(slots=True)
class LookTally:
    """What one look finds, row by row.

    Parameters
    ----------
    since
        The commit log offset from which on records are new.
    shared
        Places of the half queue at which two halves stand: none of them is settled before all are.
    interval_ms, timeout_ms
        ``transactionCheckInterval`` and ``transactionTimeOut`` of the broker.

    Attributes
    ----------
    counts
        State to the number of transactions that are not settled.
    needed
        Commit log offsets of their records.
    times
        When rounds put something back or discarded it, of new records.
    """

    memory: WatchMemory
    moment: StoreMoment
    since: int
    counters: Counters
    hanging_ms: int
    shared: Numbers
    interval_ms: int
    timeout_ms: int
    news: list[News] = field(default_factory=list)
    counts: Counter[str] = field(default_factory=Counter)
    pending: dict[str, Ages] = field(default_factory=dict)
    needed: list[Numbers] = field(default_factory=lambda: [np.zeros(0, np.int64)])
    times: list[int] = field(default_factory=list)
    overdue: int = 0
    _oldest_ms: int = 0
    _unknown: list[int] = field(default_factory=list)

    def take(self, rows: JudgedRows) -> None:
        """Take in some rows."""
        self._report(rows)
        is_needed = rows.are_in(*_OPEN) | ~rows.are_passed(self.moment) | rows.stand_at(self.shared)
        self._settle(rows.chosen(~is_needed))
        self.needed.append(rows.events.numbers("at")[is_needed[rows.events.owner]])
        self.counts.update(rows.chosen(is_needed).states())
        self._count_rounds(rows)
        is_pending = rows.are_in(TransactionState.PENDING)
        due = np.maximum(rows.last_put(), rows.born() + self.timeout_ms)
        late_ms = self.moment.read_at_ms - due[is_pending]
        self.overdue += int(np.count_nonzero(late_ms > _INTERVALS * self.interval_ms))
        self._oldest_ms = max(self._oldest_ms, int(late_ms.max(initial=0)))
        self._add_ages(rows.chosen(is_pending))

    def finish(self) -> None:
        """Report that rounds visit no half any more, or do again; let go of the records of what is settled."""
        self.memory.keep_only(np.unique(np.concatenate(self.needed)).tolist())
        self.memory.set("unknown", self._unknown)
        if bool(self.overdue) == self.memory.get("stuck", otherwise=False):
            return
        self.memory.set("stuck", bool(self.overdue))
        if self.overdue:
            age = about(self._oldest_ms / 1_000)
            why = f"{self.overdue} of the pending halves are due for a check, the oldest for {age}, and no round comes"
            self._add_news(NewsKind.STUCK, why=why)
        else:
            self._add_news(NewsKind.GOES_ON, why="rounds visit the pending halves again")

    def _add_news(self, what: TransactionState | NewsKind, row: TransactionRow | None = None, why: str = "") -> None:
        self.news.append(News(self.moment.broker, self.moment.read_at_ms, what, row, why))

    def _report(self, rows: JudgedRows) -> None:
        """Report what was not reported before."""
        of_each: dict[TransactionState | NewsKind, Flags] = {state: rows.are_in(state) for state in REPORTED_STATES}
        is_old = self.moment.read_at_ms - rows.born() > self.hanging_ms
        of_each[NewsKind.HANGING] = rows.are_in(TransactionState.PENDING) & is_old
        of_each[NewsKind.UNREMEMBERED] = self._are_unremembered(rows)
        is_any = np.logical_or.reduce(list(of_each.values()))
        chosen = rows.chosen(is_any)
        unknown_before = set(self.memory.get("unknown", ()))
        for place, row, key in zip(np.flatnonzero(is_any), chosen.as_rows(), chosen.hashes(), strict=True):
            before = now = self.memory.reported(key)
            for bit, what in enumerate(REPORTED):
                if not of_each[what][place] or now & 1 << bit:
                    continue
                if what is TransactionState.UNKNOWN:
                    # May be over soon: while a round goes on, halves that it has put back lie before its offset.
                    self._unknown.append(key)
                    if key not in unknown_before:
                        continue
                now |= 1 << bit
                self._add_news(what, row)
                self.counters.reported[what.value] += 1
            if now != before:
                self.memory.note_reported(key, now)
            if now and not before:
                self.counters.findings.update(row.resembles)

    def _are_unremembered(self, rows: JudgedRows) -> Flags:
        """The rows with a new message and no half, which may be of a transaction that was forgotten."""
        events = rows.events
        if not self.since or not self.memory.get("forgets"):
            return np.zeros(events.count, bool)
        is_new_message = events.are(DELIVERED) & (events.numbers("at") >= self.since)
        return events.rows_with(is_new_message) & ~events.rows_with(rows.halves)

    def _settle(self, rows: JudgedRows) -> None:
        """Remember settled transactions by the places of their records alone."""
        events, states = rows.events, rows.states()
        self.counters.settled.update(states)
        places = _by_owner(events.owner, events.numbers("at"), events.count)
        halves = _by_owner(events.owner[rows.halves], rows.half_places, events.count)
        self.memory.settle(zip(rows.hashes(), states, places, halves, strict=True))

    def _count_rounds(self, rows: JudgedRows) -> None:
        """Count the new put-backs and discards."""
        events = rows.events
        is_new = events.numbers("at") >= self.since
        self.counters.put_backs += int(np.count_nonzero(events.are(PUT_BACK) & is_new))
        resembles = rows.rows.column("resembles")
        for owner in events.owner[events.are(DISCARDED) & is_new].tolist():
            cause = "immune" if _NEVER_ASKED in resembles[owner].as_py() else "unanswered"
            self.counters.discards[cause] += 1
        self.times += events.numbers("time")[events.are(*OF_ROUNDS) & is_new].tolist()

    def _add_ages(self, rows: JudgedRows) -> None:
        """Add pending rows to the ages of their groups."""
        seconds = np.maximum(self.moment.read_at_ms - rows.born(), 0) / 1_000
        groups = np.array(rows.rows.column("group").to_pylist(), object)
        for group in set(groups.tolist()):
            of_group = seconds[groups == group]
            ages = self.pending.setdefault(group, Ages())
            ages.up_to += np.count_nonzero(of_group[:, None] <= AGES_S, axis=0)
            ages.count += len(of_group)
            ages.seconds += float(of_group.sum())


def _by_owner(owner: Numbers, values: Any, count: int) -> Iterator[list[int]]:
    """The values of each owner; owners stand in order."""
    ends = np.cumsum(np.bincount(owner, minlength=count)).tolist()
    for begin, end in zip([0, *ends[:-1]], ends, strict=False):
        yield values[begin:end].tolist()
