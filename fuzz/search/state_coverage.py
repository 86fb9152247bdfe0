"""How many of the states that a search finds of a small instance the pair has been in, and which are missing.

First come random examples. Then, if all states are to be visited, the pair is taken to each that they have not seen,
the deepest first, along the shortest path that the search knows.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from fuzz.lockstep.fuzzed_instances import COUNTED
from fuzz.lockstep.pair import Pair
from fuzz.lockstep.pairing import Pairing
from fuzz.search.examples import fuzz
from model_check.counterexample.steps import write_path
from model_check.cpython.search import explore
from model_check.instances import unturned

if TYPE_CHECKING:
    from model_check.cpython.search import State
    from spec.language import Step

_COUNTED_FAULTS: Final = {
    "4.5.1": ("put_failure", "null_half", "offline_producer"),
    "4.9.7": ("put_failure", "null_half", "offline_producer"),
    "5.3.3": ("put_failure", "offline_producer"),
    "5.4.0": ("put_failure", "offline_producer"),
}
"""The environments in which states are counted: each gives 5,000 to 20,000 of them."""

LISTED: Final = 20
"""So many of the states that are missing are listed."""


@dataclass(frozen=True, slots=True)
class StateCoverage:
    """How many of an instance's states the pair has been in.

    Attributes
    ----------
    instance, faults
        Which instance, and in which environment.
    drawn
        States that random examples saw.
    seen
        The same after steering.
    reachable
        States that an exhaustive search finds.
    missing
        The shortest schedules to the first few states that were not reached.
    """

    instance: str
    faults: tuple[str, ...]
    drawn: int
    seen: int
    reachable: int
    missing: tuple[str, ...]

    @property
    def share(self) -> float:
        """Of 1."""
        return self.seen / self.reachable


def count_states(
    profile: str,
    *,
    examples: int,
    steps: int,
    random_seed: int,
    faults: tuple[str, ...] | None = None,
    visits_all: bool = False,
) -> StateCoverage:
    """The states of `COUNTED` that a pair sees in some examples, and is steered to if it is to visit all.

    Raises
    ------
    Mismatch
        The pair disagrees on the way to a state that the examples did not see.
    """
    faults = _COUNTED_FAULTS[unturned(profile)] if faults is None else faults
    pairing = Pairing.of(profile, faults, COUNTED.name)
    found = explore(pairing.machine, pairing.constants)
    done = fuzz(pairing, examples=examples, steps=steps, random_seed=random_seed, counts_states=True)
    drawn = done.states & found.parents.keys()
    seen = drawn | {pairing.machine.initial(pairing.constants).canonical()}
    for state in reversed(list(found.parents)):
        if visits_all and state not in seen:
            seen |= steered_along(pairing, found.path_to(state))
    missing = [state for state in found.parents if state not in seen]
    return StateCoverage(
        COUNTED.name,
        faults,
        len(drawn),
        len(seen),
        found.distinct,
        tuple(write_path(found.path_to(state)) for state in missing[:LISTED]),
    )


def steered_along(pairing: Pairing, path: list[Step]) -> set[State]:
    """The states on a path, up to the first step that is excluded from the lockstep."""
    pair = Pair(pairing)
    states = set()
    for step in path:
        if pair.take(step) is not None:
            break
        states.add(pair.state.canonical())
    return states
