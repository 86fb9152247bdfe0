"""The tables of RESULTS.md."""

from __future__ import annotations

import os
import platform
from importlib.metadata import version
from itertools import pairwise
from typing import TYPE_CHECKING, Final

from benchmarks.explicit.report import processor
from benchmarks.spark.pipeline import SIMULATING, STEPS

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from benchmarks.spark.measured import Measured

WANTED_TRACES: Final = 10_000_000
WANTED_EVENTS: Final = 100_000_000
WANTED_SECONDS: Final = 600
WANTED_BYTES: Final = 8 << 30
WANTED_TRACES_A_SECOND: Final = 150_000
WANTED_EVENTS_A_SECOND: Final = 1_500_000
WANTED_JUDGED_A_SECOND: Final = 3_000_000
SAME_MEMORY: Final = 1.2
"""Up to this factor two peaks count as the same: Java's heap fills more of what it was given, the longer a job runs."""


def report(runs: Sequence[Measured], loads: tuple[float, float]) -> str:
    """The results as Markdown; ``loads`` are the load averages of the machine before and after."""
    versions = f"Python {platform.python_version()}, PySpark {version('pyspark')}, Numba {version('numba')}"
    largest = runs[-1]
    told = largest.told
    text = [
        "# Millions of traces, from nothing to the report",
        "",
        "Written by `make bench-spark`.",
        "",
        f"{processor()}, {os.cpu_count()} cores, {platform.system()}; {versions}.",
        f"Walks of {STEPS} steps of every profile, quiet and with crashes, on the instance `small`: simulated and",
        "written as Parquet, judged by kernels and by expressions, which must agree, counted, and shown on the page.",
        "Each run is a fresh process whose kernels were compiled before; Spark's start is part of it. Memory is the",
        "sum of the proportional set sizes of all processes (driver, JVM, Python workers), sampled twice a second.",
        f"The load average was {loads[0]:.1f} before and {loads[1]:.1f} after; above {os.cpu_count()}, "
        "others shared the cores.",
        "",
        f"## {told['traces']:,} traces, {told['events']:,} events, {told['properties']} properties",
        "",
        f"{told['written_bytes'] / 1e6:,.0f} MB of Parquet, {told['violations']:,} violations, a page of "
        f"{told['page_bytes'] / 1e6:.1f} MB.",
        "",
        "| Phase | Seconds | Traces/s | Events/s | Peak memory, GiB |",
        "|---|--:|--:|--:|--:|",
        *_phases(largest),
        f"| in all | {largest.seconds:.1f} | {told['traces'] / largest.seconds:,.0f} "
        f"| {told['events'] / largest.seconds:,.0f} | {_gib(largest.peak_bytes)} |",
        "",
        "| Bar | Found | Met |",
        "|---|--:|---|",
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
            "| Bar | Found | Met |",
            "|---|--:|---|",
            *_scaling(runs),
            "",
        ]
    return "\n".join(text)


def _phases(run: Measured) -> Iterator[str]:
    traces, events = run.told["traces"], run.told["events"]
    for name, seconds in run.phases.items():
        peak = _gib(run.peaks.get(name, 0))
        if name == "judge":
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
    told, simulating = run.told, run.phases[SIMULATING]
    yield _at_least("traces", told["traces"], WANTED_TRACES)
    yield _at_least("events", told["events"], WANTED_EVENTS)
    yield _bar(f"all phases in less than {WANTED_SECONDS} s", f"{run.seconds:.1f}", met=run.seconds < WANTED_SECONDS)
    memory = f"at most {_gib(WANTED_BYTES)} GiB in all processes"
    yield _bar(memory, _gib(run.peak_bytes), met=run.peak_bytes <= WANTED_BYTES)
    yield _at_least("traces/s simulated and written", told["traces"] / simulating, WANTED_TRACES_A_SECOND)
    yield _at_least("events/s simulated and written", told["events"] / simulating, WANTED_EVENTS_A_SECOND)
    yield _at_least("events/s judged by kernels", told["events"] / told["kernel_seconds"], WANTED_JUDGED_A_SECOND)


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
