"""The hunt: each mutant is run until something notices it, and the table says what that was."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cache
from time import perf_counter
from typing import TYPE_CHECKING, Any, Final

from fuzz.lockstep.script import variable_of
from fuzz.mutants.mutant import Mutant, MutatedPart
from fuzz.mutants.of_the_broker import BROKER_MUTANTS
from fuzz.mutants.of_the_spec import PROPERTY_MUTANTS, SPEC_MUTANTS
from fuzz.search.examples import FuzzFailure, Fuzzing, fuzz
from model_check.cpython import explore
from spec.transactional_messages import TRANSACTIONAL_MESSAGES

if TYPE_CHECKING:
    from fuzz.broker_side.twin_process import TwinProcesses
    from model_check.world import World
    from spec.language import Machine

MUTANTS: Final = BROKER_MUTANTS + SPEC_MUTANTS + PROPERTY_MUTANTS
"""All of them, in the order of the table."""

MOST_EXAMPLES: Final = 3_000
"""A mutant that lives through so many examples is a survivor."""

STEPS: Final = 50
"""The most steps of an example in the hunt."""

MOST_EXAMPLES_BESIDE_REAL, STEPS_BESIDE_REAL = 500, 100
"""The same where RocketMQ's own classes are the judge."""


@dataclass(frozen=True, slots=True)
class HuntResult:
    """The outcome of the hunt for a mutant."""

    mutant: Mutant
    variable: str
    """The variable that differed first, or for a property the first clause whose verdict changed; empty for a
    survivor."""
    step: str
    """The step at which it was noticed."""
    examples: int
    seconds: float
    """How long it lived; a search of all states counts as one example."""
    failure: FuzzFailure | None = None
    """The mismatch with its script, as it was found."""

    def to_json(self) -> dict[str, Any]:
        """The row as plain data."""
        return {
            "mutant": self.mutant.name,
            "part": self.mutant.part.value,
            "what": self.mutant.what,
            "resembles": list(self.mutant.resembles),
            "profile": self.mutant.world.profile.name,
            "killed": bool(self.variable),
            "variable": self.variable,
            "step": self.step,
            "examples": self.examples,
            "seconds": round(self.seconds, 3),
        }


def hunt(mutant: Mutant, *, random_seed: int) -> HuntResult:
    """Run one mutant until it is noticed, or until it has lived through all examples."""
    if mutant.part is MutatedPart.PROPERTY:
        return _search(mutant)
    return _outlived(mutant, fuzz(mutant.pairing, examples=MOST_EXAMPLES, steps=STEPS, random_seed=random_seed))


def hunt_beside(twins: TwinProcesses, mutant: Mutant, *, random_seed: int) -> HuntResult:
    """The same of a mutant of the broker, with RocketMQ's own classes as the only judge."""
    beside = replace(mutant.pairing, make_process=twins, compares_specification=False)
    examples, steps = MOST_EXAMPLES_BESIDE_REAL, STEPS_BESIDE_REAL
    return _outlived(mutant, fuzz(beside, examples=examples, steps=steps, random_seed=random_seed))


def _outlived(mutant: Mutant, done: Fuzzing) -> HuntResult:
    if done.failure is None:
        return HuntResult(mutant, "", "", done.examples, done.seconds)
    mismatch = done.failure.mismatch
    return HuntResult(mutant, variable_of(mismatch), mismatch.doing, done.examples, done.seconds, done.failure)


def _search(mutant: Mutant) -> HuntResult:
    started = perf_counter()
    sound = verdicts(TRANSACTIONAL_MESSAGES, mutant.world)
    broken = verdicts(mutant.machine, mutant.world)
    changed = sorted(name for name in sound.keys() | broken.keys() if sound.get(name) != broken.get(name))
    seconds = perf_counter() - started
    if not changed:
        return HuntResult(mutant, "", "", 1, seconds)
    first = changed[0]
    verdict = "no violation is found" if first not in broken else f"a violation is found after {broken[first]} steps"
    return HuntResult(mutant, first, verdict, 1, seconds)


@cache
def verdicts(machine: Machine, world: World) -> dict[str, int]:
    """Each violated clause with the steps of its shortest violation."""
    found = explore(machine, world.constants)
    return {
        f"{clause.identifier}.{clause.clause}": len(found.path_to(state)) for clause, state in found.violations.items()
    }
