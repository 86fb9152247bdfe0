from __future__ import annotations

from itertools import combinations
from typing import TYPE_CHECKING

import pytest

from model_check.clauses import clause_names
from model_check.counterexample.steps import read_path, replay
from model_check.errors import ModelCheckError
from model_check.finding import Verdict
from model_check.instances import load_instance
from model_check.question import Question
from model_check.verdicts.environment import in_order
from model_check.verdicts.minimal_faults import MinimalFaults, find_minimal_faults
from model_check.verdicts.searches import CachedSearches, Searches, SearchesProgress
from model_check.world import World
from spec.transactional_messages import TRANSACTIONAL_MESSAGES
from tests.model_check.checked import checked, untraced
from tests.sampled import sampled

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.untraced

PROFILES = ("4.5.1", "5.3.3")
FAULTS = ("slow_local", "lose_end", "slow_round", "crash")
"""Small enough for every set of them to be searched whole."""


@pytest.fixture(autouse=True, params=["tiny"])
def compiled_instance(request: pytest.FixtureRequest) -> str:
    """All tests here run on the worker that compiles it (see the root conftest.py)."""
    return str(request.param)


def find(
    kept: CachedSearches,
    *,
    threads: int = 1,
    most_states: int | None = None,
    is_hasty: bool = True,
    most_faults: int = 2,
) -> tuple[MinimalFaults, Searches]:
    searches = Searches(kept, threads=threads, most_states=most_states)
    found = find_minimal_faults(
        PROFILES,
        load_instance("tiny"),
        clause_names(),
        searches,
        most_faults=most_faults,
        faults=FAULTS,
        is_hasty=is_hasty,
    )
    return found, searches


def sets_of(found: MinimalFaults) -> dict[tuple[str, str], list[tuple[tuple[str, ...], int, str]]]:
    return {
        (profile, clause): [(one.environment, one.shown.depth, one.shown.steps) for one in found.sets(profile, clause)]
        for profile in found.profiles
        for clause in found.clauses
    }


def by_definition(profile: str, clause: str, most_faults: int) -> list[tuple[tuple[str, ...], int]]:
    """Minimal sets from the verdicts of `check` on every environment."""
    breaking: dict[tuple[str, ...], int] = {}
    for size in range(most_faults + 1):
        for faults in combinations(in_order(FAULTS), size):
            result = checked(profile, ",".join(faults) or "quiet", "tiny")
            depth = {f"{r.clause.identifier}.{r.clause.clause}": r.depth for r in result.rows}[clause]
            if depth is not None and not any(set(other) < set(faults) for other in breaking):
                breaking[faults] = depth
    return list(breaking.items())


@pytest.mark.parametrize("profile", sampled(PROFILES, 2))
def test_the_minimal_sets_are_those_of_the_definition(profile: str, tmp_path: Path) -> None:
    found, _ = find(CachedSearches(tmp_path / "kept"), threads=2)
    assert found.complete
    for clause in clause_names():
        sets = found.sets(profile, clause)
        assert [(one.environment, one.shown.depth) for one in sets] == by_definition(profile, clause, 2), clause
        assert all(one.certain for one in sets)
        assert found.verdict(profile, clause) is (Verdict.VIOLATED if sets else Verdict.HOLDS)
    assert any(
        len(one.environment) == size for c in clause_names() for one in found.sets(profile, c) for size in (0, 1)
    )


def test_every_schedule_breaks_its_clause_with_its_last_step(tmp_path: Path) -> None:
    found, _ = find(CachedSearches(tmp_path / "kept"))
    for (profile, clause), sets in sets_of(found).items():
        for faults, depth, schedule in sets:
            constants = World.of(profile, faults, "tiny").constants
            path = read_path(TRANSACTIONAL_MESSAGES, constants, schedule)
            assert len(path) == depth
            broken, before = (
                {f"{c.identifier}.{c.clause}" for c in replay(TRANSACTIONAL_MESSAGES, constants, p).violated}
                for p in (path, path[:-1])
            )
            assert clause in broken - before


def test_haste_and_threads_change_no_set(tmp_path: Path) -> None:
    hasty, _ = find(CachedSearches(tmp_path / "a"))
    patient, _ = find(CachedSearches(tmp_path / "b"), threads=2, is_hasty=False)
    assert sets_of(hasty) == sets_of(patient)
    assert all(outcome.complete for outcome in patient.findings.values())


def test_a_hasty_search_ends_when_all_its_clauses_are_violated(tmp_path: Path) -> None:
    clause = "S10.op_entry_dies_with_the_process"
    searches = Searches(CachedSearches(tmp_path / "kept"))
    found = find_minimal_faults(["5.3.3"], load_instance("tiny"), [clause], searches, faults=FAULTS)
    assert [one.environment for one in found.sets("5.3.3", clause)] == [("crash",)]
    crash = found.findings[World("5.3.3", ("crash",), found.instance)]
    assert not crash.complete
    assert crash.depth == 4
    assert found.complete, "nothing is unknown all the same"
    assert not any("crash" in e.faults for e in found.findings if len(e.faults) > 1), "supersets are not searched"


def test_a_search_that_is_cut_short_leaves_its_clauses_unknown_and_larger_sets_uncertain(tmp_path: Path) -> None:
    found, _ = find(CachedSearches(tmp_path / "kept"), most_states=3_000)
    assert not found.complete
    assert found.verdict("5.3.3", "S1.unexplained") is Verdict.UNKNOWN
    assert {
        e.environment.name for e, clause in found.unknown() if clause == "S1.unexplained" and e.profile == "5.3.3"
    } >= {"crash"}
    uncertain = [one for c in clause_names() for one in found.sets("5.3.3", c) if not one.certain]
    assert uncertain
    assert all(one.environment for one in uncertain), "nothing is smaller than the quiet world"


def test_an_interrupted_run_goes_on_with_what_it_has_kept(tmp_path: Path) -> None:
    whole, all_searches = find(CachedSearches(tmp_path / "whole"))
    file = tmp_path / "kept"

    def interrupt(progress: SearchesProgress) -> None:
        if progress.done >= 3:
            raise KeyboardInterrupt

    searches = Searches(CachedSearches(file), report=interrupt)
    with pytest.raises(KeyboardInterrupt):
        find_minimal_faults(PROFILES, load_instance("tiny"), clause_names(), searches, faults=FAULTS)
    assert 3 <= searches.searched < all_searches.searched
    with file.open("ab") as torn:
        torn.write(b'{"environment": "[cut off')
    again, rest = find(CachedSearches(file))
    assert sets_of(again) == sets_of(whole)
    assert rest.found == searches.searched
    assert rest.searched == all_searches.searched - searches.searched
    _, nothing = find(CachedSearches(file))
    assert (nothing.searched, nothing.found) == (0, all_searches.searched)
    _, fresh = find(CachedSearches(file, fresh=True))
    assert (fresh.searched, fresh.found) == (all_searches.searched, 0)


def test_a_kept_search_answers_only_what_it_knows(tmp_path: Path) -> None:
    kept = CachedSearches(tmp_path / "kept")
    environment = World("5.3.3", ("crash",), load_instance("tiny"))
    clause = "S10.op_entry_dies_with_the_process"

    def searched(request: Question, most_states: int | None = None) -> int:
        searches = Searches(kept, most_states=most_states)
        searches.run([request])
        return searches.searched

    with untraced():
        assert searched(Question(environment, until=(clause,))) == 1
        assert searched(Question(environment, until=(clause,))) == 0
        assert searched(Question(environment, (clause,), (clause,))) == 1, "no schedule was kept"
        assert searched(Question(environment, until=("S1.lost_op",))) == 1, "it ended before that was decided"
        assert searched(Question(environment), most_states=2_000) == 1
        assert searched(Question(environment), most_states=2_000) == 0
        assert searched(Question(environment), most_states=1_000) == 1, "a prefix of another length"
        assert searched(Question(environment, (clause,))) == 1
        assert searched(Question(environment, (clause,)), most_states=9) == 0, "the whole is known"
        assert searched(Question(environment, ("S1.lost_op",), ("S1.lost_op",)), most_states=200_000) == 1
        assert searched(Question(environment), most_states=200_000) == 0, "a search that ended early hides no whole one"


def test_an_unknown_fault_is_answered_with_those_there_are(tmp_path: Path) -> None:
    with pytest.raises(ModelCheckError, match="no fault 'fire'; there are slow_local"):
        find_minimal_faults(
            ["5.3.3"], load_instance("tiny"), clause_names(), Searches(CachedSearches(tmp_path / "k")), faults=["fire"]
        )


def test_of_profiles_that_do_the_same_in_an_environment_one_is_searched(tmp_path: Path) -> None:
    searches = Searches(CachedSearches(tmp_path / "kept"))
    both = ("5.5.0", "5.5.1")
    found = find_minimal_faults(both, load_instance("tiny"), clause_names(), searches, most_faults=0)
    assert searches.searched == 1
    older, newer = (found.findings[World(profile, (), found.instance)] for profile in both)
    assert older == newer
    turned = [World(f"{profile}+settles_once", (), found.instance) for profile in both]
    assert len(searches.run([Question(environment) for environment in turned])) == 2
    assert searches.searched == 2
    apart = [World(profile, ("role_change", "retention"), found.instance) for profile in both]
    assert len(searches.run([Question(environment) for environment in apart])) == 2
    assert searches.searched == 4
