"""A known limit on local transactions: by which age of its half a producer has decided, and the broker has heard.

It is an assumption on the environment that a user states (`--local 1s`), so it stands beside the specification: one
more conjunct of `tick`, and one more constant.
"""

from __future__ import annotations

from dataclasses import dataclass, fields, replace

from spec.chapters.broker import tick as tick_of_the_specification
from spec.constants import Constants
from spec.half import age
from spec.language import NONE, Machine, action, assume, declared_action
from spec.state import End, Local, State


@dataclass(frozen=True, kw_only=True)
class LimitedConstants(Constants):
    """Constants with the age by which a local transaction is over, in ticks."""

    local_limit: int

    @property
    def birth_cut(self) -> int:
        """No guard compares the age of a half with more than this."""
        return max(super().birth_cut, self.local_limit + 1)


@action(event="time_passed")
def tick(s: State, c: LimitedConstants) -> None:
    """The clock goes on. Without faults, nothing that is due is overdue; no local transaction outlasts its limit."""
    assume(
        all(
            s.transaction[t].first_half == NONE
            or s.transaction[t].local != Local.EXECUTING
            or age(s, s.transaction[t].first_half) < c.local_limit
            for t in range(c.transactions)
        ),
        "a local transaction is over within its limit",
    )
    assume(
        c.late_end
        or all(
            s.transaction[t].first_half == NONE
            or s.half[s.transaction[t].first_half].end == End.NONE
            or age(s, s.transaction[t].first_half) < c.local_limit
            for t in range(c.transactions)
        ),
        "an END_TRANSACTION arrives within the limit of its local transaction",
    )
    tick_of_the_specification(s, c)


def with_local_limit(machine: Machine, constants: Constants, limit: int) -> tuple[Machine, LimitedConstants]:
    """A machine whose clock keeps to the limit, and its constants."""
    actions = tuple(declared_action(tick) if a.function is tick_of_the_specification else a for a in machine.actions)
    given = {field.name: getattr(constants, field.name) for field in fields(constants)}
    return replace(machine, actions=actions), LimitedConstants(**given, local_limit=limit)
