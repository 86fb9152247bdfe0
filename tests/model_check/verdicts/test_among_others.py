"""The verdicts for any number of transactions: a part searched again, all held against the table of verdicts."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from files.reading import read_text
from model_check.any_number.claims import comparisons, why_no_claim
from model_check.any_number.compared_instances import AMONG_OTHERS
from model_check.clauses import clauses_by_name, name_of
from model_check.finding import Verdict
from model_check.instances import load_instance
from model_check.occurrence import why_it_cannot_occur
from model_check.verdicts.among_others import (
    RESULTS,
    entries_among_others,
    entries_as_toml,
    for_any_number,
    searched,
)
from model_check.verdicts.table import table_of_verdicts
from model_check.world import NO_FAULTS, Environment, Profile, World, single_environments
from tests.sampled import sampled

if TYPE_CHECKING:
    from spec.language import Property

STALE = "run `make any-number`"

CROWDS = [load_instance(name) for name in AMONG_OTHERS]
FIXED = Profile.of("fixed")
CLAUSES = clauses_by_name()


def test_each_world_with_a_claim_has_an_entry() -> None:
    assert list(entries_among_others()) == [world for world in comparisons() if not why_no_claim(*world)], STALE


def test_what_is_written_is_read_back() -> None:
    assert entries_as_toml(entries_among_others()) == read_text(RESULTS), STALE


@pytest.mark.parametrize(
    ("profile", "faults"),
    sampled([("fixed", ()), ("4.5.1", ()), ("fixed", ("crash",)), ("5.5.1", ()), ("4.9.7", ()), ("5.3.3", ())], 2),
)
def test_a_world_searched_again_gives_the_same(profile: str, faults: tuple[str, ...]) -> None:
    world = Profile.of(profile), Environment.of(faults)
    assert searched(*world) == entries_among_others()[world], STALE


def is_out_of_reach(profile: Profile, environment: Environment, clause: Property) -> bool:
    """Whether one among others lacks what the clause needs, as a proxy."""
    return bool(why_it_cannot_occur(clause, *(World(profile, environment, one).constants for one in CROWDS)))


@pytest.mark.parametrize("profile", table_of_verdicts().profiles, ids=str)
def test_what_the_table_breaks_is_broken_among_others(profile: Profile) -> None:
    """Wherever a claim is made and one among others has what the clause needs, but for searches that were cut short.

    S4.foreign_original speaks of two.
    """
    missed, compared = [], 0
    for (each, environment), entry in entries_among_others().items():
        if each.switches != profile.switches:
            continue
        for clause in CLAUSES.values():
            if (
                name_of(clause) == "S4.foreign_original"
                or is_out_of_reach(profile, environment, clause)
                or for_any_number(profile, environment, clause).verdict is not Verdict.VIOLATED
            ):
                continue
            compared += 1
            if clause not in entry.violated and not entry.undecided:
                missed.append((environment.name, name_of(clause)))
    assert missed == []
    assert compared > 30


def test_the_repaired_protocol_is_decided_but_where_a_queue_grows() -> None:
    """Broken exactly what the table has: nothing is broken among others alone."""
    undecided = set()
    for environment in (one for one in single_environments() if not why_no_claim(FIXED, one)):
        verdicts = {name: for_any_number(FIXED, environment, clause) for name, clause in CLAUSES.items()}
        undecided |= {environment.name for name, one in verdicts.items() if one.verdict is Verdict.UNKNOWN}
        broken = {name_of(clause) for clause in entries_among_others()[FIXED, environment].violated}
        assert broken <= {name for name, one in verdicts.items() if one.verdict is Verdict.VIOLATED}, environment
    assert undecided <= {"clock_step", "resume_discarded", "preset_original"}


@pytest.mark.parametrize("clause", ["S5.no_commit_arrived", "S1.unexplained", "S9.unexplained", "S4.same_offsets"])
def test_what_no_search_decides_holds_in_the_repaired_protocol(clause: str) -> None:
    decided = [
        environment
        for environment in single_environments()
        if environment.name not in ("clock_step", "resume_discarded") and not why_no_claim(FIXED, environment)
    ]
    verdicts = [for_any_number(FIXED, environment, CLAUSES[clause]) for environment in decided]
    assert all(one.verdict is Verdict.HOLDS for one in verdicts)
    assert any(one.holds for one in verdicts), "it can occur in one of them"


def test_verdicts_say_why() -> None:
    assert for_any_number(Profile.of("4.9.7"), NO_FAULTS, CLAUSES["S1.immune_half"]).verdict is Verdict.VIOLATED
    cannot = for_any_number(FIXED, NO_FAULTS, CLAUSES["S1.twin_half"])
    assert (cannot.cannot_occur, cannot.why) == (True, "needs the fault twin_send or slow_proxy")
    unclaimed = for_any_number(Profile.of("4.9.7"), Environment.of(["retention"]), CLAUSES["S5.no_commit_arrived"])
    assert unclaimed.verdict is Verdict.UNKNOWN
    assert "does not follow" in unclaimed.why
    proxies = for_any_number(FIXED, Environment.of(["restart_proxy"]), CLAUSES["S5.no_commit_arrived"])
    assert proxies.verdict is Verdict.UNKNOWN
    assert proxies.why == "no instance of one transaction among others has a proxy between producers and the broker"
