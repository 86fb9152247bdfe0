"""All states compared with what forgetting makes of them, in each profile and with each fault: a generated page."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from document.markdown import markdown
from document.parts import prose, tabulated
from model_check.any_length.bisimulation import compare
from model_check.explicit.search import explore
from model_check.instances import load_instance
from model_check.world import Environment, Profile, World
from spec.constants import FAULTS
from spec.profiles import PROFILES, distinct
from spec.transactional_messages import TRANSACTIONAL_MESSAGES

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from model_check.any_length.bisimulation import Bisimulation

NARROW = replace(
    load_instance("lasting"), name="narrow", check_max=2, half_slots=9, op_slots=8, persist_interval=1, expires=1
)  # fmt: skip
"""`lasting` with two checks: nearly no fault has more than a million states here, or a full queue."""

MOST_STATES = 2_000_000
"""Where a search is cut short; what it has found is compared."""

Compared = tuple["Bisimulation", bool]
"""What was compared, and whether the search found all states."""


def compared(report: Callable[[str], None]) -> dict[World, Compared]:
    """Every profile in the quiet world and with each fault; of profiles with the same switches the first."""
    results = {}
    for profile in map(Profile.of, distinct(PROFILES)):
        for environment in (Environment(), *(Environment([fault]) for fault in FAULTS)):
            report(f"{profile} {environment.beside_a_profile}")
            world = World(profile, environment, NARROW)
            found = explore(TRANSACTIONAL_MESSAGES, world.constants, most_states=MOST_STATES)
            results[world] = compare(found), found.complete
    return results


def page(results: Mapping[World, Compared]) -> str:
    """The page as Markdown."""
    profiles = list(dict.fromkeys(world.profile for world in results))
    every = [one for one, _ in results.values()]
    differing = sum(one.difference is not None for one in every)
    parts = prose(
        "# Is a state as good as what forgetting makes of it?\n\n"
        f"Written by `make any-length`. Instance `lasting` with {NARROW.check_max} checks, {NARROW.half_slots} places "
        f"in the half queue and {NARROW.op_slots} in the op queue. In all states that a search finds, each successor "
        "of which something is forgotten is compared with what is left of it: the same steps up to numbering, the same "
        "results up to forgetting, the same new violations ([why](../any-length.md#why-to-believe-it)).\n\n"
        f"**{sum(one.compared - one.without_room for one in every):,} successors were compared, in "
        f"{sum(one.states for one in every):,} states of {len(results)} worlds; {differing or 'none'} differed.**\n\n"
        "A cell has the states, and how many successors were compared. *First* stands where a search was cut short, "
        "and a number in brackets for successors with a full queue, of which nothing is known."
    )
    rows = [
        (environment.in_words(), *(_compared(*results[World(each, environment, NARROW)]) for each in profiles))
        for environment in dict.fromkeys(world.environment for world in results)
    ]
    return markdown([*parts, tabulated("", *(each.same() for each in profiles), rows=rows)])


def _compared(found: Bisimulation, is_complete: bool) -> str:
    if found.difference is not None:
        return f"**{found.difference}**"
    left_out = f" ({found.without_room:,})" if found.without_room else ""
    return f"{'' if is_complete else 'first '}{found.states:,} · {found.compared - found.without_room:,}{left_out}"
