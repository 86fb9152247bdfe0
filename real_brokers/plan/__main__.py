"""``make plan-real``: plans for real brokers in disorder, sent, and each guarantee that they may break, broken once.

What was seen is kept in ``seen.toml``, and written from there to ``docs/generated/plans-on-real-brokers.md``.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Final

from halfcheck.errors import ExitCode
from real_brokers.command_line import OneLineParser, exit_code_after
from real_brokers.plan.page import write_page
from real_brokers.plan.seen import PLANS_SEEN, SeenOfPlans
from real_brokers.plan.stage import PlanStage
from real_brokers.plan.stagings import stagings

if TYPE_CHECKING:
    from collections.abc import Sequence

_USUAL: Final = ("5.3.3", "5.5.1")


def main(arguments: Sequence[str] | None = None) -> int:
    """Stage all on each broker; the exit code is 0 if all was seen, 12 if not, 150 if something does not start."""
    parser = OneLineParser(prog="python -m real_brokers.plan", description=__doc__)
    releases = parser.releases(arguments, _USUAL)
    return exit_code_after(lambda: _stage(releases))


def _stage(releases: Sequence[str]) -> int:
    missing = 0
    for release in releases:
        seen: dict[str, SeenOfPlans] = {}
        with PlanStage(release) as stage:
            for one in stagings(stage):
                mine = SeenOfPlans(release, one.title, one.story, one.seen, tuple(one.facts.items()))
                print(f"{mine.name}: {'seen' if one.seen else 'NOT SEEN'}", flush=True)
                seen[mine.name] = mine
                missing += not one.seen
        kept = PLANS_SEEN.read() if PLANS_SEEN.path.exists() else {}
        others = {name: one for name, one in kept.items() if one.release != release}
        PLANS_SEEN.write(dict(sorted((others | seen).items(), key=lambda item: item[1].release)))
    write_page(PLANS_SEEN.read())
    return ExitCode.of_verdict(is_broken=missing > 0, is_complete=True)


if __name__ == "__main__":
    sys.exit(main())
