"""The page of one audit: counts by state and the gravest transactions, in one HTML file that needs nothing else."""

from __future__ import annotations

from time import time
from typing import TYPE_CHECKING

from markupsafe import Markup

from files.writing import write_whole
from html_report.templates import templates
from model_check.defects.lookup import defects_of
from spark_trace_analysis.audit.rules.transaction_row import local_time

if TYPE_CHECKING:
    from files.remote_path import Location
    from spark_trace_analysis.audit.audit import Audit


def as_time(milliseconds: int | None) -> str:
    """A time in the local zone, with its offset; the bare number where a damaged one is no date.

    Examples
    --------
    >>> as_time(1_700_000_000_123)[13:23], as_time(-(2**62)), as_time(None)
    (':13:20.123', '-4611686018427387904 ms', '')
    """
    if milliseconds is None:
        return ""
    text = local_time(milliseconds)
    if text is None:
        return f"{milliseconds} ms"
    return f"{text[:10]} {text[11:23]} {text[23:]}"


def breakable(path: str) -> Markup:
    """A path that a narrow page breaks behind its slashes, and not within its names.

    Examples
    --------
    >>> breakable("/home/<x>")
    Markup('/<wbr>home/<wbr>&lt;x&gt;')
    """
    return Markup("/<wbr>").join(path.split("/"))


def write_audit_page(audit: Audit, path: Location, limit: int) -> None:
    """Write the page, with so many transactions and pieces of damage at most; it appears when it is whole.

    Raises `UnwritableFileError`, or `OSError` where its folder cannot be made.
    """
    here = templates()
    here.filters |= {"as_time": as_time, "breakable": breakable}
    rows = audit.listed(everything=False, limit=limit)
    page = here.get_template("audit_page.html.j2").render(
        audit=audit,
        rows=rows,
        damage=audit.corrupt[:limit],
        omitted=audit.listable - len(rows),
        defects=defects_of(name for row in rows for name in row.resembles),
        made_at=int(time() * 1_000),
        unlisted_damage=audit.damage - len(audit.corrupt[:limit]),
    )
    path.parent.mkdir(parents=True, exist_ok=True)
    write_whole(path, page)
