"""The worlds in which one among others follows each of many: `make any-number` compares all, and writes the page.

A claim about any number of transactions needs that nothing differs in its world. A world in which something does has no
claim, and the page names what it is. `comparisons.toml` has the result of each world; a run that was stopped goes on
with the worlds that it lacks.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Final

import numpy as np

from document.markdown import markdown
from document.parts import prose, tabulated
from files.writing import write_whole
from model_check.any_number.claims import (
    COMPARISONS,
    Comparisons,
    SimulationComparison,
    comparisons,
    comparisons_as_toml,
    lacking_room,
)
from model_check.any_number.compared_instances import SEARCHED, TRIO, WALKED
from model_check.any_number.simulation import Simulator
from model_check.errors import EvaluationError
from model_check.explicit.code_generation.compile import compile_machine
from model_check.explicit.search import explore
from model_check.processes import on_all_cores
from model_check.world import Environment, Profile, World, single_environments
from spec.transactional_messages import TRANSACTIONAL_MESSAGES

if TYPE_CHECKING:
    from collections.abc import Callable


MOST_STATES: Final = 1_000_000
"""So many states of each instance are compared in a world."""

WALKERS, STEPS, SEED = 2_000, 100, 1
"""So many walks in each world, of so many steps each."""

AT_ONCE: Final = 1 << 16


def compared(world: tuple[Profile, Environment]) -> SimulationComparison:
    """The states that searches find and walks pass in one world."""
    profile, environment = world
    has_trio = profile.name == "fixed" and environment in (Environment(), Environment.of(faults=["crash"]))
    searched = [(instance, MOST_STATES) for instance in SEARCHED] + [(TRIO, 1 << 30)] * has_trio
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
        error = f"what one transaction sees is no state of one among others ({failed})"
    broken: dict[str, int] = {}
    for result in results:
        for action, count in result.broken.items():
            broken[action] = broken.get(action, 0) + count
    return SimulationComparison(
        sum(result.states for result in results),
        sum(result.transitions for result in results),
        sum(result.pairs for result in results),
        is_complete,
        broken,
        error,
    )


def all_worlds() -> list[tuple[Profile, Environment]]:
    """Each profile in the quiet world and with each fault; of profiles with the same switches the first.

    A fault for which no instance that is compared has room, as one of a proxy, is left out.
    """
    profiles = (*Profile.distinct_versions(), Profile.of("fixed"))
    return [(each, some) for each in profiles for some in single_environments() if not lacking_room(some)]


def compare_all(report: Callable[[str], None]) -> Comparisons:
    """The comparisons of all worlds, on all processors; those that are in the file are not made again."""
    worlds, found = all_worlds(), dict(comparisons())
    missing = [world for world in worlds if world not in found]
    with on_all_cores() as spread:
        for number, (world, one) in enumerate(zip(missing, spread(compared, missing), strict=True), start=1):
            found[world] = one
            write_whole(COMPARISONS, comparisons_as_toml({each: found[each] for each in worlds if each in found}))
            profile, environment = world
            report(f"{number} of {len(missing)}: {profile} {environment.beside_a_profile}: {_cell(one)}")
    return {world: found[world] for world in worlds}


def page(results: Comparisons) -> str:
    """The page as Markdown."""
    profiles = list(dict.fromkeys(profile for profile, _ in results))
    every = list(results.values())
    parts = prose(
        "# Does one transaction among others follow each of many?\n\n"
        f"Written by `make any-number`. {sum(one.transitions for one in every):,} steps in "
        f"{sum(one.states for one in every):,} states of two and three transactions were projected on each of them: "
        f"{sum(one.pairs for one in every):,} distinct pairs of a state and its successor, each to be followed by one "
        "transaction among others ([why](../any-number.md)).\n\n"
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


def _cell(one: SimulationComparison) -> str:
    if one.is_clean:
        return f"{'' if one.is_complete else 'first '}{one.transitions:,}"
    return f"no claim: {one.error or ', '.join(one.broken)}"


def main() -> int:
    """Compare what is missing, and write the page; 130 after Ctrl-C."""
    try:
        results = compare_all(lambda what: print(what, file=sys.stderr, flush=True))
    except KeyboardInterrupt:
        print("interrupted; the next run goes on with the worlds that are missing", file=sys.stderr)
        return 130
    write_whole(Path("docs/generated/any-number.md"), page(results))
    return 0


if __name__ == "__main__":
    sys.exit(main())
