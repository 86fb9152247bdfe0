"""``halfcheck analyze``: what many traces violate, and what they look like."""

from __future__ import annotations

from contextlib import ExitStack, contextmanager
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING, Annotated

import typer

from files.remote_path import location
from files.temporary_folder import temporary_folder
from halfcheck.options import USUAL_PROFILE, Conf, Master
from halfcheck.printing.progress import live_line, resumable, timed

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from pyspark.sql import SparkSession

    from files.remote_path import Location
    from html_report.data import SimulationSection
    from reference.format.broker_conf import BrokerConf
    from spark_trace_analysis.audit.explanation.explained_runs import Explained
    from spark_trace_analysis.traces.manifest import TraceRun

KEPT = ".analysis"
Directory = Annotated[
    str,
    typer.Argument(
        metavar="DIR",
        help="What simulate wrote, a directory of such directories, or recorded traces: a file, or a directory of "
        "JSON lines, Parquet and ITF files; a path or a URI such as s3://.",
    ),
]


def command(
    directory: Directory,
    *,
    profile: Annotated[str, typer.Option(help="The RocketMQ version that left recorded traces.")] = USUAL_PROFILE,
    broker_conf: Annotated[
        Path | None, typer.Option(metavar="FILE", help="The broker.conf under which recorded traces were left.")
    ] = None,
    explain: Annotated[
        int, typer.Option(metavar="N", help="Ask for each run whether the specification explains N of its traces.")
    ] = 0,
    out: Annotated[
        str | None,
        typer.Option(
            metavar="OUT", help="A new directory for the verdict on each trace and property, as Parquet, or a URI."
        ),
    ] = None,
    report: Annotated[str | None, typer.Option(metavar="FILE", help="Write an HTML page, too.")] = None,
    master: Master = "local[*]",
    conf: Conf = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON instead of a table.")] = False,
) -> None:
    """Judge every trace, twice and independently, and gather statistics.

    Each property is judged by compiled kernels and by Polars expressions; if the two give different numbers, the
    command fails with exit code 75. Violations that both agree on are what traces are walked for: they do not change
    the exit code. What is found of each file is kept in `.analysis` beside the traces until all is judged, so that a
    run that was killed goes on from there.

    Examples
    --------
    halfcheck analyze build/traces
    halfcheck analyze build/traces/5.3.3-crash --json
    halfcheck analyze build/traces --out build/verdicts --report build/traces.html
    halfcheck analyze s3://bucket/traces --out s3://bucket/verdicts --report s3://bucket/traces.html
    halfcheck analyze trace.jsonl --profile 4.9.7 --broker-conf conf/broker.conf --explain 10
    """
    from halfcheck.printing.analyze import print_judgement
    from html_report.data import simulation_section
    from spark_trace_analysis.audit.explanation.explained_runs import explain_some
    from spark_trace_analysis.judge.both_ways import judge
    from spark_trace_analysis.judge.verdict_table import write_verdicts

    place, page = location(directory), None if report is None else location(report)
    _refuse(page, explain)
    verdicts = None if out is None else _new_folder(out)
    began = perf_counter()
    with live_line("") as tell, ExitStack() as stack:
        begin = tell or (lambda _phase: None)
        begin("reading the traces")
        runs, read_conf = _runs_of(place, profile, broker_conf, stack)
        seconds = {"find": perf_counter() - began}
        begin("starting Spark")
        # What was found of recorded traces is not kept: they are written anew each time.
        work = place / KEPT if read_conf is None else None
        with timed(seconds, "start"):
            spark = stack.enter_context(_session(master, conf, work))
        begin(f"judging {sum(run.parameters.traces for run in runs):,} traces twice")
        judgement = judge(spark, runs, work=work)
        seconds |= {"kernels": judgement.kernel_seconds, "queries": judgement.expression_seconds}
        if verdicts is not None:
            begin("writing the verdicts")
            with timed(seconds, "verdicts"):
                write_verdicts(spark, runs, judgement, verdicts)
        explained: Sequence[Explained] = ()
        if explain:
            begin("explaining traces")
            with timed(seconds, "explain"):
                explained = explain_some(spark, runs, explain, read_conf)
        if page is not None:
            made_by = f"halfcheck analyze {directory} --report {report}"
            section = simulation_section(spark, runs, judgement, made_by, seconds, begin)
            _write_report(section, runs, page, seconds, begin)
    print_judgement(judgement, seconds, explained, are_walks=read_conf is None, as_json=as_json)


def _new_folder(out: str) -> Location:
    """The folder of ``--out``, which must not be there yet."""
    from spark_trace_analysis.audit.audit_folders import require_new

    place = location(out)
    require_new(place)
    return place


def _refuse(report: Location | None, explain: int) -> None:
    if report is not None and report.is_dir():
        message = f"--report {report} is a directory, give the name of a file"
        raise typer.BadParameter(message)
    if explain < 0:
        message = f"--explain {explain}: expected 0 or more"
        raise typer.BadParameter(message)


def _here(file: Location, stack: ExitStack) -> Path:
    """A file of recorded traces on this machine, with what stands beside it of a run."""
    if isinstance(file, Path):
        return file
    from files.brought import bring, named_as_there
    from spark_trace_analysis.traces.run_layout import MANIFEST, OLDER_MANIFEST
    from spark_trace_analysis.traces.runs import BESIDE_RECORDED

    folder = stack.enter_context(temporary_folder())
    stack.enter_context(named_as_there(folder, file.parent))
    for name in (MANIFEST, OLDER_MANIFEST, BESIDE_RECORDED, "broker.conf"):
        if (file.parent / name).is_file():
            bring(file.parent / name, folder)
    return bring(file, folder)


@contextmanager
def _session(master: str, conf: list[str] | None, work: Location | None) -> Iterator[SparkSession]:
    """Spark; Ctrl-C says what is kept of the judging."""
    from spark_trace_analysis.cluster.session import spark_session

    with (
        resumable(lambda: 0 if work is None else sum(1 for _ in work.glob("*.json")), "result"),
        spark_session(master, conf=conf or ()) as spark,
    ):
        yield spark


def _runs_of(
    directory: Location, profile: str, broker_conf: Path | None, stack: ExitStack
) -> tuple[list[TraceRun], BrokerConf | None]:
    """The simulated runs of a directory, or recorded traces as runs, in a folder that is removed with the stack."""
    from model_check.world import World
    from reference.format.broker_conf import BrokerConf, find_broker_conf, read_broker_conf
    from spark_trace_analysis.errors import BadTracesError
    from spark_trace_analysis.ingest.recorded_run import record_run, recorded_files
    from spark_trace_analysis.traces.run_layout import run_folders
    from spark_trace_analysis.traces.runs import RunSettings, find_runs

    if directory.is_file():
        found = [directory]
    else:
        is_simulated = directory.is_dir() and any(run_folders(directory))
        found = recorded_files(directory) if directory.is_dir() and not is_simulated else []
    if not found:
        return find_runs(directory), None
    files = [_here(file, stack) for file in found]
    beside = files[0].parent
    conf_file = broker_conf or find_broker_conf(beside)
    conf = BrokerConf() if conf_file is None else read_broker_conf(conf_file, profile)
    world = World.of(profile)
    settings = RunSettings.of(world.constants)._replace(
        check_max=conf.or_default("transactionCheckMax", profile),
        timeout=conf.or_default("transactionTimeOut", profile),
    )
    folder = stack.enter_context(temporary_folder())
    runs = []
    for number, file in enumerate(files):
        try:
            recording = record_run(file, folder / f"{number:06d}", world.profile, settings)
        except OSError as failure:
            message = f"{file}: can't be read ({failure.strerror})"
            raise BadTracesError(message) from None
        runs.append(recording.run)
        if recording.damage.lines:
            lines = "line is no event and was" if recording.damage.lines == 1 else "lines are no events and were"
            problem = f"{recording.damage.lines} {lines} left out; the first: {recording.damage.first}"
            typer.echo(f"warning: {file}: {problem}", err=True)
    return runs, conf


def _write_report(
    section: SimulationSection,
    runs: Sequence[TraceRun],
    path: Location,
    seconds: dict[str, float],
    begin: Callable[[str], None],
) -> None:
    from html_report.data import Fact, ReportData
    from html_report.page import write

    manifests = [run.manifest for run in runs]
    facts = (
        Fact("version", ", ".join(sorted({manifest.halfcheck for manifest in manifests}))),
        Fact("specification", ", ".join(sorted({manifest.source for manifest in manifests}))),
        Fact("seed", ", ".join(str(seed) for seed in sorted({manifest.parameters.seed for manifest in manifests}))),
    )
    begin("writing the report")
    with timed(seconds, "report"):
        write(ReportData("What simulated traces show", facts, section.command, simulation=section), path)
