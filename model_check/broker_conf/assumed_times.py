"""What is known of times besides the instance: when local transactions are over, and how long all checks take.

Neither belongs into the specification. A limit on local transactions is an assumption that a user states (`--local
1s`): one more conjunct of `tick`. How long all checks take follows from the check interval, but not where fewer checks
stand for them: one more conjunct of what puts a half back for the last time.
"""

from __future__ import annotations

from dataclasses import dataclass, fields, replace

from spec.chapters.broker import tick as tick_of_the_specification
from spec.chapters.putting_back import put_back_and_check as put_back_and_check_of_the_specification
from spec.chapters.putting_back import put_back_immune_half as put_back_immune_half_of_the_specification
from spec.chapters.putting_back import put_back_unasked as put_back_unasked_of_the_specification
from spec.check_loop import stands_on_an_earlier_half
from spec.constants import Constants
from spec.half import age
from spec.half_queue import half_read
from spec.language import NONE, Machine, action, assume, declared_action
from spec.state import End, Local, State


@dataclass(frozen=True, kw_only=True)
class TimedConstants(Constants):
    """Constants with two more times, in ticks.

    Attributes
    ----------
    local_limit : int
        The age of its half by which a local transaction is over, and the broker has heard; NONE where nobody knows.
    checks_time : int
        How old a half is at least when all its checks are used up: all check intervals but one have passed.
    """

    local_limit: int = NONE
    checks_time: int = 0

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


@action(event="put_back_for_immunity")
def put_back_immune_half(s: State, c: TimedConstants) -> None:
    """An immune half is put back; for the last time not before so many intervals have passed."""
    stands_on_an_earlier_half(s, c)
    assume(can_be_the_last_time(s, c, half_read(s)), "all check intervals but one have passed")
    put_back_immune_half_of_the_specification(s, c)


@action(event="put_back_for_check")
def put_back_and_check(s: State, c: TimedConstants) -> None:
    """An old half is put back and its producer asked; for the last time not before so many intervals have passed."""
    stands_on_an_earlier_half(s, c)
    assume(can_be_the_last_time(s, c, half_read(s)), "all check intervals but one have passed")
    put_back_and_check_of_the_specification(s, c)


@action(event="put_back_unasked")
def put_back_unasked(s: State, c: TimedConstants) -> None:
    """The same where no producer of the group is connected."""
    stands_on_an_earlier_half(s, c)
    assume(can_be_the_last_time(s, c, half_read(s)), "all check intervals but one have passed")
    put_back_unasked_of_the_specification(s, c)


def can_be_the_last_time(s: State, c: TimedConstants, h: int) -> bool:
    """Half h has checks left afterwards, or it is as old as it must be; a repair that counts otherwise knows no age.

    Each copy is stored by a round after the one that stored what it copies, and the first round is later than the send.
    """
    counts_otherwise = c.counts_sent_checks or c.discards_instead_of_checking or c.ages_from_storing
    return counts_otherwise or s.half[h].check_times + 1 < c.check_max or age(s, h) > c.checks_time


_WITH_TIMES = {
    action.name: action
    for action in map(declared_action, (tick, put_back_immune_half, put_back_and_check, put_back_unasked))
}


def with_assumed_times(
    machine: Machine, constants: Constants, *, local_limit: int = NONE, checks_time: int
) -> tuple[Machine, TimedConstants]:
    """A machine that keeps to these times, and its constants."""
    actions = tuple(_WITH_TIMES.get(action.name, action) for action in machine.actions)
    given = {field.name: getattr(constants, field.name) for field in fields(constants)}
    return replace(machine, actions=actions), TimedConstants(**given, local_limit=local_limit, checks_time=checks_time)
