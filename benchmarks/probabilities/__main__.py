"""``python -m benchmarks.probabilities [WALKS]``: chains against Storm and walks; writes RESULTS.md."""

from __future__ import annotations

import sys
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from benchmarks.computer import bars, computer
from benchmarks.probabilities.storm import prepare_storm
from benchmarks.probabilities.worlds import STEPS, WORLDS, Compared, ComparedClause, compared_world_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

RESULTS: Final = Path(__file__).with_name("RESULTS.md")
STORM_MAY_DIFFER: Final = 1e-6


def main(walks: int) -> None:
    """Measure what is not kept below `build/probabilities`, on two processes; print the tables and write them."""
    prepare_storm()
    with ProcessPoolExecutor(2, mp_context=get_context("spawn")) as pool:
        walked = [pool.submit(compared_world_of, number, walks) for number in range(len(WORLDS))]
        worlds = [_compared_out_of(one.result()) for one in walked]
    text = "\n".join(report(worlds))
    RESULTS.write_text(text, encoding="utf-8")
    print(text)


def _compared_out_of(content: Any) -> Compared:
    return Compared(**content | {"clauses": [ComparedClause(**one) for one in content["clauses"]]})


def report(worlds: Sequence[Compared]) -> Iterator[str]:
    """The lines of RESULTS.md."""
    yield from ("# Exact probabilities, held against Storm and random walks", "")
    yield from ("Written by `make bench-probabilities`.", "")
    yield computer("NumPy", "SciPy")
    yield f"Storm {worlds[0].storm_version}. Two processes, beside the work of others: seconds are no more than a hint."
    yield from ("", *bars(_bars(worlds)), "")
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
    yield ""


def _bars(worlds: Sequence[Compared]) -> Iterator[tuple[str, str, str, bool | None]]:
    rows = [row for one in worlds for row in one.clauses]
    differs = max(row.differs for row in rows)
    yield "Storm and SciPy differ by", f"{STORM_MAY_DIFFER:.0e}", f"{differs:.1e}", differs <= STORM_MAY_DIFFER
    held = sum(row.is_held(0.95) for row in rows)
    yield "95 % intervals of the walks that hold", "95 %", f"{held} of {len(rows)}, {held / len(rows):.1%}", None
    whole = sum(one.are_all_held() for one in worlds)
    yield "worlds whose intervals all hold, at once", f"{len(worlds)}", f"{whole}", whole == len(worlds)


def _clause(row: ComparedClause) -> str:
    low, high = row.sampled.interval()
    return (
        f"| {row.clause} | {row.ever:.12g} | {row.within:.12g} | {row.sampled.share:.6g} | {low:.4g} to {high:.4g} "
        f"| {'yes' if row.is_held(0.95) else 'no'} |"
    )


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 40_000)
