"""Which releases have a defect, by the catalogue's words; what a search finds in a release agrees with them."""

from __future__ import annotations

import pytest

from model_check.defects.affected import affects, fixed_in, possible_with, upgrade_from
from model_check.defects.catalogue import catalogue
from model_check.world import Profile

RELEASES = (
    "4.3.0", "4.3.1", "4.3.2", "4.4.0", "4.5.1", "4.5.2", "4.6.0", "4.6.1", "4.7.0", "4.8.0",
    "4.9.0", "4.9.2", "4.9.3", "4.9.4", "4.9.5", "4.9.7", "5.0.0", "5.1.0", "5.1.1", "5.1.3",
    "5.1.4", "5.2.0", "5.3.1", "5.3.3", "5.3.4", "5.4.0", "5.5.0", "5.5.1",
)  # fmt: skip
SEARCHED = [(name, defect.search) for name, defect in catalogue().items() if defect.search is not None]


@pytest.mark.parametrize("identifier", catalogue())
def test_a_defect_that_is_fixed_is_in_a_release_before_that_and_not_in_it(identifier: str) -> None:
    assert not any(affects(identifier, fixed) for fixed in fixed_in(identifier)[-1:])
    has_it = [release for release in RELEASES if affects(identifier, release)]
    defect = catalogue()[identifier]
    if "no release" in defect.affected or "back to" in defect.affected or defect.in_releases == "":
        assert not has_it
    else:
        assert has_it
        assert all(affects(identifier, release) for release in RELEASES if defect.affected == release)


@pytest.mark.parametrize(("identifier", "search"), SEARCHED)
def test_the_profile_of_a_search_may_have_its_defect_and_a_release_that_is_rid_of_it_has_not(
    identifier: str, search: object
) -> None:
    question = catalogue()[identifier].search
    assert question is search
    assert question is not None
    profile, repaired = question.world.profile, question.repaired_in
    assert all(possible_with(identifier, one.switches) for one in (profile, *question.also_in))
    if repaired is not None and repaired.is_version:
        assert not affects(identifier, repaired.name)
        versions = Profile.versions()
        is_later = versions.index(repaired) > versions.index(Profile.of(profile.unturned))
        assert bool(upgrade_from(identifier, profile.name)) == is_later


def test_the_release_to_go_to_is_the_one_that_the_catalogue_says_is_fixed() -> None:
    for identifier in catalogue():
        for release in RELEASES:
            for target in upgrade_from(identifier, release):
                assert target in catalogue()[identifier].fixed
                assert not affects(identifier, target)
