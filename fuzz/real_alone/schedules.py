"""Schedules for two builds: the specification of the release takes each step, and says which clauses it breaks there.

They come from the counterexamples of the release, from their neighbours, in which steps come between or are missing,
and from the workloads of the fuzzer.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cache
from typing import TYPE_CHECKING, Final, cast

from fuzz.lockstep.fuzzed_instances import FUZZED, fuzzed_world
from fuzz.lockstep.pairing import DRIVEN_MACHINE, Pairing
from fuzz.real_alone.staging import STAGED, StagedStep
from fuzz.search.workloads import MoveTable
from model_check.clauses import name_of
from spec.language import NONE, Refused, Step, holds, take
from spec.state import Producer

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from random import Random

    from model_check.verdicts.counterexamples import MinimalCounterexample
    from model_check.world import Profile, World
    from spec.state import State

_MORE_ROOM: Final = 4
_MOST_HALVES: Final = 10
"""So long a half queue at most; see `fuzzed_world`."""
_PLAYED_FAULTS: Final = (
    "slow_local", "lose_end", "lose_check", "duplicate_end", "wrong_end", "late_end", "slow_round", "crash",
    "offline_producer", "restarted_producer", "clock_skew", "reorder", "twin_send", "op_write_failure",
)  # fmt: skip
"""The faults of the workloads; others leave hardly a schedule that can be played."""


@dataclass(frozen=True, slots=True)
class StagedSchedule:
    """Steps that the specification of a release takes, with what a lone broker has to know of them."""

    world: World
    staged: tuple[StagedStep, ...]
    origin: str
    """Where it comes from, in words."""
    walk: SpecificationWalk = field(repr=False, compare=False)
    """Who took the steps, and takes no more."""

    @property
    def steps(self) -> tuple[Step, ...]:
        """The steps."""
        return tuple(each.step for each in self.staged)

    def broken(self, identifier: str) -> set[str]:
        """The clauses of a property that the specification of the release breaks at its end, by their names."""
        return self.walk.broken(identifier)


class SpecificationWalk:
    """The specification of a release alone, which takes the steps that can be played on a lone broker.

    It has what `fuzz.search.workloads` asks of a pair.
    """

    def __init__(self, world: World) -> None:
        self.pairing = pairing_of(world)
        self.constants = self.pairing.constants
        self.state = cast("State", DRIVEN_MACHINE.initial(self.constants))
        self.taken: list[Step] = []
        self.staged: list[StagedStep] = []

    def take(self, step: Step) -> Refused | None:
        """Take a step; gives the conjunct that refuses it."""
        if step.action.function not in STAGED:
            return Refused("within", "the step can be played on a lone broker")
        state = self.state
        arguments = dict(zip(step.action.parameters, step.arguments, strict=True))
        half = arguments.get("h", NONE)
        if half >= state.half_length:
            return Refused("within", "the half is there")
        transaction = arguments.get("t", NONE) if half == NONE else state.half[half].transaction
        ran = bool(state.round.running)
        refused = take(state, self.constants, step)
        if refused is not None:
            return refused
        if half == NONE and transaction != NONE:
            half = state.transaction[transaction].first_half
        nth = sum(state.half[earlier].transaction == transaction for earlier in range(max(half, 0)))
        ends = ran and not state.round.running
        self.taken.append(step)
        self.staged.append(StagedStep(step, transaction, half, nth, ends, state.producer == Producer.ONLINE))
        return None

    def broken(self, identifier: str) -> set[str]:
        """The clauses of a property that are broken in its state, by their names."""
        clauses = (clause for clause in self.pairing.machine.clauses if clause.identifier == identifier)
        return {name_of(clause) for clause in clauses if not holds(self.state, self.constants, clause)}

    def as_schedule(self, origin: str) -> StagedSchedule:
        """What it has taken."""
        return StagedSchedule(self.pairing.world, tuple(self.staged), origin, self)


@cache
def pairing_of(world: World) -> Pairing:
    """The specification of a world, whose steps are listed once."""
    return Pairing(world)


@cache
def moves_of(world: World) -> MoveTable:
    """The kinds of moves of a world with their steps, which are listed once, too."""
    return MoveTable.of(pairing_of(world))


def schedule_of(world: World, steps: Iterable[Step], origin: str) -> StagedSchedule:
    """The schedule of steps; those that are refused are passed over."""
    walk = SpecificationWalk(world)
    for step in steps:
        walk.take(step)
    return walk.as_schedule(origin)


def as_played(one: MinimalCounterexample, profile: Profile) -> StagedSchedule | None:
    """A counterexample of the table of verdicts; None where a step of it can't be played on a lone broker."""
    world = _with_more_room(one.world(profile))
    known = {str(step): step for step in pairing_of(world).steps}
    words = [word.strip() for word in one.steps.split(";")]
    if any(word not in known for word in words):
        return None
    schedule = schedule_of(world, [known[word] for word in words], f"the counterexample of {name_of(one.clause)}")
    return schedule if len(schedule.staged) == len(words) else None


def _with_more_room(world: World) -> World:
    """The same times, with room for one more transaction and for what comes between."""
    size = world.instance
    return world.on(
        replace(
            size,
            transactions=size.transactions + 1,
            half_slots=max(size.half_slots, min(size.half_slots + _MORE_ROOM, _MOST_HALVES)),
            op_slots=size.op_slots + _MORE_ROOM,
            mishaps=size.mishaps + _MORE_ROOM,
            stray_ends=size.stray_ends + _MORE_ROOM,
        )
    )


def drawn(profile: Profile, steps: int, chance: Random) -> StagedSchedule:
    """A schedule of one of the fuzzer's workloads."""
    world = fuzzed_world(profile, _PLAYED_FAULTS, FUZZED.name)
    walk, table = SpecificationWalk(world), moves_of(world)
    workload = chance.randrange(len(table.draws))
    for step in table.starts[workload]:
        walk.take(step)
    for _ in range(steps):
        table.move(walk, workload, chance.randrange(1 << 24), unnoted)
        if len(walk.taken) >= steps:
            break
    return walk.as_schedule("drawn")


def unnoted(_: Step, __: Refused | None) -> None:
    """Nobody counts what was refused."""


def texts_of(steps: Sequence[Step]) -> str:
    """Steps as `halfcheck replay --steps` takes them."""
    return "; ".join(map(str, steps))
