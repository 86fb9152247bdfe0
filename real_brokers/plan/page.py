"""``docs/generated/plans-on-real-brokers.md``: what real brokers did with plans, and which guarantees that broke."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Final

from document.markdown import markdown
from document.parts import Heading, Paragraph, Part, prose, tabulated
from files.writing import write_whole
from real_brokers.plan.stage import SETTINGS

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from real_brokers.plan.seen import SeenOfPlans

PAGE: Final = Path(__file__).parents[2] / "docs" / "generated" / "plans-on-real-brokers.md"

_HEAD: Final = f"""\
# Plans on real brokers

`make plan-real` leaves a real broker in disorder, has `halfcheck audit --broker --plan` plan through a relay that
counts the requests, sends what is decided with `--yes`, and reads it back; that writes this page, too. Besides, each
guarantee that a plan says a decision may break is broken once: the clause and the faults are those that the plan
names, [what may be done](../audit.md#what-may-be-done) says how. Settings:
{", ".join(f"`{name}={value}`" for name, value in SETTINGS.items())}, and `transactionOpBatchInterval` of 200 ms, or of
60 s where an op message is to wait; across a start of the broker `transactionCheckMax` is 30.
"""


def write_page(seen: Mapping[str, SeenOfPlans], page: Path = PAGE) -> None:
    """Write the page; it appears whole or not at all."""
    write_whole(page, markdown(list(_parts(seen))))


def _parts(seen: Mapping[str, SeenOfPlans]) -> Iterator[Part]:
    yield from prose(_HEAD)
    releases = list(dict.fromkeys(one.release for one in seen.values()))
    stories = {one.title: one.story for one in seen.values()}
    rows = [(title, *(_word(seen.get(f"{release} {title}")) for release in releases)) for title in stories]
    yield tabulated("staged", *releases, rows=rows)
    for title, story in stories.items():
        yield Heading(title)
        yield Paragraph(story)
        of_each = {release: dict(one.facts) for release in releases if (one := seen.get(f"{release} {title}"))}
        what = dict.fromkeys(fact for facts in of_each.values() for fact in facts)
        facts = [(fact, *(facts.get(fact, "") for facts in of_each.values())) for fact in what]
        yield tabulated("seen", *of_each, rows=facts)


def _word(one: SeenOfPlans | None) -> str:
    return "not staged" if one is None else "seen" if one.seen else "**not seen**"
