"""What the records tell of the END_TRANSACTIONs behind them, read ahead of the walk through the trace.

A commit shows as the message that it delivers, and again as its half's offset in an op message; a rollback shows as
that offset alone. Which op message holds a delivery's entry, and whether an END_TRANSACTION for a half is still to
come, is known from the whole trace only.
"""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING

from model_check.trace_validation.observed import EndRequest, Kind, Outcome, Trace

if TYPE_CHECKING:
    from collections.abc import Iterable

CLOCK_SLACK_MS = 20
"""How much later than the broker's record a producer's own line for its cause may be stamped."""

HANDLING_MS = 20
"""How long an END_TRANSACTION may take from the real message to the op buffer."""


class Forecast:
    """What is to come, by the numbers of events.

    Attributes
    ----------
    buffered_behind : dict
        A delivery to the op message behind which its entry came into the op buffer: the next op message does not hold
        it, but a later one does, or none does and it was written in the same moment.
    rollbacks_in : dict
        An op message to the halves in it that no delivery accounts for, as often as they occur.
    earlier_op : dict
        An op message to the one before it.
    unsent : frozenset
        Events that need an END_TRANSACTION which no producer logged; empty without such a log.
    """

    def __init__(self, trace: Trace) -> None:
        self.buffered_behind: dict[int, int] = {}
        self.rollbacks_in: dict[int, list[int]] = {}
        self.earlier_op: dict[int, int] = {}
        self._ends: dict[int, list[int]] = defaultdict(list)
        waiting: dict[int, list[int]] = defaultdict(list)
        last_op: int | None = None
        for number, event in enumerate(trace.events):
            if event.kind is Kind.DELIVERED:
                waiting[event.half].append(number)
                self._ends[event.half].append(number)
            elif event.kind is Kind.OP_STORED:
                if last_op is not None:
                    self.earlier_op[number] = last_op
                last_op = number
                self.rollbacks_in[number] = self._settle(number, event.names, waiting)
        self._find_late_entries(trace, waiting)
        self.unsent = frozenset() if trace.requests is None else frozenset(self._without_request(trace, trace.requests))

    def _settle(self, op: int, names: Iterable[int], waiting: dict[int, list[int]]) -> list[int]:
        rollbacks = []
        for half in names:
            if waiting[half]:
                delivery = waiting[half].pop(0)
                if self.earlier_op.get(op, -1) > delivery:
                    self.buffered_behind[delivery] = self.earlier_op[op]
            else:
                rollbacks.append(half)
                self._ends[half].append(op)
        return rollbacks

    def _find_late_entries(self, trace: Trace, waiting: dict[int, list[int]]) -> None:
        ops = list(self.rollbacks_in)
        for delivery in sorted(number for numbers in waiting.values() for number in numbers):
            following = next((op for op in ops if op > delivery), None)
            if following is not None and trace.events[following].time - trace.events[delivery].time <= HANDLING_MS:
                self.buffered_behind[delivery] = following

    def next_outcome(self, half: int, number: int, trace: Trace) -> Outcome | None:
        """What the next END_TRANSACTION that names the half says, behind this event; None if there is none."""
        end = self.next_end(half, number)
        if end is None:
            return None
        return Outcome.COMMIT if trace.events[end].kind is Kind.DELIVERED else Outcome.ROLLBACK

    def rollback_of(self, half: int, number: int) -> int | None:
        """The op message that shows the next END_TRANSACTION for the half, if that is a rollback."""
        end = self.next_end(half, number)
        return end if end in self.rollbacks_in else None

    def next_end(self, half: int, number: int) -> int | None:
        """The next event behind this one that shows an END_TRANSACTION for the half."""
        return min((end for end in self._ends.get(half, ()) if end > number), default=None)

    def _without_request(self, trace: Trace, requests: tuple[EndRequest, ...]) -> Iterable[int]:
        sent: dict[tuple[int, Outcome], list[int]] = defaultdict(list)
        for request in requests:
            sent[request.half, request.outcome].append(request.not_before)
        for times in sent.values():
            times.sort()
        needed: list[tuple[int, int, Outcome]] = []
        for number, event in enumerate(trace.events):
            if event.kind is Kind.DELIVERED:
                needed.append((number, event.half, Outcome.COMMIT))
            elif event.kind is Kind.OP_STORED:
                needed += [(number, half, Outcome.ROLLBACK) for half in self.rollbacks_in[number]]
        for number, half, outcome in needed:
            times = sent[half, outcome]
            if times and times[0] <= trace.events[number].time + CLOCK_SLACK_MS:
                times.pop(0)
            else:
                yield number
