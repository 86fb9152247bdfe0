"""Which releases have a defect agrees with the searches and scenarios that show it, and show that it is gone."""

from __future__ import annotations

from dataclasses import replace

import pytest

from model_check.defects.affected import affects, defects_in, ranges_of
from model_check.defects.catalogue import catalogue
from model_check.defects.findings import BROKER_FINDINGS
from model_check.defects.lookup import in_release
from model_check.errors import BadFile, ModelCheckError
from spec.profiles import VERSIONS

SHOWN = BROKER_FINDINGS.read()
RELEASES = {*VERSIONS, "5.0.0", "5.1.0", "5.2.0"}


def test_a_profile_that_shows_a_defect_has_it_and_one_that_is_rid_of_it_has_not() -> None:
    asked = 0
    for identifier, defect in catalogue().items():
        has: list[str] = []
        lacks: list[str] = []
        if defect.search is not None:
            has += map(str, (defect.search.world.profile, *defect.search.also_in))
            lacks.append(str(defect.search.repaired_in))
        if identifier in SHOWN:
            has += [SHOWN[identifier].affected, *SHOWN[identifier].also_in]
            lacks.append(SHOWN[identifier].repaired_in)
        for release in RELEASES & {*has}:
            assert any(part.has(release) for part in ranges_of(defect)), (identifier, release)
        for release in RELEASES & {*lacks}:
            assert not any(part.has(release) for part in ranges_of(defect)), (identifier, release)
        asked += len(RELEASES & {*has, *lacks})
    assert asked > len(catalogue())


@pytest.mark.parametrize(
    ("release", "has", "lacks"),
    [
        ("4.3.0", "A01 A28 A30 A31 B01", "A27 B02 A17"),
        ("4.5.2", "A02 A11 B30", "A31 A17 B02"),
        ("5.0.0", "A07 A23 A44 B51", "B02 A33 B12"),
        ("5.3.3", "A11 A16 A18 B02 B09 A35", "A17 A43 A44 B52 B12"),
        ("5.5.1", "A17 A46 B01 B52", "A16 A18 A23 B09"),
        ("5.6.0", "A17 B01 B52", "A16 A18 A23 B09 A46"),
    ],
)
def test_a_release_has_the_defects_of_its_source(release: str, has: str, lacks: str) -> None:
    ids = {defect.identifier for defect in defects_in(release)}
    assert set(has.split()) <= ids
    assert not set(lacks.split()) & ids


@pytest.mark.parametrize("release", [*sorted(RELEASES), "4.3.0", "5.6.0"])
def test_a_list_of_a_release_and_the_advice_for_it_know_the_same_defects(release: str) -> None:
    """But for B18, which a release shows only to whom goes back to it."""
    advised = {identifier for identifier in catalogue() if affects(identifier, release)}
    assert advised == {defect.identifier for defect in defects_in(release)} - {"B18"}


def test_a_list_of_a_release_that_nobody_has_read_says_so() -> None:
    assert in_release("5.6.0").title.endswith("known defects; 5.6.0 is newer, and its source has not been read")
    assert in_release("5.5.1").title.endswith("known defects")


def test_what_is_no_release_or_no_range_is_refused() -> None:
    with pytest.raises(ModelCheckError, match="no release 'new'"):
        defects_in("new")
    closed = replace(catalogue()["B02"], fixed="5.9.0")
    with pytest.raises(BadFile, match=r"B02: '5\.1\.0' is no range"):
        ranges_of(closed)
