"""``halfcheck audit``: what became of every transaction in a real store, or of a running broker."""

from __future__ import annotations

from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from document.console import show, wide_console
from halfcheck.auditing.options import AuditOptions, Failing, selection_of
from halfcheck.auditing.places import require_places
from halfcheck.errors import ExitCode
from halfcheck.options import print_json

if TYPE_CHECKING:
    from collections.abc import Iterator

    from files.brought import BroughtStore
    from files.remote_path import Location
    from spark_trace_analysis.audit.selection import Selection


def command(options: AuditOptions) -> ExitCode:
    """Say which transactions in a RocketMQ store are lost, doubled, parked or pending.

    Reads commitlog/, and consumequeue/ and config/ if they are there; a broker.conf in the store or beside it is used,
    also for where the log lies: several paths, another disk, DLedger's folder.
    What is lost or doubled does not change the exit code: this is a report; --fail-on lost,doubled makes it 12. Damaged
    records do: the table shows what could be read, the damage is listed with it, and the exit code is 150.

    --broker asks a running broker instead, and only reads. Then it also says when each pending half is checked next and
    discarded, and whether a producer of its group is connected.

    --watch looks again and again, at a broker or at a store that grows, reads only what is new, and tells each
    transaction once that is doubled, parked, lost or unknown, or hangs. It goes on from where the last watch ended.

    --plan FILE writes what may be done besides: RESUME_CHECK_HALF_MESSAGE of parked halves, END_TRANSACTION of lost and
    pending ones, with what must be made sure before, and which guarantees each may break. Nothing is sent. Decide in
    the file; --plan FILE --yes sends what is decided, and writes each answer into it.

    --topic, --group, --state, --since and --transaction leave what is listed, and what --csv, --resend,
    --findings and --fail-on take; --out always has all rows.

    Examples
    --------
    halfcheck audit /home/rocketmq/store
    halfcheck audit conformance/golden/5.3.3/late --all --json
    halfcheck audit /backup/store --version 4.9.7 --limit 20
    halfcheck audit /home/rocketmq/store --commit-log /disk1/commitlog --commit-log /disk2/commitlog
    halfcheck audit /backup/store --out rows --report audit.html
    halfcheck audit /home/rocketmq/store --since 2h --fail-on lost,doubled,damage
    halfcheck audit /home/rocketmq/store --state lost,parked --csv rows.csv --resend resend.csv
    halfcheck audit /backup/store --out rows --findings findings.parquet
    halfcheck audit /home/rocketmq/store --transaction order-4711
    halfcheck audit --broker 10.0.0.5:10911
    halfcheck audit --broker 10.0.0.5:10911 --watch 30s --metrics-port 9877
    halfcheck audit --broker 10.0.0.5:10911 --plan plan.json
    halfcheck audit --broker 10.0.0.5:10911 --plan plan.json --yes
    halfcheck audit --namesrv 10.0.0.4:9876 --cluster orders --acl-file conf/tools.yml --json
    halfcheck audit s3://bucket/store --master spark://10.0.0.5:7077 --out s3://bucket/rows
    """
    from conformance.golden_stores import golden_path
    from model_check.releases import profile_for

    selection = selection_of(options)
    failing = Failing.of(options.fail_on)
    if options.version is not None:
        profile_for(options.version)
    if options.watch is not None:
        from halfcheck.auditing.watches import watch_asked_for

        return watch_asked_for(options, failing)
    if options.broker is not None or options.namesrv is not None:
        from halfcheck.auditing.brokers import audit_brokers

        return audit_brokers(options, selection, failing)
    of_brokers = options.copy, options.cluster, options.plan, options.yes or None
    if options.store_dir is None or any(given is not None for given in of_brokers):
        message = (
            "give STORE_DIR, or --broker HOST:PORT or --namesrv HOST:PORT (and --copy, --plan, --yes and --cluster "
            "with those alone)"
        )
        raise typer.BadParameter(message)
    require_places(
        options, golden_path(options.store_dir) if isinstance(options.store_dir, Path) else options.store_dir
    )
    with _here(options.store_dir) as (store_dir, brought):
        return _audit_of(store_dir, brought, options, selection, failing)


@contextmanager
def _here(store: Location) -> Iterator[tuple[Path, BroughtStore | None]]:
    """The store on this machine, and what it is the copy of, if it lies on another file system."""
    from conformance.golden_stores import golden_path

    if isinstance(store, Path):
        yield golden_path(store), None
        return
    from files.brought import BroughtStore, named_as_there
    from files.temporary_folder import temporary_folder

    with temporary_folder() as folder:
        brought = BroughtStore(store, folder)
        brought.see_to_it()
        with named_as_there(brought.copy, store):
            yield brought.copy, brought


def _audit_of(
    store_dir: Path, brought: BroughtStore | None, options: AuditOptions, selection: Selection, failing: Failing
) -> ExitCode:
    from halfcheck.printing.remarks import print_remarks_of_store
    from halfcheck.whole_store import audited
    from reference.format.broker_conf import find_broker_conf
    from spark_trace_analysis.audit.row_files import RowFiles

    files = RowFiles(
        csv_path=options.csv, resend_path=options.resend, findings_path=options.findings, selection=selection
    )
    audit = audited(
        store_dir,
        options.version,
        options.out,
        options.work,
        options.master,
        options.conf or (),
        options.broker_conf,
        options.commit_log or (),
        everything=options.everything,
        limit=options.limit,
        row_files=files,
        brought=brought,
    )
    if options.report is not None:
        from html_report.audit_page import write_audit_page

        write_audit_page(audit, options.report, options.limit)
    if options.as_json:
        print_json(audit.to_json(everything=options.everything, limit=options.limit))
    else:
        from halfcheck.printing.audit import audit_in_words

        width = wide_console().width
        show(audit_in_words(audit, width, everything=options.everything, limit=options.limit))
    print_remarks_of_store(
        options.broker_conf or find_broker_conf(store_dir), audit.version, is_sure=options.version is not None
    )
    if audit.corrupt:
        more = f" (and {audit.damage - 1} more)" if audit.damage > 1 else ""
        typer.echo(f"halfcheck: {audit.store}: {audit.corrupt[0]}{more}", err=True)
    return failing.exit_code(audit)
