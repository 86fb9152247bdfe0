"""Where the answers of an audit go: each to a place of its own, outside of what is read."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import typer

from files.remote_path import RemotePath
from files.writing import what_is_no_file

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from files.remote_path import Location
    from halfcheck.auditing.options import AuditOptions


def require_places(options: AuditOptions, store: Location) -> None:
    """See that each answer has a place of its own, outside the store; raises `typer.BadParameter` and `BadFile`."""
    from model_check.cache_folder import can_be_written
    from model_check.errors import BadFile

    files = [(option, path) for option, path in options.files if path is not None]
    folders = [
        (option, path) for option, path in (("--out", options.out), ("--work", options.work)) if path is not None
    ]
    for option, path in files:
        require_new_or_a_file(option, path)
    for option, path in (*files, *folders):
        if isinstance(path, Path) and not can_be_written(path.parent):
            message = f"{option} {path}: {path.absolute().parent} can't be written to; name another place"
            raise BadFile(message)
        _require_outside(option, path, [store, *(options.commit_log or ())])
    _require_different([*folders, *files])


def require_new_or_a_file(option: str, path: Location) -> None:
    """See that a file can appear at a path; raises `typer.BadParameter` for a link, a directory or a device."""
    kind = what_is_no_file(path) or ("no name for a file" if path.name == "-" else "")
    if kind:
        message = f"{option} {path} is {kind}; give a file"
        raise typer.BadParameter(message)


def _require_outside(option: str, path: Location, read: Iterable[Location]) -> None:
    for folder in read:
        if _lies_in(path, folder):
            message = f"{option} {path} lies in {folder}, which an audit only reads; name a place outside of it"
            raise typer.BadParameter(message)


def _require_different(places: Sequence[tuple[str, Location]]) -> None:
    """A directory comes before what may lie in it."""
    for number, (option, path) in enumerate(places):
        for other, taken in places[:number]:
            if _lies_in(path, taken):
                message = f"{option} {path} lies where {other} {taken} goes; name another place"
                raise typer.BadParameter(message)


def _lies_in(path: Location, folder: Location) -> bool:
    """Whether a path is a folder's, or of something in it."""
    if isinstance(path, Path) and isinstance(folder, Path):
        return path.resolve().is_relative_to(folder.resolve())
    return isinstance(path, RemotePath) and path.is_relative_to(folder)
