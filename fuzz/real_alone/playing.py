"""A schedule on one build: it is played step by step, then the broker gets all the rounds that it may need."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from conformance.errors import JavaError
from fuzz.real_alone.guarantees import IN_THE_END, SeenBroken, broken
from fuzz.real_alone.lone_broker import LoneBroker
from fuzz.real_alone.schedules import pairing_of
from fuzz.real_alone.staging import STAGED, settle

if TYPE_CHECKING:
    from conformance.java.real_classes import RealClasses
    from fuzz.real_alone.schedules import StagedSchedule


@dataclass(frozen=True, slots=True)
class PlayedAlone:
    """What a build did with a schedule."""

    during: tuple[SeenBroken, ...]
    """What it broke by the schedule's own steps."""
    in_the_end: tuple[SeenBroken, ...]
    """The same with the rounds behind it, if there were any."""

    @property
    def broken_in_the_end(self) -> frozenset[str]:
        """The properties that are broken by then."""
        return frozenset(each.identifier for each in self.in_the_end)

    def how(self, identifier: str) -> str:
        """How a property is broken, in words: by the schedule's steps, if that can be judged then; '' if it is not."""
        judged = self.in_the_end if identifier in IN_THE_END else self.during
        return next((each.what for each in judged if each.identifier == identifier), "")


def play(real: RealClasses, schedule: StagedSchedule, *, settles: bool = True) -> PlayedAlone:
    """Play a schedule on a build.

    Parameters
    ----------
    settles
        Whether it gets all the rounds that it may need behind it.

    Raises
    ------
    JavaError
        The JVM has ended, or a broker can't be opened.
    """
    constants = pairing_of(schedule.world).constants
    broker = LoneBroker(real, constants)
    if broker.seen.thrown:
        message = f"{real.name}: a broker can't be opened: {broker.seen.thrown}"
        raise JavaError(message)
    for staged in schedule.staged:
        STAGED[staged.step.action.function](broker, staged)
    during = tuple(broken(broker.seen, constants))
    if not settles:
        return PlayedAlone(during, ())
    settle(broker)
    return PlayedAlone(during, tuple(broken(broker.seen, constants)))
