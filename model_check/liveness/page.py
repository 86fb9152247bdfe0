"""The verdicts on endless runs of all profiles in some environments, as a page: `make liveness`."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

from document.markdown import markdown
from document.parts import Heading, Paragraph, Part, tabulated
from files.writing import write_whole
from model_check.liveness.check import LivenessFinding, ResponseRow, check_responses, usual_worlds
from model_check.world import Environment, Profile
from spec.profiles import PROFILES, distinct
from spec.transactional_messages import TRANSACTIONAL_MESSAGES

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

ENVIRONMENTS = tuple(map(Environment.named, ("quiet", "crash", "lose_check", "offline_producer", "slow_round")))
"""That of each table."""

MOST_STATES = 40_000_000
"""Where a search would find more, what is not violated is unknown."""


def searched(report: Callable[[str], None]) -> list[LivenessFinding]:
    """Every profile in every environment, with all 15 checks; of profiles with the same switches the first."""
    results = []
    for environment in ENVIRONMENTS:
        for profile in map(Profile.of, distinct(PROFILES)):
            report(f"{profile} {environment.beside_a_profile}")
            results.append(check_responses(usual_worlds(profile, environment), most_states=MOST_STATES))
    return results


def page(results: Sequence[LivenessFinding]) -> str:
    """The page as Markdown."""
    parts: list[Part] = [
        Heading("What must happen in the end", 1),
        Paragraph(
            "Written by `make liveness`. Instances `endless` and, where that has no room for all that is alive, "
            "`roomy`: one transaction at a time, any number in a row, 15 checks. "
            "**a + b** is a violation: the shortest way of *a* steps into a cycle of *b* steps. *holds* is for runs of "
            f"any length; *?* is not known: a queue was full, or there are more than {MOST_STATES:,} states."
        ),
        tabulated(
            "response", "what is claimed", rows=[(one.name, one.sentence) for one in TRANSACTIONAL_MESSAGES.responses]
        ),
    ]
    for environment in dict.fromkeys(result.world.environment for result in results):
        mine = [result for result in results if result.world.environment == environment]
        rows = [(row[0].response.name, *map(_verdict, row)) for row in zip(*(each.rows for each in mine), strict=True)]
        numbers = [result.numbers for result in mine]
        states = (f"{each.distinct:,}{'' if each.complete else ' and more'}" for each in numbers)
        rows += [("distinct states", *states), ("instance", *(result.world.instance.name for result in mine))]
        parts.append(Heading(environment.beside_a_profile.capitalize()))
        parts.append(tabulated("response", *(result.world.profile.same() for result in mine), rows=rows))
    return markdown(parts)


def _verdict(row: ResponseRow) -> str:
    if row.lasso is None:
        return "?" if row.why else "holds"
    return f"**{len(row.lasso.stem)} + {len(row.lasso.cycle)}**"


if __name__ == "__main__":
    results = searched(lambda what: print(what, file=sys.stderr, flush=True))
    write_whole(Path("docs/generated/liveness.md"), page(results))
