"""Files of results with a line a world, valid for one specification: `comparisons.toml`, `among_others.toml`.

Of another specification those profiles stay valid that do the same in all instances which were asked.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from itertools import groupby
from typing import TYPE_CHECKING, Any

from files.content import read_toml
from model_check.any_number.compared_instances import ALL
from model_check.fingerprint import fingerprint_among_others, fingerprint_of_comparison
from model_check.machine_fingerprint import fingerprint_of_machines
from model_check.world import Environment, Profile
from spec.profiles import PROFILES

if TYPE_CHECKING:
    from pathlib import Path

WorldLines = dict[tuple[Profile, Environment], dict[str, Any]]
"""The fields of each world's result: numbers, truth values, texts, and tables of these."""


def read_world_lines(file: Path) -> WorldLines:
    """The results in a file that are valid; none where there is no file."""
    content = read_toml(file) if file.exists() else {}
    is_of_this = content.get("specification") == fingerprint_among_others()
    valid = {
        name: Profile.of(name)
        for name, machines in content.get("machines", {}).items()
        if name in PROFILES and (is_of_this or machines == machines_of(Profile.of(name)))
    }
    return {
        (valid[profile], Environment.named(environment)): given
        for profile, environments in content.get("worlds", {}).items()
        if profile in valid
        for environment, given in environments.items()
    }


def machines_of(profile: Profile) -> str:
    """What a profile does in all instances that are asked, and how it is compared there."""
    return f"{fingerprint_of_machines(profile, ALL)}-{fingerprint_of_comparison()}"


def world_lines_as_toml(comment: str, results: WorldLines) -> str:
    r"""The text of a file, which begins with a comment; fields that are empty are left out.

    Examples
    --------
    >>> text = world_lines_as_toml("Results.", {(Profile.of("fixed"), Environment()): {"a": 1, "b": {}, "c": True}})
    >>> print("\n".join(line for line in text.splitlines() if "specification" not in line and "-" not in line))
    # Results.
    <BLANKLINE>
    <BLANKLINE>
    [machines]
    <BLANKLINE>
    [worlds."fixed"]
    "quiet" = { a = 1, c = true }
    """
    lines = [f"# {line}" for line in comment.splitlines()]
    lines += ["", f'specification = "{fingerprint_among_others()}"', "", "[machines]"]
    lines += [f'"{profile}" = "{machines_of(profile)}"' for profile in dict.fromkeys(profile for profile, _ in results)]
    for profile, worlds in groupby(results.items(), key=lambda item: item[0][0]):
        lines += ["", f'[worlds."{profile}"]']
        lines += [f'"{environment.name}" = {_inline(given)}' for (_, environment), given in worlds]
    return "\n".join(lines) + "\n"


def _inline(value: object) -> str:
    """A value in TOML, where numbers, truth values and plain texts are written as in JSON."""
    if not isinstance(value, Mapping):
        return json.dumps(value)
    fields = [f"{_key(name)} = {_inline(one)}" for name, one in value.items() if one not in ({}, "")]
    return f"{{ {', '.join(fields)} }}"


def _key(name: str) -> str:
    return name if name.isidentifier() else f'"{name}"'
