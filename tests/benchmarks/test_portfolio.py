"""What holds of drawn profiles is held against larger instances, and a portfolio that is too small is noticed."""

from __future__ import annotations

from benchmarks.portfolio.__main__ import report
from benchmarks.portfolio.drawn_profiles import MOST_TURNED, drawn_profiles
from benchmarks.portfolio.held import LARGER, MUST_BE_SEARCHED, held_against
from model_check.answers.chosen_instances import portfolio_of
from model_check.switches import turned_in_vain
from model_check.world import NO_FAULTS, Profile
from spec.profiles import VERSIONS


def test_drawn_profiles_are_no_releases_differ_and_come_again_by_their_seed() -> None:
    drawn = drawn_profiles(150, seed=47)
    assert len(drawn) == 150
    assert drawn == drawn_profiles(160, seed=47)[:150]
    assert drawn != drawn_profiles(150, seed=48)
    assert len({profile.switches for profile in drawn}) == 150
    for profile in drawn:
        assert profile.unturned in VERSIONS
        assert 1 <= len(profile.turned) <= MOST_TURNED
        assert not turned_in_vain(profile)


def test_a_portfolio_that_is_too_small_is_noticed() -> None:
    """A03 in 4.9.7 takes two transactions that may have an immunity, and a single check."""
    profile = Profile.of("4.9.7+clamps_offsets")
    small = held_against(profile, instances=["tiny"], larger_ones=["large@2x3x2"])
    assert small.false["L4.left_behind"] == "large@2x3x2"
    enough = held_against(profile, instances=["tiny", "large@2x3x2"], larger_ones=["large@2x3x2"])
    assert (dict(enough.false), enough.found_besides["L4.left_behind"]) == ({}, "large@2x3x2")
    assert set(enough.states) == {"tiny", "large@2x3x2"}, "what was searched is not searched again"
    page = report([small.to_json(), enough.to_json()], 47)
    assert "breaks: **1** of 2." in page
    assert "| 4.9.7+clamps_offsets | {'" in page


def test_what_profiles_that_are_no_releases_are_held_against_is_in_their_portfolio_or_beyond_it() -> None:
    portfolio = [instance.name for instance in portfolio_of(Profile.of("5.5.1+keeps_flag"), NO_FAULTS)]
    assert set(MUST_BE_SEARCHED) <= set(portfolio)
    assert not set(LARGER) & set(portfolio)
