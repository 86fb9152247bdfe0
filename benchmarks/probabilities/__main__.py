"""``python -m benchmarks.probabilities [WALKS] [REPETITIONS]``: chains against Storm and walks; writes RESULTS.md."""

from __future__ import annotations

import sys
import tempfile
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING, Final

from benchmarks.computer import bars, computer
from benchmarks.probabilities.splitting import FACTOR, PLAIN_WALKS, RARE_WORLDS, Repeated, repeated
from benchmarks.probabilities.storm import prepare_storm
from benchmarks.probabilities.worlds import STEPS, WORLDS, Compared, compared, value_within

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

RESULTS: Final = Path(__file__).with_name("RESULTS.md")
POPULATIONS: Final = 31
STORM_MAY_DIFFER: Final = 1e-6
CHEAPER: Final = 100


def main(walks: int, repetitions: int) -> None:
    """Measure, print the tables and write them."""
    began = perf_counter()
    prepare_storm()
    seeds = range(1, repetitions + 1)
    with (
        tempfile.TemporaryDirectory() as folder,
        ProcessPoolExecutor(2, mp_context=get_context("spawn")) as pool,
    ):
        rare = [pool.submit(repeated, *world, populations=POPULATIONS, seeds=seeds) for world in RARE_WORLDS]
        walked = [
            pool.submit(compared, *world, walks=walks, seed=number, file=Path(folder) / f"{number}.drn")
            for number, world in enumerate(WORLDS)
        ]
        worlds = [one.result() for one in walked]
        split = [row for one in rare for row in one.result()]
    text = "\n".join(_report(worlds, split, perf_counter() - began))
    RESULTS.write_text(text, encoding="utf-8")
    print(text)


def _report(worlds: Sequence[Compared], split: Sequence[Repeated], seconds: float) -> Iterator[str]:
    yield from ("# Exact probabilities, held against Storm, random walks and split walks", "")
    yield from ("Written by `make bench-probabilities`.", "")
    yield computer("NumPy", "SciPy")
    yield f"Storm {worlds[0].storm.version}; {seconds / 60:.0f} minutes in all, two processes beside the work of others."
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
    yield from _rows(worlds)
    yield ""
    yield "SciPy s has the search. *Storm differs*: the largest relative difference of all clauses."
    yield "*Held 95 %*: of the intervals (Clopper and Pearson) of the walks, those that hold the probability within the"
    yield "steps; one in twenty may miss it. *All at once*: whether all hold it where each is so wide that in 95 of 100"
    yield "worlds none misses."
    for one in worlds:
        yield from (
            "",
            f"### {one.answer.world.title}, weights {one.weights or 'as in simulate --choice weighted'}",
            "",
        )
        yield f"| Clause | Ever | Within {STEPS} steps | Storm, within | Of {_walks(one):,} walks | 95 % | Held |"
        yield "|---|--:|--:|--:|--:|--:|---|"
        yield from _clauses(one)
    yield from ("", "## Shares of about one in a million", "")
    yield f"Repetitions with seeds of their own, {POPULATIONS} populations each, the first of which is left out."
    yield "What it costs is in states whose steps are taken, searches included; of"
    yield f"{PLAIN_WALKS:,} plain walks it is {PLAIN_WALKS * STEPS:,}."
    yield ""
    yield from _split(split)
    yield ""
    yield "*Spread*: the standard deviation of one repetition's estimate, as a part of the exact share."
    yield ""


def _walks(one: Compared) -> int:
    return next(iter(one.sampled.values())).walks


def _bars(worlds: Sequence[Compared], split: Sequence[Repeated]) -> Iterator[tuple[str, str, str, bool | None]]:
    rows = [(one, row) for one in worlds for row in one.answer.rows]
    differs = max(one.storm_differs(row) for one, row in rows)
    yield "Storm and SciPy differ by", f"{STORM_MAY_DIFFER:.0e}", f"{differs:.1e}", differs <= STORM_MAY_DIFFER
    held = sum(one.is_held(row, 0.95) for one, row in rows)
    yield "95 % intervals of the walks that hold", "95 %", f"{held} of {len(rows)}, {held / len(rows):.1%}", None
    whole = sum(_all_at_once(one) for one in worlds)
    yield "worlds whose intervals all hold, at once", f"{len(worlds)}", f"{whole}", whole == len(worlds)
    target = min(split, key=lambda one: abs(one.exact - 1e-6))
    count = len(target.estimates)
    near = f"{target.near} of {count}"
    yield f"{target.exact:.2e} estimated within a factor of {FACTOR}", f"{count}", near, target.near == count
    cheaper = min(one.cheaper for one in split)
    yield "plain walks cost", f"{CHEAPER} times", f"{cheaper:,.0f} times", cheaper >= CHEAPER


def _all_at_once(one: Compared) -> bool:
    confidence = 1 - 0.05 / max(len(one.answer.rows), 1)
    return all(one.is_held(row, confidence) for row in one.answer.rows)


def _rows(worlds: Sequence[Compared]) -> Iterator[str]:
    for one in worlds:
        answer, rows = one.answer, one.answer.rows
        held = sum(one.is_held(row, 0.95) for row in rows)
        yield (
            f"| {answer.world.title} | {one.weights or 'usual'} | {answer.states:,} | {answer.transitions:,} "
            f"| {len(rows)} | {answer.seconds:.1f} | {one.storm.seconds:.1f} | {max(map(one.storm_differs, rows)):.0e} "
            f"| {one.walk_seconds:.1f} | {held} of {len(rows)} | {'yes' if _all_at_once(one) else 'NO'} |"
        )


def _clauses(one: Compared) -> Iterator[str]:
    for row in one.answer.rows:
        share = one.sampled[row.clause]
        low, high = share.interval()
        yield (
            f"| {row.name} | {row.ever.value:.12g} | {value_within(row):.12g} | {one.storm.within[row.name]:.12g} "
            f"| {share.share:.6g} | {low:.4g} to {high:.4g} | {'yes' if one.is_held(row, 0.95) else 'no'} |"
        )


def _split(split: Sequence[Repeated]) -> Iterator[str]:
    yield (
        f"| World | Clause | Exact | Mean estimate | Spread | Within a factor of {FACTOR} | Intervals that hold it "
        "| Cost | Plain costs | s | Learning s |"
    )
    yield "|---|---|--:|--:|--:|--:|--:|--:|--:|--:|--:|"
    for one in split:
        count = len(one.estimates)
        yield (
            f"| {one.world} | {one.clause} | {one.exact:.3e} | {one.mean:.3e} | {one.spread:.2f} "
            f"| {one.near} of {count} | {one.held} of {count} | {one.expanded:,} | {one.cheaper:,.0f} times "
            f"| {one.seconds:.0f} | {one.learning_seconds:.0f} |"
        )


if __name__ == "__main__":
    given = [int(word) for word in sys.argv[1:]]
    main(given[0] if given else 100_000, given[1] if len(given) > 1 else 6)
