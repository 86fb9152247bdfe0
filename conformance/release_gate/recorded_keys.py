"""The record of the keys of each release: ``reference/format/broker_keys.json``, written here and read there.

A key's line says from which release on it is of a type and has a default; a release alone is the first without it.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Final

from conformance.errors import ReleaseGateError
from conformance.release_gate.recorded_digests import release_order
from files.reading import read_text
from files.writing import write_whole
from reference.format.broker_keys import TABLE, KeyTable

if TYPE_CHECKING:
    from collections.abc import Mapping

KEYS: Final = Path(__file__).parents[2] / "reference" / "format" / TABLE


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
    """Write the file, a line a key, by rename."""
    releases = release_order(keys)
    lines = []
    for key in sorted({key for of_release in keys.values() for key in of_release}):
        runs: list[str] = []
        last = ""
        for release in releases:
            value = keys[release].get(key, "")
            if value != last:
                runs.append(f"{release} {value}".rstrip())
            last = value
        lines.append(f"    {json.dumps(key)}: {json.dumps(runs)}")
    joined = ",\n".join(lines)
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
