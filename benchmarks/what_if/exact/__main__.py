"""``python -m benchmarks.what_if.exact [RUNS]``: ten worlds simulated and solved; writes RESULTS.md."""

from __future__ import annotations

import sys
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING, Final

from benchmarks.computer import bars, computer
from benchmarks.what_if.exact.worlds import WORLDS, HeldMeasure, held_measures
from model_check.probabilities.exact_interval import exact_interval

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

RESULTS: Final = Path(__file__).with_name("RESULTS.md")
SEED: Final = 53


def main(runs: int) -> None:
    """Simulate each world on two processes, print the tables and write them."""
    with ProcessPoolExecutor(2) as pool:
        found = list(pool.map(_held, range(len(WORLDS)), [runs] * len(WORLDS)))
    text = "\n".join(report(found, runs))
    RESULTS.write_text(text, encoding="utf-8")
    print(text)


def _held(number: int, runs: int) -> list[HeldMeasure]:
    return list(held_measures(WORLDS[number], runs, SEED + number))


def report(found: Sequence[Sequence[HeldMeasure]], runs: int) -> Iterator[str]:
    """The lines of RESULTS.md."""
    yield from ("# What a simulation of traffic says, held against exact numbers", "")
    yield from ("Written by `make bench-what-if-exact`.", "")
    yield computer("NumPy", "SciPy")
    yield from ("", *bars(_bars(found)), "")
    yield f"Each world is simulated {runs:,} times, with one transaction from an empty store on. Its Markov chain"
    yield "([one_transaction.py](one_transaction.py)) is made by hand of RocketMQ's rules, solved by SciPy, and shares"
    yield "no code with the simulation, nor with the reference broker. What is held so: the clocks of rounds, time-outs"
    yield "and local transactions, losses, the broker's decisions, the count of each measure, and its interval. What is"
    yield "not: what transactions do to each other, retries, crashes, pauses, and delays that are not far below a tick."
    yield "Within a world the measures depend on each other, so that they miss together."
    for world, measures in zip(WORLDS, found, strict=True):
        one = world.one
        yield from ("", f"## {world.release}, {one.checks} checks at most", "")
        yield f"Lost to the broker {one.loses_to_broker:g}, from it {one.loses_from_broker:g}; of local transactions"
        yield f"{one.ends:g} end in each second, {one.rolls_back:g} roll back, {one.hangs:g} hang, and"
        yield f"{one.says_unknown:g} say UNKNOWN; {one.answers_unknown:g} of the checks are answered with UNKNOWN. A"
        yield f"round each {one.ticks} s; the half is too young in {one.young_rounds} of them."
        yield ""
        yield "| Measure, for each transaction | Exact | Simulated | 95 % | Held |"
        yield "|---|--:|--:|--:|---|"
        for each in measures:
            low, high = each.simulated.low, each.simulated.high
            yield (
                f"| {each.measure.replace('_', ' ')} | {each.exact:.6g} | {each.simulated.value:.5g} "
                f"| {low:.4g} to {high:.4g} | {'yes' if each.is_held else 'no'} |"
            )
    yield ""


def _bars(found: Sequence[Sequence[HeldMeasure]]) -> Iterator[tuple[str, str, str, bool | None]]:
    measures = [each for world in found for each in world]
    count, held = len(measures), sum(each.is_held for each in measures)
    low, high = exact_interval(held, count)
    yield (
        "95 % intervals that hold the exact number",
        "95 %",
        f"{held} of {count}, {held / count:.1%}",
        low <= 0.95 <= high,
    )
    whole = sum(all(each.is_held for each in world) for world in found)
    yield "worlds in which each of them does", f"{len(found)}", f"{whole}", None


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 4_000)
