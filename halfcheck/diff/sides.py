"""The sides of ``halfcheck diff``: what an argument stands for, which two can be compared; and what was found."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from enum import Enum
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from conformance.golden_stores import golden_path
from halfcheck.errors import ExitCode
from model_check.releases import profile_for
from model_check.world import Profile
from reference.format.store_paths import StorePaths, store_paths
from spark_trace_analysis.traces.run_layout import has_manifest

if TYPE_CHECKING:
    from collections.abc import Sequence


_SPEC = "spec:"
_REFERENCE = "reference"
_RELEASE = re.compile(r"\d+\.\d+\.\d+")


class SideKind(Enum):
    """The kind of a side."""

    STORE = "a store directory"
    TRACE = "a recorded trace"
    REFERENCE = "a run of the reference broker"
    SPEC = "a specification"


@dataclass(frozen=True, slots=True)
class Side:
    """One side.

    Attributes
    ----------
    path
        The store, the file of the trace, or the store under whose schedule the reference broker runs.
    profile, why
        The profile of a specification, and why it is that one where a release has none of its own.
    log_folders
        The folders of the store's log, where they are not those that its settings name.
    """

    name: str
    kind: SideKind
    path: Path = Path()
    profile: Profile | None = None
    why: str = ""
    log_folders: tuple[Path, ...] = ()

    @property
    def paths(self) -> StorePaths:
        """Where the files of the store lie; raises `reference.format.errors.StoreError`."""
        return store_paths(self.path, log_folders=self.log_folders)


def side_of(text: str) -> Side:
    """The side that an argument names: a file is a trace, anything else that is no known word a store.

    Raises `typer.BadParameter` for a folder of simulated traces, and `ModelCheckError` where there is no such profile.
    """
    if text.startswith(_SPEC):
        profile, why = specification_of(text.removeprefix(_SPEC))
        return Side(text, SideKind.SPEC, profile=profile, why=why)
    if text == _REFERENCE:
        return Side(text, SideKind.REFERENCE)
    if text.startswith(f"{_REFERENCE}:"):
        return Side(text, SideKind.REFERENCE, golden_path(Path(text.removeprefix(f"{_REFERENCE}:"))))
    path = golden_path(Path(text))
    if has_manifest(path) and not (path / "commitlog").exists():
        message = f"{text}: a folder of simulated traces; give one of its .parquet files"
        raise typer.BadParameter(message)
    return Side(text, SideKind.TRACE if path.is_file() else SideKind.STORE, path)


def specification_of(text: str) -> tuple[Profile, str]:
    """The profile that `spec:` names, with its switches, and why it is that one where a release has none of its own.

    Examples
    --------
    >>> specification_of("5.5.1+heeds_settled_originals")[0].name
    '5.5.1+heeds_settled_originals'
    """
    release = re.split(r"[+-]", text, maxsplit=1)[0]
    if not _RELEASE.fullmatch(release):
        return Profile.of(text), ""
    profile, why = profile_for(release)
    return Profile.of(profile + text.removeprefix(release)), why


def pair_of(left: str, right: str) -> tuple[Side, Side]:
    """Both sides, the reference broker's with the store whose schedule it runs under.

    Raises `typer.BadParameter` where these two cannot be held against each other.
    """
    sides = side_of(left), side_of(right)
    if all(side.kind is SideKind.SPEC for side in sides):
        message = f"{left} and {right}: beside spec:PROFILE the other side must be a store directory or a trace"
        raise typer.BadParameter(message)
    return _with_schedule(sides[0], sides[1]), _with_schedule(sides[1], sides[0])


def with_commit_logs(left: Side, right: Side, folders: Sequence[Path], others: Sequence[Path]) -> tuple[Side, Side]:
    """Both sides with the folders of their logs: the first ones are those of the only store, or of the left one.

    Raises `typer.BadParameter` where there is no store that they could be of.
    """
    kinds = [side.kind for side in (left, right)]
    if (folders or others) and SideKind.REFERENCE in kinds:
        message = (
            f"--commit-log {(*folders, *others)[0]}: the reference broker follows the log in STORE_DIR/commitlog; "
            "make that a link to the folder"
        )
        raise typer.BadParameter(message)
    if folders and SideKind.STORE not in kinds:
        message = f"--commit-log {folders[0]}: neither {left.name} nor {right.name} is a store; leave it out"
        raise typer.BadParameter(message)
    if others and kinds != [SideKind.STORE, SideKind.STORE]:
        message = f"--other-commit-log {others[0]}: {left.name} and {right.name} are not two stores; say --commit-log"
        raise typer.BadParameter(message)
    if left.kind is SideKind.STORE:
        return replace(left, log_folders=tuple(folders)), replace(right, log_folders=tuple(others))
    return left, replace(right, log_folders=tuple(folders))


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


_LONGEST = 2_000


@dataclass(frozen=True, slots=True, kw_only=True)
class DiffAnswer:
    """The result of one comparison: `first_difference` and `trace` as in `diff_schema.json`.

    `records` counts the records or events that both sides have in common, or, held against the specification, all.
    Whether both sides agree is None if that could not be asked, for the `reason`; `bytes` were compared and are the
    same, None where one side has none.
    """

    records: int
    identical: bool | None
    lines: tuple[str, ...]
    bytes: int | None = None
    first_difference: dict[str, Any] | None = None
    trace: dict[str, Any] | None = None
    reason: str | None = None

    @property
    def exit_code(self) -> ExitCode:
        """0 where both agree, 12 where they do not, 150 where nobody can say."""
        if self.identical is None:
            return ExitCode.BAD_CONTENT
        return ExitCode.OK if self.identical else ExitCode.SAFETY_VIOLATED

    def to_json(self) -> dict[str, Any]:
        """The answer as plain data."""
        names = ("records", "identical", "bytes", "first_difference", "trace")
        return {name: getattr(self, name) for name in names}


def shortened(text: str | None) -> str:
    r"""A value on one line, not too long.

    Examples
    --------
    >>> shortened("a\x02b"), shortened(None)
    ('a\\x02b', 'nothing')
    """
    if text is None:
        return "nothing"
    printable = text.encode("unicode_escape").decode()
    return printable if len(printable) <= _LONGEST else f"{printable[:_LONGEST]} … ({len(printable)} characters)"
