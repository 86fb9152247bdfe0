"""What `halfcheck verdicts --update` searches again, and what it keeps."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from model_check.clauses import clauses_by_name
from model_check.instances import load_instance
from model_check.verdicts import table as table_module
from model_check.verdicts.regeneration import Regenerated, regenerate
from model_check.verdicts.searches import CachedSearches
from model_check.verdicts.table import SearchPlan, TableOfVerdicts
from model_check.world import NO_FAULTS, Environment, Profile
from spec.constants import FAULTS

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from model_check.verdicts.counterexamples import MinimalCounterexample
    from spec.constants import Instance

TINY, CHANGED, KEPT = load_instance("tiny"), Profile.of("5.3.3"), Profile.of("4.9.7")
IMMUNE = clauses_by_name()["S1.immune_half"]
PLAN = {"tiny": SearchPlan(0, 1_000_000)}


@pytest.fixture
def machines(monkeypatch: pytest.MonkeyPatch) -> dict[Profile, str]:
    """What each profile does, in words that the test may change."""
    does = {profile: f"that of {profile}" for profile in Profile.all()}

    def said(profile: Profile, instance: Instance) -> str:
        assert instance == TINY
        return does[profile]

    monkeypatch.setattr(table_module, "machine_fingerprint", said)
    return does


@pytest.fixture
def again(tmp_path: Path, machines: dict[Profile, str]) -> Again:
    assert machines
    return Again(tmp_path)


class Again:
    """Regenerates a table, with no search kept from before."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.times = 0

    def __call__(
        self, table: TableOfVerdicts, schedules: Sequence[MinimalCounterexample] = (), *, keeps_current: bool = True
    ) -> Regenerated:
        self.times += 1
        cached = CachedSearches(self.folder / str(self.times))
        return regenerate(table, [TINY], cached, schedules=schedules, keeps_current=keeps_current)


@pytest.fixture
def made(again: Again) -> Regenerated:
    """The table of the quiet world, from nothing."""
    return again(TableOfVerdicts("", (), (), (), PLAN))


def test_what_was_searched_is_noted_and_not_searched_again(made: Regenerated, again: Again) -> None:
    assert made.searched
    assert made.whole.machines["5.3.3"] == {"tiny": "that of 5.3.3 0 1000000"}
    assert made.whole.is_current(CHANGED, TINY)
    later = again(made.whole, made.schedules)
    assert (later.searched, later.cached) == (0, 0)
    assert later.whole == made.whole
    assert later.schedules == made.schedules


def test_all_is_searched_where_it_is_compared(made: Regenerated, again: Again) -> None:
    later = again(made.whole, made.schedules, keeps_current=False)
    assert later.searched == made.searched
    assert (later.whole, later.schedules) == (made.whole, made.schedules)


def test_a_profile_that_does_something_else_is_searched(
    made: Regenerated, again: Again, machines: dict[Profile, str]
) -> None:
    wrong = {
        profile: {NO_FAULTS: replace(made.whole.of(profile, TINY)[NO_FAULTS], distinct=1)}
        for profile in (CHANGED, KEPT)
    }
    entries = {**made.whole.entries, **{profile.name: {"tiny": one} for profile, one in wrong.items()}}
    machines[CHANGED] = "another"
    later = again(replace(made.whole, entries=entries), made.schedules)
    assert later.whole.of(CHANGED, TINY) == made.whole.of(CHANGED, TINY)
    assert later.whole.of(KEPT, TINY) == wrong[KEPT], "what it does is what it did"
    assert later.whole.machines["5.3.3"] == {"tiny": "another 0 1000000"}
    assert 0 < later.searched < made.searched
    assert later.schedules == made.schedules


def test_a_plan_that_reaches_further_is_searched(made: Regenerated) -> None:
    further = replace(made.whole, plan={"tiny": SearchPlan(0, 2_000_000)})
    assert not further.is_current(KEPT, TINY)


def test_a_schedule_that_is_missing_is_found(made: Regenerated, again: Again) -> None:
    left = [one for one in made.schedules if one.clause != IMMUNE]
    assert 0 < len(left) < len(made.schedules)
    later = again(made.whole, left)
    assert later.schedules == made.schedules


def test_a_fault_that_is_new_does_nothing_where_nothing_has_changed(made: Regenerated, again: Again) -> None:
    quiet = {profile.name: {"tiny": {NO_FAULTS: made.whole.of(profile, TINY)[NO_FAULTS]}} for profile in Profile.all()}
    older = replace(made.whole, faults=tuple(fault for fault in FAULTS if fault != "crash"), entries=quiet)
    entries = again(older, made.schedules).whole.of(KEPT, TINY)
    assert list(entries) == [NO_FAULTS, Environment(["crash"])]
    assert entries[Environment(["crash"])].is_idle
