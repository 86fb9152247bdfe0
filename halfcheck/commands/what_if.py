"""``halfcheck what-if``: how often messages are doubled, lost or late, with a broker.conf, a release and a workload."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from halfcheck.errors import CommandLineError, ExitCode
from halfcheck.options import USUAL_PROFILE, AsJson, Conf, Master, Seed, print_json, refuse_a_file

if TYPE_CHECKING:
    from collections.abc import Iterable

    from reference.format.java_properties import Setting
    from traffic.simulation.counts import TrafficCounts
    from traffic.simulation.replications import Replication
    from traffic.simulation.simulated_broker import SimulatedBroker

_FIXED = "fixed"


def command(
    given: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="FILE", help="A broker.conf; without one, the release's defaults. NAME=VALUES goes with --sweep."
        ),
    ] = None,
    *,
    version: Annotated[
        str | None,
        typer.Option(metavar="V", help=f"A release, or {_FIXED}; {USUAL_PROFILE} if none is given."),
    ] = None,
    workload: Annotated[Path | None, typer.Option(metavar="FILE", help="The workload, a TOML file.")] = None,
    transactions: Annotated[
        int | None,
        typer.Option(min=1, help="How many to simulate, in all: 1,000,000; in a sweep 100,000 for each point."),
    ] = None,
    replications: Annotated[
        int | None,
        typer.Option(
            min=2,
            max=10_000,
            help="In how many independent runs, each of its own seed: 20, or as many, 8 at least, as have ten check "
            "intervals of traffic each.",
        ),
    ] = None,
    seed: Seed = 7,
    sweep: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME=VALUES",
            help="A setting of broker.conf or a key of the workload, over a list (1s,3s,10s) or a range (1s..60s, "
            "1s..60s:7, 0..1:5:linear). May be repeated.",
        ),
    ] = None,
    points: Annotated[
        int | None, typer.Option(min=2, help="Sweep so many points of a Latin hypercube, not each value with each.")
    ] = None,
    releases: Annotated[
        str | None, typer.Option(metavar="V,…", help=f"Releases side by side, the first is yours; {_FIXED}; or all.")
    ] = None,
    master: Master = "local[*]",
    conf: Conf = None,
    out: Annotated[
        Path | None,
        typer.Option(metavar="DIR", help="Write the answer, the counts of each run, and of a sweep a page with plots."),
    ] = None,
    fit: Annotated[
        Path | None,
        typer.Option(metavar="STORE_DIR", help="Fit a workload to a store, and write it to --workload, or print it."),
    ] = None,
    example: Annotated[
        bool, typer.Option("--example", help="Print a workload with every key, and where each default is from.")
    ] = False,
    as_json: AsJson = False,
) -> ExitCode:
    """Say how often: what is doubled, lost, discarded and late, of a million transactions and in a day.

    Producers, network, clients' retries, the reference broker's own code and a consumer are simulated in virtual
    milliseconds, by the distributions of the workload. Each figure has a 95 % interval, and each mishap its causes by
    the ids of the catalogue. Ctrl-C ends it with what was counted.

    Examples
    --------
    halfcheck what-if --example > shop.toml
    halfcheck what-if broker.conf --version 5.3.3 --workload shop.toml
    halfcheck what-if --version 4.9.7 --workload shop.toml --transactions 100000 --json
    halfcheck what-if broker.conf --workload shop.toml --sweep transactionTimeOut=1s..60s local.p99=1s,3s --out sweep
    halfcheck what-if broker.conf --workload shop.toml --releases 4.9.7,5.5.1
    halfcheck what-if --fit /data/rocketmq/store --workload shop.toml
    """
    if example:
        from traffic.workload.example import example_text

        print(example_text(), end="")
        return ExitCode.OK
    if fit is not None:
        _fit(fit, version, workload)
        return ExitCode.OK
    if workload is None:
        message = "give --workload FILE, or --example to see one"
        raise CommandLineError(message)
    from halfcheck.printing.remarks import print_remarks
    from halfcheck.printing.what_if import print_answer, remarks_on
    from reference.format.broker_conf_remarks import remarks_on_file
    from traffic.rates.answer import TrafficAnswer
    from traffic.simulation.replications import number_of_replications, replications_of
    from traffic.workload.reading import read_workload

    refuse_a_file(out)
    file, swept = _sorted_out(given, sweep)
    if swept or releases is not None or points is not None:
        from halfcheck.sweeping.asked_sweep import AskedSweep

        if version is not None and releases is not None:
            message = "give either --version or --releases"
            raise CommandLineError(message)
        asked = AskedSweep(
            file, workload, tuple(swept), points, releases or version or USUAL_PROFILE, transactions, replications, seed
        )
        return asked.answer(_broker, master, conf, out, as_json=as_json)
    transactions = transactions or 1_000_000
    release = version or USUAL_PROFILE
    broker = _broker(file, release)
    known = read_workload(workload)
    if version is None:
        typer.echo(f"halfcheck: no --version is given: {release} is taken", err=True)
    if file is not None:
        print_remarks(file, remarks_on_file(file, _release_of(release)))
    number = number_of_replications(replications, broker, known, transactions)
    runs = replications_of(broker, known, seed, transactions, number)
    counted, is_cut = _counted(runs, f"{release}, {known.name}", wanted=not as_json)
    answer = TrafficAnswer(counted, known.arrivals.per_second)
    for remark in remarks_on(answer, known, broker.settings, len(runs)):
        typer.echo(f"halfcheck: {remark}", err=True)
    content = {
        "version": release,
        "workload": known.name,
        "seed": seed,
        "left_out": list(known.left_out),
        **answer.to_json(),
    }
    if out is not None:
        _write(out, content, runs, counted)
    if as_json:
        print_json(content)
    else:
        print_answer(answer, known, release)
    return ExitCode.INTERRUPTED if is_cut else ExitCode.OK


def _sorted_out(given: list[str] | None, sweep: list[str] | None) -> tuple[Path | None, list[str]]:
    """The ``broker.conf``, and all that is swept: what has a ``=`` and is no file goes with ``--sweep``."""
    swept, files = list(sweep or ()), []
    for word in given or ():
        if "=" in word and not Path(word).exists():
            swept.append(word)
        else:
            files.append(word)
    if len(files) > 1:
        message = f"{files[1]}: a second file; expected one broker.conf, and NAME=VALUES behind --sweep"
        raise CommandLineError(message)
    if swept and not sweep:
        message = f"{swept[0]}: write --sweep before what is swept"
        raise CommandLineError(message)
    return Path(files[0]) if files else None, swept


def _fit(store: Path, version: str | None, out: Path | None) -> None:
    """Write the workload that a store shows, or print it; `BadWorkloadError` if it is too small."""
    from files.writing import write_whole
    from traffic.fit.fitted_file import fitted_text
    from traffic.fit.fitted_workload import fitted_workload
    from traffic.fit.seen_traffic import SeenTraffic

    if out is not None and out.exists():
        message = f"--workload {out}: with --fit it is written, and it is there already; name another file"
        raise CommandLineError(message)
    text = fitted_text(fitted_workload(SeenTraffic.of(store, version), store), str(store))
    if out is None:
        print(text, end="")
        return
    write_whole(out, text)
    typer.echo(f"halfcheck: {out} is written; lines that begin with #? are yours to fill in", err=True)


def _counted(runs: list[Replication], title: str, *, wanted: bool) -> tuple[list[TrafficCounts], bool]:
    """What the runs have counted, and whether Ctrl-C ended that; what one has counted by then is kept."""
    from halfcheck.printing.progress import progress_bar
    from traffic.simulation.replications import run_all

    counted: list[TrafficCounts] = []
    columns = "{task.completed} of {task.total} runs", "TimeRemainingColumn"
    try:
        with progress_bar(title, *columns, wanted=wanted, total=len(runs)) as update:

            def report(counts: TrafficCounts) -> None:
                counted.append(counts)
                if update is not None:
                    update(completed=len(counted))

            run_all(runs, report)
    except KeyboardInterrupt:
        if not counted:
            raise
        return counted, True
    return counted, False


def _release_of(version: str) -> str:
    """The release whose keys and defaults count for a version."""
    import re

    return USUAL_PROFILE if version == _FIXED else re.split(r"[+-]", version, maxsplit=1)[0]


def _broker(file: Path | None, version: str, more: Iterable[Setting] = ()) -> SimulatedBroker:
    """The broker of a release, a ``broker.conf`` and settings behind it.

    Raises `TrafficError`, `ModelCheckError`, `BrokenConfigError`.
    """
    from fuzz.lockstep.broker_versions import version_of
    from halfcheck.commands.conf import refuse_rocksdb
    from model_check.world import Profile
    from reference.format.broker_conf import broker_conf_of, settings
    from reference.versions.versions import switches_of
    from traffic.errors import TrafficError
    from traffic.simulation.simulated_broker import SimulatedBroker

    release = _release_of(version)
    given = () if file is None else settings(file)
    if file is not None:
        refuse_rocksdb(file, broker_conf_of(given, release), release)
    name = version_of(Profile.of(version)) if version == _FIXED else version
    try:
        broker = SimulatedBroker.of(name, release, (*given, *more))
        switches_of(name)
    except ValueError as error:
        message = f"--version {error}"
        raise TrafficError(message) from None
    return broker


def _write(out: Path, content: dict[str, Any], runs: list[Replication], counted: list[TrafficCounts]) -> None:
    """Write the answer, and what each replication has counted."""
    import json

    from files.writing import write_whole

    out.mkdir(parents=True, exist_ok=True)
    of_each = [
        {"seed": run.seed, "transactions": run.transactions, "counts": counts.to_json()}
        for run, counts in zip(runs, counted, strict=False)
    ]
    for name, data in (("answer.json", content), ("replications.json", of_each)):
        write_whole(out / name, json.dumps(data, indent=2, ensure_ascii=False) + "\n")
