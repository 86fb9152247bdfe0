"""Which profile stands for a release."""

from __future__ import annotations

import pytest

from model_check.clauses import clauses_by_name
from model_check.cpython import explore
from model_check.errors import ModelCheckError
from model_check.releases import STANDS_FOR, TURNED, profile_for
from model_check.switches import switch_records
from model_check.world import Profile, World
from spec.profiles import VERSIONS
from spec.transactional_messages import TRANSACTIONAL_MESSAGES


def test_every_profile_that_is_a_version_stands_for_some_releases_and_for_itself() -> None:
    assert tuple(STANDS_FOR) == VERSIONS
    assert [profile_for(version) for version in VERSIONS] == [(version, "") for version in VERSIONS]


@pytest.mark.parametrize(
    ("release", "profile", "why"),
    [
        ("4.5.0", "4.5.1", "4.5.0 has no profile: it is judged by 4.5.1, which stands for 4.3.0 to 4.5.2"),
        (
            "4.9.2",
            "4.9.7",
            "4.9.2 has no profile: it is judged by 4.9.7, which stands for 4.6.0 to 5.0.0; "
            "nearer to it comes 4.9.7+rewinds_beyond_end+undecodable_throws",
        ),
        ("5.4.1", "5.4.0", "5.4.1 has no profile: it is judged by 5.4.0, which stands for 5.3.4 to 5.4.0"),
        (
            "6.0.0",
            "5.5.1",
            "6.0.0 has no profile: it is judged by 5.5.1, the nearest; "
            "6.0.0 is newer, and its source has not been read",
        ),
    ],
)
def test_a_release_without_a_profile_is_judged_by_the_nearest(release: str, profile: str, why: str) -> None:
    assert profile_for(release) == (profile, why)


@pytest.mark.parametrize(
    ("release", "instead"), [("4.7.1", "4.9.7+rewinds_beyond_end"), ("4.9.4", "4.9.7"), ("4.9.5", ""), ("4.5.2", "")]
)
def test_where_a_round_dies_of_halves_only_another_profile_is_named_for_op_messages(release: str, instead: str) -> None:
    _, why = profile_for(release, with_switches=True)
    assert (f"; with undecodable_op, ask {instead}: its rounds leave such op messages out" in why) == bool(instead)


def test_of_op_messages_that_profile_says_more() -> None:
    """The real classes of 5.0.0 leave such an op message out, as the reference broker does beside them."""
    clause = clauses_by_name()["L4.undecodable_op"]
    broken = [
        clause in explore(TRANSACTIONAL_MESSAGES, World.of(profile, ("undecodable_op",), "tiny").constants).violations
        for profile in ("4.9.7+undecodable_throws", "4.9.7")
    ]
    assert broken == [False, True]


@pytest.mark.parametrize(("first", "last", "turned"), TURNED)
def test_a_switch_by_which_releases_differ_stands_otherwise_in_the_profile_that_judges_them(
    first: str, last: str, turned: str
) -> None:
    profile, _ = profile_for(first)
    assert profile_for(last)[0] == profile
    assert profile not in (first, last)
    assert Profile.of(profile).turn(turned).switches != Profile.of(profile).switches


def test_a_switch_changes_where_its_entry_says() -> None:
    """What spec/switches.py says of each switch that some releases between two profiles have otherwise."""
    for switch, said in {
        "keeps_discarded": "from 4.5.2 on",
        "rewinds_beyond_end": "up to 4.9.3",
        "undecodable_throws": "up to 4.9.4",
        "refuses_late_end": "from 5.1.1 on",
    }.items():
        assert said in switch_records()[switch].says
        assert switch in {turned[1:] for *_, turned in TURNED}


@pytest.mark.parametrize("release", ["", "five", "4.2.0", "5.4.0-SNAPSHOT", "5.5", "5", "5.5.1.2"])
def test_what_is_no_release_with_transactional_messages_is_refused_by_name(release: str) -> None:
    with pytest.raises(ModelCheckError, match="no release"):
        profile_for(release)
