"""Two traces side by side, transaction by transaction: the first event in which they part, and the field.

What one transaction goes through has an order, what different ones go through at the same time has none: so the events
of each transaction are compared in their order, and those of none (rounds, crashes) among themselves.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from itertools import zip_longest
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Iterable

    from spark_trace_analysis.traces.recorded_trace import RecordedTrace, Row

COMPARED: Final = ("event", "transaction", "half", "copy", "op", "check_times", "outcome", "action")
"""The fields of a row, those first that say most. An action that one side leaves open is not compared."""

TIME: Final = "time"
"""Compared last: two runs that differ in nothing else differ in their clocks."""


@dataclass(frozen=True, slots=True)
class Parting:
    """The place where two traces part, after `place` events of the transaction that both sides have in common.

    The transaction is `NONE` if the event is none's; the field is ``event`` where one side has no event.
    """

    trace: int
    transaction: int
    place: int
    field: str
    left: Row | None
    right: Row | None

    @property
    def step(self) -> int:
        """Where it stands on the left side, or on the right if there is nothing on the left."""
        row = self.left if self.left is not None else self.right
        return 0 if row is None else row.step


@dataclass(frozen=True, slots=True)
class ComparedTraces:
    """How many events both sides have in common, and the first difference, if there is one."""

    events: int
    parting: Parting | None


def compare_traces(
    left: Iterable[RecordedTrace], right: Iterable[RecordedTrace], *, with_times: bool = True
) -> ComparedTraces:
    """Compare traces by their numbers, each by its transactions.

    A difference in time counts only where all traces are alike but for times, and it is wanted.
    """
    events = 0
    in_time: Parting | None = None
    for ours, theirs in _side_by_side(left, right):
        number = ours.number if ours is not None else theirs.number if theirs is not None else 0
        groups, others = _by_transaction(ours), _by_transaction(theirs)
        found: list[Parting] = []
        for transaction in sorted(groups.keys() | others.keys()):
            common, parting, timing = _compare(number, transaction, groups[transaction], others[transaction])
            events += common
            if parting is not None:
                found.append(parting)
            if timing is not None and (in_time is None or (timing.trace, timing.step) < (in_time.trace, in_time.step)):
                in_time = timing
        if found:
            return ComparedTraces(events, min(found, key=lambda parting: (parting.step, parting.transaction)))
    return ComparedTraces(events, in_time if with_times else None)


def _side_by_side(
    left: Iterable[RecordedTrace], right: Iterable[RecordedTrace]
) -> Iterable[tuple[RecordedTrace | None, RecordedTrace | None]]:
    for ours, theirs in zip_longest(left, right):
        if ours is not None and theirs is not None and ours.number != theirs.number:
            yield (ours, None) if ours.number < theirs.number else (None, theirs)
            return
        yield ours, theirs


def _by_transaction(trace: RecordedTrace | None) -> dict[int, list[Row]]:
    groups: dict[int, list[Row]] = defaultdict(list)
    for row in () if trace is None else trace.rows:
        groups[row.transaction].append(row)
    return groups


def _compare(
    number: int, transaction: int, ours: list[Row], theirs: list[Row]
) -> tuple[int, Parting | None, Parting | None]:
    """How many events are common, where the sides part, and where first in nothing but time."""
    timing: Parting | None = None
    for place, (left, right) in enumerate(zip_longest(ours, theirs)):
        field = _differing(left, right)
        if field is not None:
            return place, Parting(number, transaction, place, field, left, right), timing
        if timing is None and left is not None and right is not None and left.time != right.time:
            timing = Parting(number, transaction, place, TIME, left, right)
    return len(ours), None, timing


def _differing(left: Row | None, right: Row | None) -> str | None:
    if left is None or right is None:
        return "event"
    for name in COMPARED:
        ours, theirs = getattr(left, name), getattr(right, name)
        is_open = name == "action" and "" in (ours, theirs)
        if ours != theirs and not is_open:
            return name
    return None
