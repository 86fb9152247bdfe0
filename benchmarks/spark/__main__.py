"""``python -m benchmarks.spark [TRACES... | worlds]``: runs the pipeline over each number of traces; writes RESULTS.md.

The last number is held against the bars, the others show how time and memory grow. ``worlds`` are smaller worlds and
shorter walks, with one number of traces each, in WORLDS.md. Both without arguments.
"""

from __future__ import annotations

import os
import sys
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Final

from benchmarks.computer import computer
from benchmarks.spark.pipeline import ENVIRONMENTS, JUDGING, SIMULATING, STARTING
from benchmarks.spark.watched_run import Measured, measure

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

RESULTS, WORLDS = (Path(__file__).with_name(name) for name in ("RESULTS.md", "WORLDS.md"))
SIZES = (1_000_000, 2_000_000, 4_000_000, 8_000_000, 10_000_000)
TRACES_OF_A_WORLD = 2_000_000
WARM_UP = 2_000

WANTED_TRACES: Final = 10_000_000
WANTED_EVENTS: Final = 600_000_000
WANTED_SECONDS: Final = 720
WANTED_BYTES: Final = 6 << 30
WANTED_EXPRESSIONS: Final = {(60, "small"): 3_000_000, (60, "medium"): 2_000_000, (12, "small"): 2_000_000}
WANTED_OF_TWO_MILLION: Final = {"simulated": 50, "analyzed": 90}
"""Seconds to simulate and to analyze two million long walks of the smallest world, the start of Spark in both."""

LONG: Final = 60
USUAL: Final = ("medium", "trio")
SAME_MEMORY: Final = 1.2
"""Up to this factor two peaks count as the same: Java's heap fills more of what it was given, the longer a job runs."""


def main(words: list[str]) -> None:
    """Measure, print the tables and write them."""
    measure(WARM_UP, LONG, (*USUAL, "small"))  # compiles what is not compiled yet
    before = os.getloadavg()[0]
    if words != ["worlds"]:
        sizes = tuple(int(word.replace(",", "").replace("_", "")) for word in words) or SIZES
        runs = [measure(size, LONG, USUAL) for size in sizes]
        _write(RESULTS, results(runs, (before, os.getloadavg()[0])))
    if words in ([], ["worlds"]):
        kinds = [(steps, instance) for steps in (LONG, 12) for instance in ("small", "medium")]
        found = [(steps, instance, measure(TRACES_OF_A_WORLD, steps, [instance])) for steps, instance in kinds]
        _write(WORLDS, worlds(found, (before, os.getloadavg()[0])))


def _write(page: Path, text: str) -> None:
    page.write_text(text, encoding="utf-8")
    print(text)


def results(runs: Sequence[Measured], loads: tuple[float, float]) -> str:
    """RESULTS.md: the largest run by its phases, and how time and memory grow; ``loads`` are averages around all."""
    largest = runs[-1]
    told = largest.told
    text = [
        *_head("Millions of traces, from nothing to the report", " and ".join(USUAL), f"of {LONG} steps", loads),
        f"## {told['traces']:,} traces, {told['events']:,} events, {told['properties']} properties",
        "",
        f"{told['written_bytes'] / 1e6:,.0f} MB of Parquet, {told['violations']:,} violations, a page of "
        f"{told['page_bytes'] / 1e6:.1f} MB. {_share(largest)} of the steps change more than the clock.",
        "",
        "| Phase | Seconds | Traces/s | Events/s | Peak memory, GiB |",
        "|---|--:|--:|--:|--:|",
        *_phases(largest),
        f"| in all | {largest.seconds:.1f} | {told['traces'] / largest.seconds:,.0f} "
        f"| {told['events'] / largest.seconds:,.0f} | {_gib(largest.peak_bytes)} |",
        "",
        *_BARS,
        *_bars(largest),
        "",
    ]
    if len(runs) > 1:
        text += [
            "## Twice the traces",
            "",
            "| Traces | Events | Seconds | Simulate | Kernels | Expressions | Peak memory, GiB |",
            "|--:|--:|--:|--:|--:|--:|--:|",
            *(
                f"| {run.told['traces']:,} | {run.told['events']:,} | {run.seconds:.1f} | {run.phases[SIMULATING]:.1f} "
                f"| {run.told['kernel_seconds']:.1f} | {run.told['expression_seconds']:.1f} | {_gib(run.peak_bytes)} |"
                for run in runs
            ),
            "",
            *_BARS,
            *_scaling(runs),
            "",
        ]
    return "\n".join(text)


def worlds(runs: Sequence[tuple[int, str, Measured]], loads: tuple[float, float]) -> str:
    """WORLDS.md: one number of traces of each length and instance."""
    text = [
        *_head("Traces of other worlds and lengths", "one instance", "", loads),
        "| Steps | Instance | Traces | More than the clock | Start | Simulate | Kernels | Second | Events/s | All |",
        "|--:|---|--:|--:|--:|--:|--:|--:|--:|--:|",
    ]
    bars = []
    for steps, instance, run in runs:
        told, starting, simulating = run.told, run.phases[STARTING], run.phases[SIMULATING]
        rate = told["events"] / told["expression_seconds"]
        text.append(
            f"| {steps} | {instance} | {told['traces']:,} | {_share(run)} | {starting:.1f} | {simulating:.1f} "
            f"| {told['kernel_seconds']:.1f} | {told['expression_seconds']:.1f} | {rate:,.0f} | {run.seconds:.1f} |"
        )
        if (steps, instance) in WANTED_EXPRESSIONS:
            what = f"events/s judged by expressions, {steps} steps of {instance}"
            bars.append(_at_least(what, rate, WANTED_EXPRESSIONS[steps, instance]))
        if (steps, instance) == (LONG, "small"):
            took = {"simulated": starting + simulating, "analyzed": run.seconds - simulating}
            for what, most in WANTED_OF_TWO_MILLION.items():
                told_bar = f"{told['traces']:,} traces {what} in {most} s"
                bars.append(_bar(told_bar, f"{took[what]:.1f}", met=took[what] <= most))
    return "\n".join([*text, "", *_BARS, *bars, ""])


_BARS: Final = ("| Bar | Found | Met |", "|---|--:|---|")


def _head(title: str, where: str, length: str, loads: tuple[float, float]) -> tuple[str, ...]:
    return (
        f"# {title}",
        "",
        "Written by `make bench-spark`.",
        "",
        computer("PySpark", "Numba"),
        f"Walks {length} of four releases in {len(ENVIRONMENTS)} environments on {where}:".replace("  ", " "),
        "simulated and written as Parquet, judged by kernels and by expressions, which must agree, counted, and shown.",
        "Each run is a fresh process whose kernels were compiled before; Spark's start is part of it. Memory is the",
        "sum of the proportional set sizes of all processes (driver, JVM, Python workers), sampled twice a second.",
        f"The load average was {loads[0]:.1f} before and {loads[1]:.1f} after; above {os.cpu_count()}, "
        "others shared the cores.",
        "",
    )


def _share(run: Measured) -> str:
    """The share of steps that change more than the clock."""
    return f"{1 - run.told['idle_events'] / run.told['events']:.0%}"


def _phases(run: Measured) -> Iterator[str]:
    traces, events = run.told["traces"], run.told["events"]
    for name, seconds in run.phases.items():
        peak = _gib(run.peaks.get(name, 0))
        if name == JUDGING:
            for way, part in (
                ("by kernels", run.told["kernel_seconds"]),
                ("by expressions", run.told["expression_seconds"]),
            ):
                yield f"| {name} {way} | {part:.1f} | {traces / part:,.0f} | {events / part:,.0f} | {peak} |"
        elif name in (SIMULATING, "statistics"):
            yield f"| {name} | {seconds:.1f} | {traces / seconds:,.0f} | {events / seconds:,.0f} | {peak} |"
        else:
            yield f"| {name} | {seconds:.1f} |  |  | {peak} |"


def _bars(run: Measured) -> Iterator[str]:
    told = run.told
    yield _at_least("traces", told["traces"], WANTED_TRACES)
    yield _at_least("events", told["events"], WANTED_EVENTS)
    yield _bar(f"all phases in less than {WANTED_SECONDS} s", f"{run.seconds:.1f}", met=run.seconds < WANTED_SECONDS)
    memory = f"at most {_gib(WANTED_BYTES)} GiB in all processes"
    yield _bar(memory, _gib(run.peak_bytes), met=run.peak_bytes <= WANTED_BYTES)


def _scaling(runs: Sequence[Measured]) -> Iterator[str]:
    for one, two in pairwise(runs):
        factor = two.told["traces"] / one.told["traces"]
        what = f"{two.told['traces']:,} traces take at most {factor:g} times as long as {one.told['traces']:,}"
        yield _bar(what, f"{two.seconds / one.seconds:.2f}", met=two.seconds <= factor * one.seconds)
    smallest, largest = (choose(run.peak_bytes for run in runs) for choose in (min, max))
    what = f"peak memory of all these runs the same (largest to smallest at most {SAME_MEMORY})"
    yield _bar(what, f"{largest / smallest:.2f}", met=largest <= SAME_MEMORY * smallest)


def _at_least(what: str, found: float, wanted: int) -> str:
    return _bar(f"at least {wanted:,} {what}", f"{found:,.0f}", met=found >= wanted)


def _bar(what: str, found: str, *, met: bool) -> str:
    return f"| {what} | {found} | {'yes' if met else 'NO'} |"


def _gib(size_bytes: int) -> str:
    return f"{size_bytes / (1 << 30):.2f}"


if __name__ == "__main__":
    main(sys.argv[1:])
