"""The record of each release: digests of the classes and methods that rules cite, and facts found in its sources.

`digests.toml` is written by the gate, `evidence.toml` by hand. A fact belongs to a digest, so that it says nothing of
a later release in which the same method is another one.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from conformance.errors import ReleaseGateError
from files.content import read_toml
from files.errors import BadContentError
from files.writing import write_whole
from spec.releases.broker_defaults import release_numbers

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

FOLDER: Final = Path(__file__).parent
DIGESTS: Final = FOLDER / "digests.toml"
EVIDENCE: Final = FOLDER / "evidence.toml"

_HEAD: Final = """\
# Written by `make releases ARGS=--update`: of each class or method that is cited, and of each default, the first
# release of every digest or number that it had; no digest where it is gone. Edit evidence.toml, not this.
"""


@dataclass(slots=True)
class Column:
    """What was found in one release."""

    digests: dict[str, str] = field(default_factory=dict)
    """By the name of a class or ``Class#method``; empty where it has none of that name."""
    defaults: dict[str, int] = field(default_factory=dict)
    """The numbers that stand in initialisers, by the name of the default."""


@dataclass(frozen=True, slots=True)
class Evidence:
    """Facts about digests, beside the releases whose sources the specification was written from."""

    written_from: tuple[str, ...]
    """The releases whose sources the specification and the reference broker were written from."""
    watched_from: str
    """From this release on, what changes must be looked at; older ones were when profiles were chosen."""
    facts: Mapping[str, Mapping[str, str]]
    """By name and digest: one line."""


def release_order(releases: Iterable[str]) -> list[str]:
    """Releases, the oldest first."""
    return sorted(releases, key=release_numbers)


def read_digests(path: Path = DIGESTS) -> dict[str, Column]:
    """Read the columns on record by release, the oldest first.

    Raises
    ------
    ReleaseGateError
        The file is missing or not of this form.
    """
    content = _content(path)
    try:
        columns = {str(release): Column() for release in content["releases"]}
        for name, runs in content["digests"].items():
            for release, value in _spread(runs, columns):
                columns[release].digests[name] = value
        for name, runs in content["defaults"].items():
            for release, value in _spread(runs, columns):
                columns[release].defaults[name] = int(value)
    except (KeyError, ValueError, AttributeError, TypeError) as error:
        message = f"{path}: not as the gate writes it ({error}); make releases ARGS=--update writes it anew"
        raise ReleaseGateError(message) from error
    return columns


def write_digests(columns: Mapping[str, Column], path: Path = DIGESTS) -> None:
    """Write the file, by rename."""
    releases = release_order(columns)
    lines = [_HEAD, "releases = ["]
    lines += [f'  "{release}",' for release in releases]
    lines += ["]", "", "[digests]"]
    for name in sorted({name for column in columns.values() for name in column.digests}):
        lines.append(_runs(name, [(release, columns[release].digests.get(name, "")) for release in releases]))
    lines += ["", "[defaults]"]
    for name in sorted({name for column in columns.values() for name in column.defaults}):
        values = [(release, columns[release].defaults.get(name)) for release in releases]
        lines.append(_runs(name, [(release, str(value)) for release, value in values if value is not None]))
    write_whole(path, "\n".join(lines) + "\n")


def _runs(name: str, values: Iterable[tuple[str, str]]) -> str:
    """A line: a name, and where its value changes."""
    found: list[str] = []
    last = ""
    for release, value in values:
        if value != last:
            found.append(f'"{release} {value}"'.replace(' "', '"'))
            last = value
    return f'"{name}" = [{", ".join(found)}]'


def _spread(runs: Iterable[str], releases: Iterable[str]) -> list[tuple[str, str]]:
    """The value in each release, from the first one on that has any."""
    since = {release: value for release, _, value in (run.partition(" ") for run in runs)}
    found = []
    value = None
    for release in releases:
        value = since.get(release, value)
        if value is not None:
            found.append((release, value))
    return found


def read_evidence(path: Path = EVIDENCE) -> Evidence:
    """Read `evidence.toml`.

    Raises
    ------
    ReleaseGateError
        The file is missing or not of the form that its head describes.
    """
    content = _content(path)
    try:
        facts = {
            str(name): {str(digest): str(fact) for digest, fact in facts.items()}
            for name, facts in content["facts"].items()
        }
        return Evidence(tuple(content["written_from"]), str(content["watched_from"]), facts)
    except (KeyError, AttributeError, TypeError) as error:
        message = f"{path}: not as its head says ({error}); expected written_from, watched_from and [facts.NAME]"
        raise ReleaseGateError(message) from error


def _content(path: Path) -> dict[str, Any]:
    try:
        return read_toml(path)
    except OSError as error:
        message = f"{path}: can't be read: {error.strerror}; it is a part of the checkout"
        raise ReleaseGateError(message) from error
    except BadContentError as error:
        raise ReleaseGateError(str(error)) from error
