"""The two sides of ``halfcheck diff``: what an argument stands for, and which pairs can be held against each other."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from pathlib import Path

import typer

from conformance.golden_stores import golden_path

_SPEC = "spec:"
_REFERENCE = "reference"
_MANIFEST = "manifest.json"


class SideKind(Enum):
    """What a side is."""

    STORE = "a store directory"
    TRACE = "a recorded trace"
    REFERENCE = "a run of the reference broker"
    SPEC = "a specification"


@dataclass(frozen=True, slots=True)
class Side:
    """One side.

    Attributes
    ----------
    name
        As it was given.
    path
        The store, the file of the trace, or the store under whose schedule the reference broker runs.
    profile
        The profile of a specification, with the switches that are turned.
    """

    name: str
    kind: SideKind
    path: Path = Path()
    profile: str = ""


def side_of(text: str) -> Side:
    """What an argument stands for: a file is a trace, anything else that is no known word a store.

    Raises
    ------
    typer.BadParameter
        It is a folder of simulated traces.
    """
    if text.startswith(_SPEC):
        return Side(text, SideKind.SPEC, profile=text.removeprefix(_SPEC))
    if text == _REFERENCE:
        return Side(text, SideKind.REFERENCE)
    if text.startswith(f"{_REFERENCE}:"):
        return Side(text, SideKind.REFERENCE, golden_path(Path(text.removeprefix(f"{_REFERENCE}:"))))
    path = golden_path(Path(text))
    if (path / _MANIFEST).is_file() and not (path / "commitlog").exists():
        message = f"{text}: a folder of simulated traces; give one of its .parquet files"
        raise typer.BadParameter(message)
    return Side(text, SideKind.TRACE if path.is_file() else SideKind.STORE, path)


def pair_of(left: str, right: str) -> tuple[Side, Side]:
    """Both sides, the reference broker's with the store whose schedule it runs under.

    Raises
    ------
    typer.BadParameter
        These two cannot be held against each other.
    """
    sides = side_of(left), side_of(right)
    if all(side.kind is SideKind.SPEC for side in sides):
        message = f"{left} and {right}: beside spec:PROFILE the other side must be a store directory or a trace"
        raise typer.BadParameter(message)
    return _with_schedule(sides[0], sides[1]), _with_schedule(sides[1], sides[0])


def _with_schedule(side: Side, other: Side) -> Side:
    if side.name != _REFERENCE:
        return side
    if other.kind is SideKind.STORE:
        return Side(side.name, side.kind, other.path)
    wanted = {
        SideKind.SPEC: "beside spec:PROFILE the other side must be a store directory, a trace, or reference:STORE_DIR",
        SideKind.TRACE: "a trace does not say what was asked of the broker; say reference:STORE_DIR",
        SideKind.REFERENCE: "one side must be a store directory with its logs beside it",
    }
    message = f"{side.name} and {other.name}: {wanted[other.kind]}"
    raise typer.BadParameter(message)
