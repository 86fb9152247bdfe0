"""The tables of RESULTS.md."""

from __future__ import annotations

import os
import platform
import statistics
from importlib.metadata import version
from typing import TYPE_CHECKING

from benchmarks.explicit.report import processor

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from benchmarks.spark.run_once import Phase

    Measured = dict[str, list[Phase]]

WANTED_TRACES = {"simulate: the others": 150_000}
WANTED_EVENTS = {"simulate: the others": 1_500_000, "judge by kernels": 3_000_000}
"""A second, at the least."""


def report(
    measured: Measured,
    verify: Sequence[Mapping[str, float]],
    repeats: int,
    traces: int,
    loads: tuple[float, float],
) -> str:
    """The results as Markdown; ``loads`` are the load averages of the machine before and after."""
    versions = f"Python {platform.python_version()}, PySpark {version('pyspark')}, Numba {version('numba')}"
    text = [
        "# How fast traces are simulated and judged on Spark",
        "",
        "Written by `make bench-spark`.",
        "",
        f"{processor()}, {os.cpu_count()} cores, {platform.system()}; {versions}.",
        f"{traces:,} traces. Medians of {repeats} runs, each in a fresh process with its kernels compiled beforehand;",
        "in brackets the quickest and the slowest. Spark's Python workers start in the first simulated run.",
        f"The load average was {loads[0]:.1f} before and {loads[1]:.1f} after; above {os.cpu_count()}, "
        "others shared the cores.",
        "",
        "| Phase | Seconds | Traces/s | Wanted | Events/s | Wanted |",
        "|---|--:|--:|--:|--:|--:|",
    ]
    for name, phases in measured.items():
        took = [phase.seconds for phase in phases]
        median = statistics.median(took)
        rates = (
            (phases[0].traces / median, WANTED_TRACES.get(name)),
            (phases[0].events / median, WANTED_EVENTS.get(name)),
        )
        cells = [f"{rate:,.0f} | {_bar(rate, wanted)}" if rate else " | " for rate, wanted in rates]
        text.append(f"| {name} | {median:.2f} ({min(took):.2f} … {max(took):.2f}) | {' | '.join(cells)} |")
    text += [
        "",
        "`halfcheck verify`, all phases, in seconds; the second time the traces are there and are verified and judged:",
        "",
        "| Phase | First | Second |",
        "|---|--:|--:|",
        *(f"| {phase} | {verify[0][phase]:.1f} | {verify[1][phase]:.1f} |" for phase in verify[0]),
    ]
    return "\n".join([*text, ""])


def _bar(rate: float, wanted: int | None) -> str:
    if wanted is None:
        return ""
    return f"≥ {wanted:,}: {'yes' if rate >= wanted else 'NO'}"
