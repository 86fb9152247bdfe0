"""``halfcheck diff``: where a real store and the specification part."""

from __future__ import annotations

import json
import sys
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from halfcheck.exit_codes import ExitCode

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from spark_trace_analysis.audit.table import Audit

_SPEC = "spec:"


def command(
    left: Annotated[str, typer.Argument(metavar="A", help="A store directory, or spec:PROFILE.")],
    right: Annotated[str, typer.Argument(metavar="B", help="The other one.")],
    *,
    broker_conf: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Take the broker's settings from this file, not from the store's."),
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> ExitCode:
    """Hold a real store against the specification of a version, record by record.

    Searches for a path of the specification that leaves just the store's records, in the milliseconds of their
    timestamps and with the settings of its broker.conf; a driver.jsonl in the store adds what producers sent. Says
    which faults the path needs, or names the first record that no path explains. A switch of the profile is turned with
    +NAME or -NAME. The exit code is 0 when the store is explained, 12 when it is not, 150 when it is damaged.

    Examples
    --------
    halfcheck diff conformance/golden/5.3.3/late spec:5.3.3
    halfcheck diff conformance/golden/5.3.3/immunity spec:5.3.3+heeds_settled_originals --json
    halfcheck diff /home/rocketmq/store spec:4.9.7 --broker-conf /etc/rocketmq/broker.conf
    """
    from model_check.instances import switches_of
    from reference.store.broker_conf import read_broker_conf
    from spark_trace_analysis.audit.audit_store import Question, audit_store

    specs = [side for side in (left, right) if side.startswith(_SPEC)]
    stores = [side for side in (left, right) if not side.startswith(_SPEC)]
    if len(specs) != 1:
        message = f"{left} and {right}: one side must be a store directory and the other spec:PROFILE"
        raise typer.BadParameter(message)
    profile = specs[0].removeprefix(_SPEC)
    conf = None if broker_conf is None else read_broker_conf(broker_conf)
    with _progress(stores[0]) as report:
        question = Question(
            profiles=((profile, switches_of(profile)),), conf=conf, most_events=sys.maxsize, report=report
        )
        audit = audit_store(Path(stores[0]), None, None, question)
    if as_json:
        print(json.dumps(_to_json(audit), ensure_ascii=False, indent=2))
    else:
        print(f"{stores[0]}: {audit.events} records of transactions, {audit.trace.sentence()}")
    if audit.trace.accepted is None:
        typer.echo(f"halfcheck: {stores[0]}: {audit.trace.reason}", err=True)
        return ExitCode.BAD_CONTENT
    return ExitCode.OK if audit.trace.accepted else ExitCode.SAFETY_VIOLATED


def _to_json(audit: Audit) -> dict[str, Any]:
    found = audit.trace.divergence_json()
    first = None
    if found is not None:
        first = {
            "record": found["event"]["text"],
            "field": found["guard"],
            "left": found["event"],
            "right": found["nearest"],
        }
    return {
        "records": audit.events,
        "identical": audit.trace.accepted,
        "bytes": None,
        "first_difference": first,
        "trace": audit.trace.to_json(),
    }


@contextmanager
def _progress(store: str) -> Iterator[Callable[[int, int], None] | None]:
    """A progress line on stderr while the search goes on, if somebody watches."""
    if not sys.stderr.isatty():
        yield None
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as progress:
        task = progress.add_task(f"explaining {store}", total=None)
        yield lambda done, total: progress.update(task, completed=done, total=total)
