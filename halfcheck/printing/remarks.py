"""Remarks on a ``broker.conf`` beside any answer that rests on it: on stderr, a line each."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import typer

from reference.format.broker_conf_remarks import remarks_on_file
from spec.releases.broker_defaults import NEWEST_RELEASE

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path


def print_remarks(file: Path, remarks: Iterable[str]) -> None:
    """Print what is said of a file."""
    for remark in remarks:
        typer.echo(f"halfcheck: {file}: {remark}", err=True)


def print_remarks_of_store(file: Path | None, version: str | None, *, is_sure: bool) -> None:
    """Print what is to be said of the ``broker.conf`` of a store, if it has one.

    Parameters
    ----------
    version
        The release that wrote the store, or from which to which it may be, or None.
    is_sure
        Whether somebody has named it; else keys that another release reads are no mistakes.
    """
    if file is not None:
        releases = re.findall(r"\d+\.\d+\.\d+", version or "") or [NEWEST_RELEASE]
        print_remarks(file, remarks_on_file(file, releases[-1], with_keys_of_others=is_sure))
