"""``python -m benchmarks.probabilities.rare [EXPLORATIONS]``: rare shares, estimated by split walks; writes RARE.md."""

from __future__ import annotations

import sys
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path
from typing import TYPE_CHECKING, Final

from benchmarks.computer import bars, computer
from benchmarks.probabilities.splitting import (
    FACTOR,
    POPULATIONS,
    RARE_WORLDS,
    Repeated,
    exact_shares,
    exploration,
    repeated,
)
from benchmarks.probabilities.worlds import STEPS

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

RESULTS: Final = Path(__file__).with_name("RARE.md")
ESTIMATES: Final = 12
"""Behind each exploration."""
CHEAPER: Final = 100


def main(explorations: int) -> None:
    """Measure what is not kept below `build/probabilities`, on two processes; print the table and write it."""
    numbers = range(len(RARE_WORLDS))
    with ProcessPoolExecutor(2, mp_context=get_context("spawn")) as pool:
        exact = [pool.submit(exact_shares, number) for number in numbers]
        asked = [
            [pool.submit(exploration, number, seed, ESTIMATES * POPULATIONS) for seed in range(1, explorations + 1)]
            for number in numbers
        ]
        rows = [
            row
            for number in numbers
            for row in repeated(RARE_WORLDS[number], exact[number].result(), [one.result() for one in asked[number]])
        ]
        states = [one.result()["states"] for one in exact]
    text = "\n".join(report(rows, states, explorations))
    RESULTS.write_text(text, encoding="utf-8")
    print(text)


def report(rows: Sequence[Repeated], states: Sequence[int], explorations: int) -> Iterator[str]:
    """The lines of RARE.md."""
    yield from ("# Rare shares by split walks, held against exact chains", "")
    yield from ("Written by `make bench-probabilities`.", "")
    yield computer("NumPy", "SciPy")
    yield "Beside the work of others."
    yield from ("", *bars(_bars(rows)), "")
    sizes = " and ".join(f"{count:,}" for count in states)
    yield f"Every clause that a walk of {STEPS} steps violates with a probability between 1e-7 and 1e-5, in worlds of"
    yield f"{sizes} states. Explorations of each world: {explorations}; behind each {ESTIMATES} estimates, each of"
    yield f"{POPULATIONS} populations: `halfcheck odds --within {STEPS} --populations {POPULATIONS + 1}` makes one."
    yield ""
    yield (
        f"| World | Clause | Exact | Mean of the estimates | Spread | Within a factor of {FACTOR} "
        "| 95 % intervals that hold it | Their chance to, 95 % | Cost | Plain costs |"
    )
    yield "|---|---|--:|--:|--:|--:|--:|--:|--:|--:|"
    yield from map(_row, rows)
    yield ""
    yield "*Mean*: with twice its standard error. *Spread*: the standard deviation of one estimate, as a part of the"
    yield "exact share. *Their chance to*: that of an interval to hold it lies there, by those that do (Clopper and"
    yield "Pearson); what all estimates behind one exploration lack, they lack together. *Cost*: states whose steps an"
    yield "estimate takes, with the searches and the exploration before it. *Plain costs*: how often that goes into the"
    yield "steps of as many plain walks as give as small a spread."
    yield ""


def _bars(rows: Sequence[Repeated]) -> Iterator[tuple[str, str, str, bool | None]]:
    count, held = sum(len(row.estimates) for row in rows), sum(row.held for row in rows)
    true = sum(row.held_interval[0] <= 0.95 <= row.held_interval[1] for row in rows)
    yield "95 % intervals that hold the exact share", "95 %", f"{held} of {count}, {held / count:.1%}", None
    yield "clauses whose intervals hold it as often as they say", f"{len(rows)}", f"{true}", true == len(rows)
    unbiased = sum(abs(row.mean - row.exact) <= 2 * row.mean_error for row in rows)
    yield "clauses whose mean is the exact share, within two errors", f"{len(rows)}", f"{unbiased}", None
    target = min(rows, key=lambda row: abs(row.exact - 1e-6))
    near = f"{target.near} of {len(target.estimates)}"
    whole = len(target.estimates)
    yield f"{target.exact:.2e} estimated within a factor of {FACTOR}", f"{whole}", near, target.near == whole
    cheaper = min(row.cheaper for row in rows)
    yield "plain walks of the same error cost", f"{CHEAPER} times", f"{cheaper:,.0f} times", cheaper >= CHEAPER


def _row(row: Repeated) -> str:
    count, (low, high) = len(row.estimates), row.held_interval
    mean = f"{row.mean:.3e} ± {2 * row.mean_error:.0e}"
    return (
        f"| {row.world} | {row.clause} | {row.exact:.3e} | {mean} | {row.spread:.2f} "
        f"| {row.near} of {count} | {row.held} of {count} | {low:.0%} to {high:.0%} | {row.cost:,.0f} "
        f"| {row.cheaper:,.0f} times |"
    )


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 5)
