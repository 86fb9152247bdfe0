"""Assumptions about times besides the instance: when local transactions are over, and how long all checks take.

Neither belongs into the specification. A limit on local transactions is an assumption that a user states (`--local
1s`): one more conjunct of `tick`. How long all checks take follows from the check interval, but not where fewer checks
stand for them: one more conjunct of what discards a half, and a round may end at a copy that seems to have none left.
"""

from __future__ import annotations

from dataclasses import dataclass, fields, replace

from spec.chapters.broker import tick as tick_of_the_specification
from spec.chapters.discarding import discard_half as discard_half_of_the_specification
from spec.chapters.discarding import discard_half_unrecorded as discard_half_unrecorded_of_the_specification
from spec.check_loop import stands_on_the_masters_half
from spec.constants import Constants
from spec.half import age, has_no_checks_left, is_over_age, must_be_discarded
from spec.half_queue import half_read
from spec.language import NONE, Machine, action, assume, declared_action, require
from spec.rounds import end_round, is_fresh
from spec.state import End, Local, State, Stuck


@dataclass(frozen=True, kw_only=True)
class TimedConstants(Constants):
    """Constants with two more times, in ticks."""

    local_limit: int = NONE
    """The age of its half by which a local transaction is over, and the broker has heard; NONE where nobody knows."""
    checks_time: int = 0
    """How old a half is at least when all its checks are used up: all check intervals but one have passed."""
    stands_for_more: int = 0
    """1 where there are more checks in reality, so that a half without checks has some left until it is so old."""

    @property
    def time_of_all_checks(self) -> int:
        """How long all rounds take at least, as many as they really are."""
        return self.checks_time + self.check_interval

    @property
    def birth_cut(self) -> int:
        """No guard compares the age of a half with more than this."""
        return max(super().birth_cut, self.local_limit + 1, self.checks_time + 1)


@action(event="time_passed")
def tick(s: State, c: TimedConstants) -> None:
    """The clock goes on. Without faults, nothing that is due is overdue; no local transaction outlasts its limit."""
    assume(
        c.local_limit == NONE
        or all(
            s.transaction[t].first_half == NONE
            or s.transaction[t].local != Local.EXECUTING
            or age(s, s.transaction[t].first_half) < c.local_limit
            for t in range(c.transactions)
        ),
        "a local transaction is over within its limit",
    )
    assume(
        c.local_limit == NONE
        or c.late_end
        or all(
            s.transaction[t].first_half == NONE
            or s.half[s.transaction[t].first_half].end == End.NONE
            or age(s, s.transaction[t].first_half) < c.local_limit
            for t in range(c.transactions)
        ),
        "an END_TRANSACTION arrives within the limit of its local transaction",
    )
    tick_of_the_specification(s, c)


@action(event="half_discarded")
def discard_half(s: State, c: TimedConstants) -> None:
    """A half without checks left is discarded, not before so many intervals have passed."""
    stands_on_the_masters_half(s, c)
    assume(can_be_without_checks(s, c, half_read(s)), "all check intervals but one have passed")
    discard_half_of_the_specification(s, c)


@action(event="half_discarded")
def discard_half_unrecorded(s: State, c: TimedConstants) -> None:
    """The same where its record is not stored."""
    stands_on_the_masters_half(s, c)
    assume(can_be_without_checks(s, c, half_read(s)), "all check intervals but one have passed")
    discard_half_unrecorded_of_the_specification(s, c)


@action(event="round_ended")
def end_round_at_fresh_half(s: State, c: TimedConstants) -> None:
    """A round ends at a half that was stored in it, also at one without checks left that really has some."""
    stands_on_the_masters_half(s, c)
    require(
        not must_be_discarded(s, c, half_read(s)) or (c.stands_for_more == 1 and not is_over_age(s, c, half_read(s))),
        "it has checks left",
    )
    require(is_fresh(s, c, half_read(s)), "it was stored in this round")
    if s.half[half_read(s)].stored_at > s.now:
        end_round(s, c, Stuck.CLOCK)
    else:
        end_round(s, c, Stuck.NO)


def can_be_without_checks(s: State, c: TimedConstants, h: int) -> bool:
    """Half h has checks left, is too old to be kept, or as old as it must be; a repair may count otherwise.

    Each copy is stored by a round after the one that stored what it copies, and the first round is later than the send.
    """
    counts_otherwise = c.counts_sent_checks or c.discards_instead_of_checking or c.ages_from_storing
    has_another_reason = not has_no_checks_left(s, c, h) or is_over_age(s, c, h)
    return counts_otherwise or has_another_reason or age(s, h) > c.checks_time


_WITH_TIMES = {
    action.name: action
    for action in map(declared_action, (tick, discard_half, discard_half_unrecorded, end_round_at_fresh_half))
}


def with_assumed_times(
    machine: Machine, constants: Constants, *, local_limit: int = NONE, checks_time: int, stands_for_more: int = 0
) -> tuple[Machine, TimedConstants]:
    """A machine that keeps to these times, and its constants."""
    actions = tuple(_WITH_TIMES.get(action.name, action) for action in machine.actions)
    given = {field.name: getattr(constants, field.name) for field in fields(constants)}
    times = {"local_limit": local_limit, "checks_time": checks_time, "stands_for_more": stands_for_more}
    return replace(machine, actions=actions), TimedConstants(**given | times)
