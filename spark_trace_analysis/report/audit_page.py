"""The page of one audit: counts by state and the gravest transactions, in one HTML file that needs nothing else."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING

from model_check.counterexample.files import write_whole
from spark_trace_analysis.report.templates import templates

if TYPE_CHECKING:
    from pathlib import Path

    from spark_trace_analysis.audit.audit import Audit


def as_time(milliseconds: int) -> str:
    """A store timestamp as a reader in any place understands it; the bare number where a damaged one is no date.

    Examples
    --------
    >>> as_time(1_700_000_000_123), as_time(-(2**62))
    ('2023-11-14 22:13:20.123 UTC', '-4611686018427387904 ms')
    """
    try:
        moment = datetime.fromtimestamp(milliseconds // 1000, UTC)
    except (OverflowError, ValueError, OSError):
        return f"{milliseconds} ms"
    return f"{moment:%Y-%m-%d %H:%M:%S}.{milliseconds % 1000:03} UTC"


def write_audit_page(audit: Audit, path: Path, limit: int) -> None:
    """Write the page; it appears under its name when it is whole.

    Parameters
    ----------
    limit
        How many transactions, and how many pieces of damage, it lists at most.

    Raises
    ------
    BadFile
        It cannot be written.
    OSError
        Its folder cannot be made.
    """
    here = templates()
    here.filters["as_time"] = as_time
    rows = audit.listed(everything=False, limit=limit)
    page = here.get_template("audit_page.html.j2").render(
        audit=audit,
        rows=rows,
        damage=audit.corrupt[:limit],
        omitted=audit.total - audit.plain - len(rows),
        unlisted_damage=audit.damage - len(audit.corrupt[:limit]),
    )
    path.parent.mkdir(parents=True, exist_ok=True)
    write_whole(path, page)
