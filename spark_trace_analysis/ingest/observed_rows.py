"""A broker's recorded trace as observed records, for trace validation.

A row lacks a half's born time and immunity. The least is assumed that allows the rows: a half was born when it was
stored, or as much earlier as its first check wants; it has an immunity of its own if it was put back for one, of as few
whole seconds as that takes.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from model_check.trace_validation.observed import EventKind, ObservedEvent, Trace
from spark_trace_analysis.ingest.stored_rows import ENDS_OF_A_PROCESS, PUT_BACKS, name_entries
from spec.language import NONE

if TYPE_CHECKING:
    from spark_trace_analysis.traces.recorded_trace import RecordedTrace, Row

LONGEST_WAY_MS: Final = 1_000
"""So much earlier than it was stored a half may have been born; more must be an immunity that is shorter than that."""

_SECOND = 1_000


@dataclass(frozen=True, slots=True)
class ObservedRecording:
    """A trace to validate, and the row that each event was taken from; of an op message, that of its last entry."""

    trace: Trace
    rows: tuple[Row, ...]


@dataclass(slots=True)
class _Life:
    """Times of one transaction's halves: when the first was stored, put back for immunity, and checked."""

    stored: int
    last_immune: int | None = None
    first_check: int | None = None

    def immunity_ms(self, timeout: int) -> int:
        """CHECK_IMMUNITY_TIME_IN_SECONDS in milliseconds, or `NONE`."""
        if self.last_immune is not None:
            return ((self.last_immune - self.stored) // _SECOND + 1) * _SECOND
        if self.first_check is None or self.first_check - self.stored + LONGEST_WAY_MS > timeout:
            return NONE
        return max(0, (self.first_check - self.stored - 1) // _SECOND) * _SECOND

    def born(self, timeout: int) -> int:
        """The latest born time at which the first check was not too early."""
        if self.first_check is None:
            return self.stored
        immunity = self.immunity_ms(timeout)
        wanted = timeout if immunity == NONE else immunity
        return min(self.stored, self.first_check - wanted - 1)


@dataclass(slots=True)
class _EventCollector:
    """Collects observed events from rows in their order."""

    timeout: int
    lives: dict[int, _Life]
    is_batched: bool
    events: list[ObservedEvent] = field(default_factory=list)
    rows: list[Row] = field(default_factory=list)
    checked: set[int] = field(default_factory=set)
    crashes: set[int] = field(default_factory=set)
    originals: dict[int, int] = field(default_factory=dict)
    """A copy to the half that TRAN_PREPARED_QUEUE_OFFSET names in it: an immunity put-back writes it down once."""

    def take(self, row: Row) -> None:
        if row.event in ENDS_OF_A_PROCESS:
            self.crashes.add(len(self.events))
            return
        event = self._event_of(row)
        if event is not None:
            self.events.append(event)
            self.rows.append(row)

    def _event_of(self, row: Row) -> ObservedEvent | None:
        match row.event:
            case "half_stored":
                life = self.lives[row.transaction]
                return ObservedEvent(
                    kind=EventKind.HALF_STORED,
                    time=row.time,
                    transaction=row.transaction,
                    half=row.half,
                    born=life.born(self.timeout),
                    immunity=life.immunity_ms(self.timeout),
                )
            case event if event in PUT_BACKS:
                return self._put_back(row)
            case "message_delivered":
                return ObservedEvent(
                    kind=EventKind.DELIVERED, time=row.time, transaction=row.transaction, half=row.half, born=row.time
                )
            case "half_discarded":
                return ObservedEvent(
                    kind=EventKind.DISCARDED,
                    time=row.time,
                    transaction=row.transaction,
                    check_times=max(row.check_times, 0),
                )
            case "op_stored":
                return self._op(row)
            case _:
                return None

    def _put_back(self, row: Row) -> ObservedEvent:
        original = self.originals.get(row.half, NONE)
        if row.event == "put_back_for_check":
            self.checked.add(row.copy)
        elif row.event == "put_back_for_immunity" and original == NONE:
            original = row.half
        self.originals[row.copy] = original
        life = self.lives.get(row.transaction)
        return ObservedEvent(
            kind=EventKind.PUT_BACK,
            time=row.time,
            transaction=row.transaction,
            half=row.copy,
            born=row.time if life is None else life.born(self.timeout),
            check_times=max(row.check_times, 0),
            original=original,
        )

    def _op(self, row: Row) -> ObservedEvent | None:
        """One op message; the rows of its other entries stand right behind its first."""
        if self.events and self.events[-1].kind is EventKind.OP_STORED and self.events[-1].op == row.op:
            names = (*self.events.pop().names, row.half)
            self.rows.pop()
        else:
            names = () if row.half == NONE else (row.half,)
        body = "".join(f"{name}," for name in names)
        return ObservedEvent(
            kind=EventKind.OP_STORED,
            time=row.time,
            op=row.op,
            names=names,
            born=row.time,
            is_batched=self.is_batched,
            body_size=len(body),
        )


def observed(recorded: RecordedTrace, timeout: int, *, with_discards: bool) -> ObservedRecording:
    """The records of a recorded trace; the timeout is `transactionTimeOut` in milliseconds.

    In some versions a discard leaves no record.
    """
    rows = list(name_entries(recorded.rows))
    reader = _EventCollector(timeout, _lives(rows), is_batched=any(row.event == "op_buffered" for row in rows))
    for row in rows:
        if with_discards or row.event != "half_discarded":
            reader.take(row)
    crashes = tuple(sorted(gap for gap in reader.crashes if 0 < gap < len(reader.events)))
    trace = Trace(tuple(reader.events), None, frozenset(reader.checked), crashes)
    return ObservedRecording(trace, tuple(reader.rows))


def _lives(rows: list[Row]) -> dict[int, _Life]:
    lives: dict[int, _Life] = {}
    for row in rows:
        if row.event == "half_stored":
            lives.setdefault(row.transaction, _Life(row.time))
        life = lives.get(row.transaction)
        if life is None:
            continue
        if row.event == "put_back_for_immunity":
            life.last_immune = row.time
        elif row.event == "put_back_for_check" and life.first_check is None:
            life.first_check = row.time
    return lives
