from __future__ import annotations

from dataclasses import replace
from itertools import combinations
from typing import TYPE_CHECKING

import pytest

from model_check.clauses import clauses_by_name
from model_check.counterexample.steps import read_path, replay
from model_check.finding import Verdict
from model_check.instances import load_instance
from model_check.question import Question
from model_check.verdicts.minimal_faults import MinimalFaults, find_minimal_faults
from model_check.verdicts.searches import CachedSearches, Searches, SearchesProgress
from model_check.world import NO_FAULTS, Environment, Profile, World
from spec.transactional_messages import TRANSACTIONAL_MESSAGES
from tests.model_check.checked import checked, untraced
from tests.sampled import sampled

if TYPE_CHECKING:
    from pathlib import Path

    from spec.language import Property

pytestmark = pytest.mark.untraced

CLAUSES = tuple(clauses_by_name().values())
TINY = load_instance("tiny")
OLD, NEW = PROFILES = Profile.of("4.5.1"), Profile.of("5.3.3")
FAULTS = Environment.of(["slow_local", "lose_end", "slow_round", "crash"])
"""Small enough for every set of them to be searched whole."""


@pytest.fixture(autouse=True, params=["tiny"])
def compiled_instance(request: pytest.FixtureRequest) -> str:
    """All tests here run on the worker that compiles it (see the root conftest.py)."""
    return str(request.param)


def find(
    cached: CachedSearches,
    *,
    threads: int = 1,
    most_states: int | None = None,
    is_hasty: bool = True,
    most_faults: int = 2,
) -> tuple[MinimalFaults, Searches]:
    searches = Searches(cached, threads=threads, most_states=most_states)
    found = find_minimal_faults(
        PROFILES,
        TINY,
        CLAUSES,
        searches,
        most_faults=most_faults,
        faults=FAULTS,
        is_hasty=is_hasty,
    )
    return found, searches


def sets_of(found: MinimalFaults) -> dict[tuple[Profile, Property], list[tuple[Environment, int, str]]]:
    return {
        (profile, clause): [(one.environment, one.shown.depth, one.shown.steps) for one in found.sets(profile, clause)]
        for profile in found.profiles
        for clause in found.clauses
    }


def by_definition(profile: Profile, clause: Property, most_faults: int) -> list[tuple[Environment, int]]:
    """Minimal sets from the verdicts of `check` on every environment."""
    breaking: dict[Environment, int] = {}
    for size in range(most_faults + 1):
        for environment in map(Environment, combinations(FAULTS, size)):
            depth = checked(profile.name, environment.name, "tiny")[clause].depth
            if depth is not None and not any(set(other) < set(environment) for other in breaking):
                breaking[environment] = depth
    return list(breaking.items())


@pytest.mark.parametrize("profile", sampled(PROFILES, 2), ids=str)
def test_the_minimal_sets_are_those_of_the_definition(profile: Profile, tmp_path: Path) -> None:
    found, _ = find(CachedSearches(tmp_path / "cached"), threads=2)
    assert found.complete
    for clause in CLAUSES:
        sets = found.sets(profile, clause)
        assert [(one.environment, one.shown.depth) for one in sets] == by_definition(profile, clause, 2), clause
        assert all(one.certain for one in sets)
        assert found.verdict(profile, clause) is (Verdict.VIOLATED if sets else Verdict.HOLDS)
    assert any(len(one.environment) == size for c in CLAUSES for one in found.sets(profile, c) for size in (0, 1))


def test_every_schedule_breaks_its_clause_with_its_last_step(tmp_path: Path) -> None:
    found, _ = find(CachedSearches(tmp_path / "cached"))
    for (profile, clause), sets in sets_of(found).items():
        for environment, depth, schedule in sets:
            constants = World(profile, environment, TINY).constants
            path = read_path(TRANSACTIONAL_MESSAGES, constants, schedule)
            assert len(path) == depth
            broken, before = (replay(TRANSACTIONAL_MESSAGES, constants, p).violated for p in (path, path[:-1]))
            assert clause in set(broken) - set(before)


def test_haste_and_threads_change_no_set(tmp_path: Path) -> None:
    hasty, _ = find(CachedSearches(tmp_path / "a"))
    patient, _ = find(CachedSearches(tmp_path / "b"), threads=2, is_hasty=False)
    assert sets_of(hasty) == sets_of(patient)
    assert all(finding.numbers.complete for finding in patient.findings.values())


def test_a_hasty_search_ends_when_all_its_clauses_are_violated(tmp_path: Path) -> None:
    clause, crash = clauses_by_name()["S10.op_entry_dies_with_the_process"], Environment.of(["crash"])
    searches = Searches(CachedSearches(tmp_path / "cached"))
    found = find_minimal_faults([NEW], TINY, [clause], searches, faults=FAULTS)
    assert [one.environment for one in found.sets(NEW, clause)] == [crash]
    numbers = found.findings[World(NEW, crash, TINY)].numbers
    assert not numbers.complete
    assert numbers.depth == 4
    assert found.complete, "nothing is unknown all the same"
    environments = [world.environment for world in found.findings]
    assert not any("crash" in one for one in environments if len(one) > 1), "supersets are not searched"


def test_a_search_that_is_cut_short_leaves_its_clauses_unknown_and_larger_sets_uncertain(tmp_path: Path) -> None:
    found, _ = find(CachedSearches(tmp_path / "cached"), most_states=3_000)
    assert not found.complete
    unexplained = clauses_by_name()["S1.unexplained"]
    assert found.verdict(NEW, unexplained) is Verdict.UNKNOWN
    unknown = {w.environment.name for w, clause in found.unknown() if clause == unexplained and w.profile == NEW}
    assert unknown >= {"crash"}
    uncertain = [one for c in CLAUSES for one in found.sets(NEW, c) if not one.certain]
    assert uncertain
    assert all(one.environment for one in uncertain), "nothing is smaller than the quiet world"


def test_an_interrupted_run_goes_on_with_what_it_has_cached(tmp_path: Path) -> None:
    whole, all_searches = find(CachedSearches(tmp_path / "whole"))
    file = tmp_path / "cached"

    def interrupt(progress: SearchesProgress) -> None:
        if progress.done >= 3:
            raise KeyboardInterrupt

    searches = Searches(CachedSearches(file), report=interrupt)
    with pytest.raises(KeyboardInterrupt):
        find_minimal_faults(PROFILES, TINY, CLAUSES, searches, faults=FAULTS)
    assert 3 <= searches.searched < all_searches.searched
    with file.open("ab") as torn:
        torn.write(b'{"world": "[cut off')
    again, rest = find(CachedSearches(file))
    assert sets_of(again) == sets_of(whole)
    assert rest.found == searches.searched
    assert rest.searched == all_searches.searched - searches.searched
    _, nothing = find(CachedSearches(file))
    assert (nothing.searched, nothing.found) == (0, all_searches.searched)
    _, fresh = find(CachedSearches(file, fresh=True))
    assert (fresh.searched, fresh.found) == (all_searches.searched, 0)


def test_a_cached_search_answers_only_what_it_knows(tmp_path: Path) -> None:
    cached = CachedSearches(tmp_path / "cached")
    op_entry, lost_op = ((clauses_by_name()[name],) for name in ("S10.op_entry_dies_with_the_process", "S1.lost_op"))
    crash = Question(world=World.of("5.3.3", ["crash"]), paths=())

    def searched(question: Question, most_states: int | None = None) -> int:
        searches = Searches(cached, most_states=most_states)
        searches.run([question])
        return searches.searched

    with untraced():
        assert searched(replace(crash, until=op_entry)) == 1
        assert searched(replace(crash, until=op_entry)) == 0
        assert searched(replace(crash, paths=op_entry, until=op_entry)) == 1, "no schedule was cached"
        assert searched(replace(crash, until=lost_op)) == 1, "it ended before that was decided"
        assert searched(crash, most_states=2_000) == 1
        assert searched(crash, most_states=2_000) == 0
        assert searched(crash, most_states=1_000) == 1, "a prefix of another length"
        assert searched(replace(crash, paths=op_entry)) == 1
        assert searched(replace(crash, paths=op_entry), most_states=9) == 0, "the whole is known"
        assert searched(replace(crash, paths=lost_op, until=lost_op), most_states=200_000) == 1
        assert searched(crash, most_states=200_000) == 0, "a search that ended early hides no whole one"


def test_of_profiles_that_do_the_same_in_an_environment_one_is_searched(tmp_path: Path) -> None:
    searches = Searches(CachedSearches(tmp_path / "cached"))
    both = Profile.of("5.5.0"), Profile.of("5.5.1")
    found = find_minimal_faults(both, TINY, CLAUSES, searches, most_faults=0)
    assert searches.searched == 1
    older, newer = (found.findings[World(profile, NO_FAULTS, TINY)] for profile in both)
    assert older.in_profile(both[1]) == newer
    turned = [World(profile.turn("+settles_once"), NO_FAULTS, TINY) for profile in both]
    assert len(searches.run([Question(world=world, paths=()) for world in turned])) == 2
    assert searches.searched == 2
    apart = [World(profile, Environment.of(["role_change", "retention"]), TINY) for profile in both]
    assert len(searches.run([Question(world=world, paths=()) for world in apart])) == 2
    assert searches.searched == 4
