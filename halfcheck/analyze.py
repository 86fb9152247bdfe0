"""``halfcheck analyze``: what many traces violate, and what they look like."""

from __future__ import annotations

import json
import sys
from contextlib import contextmanager
from pathlib import Path  # noqa: TC003 (Typer evaluates the annotations)
from time import perf_counter
from typing import TYPE_CHECKING, Annotated

import typer

from halfcheck.spark_options import Conf, Master  # noqa: TC001 (Typer evaluates the annotations)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from spark_trace_analysis.judge import Judgement
    from spark_trace_analysis.manifest import Run
    from spark_trace_analysis.report.simulation_data import SimulationSection

_PIPE_COLUMNS = 400
"""Wide enough that nothing is cut when the table goes into a file; trailing blanks are not printed."""


def command(
    directory: Annotated[
        Path, typer.Argument(metavar="DIR", help="What simulate wrote, or a directory of several such directories.")
    ],
    *,
    report: Annotated[Path | None, typer.Option(metavar="FILE", help="Write an HTML page, too.")] = None,
    master: Master = "local[*]",
    conf: Conf = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON instead of a table.")] = False,
) -> None:
    """Judge every trace, twice and independently, and gather statistics.

    Each property is judged by compiled kernels and by Spark SQL; if the two give different numbers, the command fails
    with exit code 75. Violations that both agree on are what traces are walked for: they do not change the exit code.

    Examples
    --------
    halfcheck analyze build/traces
    halfcheck analyze build/traces/5.3.3-crash --json
    halfcheck analyze build/traces --report build/traces.html
    """
    from spark_trace_analysis.judge import judge
    from spark_trace_analysis.report.minimal_traces import minimal_traces
    from spark_trace_analysis.report.simulation_section import simulation_section
    from spark_trace_analysis.runs import find_runs
    from spark_trace_analysis.session import spark_session
    from spark_trace_analysis.states_seen import states_seen
    from spark_trace_analysis.statistics import statistics

    if report is not None and report.is_dir():
        message = f"--report {report} is a directory, give the name of a file"
        raise typer.BadParameter(message)
    began = perf_counter()
    runs = find_runs(directory)
    seconds = {"find": perf_counter() - began}
    with _phases() as begin:
        begin("starting Spark")
        started = perf_counter()
        with spark_session(master, conf=conf or ()) as spark:
            seconds["start"] = perf_counter() - started
            begin(f"judging {sum(run.parameters.traces for run in runs):,} traces twice")
            judgement = judge(spark, runs)
            seconds |= {"kernels": judgement.kernel_seconds, "queries": judgement.query_seconds}
            if report is not None:
                begin("gathering statistics")
                gathered = statistics(spark, runs)
                seconds["statistics"] = gathered.seconds
                begin("counting the states that walks have seen")
                counted = perf_counter()
                seen = states_seen(spark, runs)
                seconds["states seen"] = perf_counter() - counted
                begin("making the minimal violating traces again")
                shortest = minimal_traces(runs, judgement.counts)
                made_by = f"halfcheck analyze {directory} --report {report}"
                section = simulation_section(
                    runs, judgement, gathered, made_by, seconds, shortest=shortest, states=seen
                )
                begin("writing the report")
                seconds["report"] = _write_report(section, runs, report)
    _print(judgement, seconds, as_json=as_json)


def _write_report(section: SimulationSection, runs: Sequence[Run], path: Path) -> float:
    from spark_trace_analysis.report.data import Fact, ReportData
    from spark_trace_analysis.report.page import write

    began = perf_counter()
    manifests = [run.manifest for run in runs]
    facts = (
        Fact("version", ", ".join(sorted({manifest.halfcheck for manifest in manifests}))),
        Fact("specification", ", ".join(sorted({manifest.source for manifest in manifests}))),
        Fact("seed", ", ".join(str(seed) for seed in sorted({manifest.parameters.seed for manifest in manifests}))),
    )
    write(ReportData("What simulated traces show", facts, section.command, simulation=section), path)
    return perf_counter() - began


def _print(judgement: Judgement, seconds: Mapping[str, float], *, as_json: bool) -> None:
    if as_json:
        told = {
            "traces": judgement.traces,
            "events": judgement.events,
            "violations": judgement.violations(),
            "seconds": {phase: round(taken, 3) for phase, taken in seconds.items()},
        }
        print(json.dumps(told, ensure_ascii=False, indent=2))
        return
    from rich.console import Console
    from rich.table import Table

    table = Table(box=None, pad_edge=False)
    for name in ("profile", "environment", "property"):
        table.add_column(name)
    for name in ("traces", "violating", "share", "first trace"):
        table.add_column(name, justify="right")
    for count in judgement.counts:
        table.add_row(
            count.profile,
            count.environment,
            count.property_id,
            f"{count.traces:,}",
            f"{count.violations:,}",
            f"{count.violations / count.traces:.3%}",
            "-" if count.first_trace is None else f"{count.first_trace:,}",
        )
    console = Console(highlight=False, width=None if sys.stdout.isatty() else _PIPE_COLUMNS)
    console.print(table)
    phases = ", ".join(f"{phase} {taken:.1f} s" for phase, taken in seconds.items())
    console.print(f"{judgement.traces:,} traces, {judgement.events:,} events; kernels and queries agree ({phases})")


@contextmanager
def _phases() -> Iterator[Callable[[str], None]]:
    """Say what is being done, in a line on stderr, if somebody watches."""
    if not sys.stderr.isatty():
        yield lambda _phase: None
        return
    from rich.console import Console

    with Console(stderr=True).status("") as status:
        yield status.update
