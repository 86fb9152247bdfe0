"""Where ``halfcheck audit`` puts its answers: refused before the audit is what can't be a place for one."""

from __future__ import annotations

from typing import TYPE_CHECKING

import typer

from files.writing import what_is_no_file
from spark_trace_analysis.audit.audit_folders import require_takes_files

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from pathlib import Path

    from halfcheck.audit.audit_options import AuditOptions


def require_places(options: AuditOptions, store: Path) -> None:
    """See that each answer has a place of its own, outside the store.

    Raises
    ------
    typer.BadParameter
        A file would replace a directory, a device or a link, or lie where another answer does or in the store.
    BadFile
        A folder can't be written to.
    """
    files = [
        (option, path)
        for option, path in (("--report", options.report), ("--csv", options.csv), ("--resend", options.resend))
        if path is not None
    ]
    folders = [
        (option, path) for option, path in (("--out", options.out), ("--work", options.work)) if path is not None
    ]
    for option, path in files:
        _require_new_or_a_file(option, path)
    for option, path in (*files, *folders):
        require_takes_files(option, path)
        _require_outside(option, path, [store, *(options.commit_log or ())])
    _require_different([*folders, *files])


def _require_new_or_a_file(option: str, path: Path) -> None:
    kind = what_is_no_file(path) or ("no name for a file" if path.name == "-" else "")
    if kind:
        message = f"{option} {path} is {kind}; give a file"
        raise typer.BadParameter(message)


def _require_outside(option: str, path: Path, read: Iterable[Path]) -> None:
    for folder in read:
        if _lies_in(path, folder):
            message = f"{option} {path} lies in {folder}, which an audit only reads; name a place outside of it"
            raise typer.BadParameter(message)


def _require_different(places: Sequence[tuple[str, Path]]) -> None:
    """A directory comes before what may lie in it."""
    for number, (option, path) in enumerate(places):
        for other, taken in places[:number]:
            if _lies_in(path, taken):
                message = f"{option} {path} lies where {other} {taken} goes; name another place"
                raise typer.BadParameter(message)


def _lies_in(path: Path, folder: Path) -> bool:
    """Whether a path is a folder's, or of something in it."""
    return path.resolve().is_relative_to(folder.resolve())
