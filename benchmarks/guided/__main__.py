"""``python -m benchmarks.guided [SEEDS] [REPETITIONS]``: guided walks against weighted ones; writes RESULTS.md."""

from __future__ import annotations

import sys
from collections import Counter
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from itertools import chain
from multiprocessing import get_context
from operator import attrgetter
from pathlib import Path
from statistics import median
from time import perf_counter
from typing import TYPE_CHECKING, Final

from benchmarks.computer import computer
from benchmarks.guided.clauses_met import INSTANCE, MOST, PROFILE, STEPS, Missed, asked_of, cannot_occur, missed
from benchmarks.guided.intervals import FAULTS, LEAST_SHARE, PLAIN_WALKS, Covered, covered
from model_check.walks.guided.walker import LEARNED_FROM

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

RESULTS = Path(__file__).with_name("RESULTS.md")
WANTED_PART: Final = 0.9
WANTED_HELD: Final = 0.93, 0.97


def main(seeds: int, repetitions: int) -> None:
    """Measure on two processes, print the tables and write them."""
    began = perf_counter()
    asked = asked_of()
    with ProcessPoolExecutor(2, mp_context=get_context("spawn")) as pool:
        coverage = [pool.submit(covered, fault, range(1000, 1000 + repetitions)) for fault in FAULTS]
        left_out = chain.from_iterable(
            pool.map(partial(missed, seeds=range(1, seeds + 1)), asked.keys(), asked.values())
        )
        text = report(list(left_out), [one for some in coverage for one in some.result()], perf_counter() - began)
    RESULTS.write_text(text, encoding="utf-8")
    print(text)


def report(left_out: Sequence[Missed], coverage: Sequence[Covered], seconds: float) -> str:
    """The results as Markdown."""
    seeds = sorted({one.seed for one in left_out})
    learned = " and ".join(f"{quota:,} of {size.name}" for size, quota in LEARNED_FROM.items())
    text = [
        "# What guided walks meet, and how good their estimates are",
        "",
        "Written by `make bench-guided`.",
        "",
        computer("NumPy"),
        f"{PROFILE}, {INSTANCE}, walks of {STEPS} steps; {seconds / 60:.0f} minutes in all.",
        "",
        "## Clauses that one fault breaks",
        "",
        "Each clause that a fault breaks by itself in some instance of the table of verdicts, and the quiet world in",
        "none.",
        f"Guided: at most {MOST:,} states expanded, searches (at most {learned}) included. Weighted: at most {MOST:,}",
        "steps walked.",
        "",
        *_met(left_out, seeds),
        "",
        "## Intervals",
        "",
        f"{coverage[0].repetitions if coverage else 0} repetitions, each with its own seed and {MOST:,} states, "
        "searches included. The exact share is that of",
        f"{PLAIN_WALKS:,} plain weighted walks. Every clause of these worlds that is rare in all repetitions and whose",
        f"share is at least {LEAST_SHARE:g}.",
        "",
        *_covered(coverage),
        "",
    ]
    return "\n".join(text)


def _met(left_out: Sequence[Missed], seeds: Sequence[int]) -> Iterator[str]:
    impossible = {one.fault: cannot_occur(one.fault, one.asked) for one in left_out if one.seed == seeds[0]}
    pairs = [(one.fault, clause) for one in left_out if one.seed == seeds[0] for clause in one.asked]
    possible = [(fault, clause) for fault, clause in pairs if clause not in impossible[fault]]
    guided = Counter((one.fault, clause) for one in left_out for clause in one.guided)
    weighted = Counter((one.fault, clause) for one in left_out for clause in one.weighted)
    yield "| Seed | Pairs of fault and clause | Guided | Part | Weighted | Part |"
    yield "|--:|--:|--:|--:|--:|--:|"
    parts = []
    for seed in seeds:
        of_seed = [one for one in left_out if one.seed == seed]
        left = [
            [clause for one in of_seed for clause in of(one) if clause not in impossible[one.fault]]
            for of in (attrgetter("guided"), attrgetter("weighted"))
        ]
        counts = [len(possible) - len(some) for some in left]
        parts.append([count / len(possible) for count in counts])
        yield f"| {seed} | {len(possible)} | {counts[0]} | {parts[-1][0]:.1%} | {counts[1]} | {parts[-1][1]:.1%} |"
    medians = [median(part) for part in zip(*parts, strict=True)]
    yield f"| median | {len(possible)} |  | {medians[0]:.1%} |  | {medians[1]:.1%} |"
    is_met = medians[0] >= WANTED_PART and medians[0] > medians[1]
    yield ""
    yield f"At least {WANTED_PART:.0%}, and more than weighted: {'yes' if is_met else 'NO'}."
    yield ""
    yield (
        f"Of {len(pairs)} pairs {len(pairs) - len(possible)} cannot occur on {INSTANCE}: "
        + "; ".join(
            f"{clause} under {fault} {why}" for fault, whys in impossible.items() for clause, why in whys.items()
        )
        + "."
    )
    yield ""
    yield "| Fault | Clause | Seeds that missed it, guided | weighted |"
    yield "|---|---|--:|--:|"
    for pair in possible:
        if guided[pair] or weighted[pair]:
            yield f"| {pair[0]} | {pair[1]} | {guided[pair]} | {weighted[pair]} |"


def _covered(coverage: Sequence[Covered]) -> Iterator[str]:
    yield "| Fault | Clause | Exact share | Standard error | Mean estimate | Intervals that hold it | Ratio of ends |"
    yield "|---|---|--:|--:|--:|--:|--:|"
    for one in coverage:
        yield (
            f"| {one.fault} | {one.clause} | {one.exact:.2e} | {one.error:.0e} | {one.mean:.2e} "
            f"| {one.held} of {one.repetitions} | {one.width:.1f} |"
        )
    low, high = WANTED_HELD
    good = [one for one in coverage if low <= one.held / one.repetitions <= high]
    all_held, asked = sum(one.held for one in coverage), sum(one.repetitions for one in coverage)
    yield ""
    yield (
        f"From {low:.0%} to {high:.0%} in {len(good)} of {len(coverage)} clauses; of all intervals together "
        f"{all_held / max(asked, 1):.1%} hold it."
    )


if __name__ == "__main__":
    given = [int(word) for word in sys.argv[1:]]
    main(given[0] if given else 10, given[1] if len(given) > 1 else 100)
