"""Audits running brokers, one after the other, and plans for one of them."""

from __future__ import annotations

from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

import typer

from document.console import show, wide_console
from halfcheck.auditing.options import refuse
from halfcheck.auditing.plans import earlier_plan, planned, send
from halfcheck.errors import ExitCode
from halfcheck.options import broker_address, print_json
from halfcheck.running_broker import audited_broker
from spark_trace_analysis.audit.row_files import RowFiles
from wire.client.channel import BrokerChannel
from wire.client.name_server import broker_groups

if TYPE_CHECKING:
    from collections.abc import Iterator

    from halfcheck.auditing.options import AuditOptions, Failing
    from spark_trace_analysis.audit.selection import Selection
    from wire.client.channel import Address


def audit_brokers(options: AuditOptions, selection: Selection, failing: Failing) -> ExitCode:
    """The same of running brokers, one after the other; the exit code is the first that is not 0."""
    addresses = addresses_of(options)
    refuse(
        (("STORE_DIR", options.store_dir), *options.of_stores),
        "it is for a store; keep what is read of a broker by --copy DIR, and audit that",
    )
    if len(addresses) > 1:
        refuse(
            (("--copy", options.copy), *options.files, ("--plan", options.plan)),
            f"it is for one broker, and {len(addresses)} are asked; give one by --broker",
        )
    if options.yes:
        return send(options, addresses)
    files = RowFiles(
        csv_path=options.csv, resend_path=options.resend, findings_path=options.findings, selection=selection
    )
    earlier = None if options.plan is None else earlier_plan(options.plan, addresses[0])
    code, values = ExitCode.OK, []
    for address in addresses:
        with _copy_for(options) as copy:
            found = audited_broker(
                address,
                copy,
                options.version,
                files,
                bytes_per_s=options.rate * 1e6,
                everything=options.everything,
                limit=options.limit,
            )
            plan = (
                None if copy is None or options.plan is None else planned(options.plan, earlier, address, found, copy)
            )
        if options.report is not None:
            from html_report.audit_page import write_audit_page

            write_audit_page(found.audit, options.report, options.limit)
        if options.as_json:
            values.append(found.to_json(everything=options.everything, limit=options.limit))
        else:
            from halfcheck.printing.running_broker import broker_in_words

            show(broker_in_words(found, wide_console().width, everything=options.everything, limit=options.limit))
            if plan is not None and options.plan is not None:
                from halfcheck.printing.plan import plan_in_words

                show(plan_in_words(plan, options.plan, options.limit))
        code = code or failing.exit_code(found.audit)
    if options.as_json:
        print_json(values[0] if len(values) == 1 else {"brokers": values})
    return code


@contextmanager
def _copy_for(options: AuditOptions) -> Iterator[Path | None]:
    """Where the copy of a broker is kept: where --copy says, or for a plan until it is made; nowhere otherwise."""
    if options.copy is not None or options.plan is None:
        yield options.copy
        return
    with TemporaryDirectory(prefix="halfcheck-") as folder:
        yield Path(folder) / "copy"


def addresses_of(options: AuditOptions) -> list[Address]:
    """The brokers that are asked for."""

    def named(text: str) -> Address:
        return broker_address(
            text.strip(), options.access_key, options.secret_key, options.acl_file, options.tls_ca, tls=options.tls
        )

    if options.namesrv is None:
        if options.cluster is not None:
            message = f"--cluster {options.cluster}: give --namesrv, which knows the clusters"
            raise typer.BadParameter(message)
        return [named(text) for text in (options.broker or "").split(",")]
    if options.broker is not None:
        message = f"--namesrv {options.namesrv} and --broker {options.broker}: give one of them"
        raise typer.BadParameter(message)
    with BrokerChannel(named(options.namesrv)) as channel:
        groups = broker_groups(channel)
    chosen = [group for group in groups if options.cluster in (None, group.cluster)]
    if not chosen:
        known = ", ".join(sorted({group.cluster for group in groups})) or "none"
        message = f"--cluster {options.cluster}: the name server knows {known}"
        raise typer.BadParameter(message)
    for group in chosen:
        if not group.has_master:
            typer.echo(f"halfcheck: {group.name} has no master: the slave {group.first} is audited", err=True)
    return [named(str(group.first)) for group in chosen]
