"""``halfcheck diff``: where two sides part: stores, traces, the reference broker's runs, the specification's."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from document.console import show
from document.parts import Paragraph
from halfcheck.errors import ExitCode
from halfcheck.options import AsJson, print_json

if TYPE_CHECKING:
    from collections.abc import Sequence

    from halfcheck.diff.sides import DiffAnswer

Left = Annotated[
    str,
    typer.Argument(
        metavar="A", help="A store directory, a recorded trace, reference, reference:STORE_DIR, or spec:PROFILE."
    ),
]
Right = Annotated[
    str | None, typer.Argument(metavar="B", help="The other one; with --version, the release's specification.")
]

Settings = Annotated[
    Path | None, typer.Option(metavar="FILE", help="Take the broker's settings from this file, not from the store's.")
]
LogFolders = Annotated[
    list[Path] | None,
    typer.Option(
        metavar="DIR",
        help="A folder of the store's log, if it lies elsewhere; repeatable for several. Of two stores, A's.",
    ),
]
OtherLogFolders = Annotated[
    list[Path] | None, typer.Option(metavar="DIR", help="The same for B, where A and B are stores.")
]


def command(
    left: Left,
    right: Right = None,
    *,
    broker_conf: Settings = None,
    instance: Annotated[
        str | None,
        typer.Option(metavar="NAME", help="The instance in which a trace with actions was walked (its manifest's)."),
    ] = None,
    commit_log: LogFolders = None,
    other_commit_log: OtherLogFolders = None,
    any_time: Annotated[bool, typer.Option("--any-time", help="Do not compare the times of events.")] = False,
    version: Annotated[
        str | None,
        typer.Option(metavar="V", help="Instead of B: hold A against the specification of the release that wrote it."),
    ] = None,
    as_json: AsJson = False,
) -> ExitCode:
    """Hold two sides against each other: stores, recorded traces, the reference broker, or a version's specification.

    Two stores are compared byte by byte: commit logs, consume queues, saved offsets; the first difference is named by
    record and field. With reference on one side, the reference broker is run under the schedule that the logs beside
    the store give (driver.jsonl, transaction.log, meta.json, broker.conf), and its store is compared;
    reference:STORE_DIR is that run wherever the store itself is not the other side.

    A recorded trace is a file of events, JSON lines or Parquet. Two traces, or a trace and a store as far as a store
    shows events, are compared transaction by transaction, each event in its order; the first event that differs is
    named, and the field. Times count last, where nothing else differs.

    With spec:PROFILE, searches for a path of the specification that leaves just the store's records or the trace's
    events, in the milliseconds of their timestamps and with the settings of the broker.conf in the store or beside the
    trace; a driver.jsonl in the store adds what producers sent. Says which faults the path needs, or names the first
    record that no path explains and the guard that refuses it. A switch of the profile is turned with +NAME or -NAME.
    --version RELEASE, which audit and check have too, stands for spec:RELEASE.

    The exit code is 0 when both agree, 12 when they do not, 150 when a store or a trace is damaged or its logs are
    missing.

    Examples
    --------
    halfcheck diff reference conformance/golden/5.3.3/late
    halfcheck diff /backup/store /home/rocketmq/store --json
    halfcheck diff monday.jsonl tuesday.jsonl --any-time
    halfcheck diff trace.jsonl /home/rocketmq/store
    halfcheck diff trace.parquet spec:5.3.3 --broker-conf /etc/rocketmq/broker.conf
    halfcheck diff conformance/golden/5.3.3/immunity spec:5.3.3+heeds_settled_originals --json
    halfcheck diff /home/rocketmq/store --version 5.5.1
    halfcheck diff /backup/store /home/rocketmq/store --other-commit-log /disk1/commitlog
    halfcheck diff /home/rocketmq/store spec:4.9.7 --broker-conf /etc/rocketmq/broker.conf
    """
    right = _other_side(left, right, version)
    answer = _compare(left, right, broker_conf, instance, (commit_log or (), other_commit_log or ()), any_time=any_time)
    if as_json:
        print_json(answer.to_json())
    else:
        show(map(Paragraph, answer.lines))
    if answer.reason is not None:
        typer.echo(f"halfcheck: {left} and {right}: {answer.reason}", err=True)
    return answer.exit_code


def _other_side(left: str, right: str | None, version: str | None) -> str:
    if right is not None and version is None:
        return right
    if right is not None:
        message = f"--version {version}: {right} is the other side already; leave one of them out"
        raise typer.BadParameter(message)
    if version is None:
        message = f"{left}: give another side, or --version RELEASE for the specification of the release that wrote it"
        raise typer.BadParameter(message)
    from model_check.releases import profile_for

    profile_for(version)
    return f"spec:{version}"


def _compare(
    left: str,
    right: str,
    broker_conf: Path | None,
    instance: str | None,
    commit_logs: tuple[Sequence[Path], Sequence[Path]],
    *,
    any_time: bool,
) -> DiffAnswer:
    from halfcheck.diff.sides import SideKind, pair_of, with_commit_logs

    ours, theirs = with_commit_logs(*pair_of(left, right), *commit_logs)
    kinds = {ours.kind, theirs.kind}
    is_asked_of_spec = SideKind.SPEC in kinds
    if instance is not None and kinds != {SideKind.SPEC, SideKind.TRACE}:
        message = "--instance: only a trace that is held against spec:PROFILE was walked in an instance"
        raise typer.BadParameter(message)
    if any_time and (is_asked_of_spec or SideKind.TRACE not in kinds):
        message = "--any-time: only traces are compared without their times"
        raise typer.BadParameter(message)
    if broker_conf is not None and not is_asked_of_spec and SideKind.REFERENCE not in kinds:
        message = "--broker-conf: two stores or traces are compared as they are, without settings"
        raise typer.BadParameter(message)
    for side, spec in ((theirs, ours), (ours, theirs)):
        if spec.profile is not None:
            from halfcheck.diff.specification import explain
            from model_check.instances import load_instance, refuse_crowd

            walked_in = None if instance is None else load_instance(instance)
            refuse_crowd(walked_in, "no trace tells of steps of theirs")
            return explain(side, spec.profile, spec.why, broker_conf, walked_in)
    if SideKind.TRACE in kinds:
        from halfcheck.diff.comparisons import compare_events

        return compare_events(ours, theirs, broker_conf, with_times=not any_time)
    from halfcheck.diff.comparisons import compare_bytes

    return compare_bytes(ours, theirs, broker_conf)
