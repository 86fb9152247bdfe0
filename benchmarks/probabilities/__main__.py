"""``python -m benchmarks.probabilities [WALKS] [REPETITIONS]``: chains against Storm and walks; writes RESULTS.md."""

from __future__ import annotations

import sys
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from benchmarks.computer import bars, computer
from benchmarks.probabilities.splitting import (
    FACTOR,
    PLAIN_WALKS,
    RARE_WORLDS,
    Repeated,
    Repetition,
    rare_world_of,
)
from benchmarks.probabilities.storm import prepare_storm
from benchmarks.probabilities.worlds import STEPS, WORLDS, Compared, ComparedClause, compared_world_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

RESULTS: Final = Path(__file__).with_name("RESULTS.md")
POPULATIONS: Final = 31
STORM_MAY_DIFFER: Final = 1e-6
CHEAPER: Final = 100


def main(walks: int, repetitions: int) -> None:
    """Measure what is not kept below `build/probabilities`, on two processes; print the tables and write them."""
    prepare_storm()
    with ProcessPoolExecutor(2, mp_context=get_context("spawn")) as pool:
        walked = [pool.submit(compared_world_of, number, walks) for number in range(len(WORLDS))]
        rare = [pool.submit(rare_world_of, number, POPULATIONS, repetitions) for number in range(len(RARE_WORLDS))]
        worlds = [_compared_out_of(one.result()) for one in walked]
        split = [row for one in rare for row in _repeated_out_of(one.result())]
    text = "\n".join(report(worlds, split))
    RESULTS.write_text(text, encoding="utf-8")
    print(text)


def _compared_out_of(content: Any) -> Compared:
    return Compared(**content | {"clauses": [ComparedClause(**one) for one in content["clauses"]]})


def _repeated_out_of(content: Any) -> Iterator[Repeated]:
    profile, faults, instance, weights = content["world"]
    repetitions = [Repetition(**one) for one in content["repetitions"]]
    for clause, exact in content["exact"].items():
        yield Repeated(f"{profile} with {faults} on {instance}, {weights}", clause, exact, repetitions)


def report(worlds: Sequence[Compared], split: Sequence[Repeated]) -> Iterator[str]:
    """The lines of RESULTS.md."""
    yield from ("# Exact probabilities, held against Storm, random walks and split walks", "")
    yield from ("Written by `make bench-probabilities`.", "")
    yield computer("NumPy", "SciPy")
    yield f"Storm {worlds[0].storm_version}. Two processes, beside the work of others: seconds are no more than a hint."
    yield from ("", *bars(_bars(worlds, split)), "")
    yield from ("## Ten worlds", "")
    yield "The probability that a run ever violates a clause, and that it does so within"
    yield f"{STEPS} steps, of every clause that can be violated. Storm solves the exported chain: in the end in exact"
    yield "rational arithmetic, within the steps in double precision. The walks draw with the same weights."
    yield ""
    yield (
        "| World | Weights | States | Transitions | Clauses | SciPy s | Storm s | Storm differs | Walks s | Held 95 % "
        "| All at once |"
    )
    yield "|---|---|--:|--:|--:|--:|--:|--:|--:|--:|---|"
    for one in worlds:
        held = sum(row.is_held(0.95) for row in one.clauses)
        yield (
            f"| {one.title} | {one.weights} | {one.states:,} | {one.transitions:,} | {len(one.clauses)} "
            f"| {one.seconds:.1f} | {one.storm_seconds:.1f} | {max(row.differs for row in one.clauses):.0e} "
            f"| {one.walk_seconds:.1f} | {held} of {len(one.clauses)} | {'yes' if one.are_all_held() else 'NO'} |"
        )
    yield ""
    yield "SciPy s has the search. *Storm differs*: the largest relative difference of all clauses."
    yield "*Held 95 %*: of the intervals (Clopper and Pearson) of the walks, those that hold the probability within the"
    yield "steps; one in twenty may miss it. *All at once*: whether all hold it where each is so wide that in 95 of 100"
    yield "worlds none misses."
    for one in worlds:
        yield from ("", f"### {one.title}, weights {one.weights}", "")
        yield f"| Clause | Ever | Within {STEPS} steps | Of {one.clauses[0].walks:,} walks | 95 % | Held |"
        yield "|---|--:|--:|--:|--:|---|"
        yield from map(_clause, one.clauses)
    yield from ("", "## Shares of about one in a million", "")
    yield f"Repetitions with seeds of their own, {POPULATIONS} populations each, the first of which is left out."
    yield "What it costs is in states whose steps are taken, searches included; of"
    yield f"{PLAIN_WALKS:,} plain walks it is {PLAIN_WALKS * STEPS:,}. The walks learn from `tiny` and `small`."
    yield ""
    yield (
        f"| World, weights | Clause | Exact | Mean estimate | Spread | Within a factor of {FACTOR} "
        "| Intervals that hold it | Cost | Plain costs |"
    )
    yield "|---|---|--:|--:|--:|--:|--:|--:|--:|"
    yield from map(_split, split)
    yield ""
    yield "*Spread*: the standard deviation of one repetition's estimate, as a part of the exact share. An interval"
    yield "knows only the ways to a violation that walks found, so that it may be too narrow: docs/simulation.md."
    yield ""


def _bars(worlds: Sequence[Compared], split: Sequence[Repeated]) -> Iterator[tuple[str, str, str, bool | None]]:
    rows = [row for one in worlds for row in one.clauses]
    differs = max(row.differs for row in rows)
    yield "Storm and SciPy differ by", f"{STORM_MAY_DIFFER:.0e}", f"{differs:.1e}", differs <= STORM_MAY_DIFFER
    held = sum(row.is_held(0.95) for row in rows)
    yield "95 % intervals of the walks that hold", "95 %", f"{held} of {len(rows)}, {held / len(rows):.1%}", None
    whole = sum(one.are_all_held() for one in worlds)
    yield "worlds whose intervals all hold, at once", f"{len(worlds)}", f"{whole}", whole == len(worlds)
    target = min(split, key=lambda one: abs(one.exact - 1e-6))
    count = len(target.shares)
    near = f"{target.near} of {count}"
    yield f"{target.exact:.2e} estimated within a factor of {FACTOR}", f"{count}", near, target.near == count
    cheaper = min(one.cheaper for one in split)
    yield "plain walks cost", f"{CHEAPER} times", f"{cheaper:,.0f} times", cheaper >= CHEAPER


def _clause(row: ComparedClause) -> str:
    low, high = row.sampled.interval()
    return (
        f"| {row.clause} | {row.ever:.12g} | {row.within:.12g} | {row.sampled.share:.6g} | {low:.4g} to {high:.4g} "
        f"| {'yes' if row.is_held(0.95) else 'no'} |"
    )


def _split(one: Repeated) -> str:
    count = len(one.shares)
    return (
        f"| {one.world} | {one.clause} | {one.exact:.3e} | {one.mean:.3e} | {one.spread:.2f} | {one.near} of {count} "
        f"| {one.held} of {count} | {one.expanded:,} | {one.cheaper:,.0f} times |"
    )


if __name__ == "__main__":
    given = [int(word) for word in sys.argv[1:]]
    main(given[0] if given else 40_000, given[1] if len(given) > 1 else 3)
