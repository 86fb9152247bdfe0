"""Schedules: steps that both take, and perhaps one question at their end; how one is run again and made shorter."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from fuzz.lockstep.forbidden import ask
from fuzz.lockstep.mismatch import Mismatch
from fuzz.lockstep.pair import Lockstep
from model_check.counterexample.steps import read_path, write_path

if TYPE_CHECKING:
    from fuzz.lockstep.pairing import World
    from spec.language import Step


@dataclass(frozen=True, slots=True)
class Schedule:
    """What is done to a pair.

    Attributes
    ----------
    steps
        In order; those that the specification refuses are passed over.
    question
        A forbidden step that the broker is asked for at the end.
    """

    steps: tuple[Step, ...]
    question: Step | None = None


def run(world: World, schedule: Schedule) -> Lockstep:
    """Run a schedule on a new pair.

    Raises
    ------
    Mismatch
        The pair disagrees.
    """
    pair = Lockstep(world)
    for step in schedule.steps:
        pair.take(step)
    if schedule.question is not None:
        ask(pair, schedule.question)
    return pair


def run_text(world: World, steps: str, question: str = "") -> Lockstep:
    """The same from text, steps separated by semicolons; raises `ModelCheckError` for a step that is none."""
    path = read_path(world.machine, world.constants, steps)
    asked = read_path(world.machine, world.constants, question)[0] if question else None
    return run(world, Schedule(tuple(path), asked))


def write(schedule: Schedule) -> tuple[str, str]:
    """Steps and question as `run_text` reads them."""
    return write_path(schedule.steps), "" if schedule.question is None else str(schedule.question)


def shortest(world: World, schedule: Schedule, mismatch: Mismatch) -> tuple[Schedule, Mismatch]:
    """Take steps out as long as the same variable still differs, larger parts first, until no single one can go.

    Returns
    -------
    schedule, mismatch
        What is left, and how it ends. A schedule that does not end in the mismatch comes back as it is.
    """
    kept, found = schedule, mismatch
    length = len(schedule.steps)
    while length:
        at = 0
        while at < len(kept.steps):
            tried = replace(kept, steps=kept.steps[:at] + kept.steps[at + length :])
            again = _ends_in(world, tried, mismatch)
            if again is None:
                at += length
            else:
                kept, found = again
        length //= 2
    return kept, found


def _ends_in(world: World, schedule: Schedule, mismatch: Mismatch) -> tuple[Schedule, Mismatch] | None:
    """The part of a schedule that ends in a mismatch of the same variable, without refused steps; None if none does."""
    pair = Lockstep(world)
    try:
        for step in schedule.steps:
            pair.take(step)
        if schedule.question is not None:
            ask(pair, schedule.question)
    except Mismatch as again:
        if variable_of(again) == variable_of(mismatch):
            return Schedule(tuple(pair.taken), pair.asked), again
    return None


def variable_of(mismatch: Mismatch) -> str:
    """The variable that differs, without its place in an array.

    Examples
    --------
    >>> variable_of(Mismatch(1, "tick", "half[2].check_times", "1", "0"))
    'half.check_times'
    """
    name, _, rest = mismatch.variable.partition("[")
    return name + rest.partition("]")[2]
