"""The record of each release: digests of what rules cite, the keys of its broker, and facts found in its sources.

`digests.toml` and ``reference/format/broker_keys.json`` are written by the gate, `evidence.toml` by hand. A fact
belongs to a digest, so that it says nothing of a later release in which the same method is another one.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from conformance.errors import ReleaseGateError
from files.content import read_toml
from files.errors import BadContentError
from files.reading import read_text
from files.writing import write_whole
from reference.format.broker_keys import TABLE, KeyTable
from spec.releases.broker_defaults import release_numbers

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

FOLDER: Final = Path(__file__).parent
DIGESTS: Final = FOLDER / "digests.toml"
EVIDENCE: Final = FOLDER / "evidence.toml"
KEYS: Final = FOLDER.parents[1] / "reference" / "format" / TABLE

_HEAD: Final = """\
# Written by `make releases ARGS=--update`: of each class or method that is cited, and of each default, the first
# release of every digest or number that it had; no digest where it is gone. Edit evidence.toml, not this.
"""


@dataclass(slots=True)
class Column:
    """Digests and defaults of one release."""

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
    """Read the columns on record by release, the oldest first; `ReleaseGateError` if the file is missing or no such."""
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
        lines.append(_line(name, ((release, columns[release].digests.get(name, "")) for release in releases)))
    lines += ["", "[defaults]"]
    for name in sorted({name for column in columns.values() for name in column.defaults}):
        values = [(release, columns[release].defaults.get(name)) for release in releases]
        lines.append(_line(name, ((release, str(value)) for release, value in values if value is not None)))
    write_whole(path, "\n".join(lines) + "\n")


def _line(name: str, values: Iterable[tuple[str, str]]) -> str:
    return f"{json.dumps(name)} = {json.dumps(_runs(values))}"


def _runs(values: Iterable[tuple[str, str]]) -> list[str]:
    """Each release in which a value changes, with the new one."""
    found: list[str] = []
    last = ""
    for release, value in values:
        if value != last:
            found.append(f"{release} {value}".rstrip())
        last = value
    return found


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


def read_keys(path: Path = KEYS) -> dict[str, dict[str, str]]:
    """The type and default of each key, release by release, as :func:`setters.keys_of` gives them; the oldest first.

    Raises
    ------
    ReleaseGateError
        The file is missing or not of this form.
    """
    try:
        table = KeyTable.of_text(read_text(path))
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        message = f"{path}: can't be read ({error}); make releases ARGS=--update writes it anew"
        raise ReleaseGateError(message) from error
    return {
        release: {key.name: f"{key.kind} {key.default}".rstrip() for key in table.keys_of(release).values()}
        for release in table.releases
    }


def write_keys(keys: Mapping[str, Mapping[str, str]], path: Path = KEYS) -> None:
    """Write the file, a line a key, by rename: a type and default from a release on; a release alone has it no more."""
    releases = release_order(keys)
    joined = ",\n".join(
        f"    {json.dumps(key)}: {json.dumps(_runs((release, keys[release].get(key, '')) for release in releases))}"
        for key in sorted({key for of_release in keys.values() for key in of_release})
    )
    write_whole(path, f'{{\n  "releases": {json.dumps(releases)},\n  "keys": {{\n{joined}\n  }}\n}}\n')


def different_keys(recorded: Mapping[str, Mapping[str, str]], found: Mapping[str, Mapping[str, str]]) -> list[str]:
    """Where the setters of a release differ from its record, a sentence each."""
    return [
        f"the key {key} of {release} is {new.get(key, 'not there')}, and kept as {old.get(key, 'not there')}"
        for release, new in found.items()
        if release in recorded
        for old in [recorded[release]]
        for key in sorted(old.keys() | new.keys())
        if old.get(key) != new.get(key)
    ]


def read_evidence(path: Path = EVIDENCE) -> Evidence:
    """Read `evidence.toml`; `ReleaseGateError` if it is missing or not of the form that its head describes."""
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
