"""``halfcheck audit``: what became of every transaction in a real store."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import typer

from halfcheck.audit.asked_for import (
    FailOn,
    Groups,
    Keys,
    Since,
    States,
    Topics,
    exit_code,
    require_known_failures,
    selection_of,
)
from halfcheck.audit.whole_store import audited
from halfcheck.errors import ExitCode
from halfcheck.options import Conf


def command(
    store_dir: Annotated[
        Path, typer.Argument(metavar="STORE_DIR", help="The store: the directory with commitlog/ in it.")
    ],
    *,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON instead of a table.")] = False,
    everything: Annotated[
        bool, typer.Option("--all", help="List the plainly delivered and rolled back transactions too.")
    ] = False,
    limit: Annotated[int, typer.Option(min=0, help="How many transactions to list at most, without --all.")] = 1000,
    version: Annotated[
        str | None, typer.Option(help="The version that wrote the store, for example 5.3.3; inferred if not given.")
    ] = None,
    broker_conf: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Take the broker's settings from this file, not from the store's."),
    ] = None,
    commit_log: Annotated[
        list[Path] | None,
        typer.Option(metavar="DIR", help="A folder of the log, if it lies elsewhere; several times for several paths."),
    ] = None,
    out: Annotated[
        Path | None, typer.Option(help="A new directory for the rows of all transactions, as Parquet.")
    ] = None,
    csv: Annotated[Path | None, typer.Option(help="A file for the rows as CSV, lists and times as text.")] = None,
    resend: Annotated[
        Path | None,
        typer.Option(help="A file for what nobody will deliver or roll back any more, where it stands, who decides."),
    ] = None,
    topics: Topics = None,
    groups: Groups = None,
    states: States = "",
    since: Since = None,
    keys: Keys = None,
    fail_on: FailOn = None,
    report: Annotated[Path | None, typer.Option(help="A file for a page with the counts and the gravest rows.")] = None,
    master: Annotated[
        str | None,
        typer.Option(help="The Spark master. If not given, a store below 64 MB needs no Spark, others all cores here."),
    ] = None,
    conf: Conf = None,
    work: Annotated[
        Path | None, typer.Option(help="Where Spark's tasks keep their files; a killed audit goes on from there.")
    ] = None,
) -> ExitCode:
    """Say which transactions in a RocketMQ store are lost, doubled, parked or pending.

    Reads commitlog/, and consumequeue/ and config/ if they are there; a broker.conf in the store or beside it is used,
    also for where the log lies: several paths, another disk, DLedger's folder.
    What is lost or doubled does not change the exit code: this is a report; --fail-on lost,doubled makes it 12. Damaged
    records do: the table shows what could be read, the damage is listed with it, and the exit code is 150.

    --topic, --group, --state, --since and --transaction leave what is listed, and what --csv, --resend and --fail-on
    take; --out always has all rows.

    Examples
    --------
    halfcheck audit /home/rocketmq/store
    halfcheck audit conformance/golden/5.3.3/late --all --json
    halfcheck audit /backup/store --version 4.9.7 --limit 20
    halfcheck audit /home/rocketmq/store --commit-log /disk1/commitlog --commit-log /disk2/commitlog
    halfcheck audit /backup/store --out rows --report audit.html
    halfcheck audit /home/rocketmq/store --since 2h --fail-on lost,doubled,damage
    halfcheck audit /home/rocketmq/store --state lost,parked --csv rows.csv --resend resend.csv
    halfcheck audit /home/rocketmq/store --transaction order-4711
    halfcheck audit /mnt/shared/store --master spark://10.0.0.5:7077 --out /mnt/shared/rows
    """
    from conformance.golden_stores import golden_path
    from halfcheck.printing.remarks import print_remarks_of_store
    from reference.format.broker_conf import find_broker_conf

    selection = selection_of(topics, groups, states, since, keys)
    require_known_failures(fail_on)
    _refuse(version, out, {"--report": report, "--csv": csv, "--resend": resend})
    from spark_trace_analysis.audit.row_files import RowFiles

    files = RowFiles(csv_path=csv, resend_path=resend, selection=selection)
    store_dir = golden_path(store_dir)
    audit = audited(
        store_dir,
        version,
        out,
        work,
        master,
        conf or (),
        broker_conf,
        commit_log or (),
        everything=everything,
        limit=limit,
        row_files=files,
    )
    if report is not None:
        from spark_trace_analysis.report.audit_page import write_audit_page

        write_audit_page(audit, report, limit)
    if as_json:
        print(json.dumps(audit.to_json(everything=everything, limit=limit), ensure_ascii=False, indent=2))
    else:
        from halfcheck.printing.audit import print_audit

        print_audit(audit, everything=everything, limit=limit)
    print_remarks_of_store(broker_conf or find_broker_conf(store_dir), audit.version, is_sure=version is not None)
    if audit.corrupt:
        more = f" (and {audit.damage - 1} more)" if audit.damage > 1 else ""
        typer.echo(f"halfcheck: {store_dir}: {audit.corrupt[0]}{more}", err=True)
    return exit_code(audit, fail_on)


def _refuse(version: str | None, out: Path | None, files: dict[str, Path | None]) -> None:
    """Say before the audit what its answer could not be made of, or written to."""
    from spark_trace_analysis.audit.audit_folders import require_takes_files

    if version is not None:
        from model_check.releases import profile_for

        profile_for(version)
    for option, path in files.items():
        if path is not None and path.is_dir():
            message = f"{option} {path} is a directory; give a file"
            raise typer.BadParameter(message)
        if path is not None:
            require_takes_files(option, path)
    if out is not None:
        require_takes_files("--out", out)
