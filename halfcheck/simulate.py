"""``halfcheck simulate``: random walks of the specification, as Parquet files."""

from __future__ import annotations

import json
import sys
from contextlib import contextmanager
from pathlib import Path  # noqa: TC003 (Typer evaluates the annotations)
from typing import TYPE_CHECKING, Annotated

import typer

from halfcheck.spark_options import Conf, Master  # noqa: TC001 (Typer evaluates the annotations)

if TYPE_CHECKING:
    from collections.abc import Iterator

    from spark_trace_analysis.simulate import Progress, Simulation


def command(
    *,
    out: Annotated[Path, typer.Option(help="A new or empty directory for the traces.")],
    traces: Annotated[int, typer.Option(help="How many traces to walk.")] = 100_000,
    profile: Annotated[
        str, typer.Option(help="The RocketMQ version to walk; +NAME or -NAME turns a switch.")
    ] = "5.3.3",
    faults: Annotated[str, typer.Option(help="Faults of the environment, joined by commas; none is quiet.")] = "",
    instance: Annotated[str, typer.Option(help="The instance, by name or as a .toml file.")] = "small",
    steps: Annotated[int, typer.Option(help="The most steps of a trace.")] = 60,
    seed: Annotated[int, typer.Option(help="Where the choices come from.")] = 7,
    master: Master = "local[*]",
    conf: Conf = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON instead of a line.")] = False,
) -> None:
    """Walk the specification at random, many times, and write what happened as Parquet.

    A trace depends on the specification, the profile, the faults, the instance, the seed and its number only. A
    directory that already holds this very run is left as it is; one that holds anything else is refused.

    Examples
    --------
    halfcheck simulate --traces 1000000 --profile 5.3.3 --faults crash,lose_end --seed 7 --out build/traces/5.3.3-crash
    halfcheck simulate --traces 50000 --profile 4.5.1 --instance deep --steps 120 --out /tmp/deep --json
    halfcheck simulate --traces 100000000 --master spark://10.0.0.5:7077 --out /mnt/shared/traces
    """
    from spark_trace_analysis.manifest import Parameters
    from spark_trace_analysis.session import spark_session
    from spark_trace_analysis.shipped_project import walk_kernels
    from spark_trace_analysis.simulate import find_complete, prepare, simulate

    chosen = tuple(fault.strip() for fault in faults.split(",") if fault.strip())
    parameters = Parameters(profile, chosen, instance, seed, traces, steps)
    done = find_complete(parameters, out)
    if done is None:
        prepare(parameters)
        kernels = walk_kernels(instance)
        with (
            spark_session(master, conf=conf or (), kernels=kernels) as spark,
            _progress_line(traces) as progress,
        ):
            done = simulate(spark, parameters, out, progress=progress)
    _print(done, as_json=as_json)


def _print(done: Simulation, *, as_json: bool) -> None:
    from spark_trace_analysis.manifest import to_json

    told = to_json(done.run)
    rate = told["traces"] / done.seconds if done.seconds else 0.0
    if as_json:
        more = {"reused": done.reused, "seconds": round(done.seconds, 3), "traces_per_second": round(rate)}
        print(json.dumps(told | more, ensure_ascii=False, indent=2))
        return
    size = f"{told['traces']:,} traces, {told['events']:,} events, {told['bytes'] / 1e6:.1f} MB in {told['out']}"
    if done.reused:
        print(f"{size}: complete already, reused")
    else:
        print(f"{size}: {done.seconds:.1f} s, {rate:,.0f} traces/s")


@contextmanager
def _progress_line(traces: int) -> Iterator[Progress | None]:
    """Traces done and traces/s on stderr, if somebody watches."""
    if not sys.stderr.isatty():
        yield None
        return
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

    words = TextColumn("{task.completed:,} of {task.total:,} traces  {task.fields[rate]:,.0f} traces/s")
    columns = (TextColumn("simulating"), BarColumn(), words, TimeRemainingColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as progress:
        task = progress.add_task("simulating", total=traces, rate=0.0)

        def show(done: int, total: int) -> None:
            elapsed = progress.tasks[0].elapsed or 0.0
            progress.update(task, completed=done, total=total, rate=done / elapsed if elapsed else 0.0)

        yield show
