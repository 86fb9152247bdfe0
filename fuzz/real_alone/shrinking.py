"""A schedule made short: steps go as long as a build still does what is looked for."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fuzz.real_alone.schedules import schedule_of

if TYPE_CHECKING:
    from collections.abc import Callable

    from fuzz.real_alone.schedules import StagedSchedule


def shortest(
    schedule: StagedSchedule, shows: Callable[[StagedSchedule], bool], *, may_go_on: Callable[[], bool]
) -> StagedSchedule:
    """Take steps out, larger parts first, until no single one can go, or time is up.

    Parameters
    ----------
    shows
        Whether a shorter schedule still shows what is looked for.
    may_go_on
        Whether there is time for another try.
    """
    length = len(schedule.staged) // 2
    while length:
        at, is_shorter = 0, False
        while at < len(schedule.staged) and may_go_on():
            steps = schedule.steps
            tried = schedule_of(schedule.world, steps[:at] + steps[at + length :], schedule.origin)
            if len(tried.staged) < len(steps) and shows(tried):
                schedule, is_shorter = tried, True
            else:
                at += length
        if not (length == 1 and is_shorter and may_go_on()):
            length //= 2
    return schedule
