"""The worlds in which one among others follows each of many: `make any-number` compares all, and writes the page.

A claim about any number of transactions needs that nothing differs in its world. A world in which something does has no
claim, and the page names what it is.
"""

from __future__ import annotations

import sys
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Final

import numpy as np

from document.markdown import markdown
from document.parts import prose, tabulated
from files.writing import write_whole
from model_check.any_number.simulation import Simulator
from model_check.errors import EvaluationError
from model_check.explicit.code_generation.compile import compile_machine
from model_check.explicit.search import explore
from model_check.instances import load_instance
from model_check.world import Environment, Profile, World
from spec.constants import FAULTS
from spec.transactional_messages import TRANSACTIONAL_MESSAGES

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from spec.constants import Instance

IMMUNE: Final = replace(
    load_instance("small"), name="immune", immunities=(-1, 3), half_slots=6, op_slots=3, check_max=2
)
"""Two transactions with immunities."""

SEARCHED: Final = (
    (load_instance("small"), 300_000),
    (load_instance("skewed"), 300_000),
    (
        replace(load_instance("small"), name="immune", immunities=(-1, 3), half_slots=6, op_slots=3, check_max=2),
        300_000,
    ),
)
"""Instances of two transactions, and how many states of each are compared in a world."""

TRIO: Final = (load_instance("trio"), 8_000_000)
"""The same of three, in the quiet world of the repaired protocol."""

WALKED: Final = replace(
    load_instance("small"),
    name="three",
    transactions=3,
    half_slots=9,
    op_slots=5,
    immunities=(-1, 3),
    op_batch_size=2,
    mishaps=2,
    stray_ends=2,
    crashes=2,
)
"""Three transactions with immunities, of which walks are compared: WALKERS in each world, STEPS each."""

WALKERS, STEPS, SEED = 2_000, 100, 1

AT_ONCE: Final = 1 << 16


@dataclass(frozen=True, slots=True)
class Compared:
    """The comparison of one world, all of its instances together."""

    states: int
    transitions: int
    pairs: int
    is_complete: bool
    """Whether each search had all states."""
    broken: Mapping[str, int]
    """By action how many pairs one among others cannot follow."""
    error: str = ""
    """Why no comparison was possible."""

    @property
    def is_clean(self) -> bool:
        """Whether a claim may be made."""
        return not self.broken and not self.error


def compared(profile: Profile, environment: Environment, searched: Sequence[tuple[Instance, int]]) -> Compared:
    """The states that searches find and walks pass in one world."""
    results, is_complete, error = [], True, ""
    try:
        for instance, most in searched:
            constants = World(profile, environment, instance).constants
            found = explore(TRANSACTIONAL_MESSAGES, constants, most_states=most)
            is_complete = is_complete and found.complete
            simulator = Simulator(found.compiled, constants)
            results.append(simulator.result)
            words, count = found.compiled.packing.words, int(found.store.counts[0])
            states = found.store.arrays.states[: count * words].reshape(count, words)
            for first in range(0, count, AT_ONCE):
                simulator.compare(np.ascontiguousarray(states[first : first + AT_ONCE]))
        constants = World(profile, environment, WALKED).constants
        simulator = Simulator(compile_machine(TRANSACTIONAL_MESSAGES, constants), constants)
        results.append(simulator.result)
        simulator.walk(WALKERS, STEPS, SEED)
    except EvaluationError as failed:
        error = str(failed)
    broken: dict[str, int] = {}
    for result in results:
        for action, count in result.broken.items():
            broken[action] = broken.get(action, 0) + count
    return Compared(
        sum(result.states for result in results),
        sum(result.transitions for result in results),
        sum(result.pairs for result in results),
        is_complete,
        broken,
        error,
    )


def all_worlds(report: Callable[[str], None]) -> dict[tuple[Profile, Environment], Compared]:
    """Each profile in the quiet world and with each fault; of profiles with the same switches the first."""
    results = {}
    for profile in (*Profile.distinct_versions(), Profile.of("fixed")):
        for environment in (Environment(), *(Environment([fault]) for fault in FAULTS)):
            report(f"{profile} {environment.beside_a_profile}")
            more = (TRIO,) if profile.name == "fixed" and not environment else ()
            results[profile, environment] = compared(profile, environment, (*SEARCHED, *more))
    return results


def page(results: Mapping[tuple[Profile, Environment], Compared]) -> str:
    """The page as Markdown."""
    profiles = list(dict.fromkeys(profile for profile, _ in results))
    every = list(results.values())
    parts = prose(
        "# Does one transaction among others follow each of many?\n\n"
        f"Written by `make any-number`. {sum(one.transitions for one in every):,} steps in "
        f"{sum(one.states for one in every):,} states of two and three transactions were projected on each of them: "
        f"{sum(one.pairs for one in every):,} distinct pairs of a state and its successor, each to be followed by one "
        "transaction among others.\n\n"
        f"**Nothing differs in {sum(one.is_clean for one in every)} of {len(every)} worlds.** Of the others nothing is "
        "claimed about any number of transactions.\n\n"
        "A cell has the steps that were compared where all could be followed; *first* stands where a search was cut "
        "short. Otherwise it names the actions of which some step could not be followed."
    )
    rows = [
        (environment.in_words(), *(_cell(results[profile, environment]) for profile in profiles))
        for environment in dict.fromkeys(environment for _, environment in results)
    ]
    return markdown([*parts, tabulated("", *(profile.same() for profile in profiles), rows=rows)])


def _cell(one: Compared) -> str:
    if one.is_clean:
        return f"{'' if one.is_complete else 'first '}{one.transitions:,}"
    return f"no claim: {one.error or ', '.join(one.broken)}"


if __name__ == "__main__":
    found = all_worlds(lambda what: print(what, file=sys.stderr, flush=True))
    write_whole(Path("docs/generated/any-number.md"), page(found))
