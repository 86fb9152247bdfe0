"""The releases that a defect is said to be in are those that show it: the catalogue against searches and scenarios."""

from __future__ import annotations

import re

import pytest

from fuzz.defects.scenario import scenarios
from model_check.defects.catalogue import Defect, DefectSearch, catalogue

VERSION = r"\d+\.\d+\.\d+"


def key(version: str) -> tuple[int, ...]:
    return tuple(map(int, version.split(".")))


def has(defect: Defect, version: str) -> bool:
    """Whether its edges say that a release has it; what eases it, or must be chosen, is no edge."""
    first = re.match(VERSION, defect.affected)
    fixed = re.fullmatch(rf"({VERSION})(, {VERSION}|, Java client)?", defect.fixed)
    is_after = first is None or key(version) >= key(first[0])
    return is_after and (fixed is None or key(version) < key(fixed[1]))


def shown() -> list[tuple[str, str, bool]]:
    """Each defect, a release, and whether a search or a scenario shows the defect there."""
    found = []
    for identifier, defect in catalogue().items():
        for one in (defect.search, scenarios().get(identifier)):
            if one is not None:
                with_it = (one.world.profile if isinstance(one, DefectSearch) else one.affected, *one.also_in)
                found += [(identifier, str(profile), True) for profile in with_it]
                found.append((identifier, str(one.repaired_in), False))
    return sorted({(name, profile, is_there) for name, profile, is_there in found if re.fullmatch(VERSION, profile)})


@pytest.mark.parametrize(("identifier", "version", "is_there"), shown())
def test_a_release_that_shows_a_defect_has_it_by_its_edges_and_one_that_is_rid_of_it_has_not(
    identifier: str, version: str, is_there: bool
) -> None:
    defect = catalogue()[identifier]
    assert has(defect, version) is is_there, f"{defect.versions}, and {version} {'shows' if is_there else 'does not'}"
