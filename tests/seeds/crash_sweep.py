"""``make crash-sweep``: every walk-through, crashed at every boundary in every manner; a table of what that came to.

``python -m tests.seeds.crash_sweep [NAME…] [--seed N] [--every N]``. The exit code is 12 if something is not as the
specification allows.
"""

from __future__ import annotations

import argparse
import sys
from collections import Counter, defaultdict
from typing import TYPE_CHECKING

from reference.scenarios.walk_throughs import SCENARIOS
from tests.seeds.crash import Boundary, Manner, boundaries
from tests.seeds.crash_judgement import Judgement, judge_crash

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from reference.scenarios.scenario import Scenario

SWEPT = ("code-walk", "ten-messages", "five-outcomes", "same-message", "storage-flow")
NOT_ALLOWED, USAGE = 12, 151
_COLUMNS = ("crashes", "not sent", "lost", "doubled", "parked twice", "wrong")


def crashes(scenario: Scenario, seed: int, every: int = 1) -> Iterator[tuple[Boundary, Manner]]:
    """Every boundary in every manner, or every n-th of them; only a write can be torn."""
    pairs = [
        (boundary, manner)
        for boundary in boundaries(scenario, seed)
        for manner in Manner
        if boundary.writes is not None or manner is not Manner.TORN
    ]
    yield from pairs[::every]


def main(arguments: Sequence[str] | None = None) -> int:
    """Sweep, print, and give the exit code."""
    parser = argparse.ArgumentParser(prog="python -m tests.seeds.crash_sweep", description=__doc__)
    parser.add_argument("names", nargs="*", metavar="NAME", help="only these walk-throughs")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--every", type=int, default=1, help="only every n-th crash")
    options = parser.parse_args(arguments)
    unknown = [name for name in options.names if name not in SCENARIOS]
    if unknown:
        print(f"there is no walk-through {unknown[0]!r}; there are {', '.join(SCENARIOS)}", file=sys.stderr)
        return USAGE
    all_wrong = 0
    for name in options.names or SWEPT:
        all_wrong += _sweep(SCENARIOS[name], options.seed, options.every)
    return NOT_ALLOWED if all_wrong else 0


def _sweep(scenario: Scenario, seed: int, every: int) -> int:
    rows: dict[tuple[str, str], Counter[str]] = defaultdict(Counter)
    clauses: Counter[str] = Counter()
    wrong: list[str] = []
    for boundary, manner in crashes(scenario, seed, every):
        judgement = judge_crash(scenario, seed, boundary, manner)
        rows[manner.value, boundary.kind].update(_counted(judgement))
        clauses.update(judgement.clauses)
        wrong += [f"{boundary} by {manner.value}: {what}" for what in judgement.wrong]
    print(f"\n{scenario.name} ({scenario.version}), seed {seed}")
    print(f"  {'manner':11} {'before the next':20}" + "".join(f"{column:>13}" for column in _COLUMNS))
    total: Counter[str] = Counter()
    for (manner_name, kind), counts in sorted(rows.items()):
        total.update(counts)
        print(f"  {manner_name:11} {kind:20}" + "".join(f"{counts[column]:13}" for column in _COLUMNS))
    print(f"  {'total':32}" + "".join(f"{total[column]:13}" for column in _COLUMNS))
    judged = ", ".join(f"{clause} {count}" for clause, count in sorted(clauses.items())) or "none"
    print(f"  clauses broken, as the table of verdicts allows: {judged}")
    for line in wrong:
        print(f"  WRONG: {line}")
    return len(wrong)


def _counted(judgement: Judgement) -> Counter[str]:
    """In how many runs something was not sent, lost …"""
    seen = {
        "not sent": judgement.not_sent,
        "lost": judgement.lost,
        "doubled": judgement.doubled,
        "parked twice": judgement.parked_twice,
        "wrong": judgement.wrong,
    }
    return Counter({"crashes": 1} | {name: 1 for name, what in seen.items() if what})


if __name__ == "__main__":
    sys.exit(main())
