"""All scenarios, by id, gathered from the files of this folder."""

from __future__ import annotations

from functools import cache
from importlib import import_module
from pkgutil import iter_modules
from typing import TYPE_CHECKING

from fuzz import defects
from fuzz.defects.scenario import Scenario

if TYPE_CHECKING:
    from collections.abc import Mapping


def listed() -> list[Scenario]:
    """Every scenario, in the order of the files."""
    files = [file.name for file in iter_modules(defects.__path__, f"{defects.__name__}.") if "__" not in file.name]
    return [value for file in files for value in vars(import_module(file)).values() if isinstance(value, Scenario)]


@cache
def scenarios() -> Mapping[str, Scenario]:
    """The scenarios in the order of their ids, one a defect.

    Examples
    --------
    >>> scenarios()["A06"].affected
    '4.5.1'
    """
    return {scenario.identifier: scenario for scenario in sorted(listed(), key=lambda scenario: scenario.identifier)}
