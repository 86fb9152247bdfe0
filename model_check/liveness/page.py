"""The verdicts on endless runs of all profiles in some environments, as the page `docs/generated/liveness.md`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from document.markdown import markdown
from document.parts import Heading, Paragraph, tabulated
from model_check.instances import alike
from model_check.liveness.check import check_responses
from model_check.wording.faults import in_world
from spec.profiles import PROFILES, distinct
from spec.transactional_messages import TRANSACTIONAL_MESSAGES

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from document.parts import Part
    from model_check.liveness.check import LivenessResult, ResponseResult

ENVIRONMENTS = ((), ("crash",), ("lose_check",), ("offline_producer",), ("slow_round",))
"""The faults of each table."""

MOST_STATES = 40_000_000
"""Where a search would find more, what is not violated is unknown."""


def searched(report: Callable[[str], None]) -> list[LivenessResult]:
    """Every profile in every environment, with all 15 checks; of profiles with the same switches the first."""
    results = []
    for faults in ENVIRONMENTS:
        for profile in distinct(PROFILES):
            report(f"{profile} {in_world(faults)}")
            results.append(check_responses(profile, faults, most_states=MOST_STATES))
    return results


def page(results: Sequence[LivenessResult]) -> str:
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
    for faults in dict.fromkeys(result.faults for result in results):
        mine = [result for result in results if result.faults == faults]
        rows = [(row[0].response.name, *map(_verdict, row)) for row in zip(*(each.rows for each in mine), strict=True)]
        states = (f"{result.distinct:,}{'' if result.complete else ' and more'}" for result in mine)
        rows += [("distinct states", *states), ("instance", *(result.instance.name for result in mine))]
        parts.append(Heading(in_world(faults).capitalize()))
        parts.append(tabulated("response", *(alike(result.profile) for result in mine), rows=rows))
    return markdown(parts)


def _verdict(row: ResponseResult) -> str:
    if row.lasso is None:
        return "?" if row.reason else "holds"
    return f"**{len(row.lasso.stem)} + {len(row.lasso.cycle)}**"
