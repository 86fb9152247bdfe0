"""Files of results with a line a world, valid for one specification: `comparisons.toml`, `among_others.toml`."""

from __future__ import annotations

import json
from collections.abc import Mapping
from itertools import groupby
from typing import TYPE_CHECKING, Any

from files.content import read_toml
from model_check.fingerprint import fingerprint_among_others
from model_check.world import Environment, Profile

if TYPE_CHECKING:
    from pathlib import Path

WorldLines = dict[tuple[Profile, Environment], dict[str, Any]]
"""The fields of each world's result: numbers, truth values, texts, and tables of these."""


def read_world_lines(file: Path) -> WorldLines:
    """The results in a file; none where there is no file, or it is of another specification."""
    content = read_toml(file) if file.exists() else {}
    if content.get("specification") != fingerprint_among_others():
        return {}
    return {
        (Profile.of(profile), Environment.named(environment)): given
        for profile, environments in content["worlds"].items()
        for environment, given in environments.items()
    }


def world_lines_as_toml(comment: str, results: WorldLines) -> str:
    r"""The text of a file, which begins with a comment; fields that are empty are left out.

    Examples
    --------
    >>> text = world_lines_as_toml("Results.", {(Profile.of("fixed"), Environment()): {"a": 1, "b": {}, "c": True}})
    >>> print("\n".join(line for line in text.splitlines() if "specification" not in line))
    # Results.
    <BLANKLINE>
    <BLANKLINE>
    [worlds."fixed"]
    "quiet" = { a = 1, c = true }
    """
    lines = [f"# {line}" for line in comment.splitlines()]
    lines += ["", f'specification = "{fingerprint_among_others()}"']
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
