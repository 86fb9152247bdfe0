"""``halfcheck simulate``: random walks of the specification, as Parquet files."""

from __future__ import annotations

from contextlib import contextmanager
from time import perf_counter
from typing import TYPE_CHECKING, Annotated, Any, Final

import typer

from files.remote_path import location
from halfcheck.options import USUAL_PROFILE, Conf, Master, Seed, names_in, print_json
from halfcheck.printing.progress import progress_bar, resumable

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from files.remote_path import Location
    from model_check.walks.guided.account import Account, Met
    from model_check.world import World
    from spark_trace_analysis.traces.event_source import EventSource
    from spark_trace_analysis.traces.manifest import Parameters
    from spark_trace_analysis.traces.simulate import Progress, Simulation

Choice = Annotated[
    str,
    typer.Option(
        help="How a step is chosen among those that are enabled: uniform, weighted or swarm; or guided, for "
        "weighted walks that go on where rare violations are near."
    ),
]


def command(
    *,
    out: Annotated[
        str | None, typer.Option(metavar="DIR", help="A new or empty directory for the traces, or a URI such as s3://.")
    ] = None,
    runs: Annotated[
        str | None,
        typer.Option(metavar="DIR", help="In place of --out: a table of many runs, this one in DIR/profile=P/run=R."),
    ] = None,
    traces: Annotated[int, typer.Option(help="How many traces to make.")] = 100_000,
    of: Annotated[
        str, typer.Option(help="Of what: specification, or broker, the reference broker, which is far slower.")
    ] = "specification",
    profile: Annotated[
        str, typer.Option(help="The RocketMQ version to walk; +NAME or -NAME turns a switch.")
    ] = USUAL_PROFILE,
    faults: Annotated[str, typer.Option(help="Faults of the environment, joined by commas; none is quiet.")] = "",
    instance: Annotated[str, typer.Option(help="The instance, by name or as a .toml file.")] = "small",
    steps: Annotated[int, typer.Option(help="The most steps of a trace.")] = 60,
    choice: Choice = "uniform",
    seed: Seed = 7,
    trace: Annotated[int | None, typer.Option(help="Make this one trace only and print it.")] = None,
    master: Master = "local[*]",
    conf: Conf = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON instead of a line.")] = False,
) -> None:
    """Walk the specification at random, many times, and write what happened as Parquet.

    A trace depends on the sources, the profile, the faults, the instance, the choice, the seed and its number only;
    --trace NUMBER makes one of them again without the others. A directory that already holds this very run is left as
    it is; one that holds anything else is refused. A run that was cut short is gone on with by the same command.

    Guided walks are no sample of plain ones. What is printed of them is: which clauses they violate, by which trace,
    and in what share of plain weighted walks each is violated, as far as that can be told from a million states.

    Examples
    --------
    halfcheck simulate --traces 1000000 --profile 5.3.3 --faults crash,lose_end --seed 7 --out build/traces/5.3.3-crash
    halfcheck simulate --traces 50000 --profile 4.5.1 --instance deep --steps 120 --out /tmp/deep --json
    halfcheck simulate --choice swarm --faults crash,lose_end,duplicate_end,slow_local --out build/traces/swarm
    halfcheck simulate --choice swarm --faults crash,lose_end,duplicate_end,slow_local --trace 4711
    halfcheck simulate --choice guided --faults wrong_end --instance medium --traces 15000 --out build/traces/guided
    halfcheck simulate --traces 1000000 --profile 4.9.7 --faults crash --runs build/runs
    halfcheck simulate --of broker --traces 1000 --faults crash --choice weighted --out build/traces/broker
    halfcheck simulate --traces 100000000 --master spark://10.0.0.5:7077 --out s3://bucket/traces
    """
    from spark_trace_analysis.errors import BadOptionError
    from spark_trace_analysis.traces.manifest import Parameters

    source = _source_of(of)
    world = _world_of(of)(profile, names_in(faults), instance)
    parameters = Parameters(world, seed, traces, steps, choice, of)
    if trace is not None:
        if out is not None or runs is not None:
            message = "--trace prints one trace and writes none: leave --out away"
            raise BadOptionError(message)
        _print_trace(trace, parameters, source, as_json=as_json)
        return
    from spark_trace_analysis.traces.simulate import find_complete

    place = _place(out, runs, parameters)
    done = find_complete(parameters, place, source) or _simulated(parameters, source, place, master, conf)
    _print(done, _account(parameters), as_json=as_json)


def _place(out: str | None, runs: str | None, parameters: Parameters) -> Location:
    """Where the run goes; raises `BadOptionError` unless one place was given."""
    from spark_trace_analysis.errors import BadOptionError

    if out is not None and runs is not None:
        message = f"--out {out} and --runs {runs}: both say where the traces go; give one of them"
        raise BadOptionError(message)
    if runs is not None:
        return location(runs) / parameters.partition
    if out is None:
        message = "give --out DIR for the traces, or --trace NUMBER to print one of them"
        raise BadOptionError(message)
    return location(out)


def _simulated(
    parameters: Parameters, source: EventSource, out: Location, master: str, conf: list[str] | None
) -> Simulation:
    from model_check.walks.guided.walker import instances_walked
    from spark_trace_analysis.cluster.session import spark_session, walk_kernels
    from spark_trace_analysis.traces.manifest import SPECIFICATION
    from spark_trace_analysis.traces.simulate import prepare, simulate
    from spark_trace_analysis.traces.unfinished_run import count_finished_files

    prepare(parameters, source)
    is_walked = parameters.of == SPECIFICATION
    kernels = walk_kernels(*instances_walked(parameters.choice, parameters.world.instance)) if is_walked else ()
    with (
        resumable(lambda: count_finished_files(out), "file"),
        spark_session(master, conf=conf or (), kernels=kernels) as spark,
        _progress_line(parameters.traces) as progress,
    ):
        return simulate(spark, parameters, out, source=source, progress=progress)


def _account(parameters: Parameters) -> Account | None:
    """The account of guided walks; None of others."""
    from model_check.walks.guided.account import account_of
    from model_check.walks.guided.walker import GuidedWalker
    from spark_trace_analysis.traces.event_source import walker_of
    from spark_trace_analysis.traces.manifest import SPECIFICATION

    walker = walker_of(parameters) if parameters.of == SPECIFICATION else None
    if not isinstance(walker, GuidedWalker):
        return None
    return account_of(walker, parameters.seed, parameters.steps, walks=parameters.traces, most=ACCOUNTED)


ACCOUNTED: Final = 1_000_000
"""States after which no more guided walks are looked at for the account of them."""


def _source_of(of: str) -> EventSource:
    from halfcheck.broker_traces import BROKER_RUNS
    from spark_trace_analysis.errors import BadOptionError
    from spark_trace_analysis.traces.event_source import WALKS

    sources = {source.of: source for source in (WALKS, BROKER_RUNS)}
    if of not in sources:
        message = f"--of {of}: expected {' or '.join(sources)}"
        raise BadOptionError(message)
    return sources[of]


def _world_of(of: str) -> Callable[[str, list[str], str], World]:
    """Makes a world of names; the broker knows the fuzzer's instances, too."""
    if of == "broker":
        from fuzz.lockstep.fuzzed_instances import fuzzed_world

        return fuzzed_world
    from model_check.world import World

    return World.of


def _print_trace(number: int, parameters: Parameters, source: EventSource, *, as_json: bool) -> None:
    """Its events, one a line, and the steps that `halfcheck replay --steps` takes again."""
    from spark_trace_analysis.errors import BadOptionError
    from spark_trace_analysis.traces.event_source import remade_events
    from spec.language import NONE

    if number < 0:
        message = f"--trace {number}: expected at least 0"
        raise BadOptionError(message)
    if parameters.steps < 1:
        message = f"--steps {parameters.steps}: expected at least 1"
        raise BadOptionError(message)
    events, steps = remade_events(parameters, number, source), source.steps(parameters, number)
    if as_json:
        content = {"command": parameters.command_of(number), "steps": steps, "events": events}
        print_json(content)
        return
    for event in events:
        fields = {name: value for name, value in event.items() if name not in {"trace", "step"} and value != NONE}
        shown = " ".join(f"{name}={value}" for name, value in fields.items())
        print(f"{event['step']:>3}  {shown}")
    print(f"steps: {steps}")


def _print(done: Simulation, account: Account | None, *, as_json: bool) -> None:
    from spark_trace_analysis.traces.manifest import to_json

    facts = to_json(done.run)
    rate = facts["traces"] / done.seconds if done.seconds else 0.0
    if as_json:
        more: dict[str, Any] = {
            "reused": done.reused,
            "files_found": done.files_found,
            "seconds": round(done.seconds, 3),
            "traces_per_second": round(rate),
        }
        if account is not None:
            more["guided"] = account.to_json()
        print_json(facts | more)
        return
    size = f"{facts['traces']:,} traces, {facts['events']:,} events, {facts['bytes'] / 1e6:.1f} MB in {facts['out']}"
    if done.reused:
        print(f"{size}: complete already, reused")
    elif done.files_found:
        print(f"{size}: gone on with, {done.files_found} files were there; {done.seconds:.1f} s")
    else:
        print(f"{size}: {done.seconds:.1f} s, {rate:,.0f} traces/s")
    if account is not None:
        print_account(account)


@contextmanager
def _progress_line(traces: int) -> Iterator[Progress | None]:
    """Traces done and traces/s on stderr, if somebody watches."""
    words = "{task.completed:,} of {task.total:,} traces  {task.fields[rate]:,.0f} traces/s"
    began = perf_counter()
    with progress_bar("simulating", words, "TimeRemainingColumn", total=traces, rate=0.0) as update:
        yield update and (
            lambda done, total: update(completed=done, total=total, rate=done / max(perf_counter() - began, 1e-9))
        )


def print_account(account: Account) -> None:
    """Print which clauses the walks violate, by which trace, and in what share of plain walks each is violated."""
    from rich.console import Console
    from rich.table import Table

    searched = " and ".join(f"{states:,} of {instance.name}" for instance, states in account.searched.items())
    cost = f"{account.cost:,} states" + (f", {searched} in searches" if searched else "")
    walks = f"{account.walks:,} walks" if account.walks != 1 else "1 walk"
    console = Console(highlight=False)
    rare = sorted((one for one in account.met if one.is_rare), key=lambda one: one.name)
    console.print(f"guided: {walks} ({cost}) violate {len(account.met)} clauses, {len(rare)} of them rare")
    if rare:
        table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0))
        for column in ("rare clause", "share of plain walks", "95 % interval", "trace"):
            table.add_column(column, justify="right" if column == "trace" else "left")
        for one in rare:
            table.add_row(*_cells(one))
        console.print(table)
        console.print(
            "An interval knows of the ways to a violation that these walks found, and of no others. "
            "Shares are of random walks: no rate of a real system."
        )
    others = sorted(one.name for one in account.met if not one.is_rare)
    if others:
        console.print(f"not rare: {', '.join(others)}")


def _cells(one: Met) -> tuple[str, str, str, str]:
    trace = "-" if one.trace is None else str(one.trace)
    if one.estimate is None:
        return one.name, "-", "-", trace
    low, high = one.estimate.interval
    return one.name, f"{one.estimate.share:.2e}", f"{low:.2e} to {high:.2e}", trace
