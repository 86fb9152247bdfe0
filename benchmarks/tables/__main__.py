"""``python -m benchmarks.tables [TRACES...]``: runs of tiny traces, judged and written as tables; writes RESULTS.md.

Each is one run of `STEPS` steps. What a thousand million traces would take is worked out from the last of them.
"""

from __future__ import annotations

import os
import shutil
import sys
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from time import perf_counter
from typing import TYPE_CHECKING, Final

from benchmarks.computer import computer, family, proportional_bytes
from benchmarks.looking import looking
from files.reading import size_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pyspark.sql import SparkSession

RESULTS: Final = Path(__file__).with_name("RESULTS.md")
SIZES: Final = (1_000_000, 10_000_000, 100_000_000)
STEPS: Final = 4
WARM_UP: Final = 1_000
THOUSAND_MILLION: Final = 1_000_000_000
EVERY_SECONDS: Final = 0.5


@dataclass
class Size:
    """What a run of so many traces took: seconds a phase, and how many files and bytes each table has."""

    traces: int
    seconds: dict[str, float] = field(default_factory=dict)
    events: int = 0
    files: int = 0
    file_bytes: int = 0
    manifest_bytes: int = 0
    verdict_files: int = 0
    verdict_bytes: int = 0
    driver_bytes: int = 0
    all_bytes: int = 0


def main(words: list[str]) -> None:
    """Measure, print the page and write it."""
    from spark_trace_analysis.cluster.session import spark_session

    sizes = tuple(int(word.replace("_", "")) for word in words) or SIZES
    load = os.getloadavg()[0]
    with TemporaryDirectory(prefix="halfcheck_bench_") as name:
        folder = Path(name)
        with spark_session(work=folder / "spark") as spark:
            _measure(spark, folder, WARM_UP)
            found = []
            for size in sizes:
                found.append(_measure(spark, folder, size))
                text = page(found, (load, os.getloadavg()[0]))
                RESULTS.write_text(text, encoding="utf-8")
    print(text)


def _measure(spark: SparkSession, folder: Path, traces: int) -> Size:
    from model_check.world import World
    from spark_trace_analysis.judge.both_ways import judge
    from spark_trace_analysis.judge.verdict_table import write_verdicts
    from spark_trace_analysis.traces.manifest import Parameters
    from spark_trace_analysis.traces.run_layout import manifest_of
    from spark_trace_analysis.traces.simulate import simulate

    size = Size(traces)
    parameters = Parameters(
        World.of("5.5.1", ("crash",), "tiny"), seed=7, traces=traces, steps=STEPS, choice="weighted"
    )
    runs, tables = folder / "runs", folder / "tables"
    with _watched(size):
        with _timed(size, "simulate"):
            run = simulate(spark, parameters, runs / parameters.partition).run
        judgement = judge(spark, [run])
        size.seconds |= {"kernels": judgement.kernel_seconds, "expressions": judgement.expression_seconds}
        with _timed(size, "verdicts"):
            write_verdicts(spark, [run], judgement, tables)
    size.events, size.files = run.manifest.events, len(run.manifest.files)
    size.file_bytes = sum(file.size_bytes for file in run.manifest.files)
    size.manifest_bytes = size_of(manifest_of(run.folder)) or 0
    verdicts = list(tables.rglob("verdicts-*.parquet"))
    size.verdict_files, size.verdict_bytes = len(verdicts), sum(path.stat().st_size for path in verdicts)
    for made in (runs, tables):
        shutil.rmtree(made)
    return size


@contextmanager
def _timed(size: Size, phase: str) -> Iterator[None]:
    began = perf_counter()
    yield
    size.seconds[phase] = perf_counter() - began


@contextmanager
def _watched(size: Size) -> Iterator[None]:
    """Keep the most memory of the driver, which is this process, and of all processes together."""

    def look() -> None:
        size.driver_bytes = max(size.driver_bytes, proportional_bytes(os.getpid()))
        size.all_bytes = max(size.all_bytes, sum(map(proportional_bytes, family(os.getpid()))))

    with looking(look, EVERY_SECONDS):
        yield


def page(found: list[Size], loads: tuple[float, float]) -> str:
    """RESULTS.md."""
    largest = found[-1]
    rows = [*map(_row, found), _row(_worked_out(largest)).replace("| 1,000,000,000 |", "| 1,000,000,000, worked out |")]
    return "\n".join(
        [
            "# Tables of very many traces",
            "",
            "Written by `make bench-tables`.",
            "",
            computer("PySpark", "pyarrow", "polars"),
            f"One run each of 5.5.1 with crashes on `tiny`, {STEPS} weighted steps a trace: written as by",
            "`simulate --runs`, judged by kernels and by expressions, and the verdict on each trace and property",
            "written as by `analyze --out`.",
            f"The load average was {loads[0]:.1f} before and {loads[1]:.1f} after; above {os.cpu_count()}, "
            "others shared the cores.",
            "",
            "| Traces | Events | Files | MB a file | Manifest, kB | Verdict files | MB of verdicts | Simulate, s "
            "| Kernels, s | Expressions, s | Verdicts, s | Driver, MiB | All processes, MiB |",
            "|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|",
            *rows,
            "",
            "The last row is worked out: the number of files from the rule by which runs are cut into files, seconds,",
            "the manifest and the verdicts in proportion to the row before. The driver holds some kilobytes a file,",
            "its line of the manifest and fifteen counts, so that its memory is that of the row before.",
            "",
        ]
    )


def _worked_out(size: Size) -> Size:
    from model_check.world import World
    from spark_trace_analysis.traces.event_source import WALKS
    from spark_trace_analysis.traces.manifest import Parameters

    world = World.of("5.5.1", ("crash",), "tiny")
    parameters = Parameters(world, seed=7, traces=THOUSAND_MILLION, steps=STEPS, choice="weighted")
    files = -(-THOUSAND_MILLION // WALKS.traces_a_file(parameters))
    factor = THOUSAND_MILLION / size.traces
    return replace(
        size,
        traces=THOUSAND_MILLION,
        seconds={phase: taken * factor for phase, taken in size.seconds.items()},
        events=int(size.events * factor),
        files=files,
        file_bytes=int(size.file_bytes * factor),
        manifest_bytes=size.manifest_bytes * files // size.files,
        verdict_files=files,
        verdict_bytes=int(size.verdict_bytes * factor),
    )


def _row(size: Size) -> str:
    cells = (
        f"{size.traces:,}",
        f"{size.events:,}",
        f"{size.files:,}",
        f"{size.file_bytes / size.files / 1e6:.1f}",
        f"{size.manifest_bytes / 1e3:,.0f}",
        f"{size.verdict_files:,}",
        f"{size.verdict_bytes / 1e6:,.1f}",
        *(f"{size.seconds[phase]:,.0f}" for phase in ("simulate", "kernels", "expressions", "verdicts")),
        f"{size.driver_bytes / (1 << 20):,.0f}",
        f"{size.all_bytes / (1 << 20):,.0f}",
    )
    return f"| {' | '.join(cells)} |"


if __name__ == "__main__":
    main(sys.argv[1:])
