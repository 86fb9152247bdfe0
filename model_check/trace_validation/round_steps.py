"""Steps of a round that leave no record, taken on the queues as long as they were at some earlier moment.

A view is a stretch of the log in which the op queue did not grow: all that a pull of op messages can tell apart.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Final

from model_check.trace_validation.observed import EventKind, Trace
from spec.chapters import check_round, discarding
from spec.half import has_a_copy_ahead, is_known_as_settled, is_over_age, its_op_is_to_come
from spec.language import NONE
from spec.state import RolledBack

if TYPE_CHECKING:
    from model_check.trace_validation.workspace import ActionFunction, Workspace

SILENT_PASSES: Final = (
    check_round.pass_settled_half,
    check_round.pass_half_of_settled_original,
    check_round.pass_half_of_settled_transaction,
    check_round.pass_copied_half,
    check_round.pass_half_of_waiting_op,
)
"""How a round passes a half without a record; where discarded halves are dropped, it does so with them, too."""

SILENT_ENDS: Final = (
    check_round.end_round_at_queue_end,
    check_round.end_round_at_fresh_half,
    check_round.end_round_at_young_half,
    check_round.end_round_before_dispatch,
)
"""How a round may end; the end at its time limit apart, which needs time."""


@dataclass(frozen=True, slots=True)
class View:
    """The part of the log that a step without a record saw."""

    before: int  # the last event that it may precede
    halves: int  # how long the queues were then
    ops: int
    earliest: int  # between which instants the op queue had this length, in milliseconds
    latest: int


def views_between(trace: Trace, earlier: int, number: int) -> list[View]:
    """The views behind event `earlier` and before event `number`, in their order; never empty."""
    halves, ops = _lengths(trace)
    views: list[View] = []
    for gap in range(earlier + 1, number + 1):
        began = trace.events[gap - 1].time if gap else 0
        if views and views[-1].ops == ops[gap]:
            began = views.pop().earliest
        views.append(View(gap, halves[gap], ops[gap], began, trace.events[gap].time))
    return views


@lru_cache(maxsize=4)
def _lengths(trace: Trace) -> tuple[list[int], list[int]]:
    """How long both queues are before each event."""
    halves, ops = [0], [0]
    for event in trace.events:
        halves.append(halves[-1] + (event.kind in (EventKind.HALF_STORED, EventKind.PUT_BACK)))
        ops.append(ops[-1] + (event.kind is EventKind.OP_STORED))
    return halves, ops


class SearchLimitError(Exception):
    """The search took too many steps; nothing is known about the trace."""


class RoundSteps:
    """Takes the check service's silent steps, and tries so many in all."""

    def __init__(self, work: Workspace, trace: Trace, most_tries: int) -> None:
        self.work = work
        self.trace = trace
        self.clock = 0  # the instant of the check service's latest step
        self._tries_left = most_tries
        self._hurries = False

    def take(self, action: ActionFunction, now: int, before: int) -> bool:
        """Try a step at an instant; `SearchLimitError` after too many."""
        self._tries_left -= 1
        if self._tries_left < 0:
            raise SearchLimitError
        return self.work.take(action, now=now, before=before) is None

    def allow(self, least_tries: int) -> None:
        """Allow so many further tries at least, unless it hurries."""
        if not self._hurries:
            self._tries_left = max(self._tries_left, least_tries)

    def hurry(self, most_tries: int) -> None:
        """Allow no more than so many further tries."""
        self._hurries = True
        self._tries_left = min(self._tries_left, most_tries)

    def look(self, view: View) -> None:
        """Make the queues as long as they were in a view; forget which transactions were settled behind it."""
        s = self.work.state
        s.half_length = view.halves
        s.op_length = view.ops
        for settled in self.work.settled:
            is_known = settled.before < view.before
            s.transaction[settled.transaction].deliveries = settled.deliveries if is_known else 0
            s.transaction[settled.transaction].rolled_back = (
                RolledBack(settled.rolled_back) if is_known else RolledBack.NO
            )

    def look_at(self, number: int) -> None:
        """Make the queues as long as they were right before an event."""
        self.look(views_between(self.trace, number - 1, number)[-1])

    def silent_pass(self) -> ActionFunction | None:
        """The action that passes the half at the cursor without a record, if it is settled, or dropped by 4.5.1.

        Repaired services know more settled halves than the op messages name.
        """
        s, c = self.work.state, self.work.constants
        if s.round.cursor >= s.half_length:
            return None
        if s.round.removed_by[s.round.cursor] != NONE:
            return check_round.pass_settled_half
        if is_known_as_settled(s, c, s.half[s.round.cursor].transaction):
            return check_round.pass_half_of_settled_transaction
        if has_a_copy_ahead(s, c, s.round.cursor):
            return check_round.pass_copied_half
        if its_op_is_to_come(s, c, s.round.cursor):
            return check_round.pass_half_of_waiting_op
        is_used_up = s.half[s.round.cursor].check_times >= c.check_max
        if not c.keeps_discarded and (is_used_up or is_over_age(s, c, s.round.cursor)):
            return discarding.discard_half
        return check_round.pass_half_of_settled_original if s.half[s.round.cursor].original != NONE else None
