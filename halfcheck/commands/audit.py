"""``halfcheck audit``: what became of every transaction in a real store."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import typer

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
    out: Annotated[
        Path | None, typer.Option(help="A new directory for the rows of all transactions, as Parquet.")
    ] = None,
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

    Reads commitlog/, and consumequeue/ and config/ if they are there; a broker.conf in the store or beside it is used.
    What is lost or doubled does not change the exit code: this is a report. Damaged records do: the table shows what
    could be read, the damage is listed with it, and the exit code is 150.

    Examples
    --------
    halfcheck audit /home/rocketmq/store
    halfcheck audit conformance/golden/5.3.3/late --all --json
    halfcheck audit /backup/store --version 4.9.7 --limit 20
    halfcheck audit /backup/store --out rows --report audit.html
    halfcheck audit /mnt/shared/store --master spark://10.0.0.5:7077 --out /mnt/shared/rows
    """
    from conformance.golden_stores import golden_path

    _refuse(version, report, out)
    store_dir = golden_path(store_dir)
    audit = audited(store_dir, version, out, work, master, conf or (), everything=everything, limit=limit)
    if report is not None:
        from spark_trace_analysis.report.audit_page import write_audit_page

        write_audit_page(audit, report, limit)
    if as_json:
        print(json.dumps(audit.to_json(everything=everything, limit=limit), ensure_ascii=False, indent=2))
    else:
        from halfcheck.printing.audit import print_audit

        print_audit(audit, everything=everything, limit=limit)
    if audit.corrupt:
        more = f" (and {audit.damage - 1} more)" if audit.damage > 1 else ""
        typer.echo(f"halfcheck: {store_dir}: {audit.corrupt[0]}{more}", err=True)
        return ExitCode.BAD_CONTENT
    return ExitCode.OK


def _refuse(version: str | None, report: Path | None, out: Path | None) -> None:
    """Say before the audit what its answer could not be made of, or written to."""
    from spark_trace_analysis.audit.audit_folders import require_takes_files

    if version is not None:
        from model_check.releases import profile_for

        profile_for(version)
    if report is not None and report.is_dir():
        message = f"--report {report} is a directory; give a file for the page"
        raise typer.BadParameter(message)
    if report is not None:
        require_takes_files("--report", report)
    if out is not None:
        require_takes_files("--out", out)
