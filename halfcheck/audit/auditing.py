"""``halfcheck audit`` from its options to its exit code."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import typer

from halfcheck.audit.asked_for import Failing, selection_of
from halfcheck.audit.whole_store import audited

if TYPE_CHECKING:
    from halfcheck.audit.audit_options import AuditOptions
    from halfcheck.errors import ExitCode


def audit_as_asked(options: AuditOptions) -> ExitCode:
    """Audit a store, write the files that are asked for, print what was found."""
    from conformance.golden_stores import golden_path
    from halfcheck.audit.places import require_places
    from halfcheck.printing.remarks import print_remarks_of_store
    from model_check.releases import profile_for
    from reference.format.broker_conf import find_broker_conf

    selection = selection_of(options)
    failing = Failing.of(options.fail_on)
    if options.version is not None:
        profile_for(options.version)
    store_dir = golden_path(options.store_dir)
    require_places(options, store_dir)
    from spark_trace_analysis.audit.row_files import RowFiles

    files = RowFiles(csv_path=options.csv, resend_path=options.resend, selection=selection)
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
    )
    if options.report is not None:
        from html_report.audit_page import write_audit_page

        write_audit_page(audit, options.report, options.limit)
    if options.as_json:
        print(
            json.dumps(audit.to_json(everything=options.everything, limit=options.limit), ensure_ascii=False, indent=2)
        )
    else:
        from document.console import show, wide_console
        from halfcheck.printing.audit import audit_in_words

        width = wide_console().width
        show(audit_in_words(audit, width, everything=options.everything, limit=options.limit))
    print_remarks_of_store(
        options.broker_conf or find_broker_conf(store_dir), audit.version, is_sure=options.version is not None
    )
    if audit.corrupt:
        more = f" (and {audit.damage - 1} more)" if audit.damage > 1 else ""
        typer.echo(f"halfcheck: {store_dir}: {audit.corrupt[0]}{more}", err=True)
    return failing.exit_code(audit)
