"""Neighbours of a schedule: another transaction and more rounds come in between, or steps are missing or late.

A repair that mends only half of a defect is right for the shortest counterexample; what it leaves out shows where one
more transaction is before its half, or one more round between its commit and its check.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import product
from typing import TYPE_CHECKING, Final

from fuzz.lockstep.pairing import DRIVEN
from fuzz.real_alone.schedules import SpecificationWalk, moves_of, unnoted
from fuzz.search.workloads import CHOICES
from spec.language import holds

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from random import Random

    from fuzz.actions.record import Move
    from fuzz.real_alone.schedules import StagedSchedule
    from fuzz.real_alone.staging import StagedStep
    from spec.language import Property, Step

_MOST_CYCLES: Final = 3
"""So often goes on what goes on by itself, until the clause is broken."""


@dataclass(frozen=True, slots=True)
class Insertion:
    """Moves that come before a step of a schedule."""

    at: int
    moves: tuple[Move, ...]
    choice: int = 0
    """Where among the steps of a kind the search for one begins."""


_ROUND: Final[tuple[Move, ...]] = ("whole round", "whole round")
_ROUNDS: Final[tuple[tuple[Move, ...], ...]] = (_ROUND, ("time", *_ROUND), ("time", "time", *_ROUND))
"""One more round, at once or later."""
_KINDS: Final[tuple[tuple[Move, ...], ...]] = (
    ("send",), ("send",), _ROUND, ("time", *_ROUND), ("time",), ("time", "time"), ("end", "end", "batch"), ("save",),
    ("decide",), ("die",), ("check", "end", "end"), ("wrong",), ("again",), ("lose",),
)  # fmt: skip
_STEPS_OF_A_COMMIT: Final = 2
_OUTCOMES: Final = ("leave_it_unknown", "commit_locally", "roll_back_locally")
_LIFE: Final[tuple[Move, ...]] = ("check", "end", "end", "time", "batch", *_ROUND)
"""What goes on by itself: time and rounds, and what producers answer to them."""


def neighbours(schedule: StagedSchedule, clause: Property, chance: Random) -> Iterator[StagedSchedule]:
    """Schedules like another, until the release breaks the clause by them; some end without that.

    The first ones have one more send and one more round, in all places and in any order; then there are ever more.
    """
    places = range(len(schedule.staged) + 1)
    sends = [None, *(Insertion(at, ("send",), choice) for at, choice in product(places, (0, 1)))]
    rounds = [None, *(Insertion(at, moves) for at, moves in product(places, _ROUNDS))]
    near = [tuple(each for each in pair if each is not None) for pair in product(sends, rounds)]
    chance.shuffle(near)
    for insertions in near:
        yield varied(schedule, schedule.staged, insertions, clause)
    while True:
        steps = list(schedule.staged)
        for _ in range(chance.choice((0, 0, 1))):
            late = steps.pop(chance.randrange(len(steps)))
            if chance.random() < 0.5:
                steps.insert(chance.randrange(len(steps) + 1), late)
        some = [
            Insertion(chance.randrange(len(steps) + 1), chance.choice(_KINDS), chance.randrange(CHOICES))
            for _ in range(chance.choice((1, 2, 2, 3, 3, 4)))
        ]
        yield varied(schedule, steps, some, clause)


def decided_otherwise(
    schedule: StagedSchedule, up_to: int | None = None, clause: Property | None = None
) -> Iterator[StagedSchedule]:
    """A schedule with each outcome of each local transaction, whole and up to a step; see `varied` of the clause."""
    pairing = schedule.walk.pairing
    whose = sorted({each.transaction for each in schedule.staged if each.step.action.name in _OUTCOMES})
    for outcome, transaction in ((None, None), *product(_OUTCOMES, whose)):
        steps = [
            replace(each, step=_with_outcome(each.step, pairing.steps_of[outcome]))
            if outcome is not None and each.transaction == transaction and each.step.action.name in _OUTCOMES
            else each
            for each in schedule.staged
        ]
        if up_to is not None:
            yield varied(schedule, steps[:up_to], (), clause)
        yield varied(schedule, steps, (), clause)


def _with_outcome(step: Step, of_outcome: Sequence[Step]) -> Step:
    return next((each for each in of_outcome if each.arguments == step.arguments), step)


def varied(
    schedule: StagedSchedule,
    steps: Sequence[StagedStep],
    insertions: Sequence[Insertion],
    clause: Property | None = None,
) -> StagedSchedule:
    """Steps of a schedule with some inserted; with a clause, until it is broken, which it need not be."""
    walk = SpecificationWalk(schedule.world)
    table = moves_of(schedule.world)

    for at, staged in enumerate((*steps, None)):
        for insertion in insertions:
            for move in insertion.moves if insertion.at == at else ():
                if table.move_of(walk, move, insertion.choice, unnoted) and move == "send":
                    _leave_unknown(walk)
        if staged is not None:
            _take_alike(walk, staged)
    for _ in range(0 if clause is None else _MOST_CYCLES):
        if clause is None or not holds(walk.state, walk.constants, clause):
            break
        for move in _LIFE:
            table.move_of(walk, move, 0, unnoted)
    return walk.as_schedule(f"near {schedule.origin}")


def _leave_unknown(walk: SpecificationWalk) -> None:
    """The local transaction of the send before has no outcome: where nobody is slow, it is over before its check."""
    transaction = walk.taken[-1].arguments[0]
    for step in walk.pairing.steps_of["leave_it_unknown"]:
        if step.arguments == (transaction,):
            walk.take(step)


def _take_alike(walk: SpecificationWalk, staged: StagedStep) -> None:
    """Take a step of another schedule for the same half of the same transaction; of a round any pass will do."""
    action, pairing = staged.step.action, walk.pairing
    halves = [h for h in range(walk.state.half_length) if walk.state.half[h].transaction == staged.transaction]
    step = staged.step
    if "h" in action.parameters and staged.nth < len(halves):
        arguments = tuple(
            halves[staged.nth] if name == "h" else value
            for name, value in zip(action.parameters, step.arguments, strict=True)
        )
        step = next((each for each in pairing.steps_of[action.name] if each.arguments == arguments), step)
    refused = walk.take(step)
    table = moves_of(pairing.world)
    if refused is not None and DRIVEN[action.name].part == "end":
        for _ in range(_STEPS_OF_A_COMMIT):
            table.move_of(walk, "end", 0, unnoted)
    elif refused is not None and DRIVEN[action.name].part == "pass" and walk.state.round.running:
        table.move_of(walk, "whole round" if staged.ends_round else "round", 0, unnoted)
