"""The END_TRANSACTIONs behind the records, read ahead of the walk through the trace.

A commit shows as the message that it delivers, and again as its half's offset in an op message; a rollback shows as
that offset alone. Which op message holds a delivery's entry, and whether an END_TRANSACTION for a half is still to
come, is known from the whole trace only.
"""

from __future__ import annotations

from collections import defaultdict
from types import MappingProxyType
from typing import TYPE_CHECKING

from model_check.trace_validation.observed import EndRequest, EventKind, ObservedOutcome, Trace

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

CLOCK_SLACK_MS = 20
"""How much later than the broker's record a producer's own line for its cause may be stamped."""

HANDLING_MS = 20
"""How long a thread may take between two things that it does.

An END_TRANSACTION from its clock to the real message and from there to the op buffer, the batch thread from its clock
to the op message.
"""


class Forecast:
    """The records to come, by the numbers of events.

    Parameters
    ----------
    crashes
        Before which events the process dies.
    lingering
        Deliveries to the op message behind which their entries came into the op buffer, where no op message shows it.

    Attributes
    ----------
    buffered_behind : dict
        A delivery to the op message behind which its entry came into the op buffer: the next op message does not hold
        it, but a later one does, or none does and it was written in the same moment.
    rollbacks_in : dict
        An op message to the halves in it that no delivery accounts for, as often as they occur.
    buffered_before : dict
        An event to the rollbacks whose entries may be in the op buffer before it, and not before the event before it.
    rolled_back_at : dict
        Such an event with such a half to when the rollback was sent, where that is known.
    earlier_op : dict
        An op message to the one before it.
    never_written : list
        Deliveries whose entries no op message holds, and no crash has lost.
    unsent : frozenset
        Events that need an END_TRANSACTION which no producer logged; empty without such a log.
    """

    def __init__(
        self, trace: Trace, crashes: tuple[int, ...] = (), lingering: Mapping[int, int] = MappingProxyType({})
    ) -> None:
        self._crashes = crashes
        self._rollbacks_of_copies: dict[int, list[int]] = defaultdict(list)
        self.buffered_behind: dict[int, int] = {}
        self.rollbacks_in: dict[int, list[int]] = {}
        self.rolled_back_at: dict[tuple[int, int], int] = {}
        self.earlier_op: dict[int, int] = {}
        self._ends: dict[int, list[int]] = defaultdict(list)
        waiting: dict[int, list[int]] = defaultdict(list)
        last_op: int | None = None
        for number, event in enumerate(trace.events):
            if number in crashes:
                self._cut_short(waiting, last_op)
            if event.kind is EventKind.DELIVERED:
                waiting[event.half].append(number)
                self._ends[event.half].append(number)
            elif event.kind is EventKind.OP_STORED:
                if last_op is not None:
                    self.earlier_op[number] = last_op
                last_op = number
                self.rollbacks_in[number] = self._settle(number, event.names, waiting)
        self.never_written = sorted(number for numbers in waiting.values() for number in numbers)
        self._find_late_entries(trace, self.never_written)
        self.buffered_behind.update(lingering)
        self.buffered_before = self._earliest_rollbacks(trace)
        self.unsent = frozenset() if trace.requests is None else frozenset(self._without_request(trace, trace.requests))

    def _settle(self, op: int, names: Iterable[int], waiting: dict[int, list[int]]) -> list[int]:
        rollbacks = []
        for half in names:
            if waiting[half]:
                self._forget_lost_entries(op, waiting[half])
                delivery = waiting[half].pop(0)
                if self.earlier_op.get(op, -1) > delivery:
                    self.buffered_behind[delivery] = self.earlier_op[op]
            else:
                rollbacks.append(half)
                self._ends[half].append(op)
        return rollbacks

    def _forget_lost_entries(self, op: int, deliveries: list[int]) -> None:
        """An entry is buffered before its half is delivered again; if the op message behind lacks it, it is lost."""
        while len(deliveries) > 1 and self.earlier_op.get(op, -1) > deliveries[1]:
            deliveries.pop(0)

    def _cut_short(self, waiting: dict[int, list[int]], last_op: int | None) -> None:
        """Entries handled or buffered when the process dies; one that an op message lacks was handled for long."""
        for delivery in (number for numbers in waiting.values() for number in numbers):
            if last_op is not None and last_op > delivery:
                self.buffered_behind[delivery] = last_op
        waiting.clear()

    def _find_late_entries(self, trace: Trace, deliveries: Iterable[int]) -> None:
        ops = list(self.rollbacks_in)
        for delivery in deliveries:
            following = next((op for op in ops if op > delivery), None)
            if following is not None and trace.events[following].time - trace.events[delivery].time <= HANDLING_MS:
                self.buffered_behind[delivery] = following

    def _earliest_rollbacks(self, trace: Trace) -> dict[int, list[int]]:
        """Behind the half, the op message that does not hold the entry yet, an earlier commit, and a crash."""
        halves = [(n, e) for n, e in enumerate(trace.events) if e.kind in (EventKind.HALF_STORED, EventKind.PUT_BACK)]
        stored = {event.half: number for number, event in halves}
        first = {event.transaction: event.half for _, event in halves if event.kind is EventKind.HALF_STORED}
        first_of = {
            e.half: first[e.transaction] for _, e in halves if e.kind is EventKind.PUT_BACK and e.transaction in first
        }
        sent = self._rollbacks_sent(trace)
        found: dict[int, list[int]] = defaultdict(list)
        for op, rolled_back in self.rollbacks_in.items():
            for half in rolled_back:
                if stored.get(half, op) < op:
                    earlier = [n + 1 for n in (stored[half], self.earlier_op.get(op, -1), *self._ends[half]) if n < op]
                    handled = max(*earlier, *(gap for gap in (0, *self._crashes) if gap <= op))
                    if sent[half]:
                        came = sent[half].pop(0)
                        handled = max(handled, min(op, sum(event.time < came for event in trace.events)))
                        self.rolled_back_at[handled, half] = came
                    found[handled].append(half)
                    if half in first_of:
                        self._rollbacks_of_copies[first_of[half]].append(handled if trace.events[op].is_batched else op)
        return found

    @staticmethod
    def _rollbacks_sent(trace: Trace) -> dict[int, list[int]]:
        """When rollbacks of each half were sent, where that is known."""
        sent: dict[int, list[int]] = defaultdict(list)
        for request in trace.requests or () if trace.is_timed else ():
            if request.outcome is ObservedOutcome.ROLLBACK:
                sent[request.half].append(request.not_before)
        return sent

    def earlier_delivery(self, half: int, number: int) -> int:
        """The last delivery from the half before an event; -1 if there is none."""
        ends = self._ends.get(half, ())
        return max((end for end in ends if end < number and end not in self.rollbacks_in), default=-1)

    def dies_between(self, first: int, last: int) -> bool:
        """Whether the process dies behind the one event and before the other."""
        return any(first < gap <= last for gap in self._crashes)

    def rolls_a_copy_back(self, first: int, number: int, end: int) -> bool:
        """Whether a rollback that names a copy of a half may be handled between two events."""
        return any(number <= handled <= end for handled in self._rollbacks_of_copies.get(first, ()))

    def next_outcome(self, half: int, number: int, trace: Trace) -> ObservedOutcome | None:
        """The outcome in the next END_TRANSACTION that names the half, behind this event; None if there is none."""
        end = self.next_end(half, number)
        if end is None:
            return None
        return ObservedOutcome.COMMIT if trace.events[end].kind is EventKind.DELIVERED else ObservedOutcome.ROLLBACK

    def next_end(self, half: int, number: int) -> int | None:
        """The next event behind this one that shows an END_TRANSACTION for the half."""
        return min((end for end in self._ends.get(half, ()) if end > number), default=None)

    def _without_request(self, trace: Trace, requests: tuple[EndRequest, ...]) -> Iterable[int]:
        sent: dict[tuple[int, ObservedOutcome], list[int]] = defaultdict(list)
        for request in requests:
            sent[request.half, request.outcome].append(request.not_before)
        for times in sent.values():
            times.sort()
        needed: list[tuple[int, int, ObservedOutcome]] = []
        for number, event in enumerate(trace.events):
            if event.kind is EventKind.DELIVERED:
                needed.append((number, event.half, ObservedOutcome.COMMIT))
            elif event.kind is EventKind.OP_STORED:
                needed += [(number, half, ObservedOutcome.ROLLBACK) for half in self.rollbacks_in[number]]
        for number, half, outcome in needed:
            times = sent[half, outcome]
            if times and times[0] <= trace.events[number].time + CLOCK_SLACK_MS:
                times.pop(0)
            else:
                yield number
