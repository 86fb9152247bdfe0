from __future__ import annotations

from dataclasses import replace
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import pytest

from benchmarks.machines.two_phase_commit import TWO_PHASE_COMMIT, Constants
from model_check import cpython
from model_check.errors import EvaluationError
from model_check.explicit import search as explicit_search
from model_check.explicit.state_store import hash_table
from model_check.explicit.state_store.store import StateStore
from spec.language import RangeViolation
from tests.model_check.explicit.broken_machines import BROKEN, MACHINE, Sizes
from tests.model_check.tla import forgetful_machine

if TYPE_CHECKING:
    from model_check.explicit.search import Progress
    from model_check.explicit.state_store.regions import Counts


@pytest.fixture(autouse=True, params=["two_phase_commit"])
def compiled_instance(request: pytest.FixtureRequest) -> str:
    """All tests here run on the worker that compiles it (see the root conftest.py)."""
    return str(request.param)


@pytest.mark.parametrize(("switch", "complaint"), list(BROKEN.items()))
def test_a_value_that_leaves_its_range_stops_both_searches_and_is_named(switch: str, complaint: str) -> None:
    constants = Sizes(**{switch: True})
    with pytest.raises(RangeViolation) as in_cpython:
        cpython.explore(MACHINE, constants)
    assert str(in_cpython.value) == complaint.partition(": ")[2]
    with pytest.raises(EvaluationError) as compiled:
        explicit_search.explore(MACHINE, constants)
    assert str(compiled.value) == complaint
    assert compiled.value.exit_code == 75


def test_the_same_machine_without_the_broken_steps_is_searched() -> None:
    found = explicit_search.explore(MACHINE, Sizes())
    assert (found.distinct, found.generated, found.depth, found.sizes) == (5, 5, 4, [1, 1, 1, 1, 1])
    assert [str(step) for step in found.path_to(0) or ()] == ["go_on"] * 4
    assert [str(step) for step in found.path_to(1) or ()] == ["go_on"] * 3


def test_a_search_that_is_cut_short_says_so_and_is_a_prefix_of_the_whole() -> None:
    constants = Constants(resource_managers=7)
    whole = explicit_search.explore(TWO_PHASE_COMMIT, constants)
    cut = explicit_search.explore(TWO_PHASE_COMMIT, constants, most_states=100_000)
    assert whole.complete
    assert not cut.complete
    assert 100_000 <= cut.distinct < whole.distinct == 296_448
    assert (cut.store.all_words() == whole.store.all_words()[: cut.distinct]).all()
    assert cut.sizes[:-1] == whole.sizes[: len(cut.sizes) - 1]


def test_two_searches_give_the_same_numbers_in_the_same_order() -> None:
    first, second = (explicit_search.explore(TWO_PHASE_COMMIT, Constants(resource_managers=5)) for _ in range(2))
    assert (first.store.all_words() == second.store.all_words()).all()
    assert first.sizes == second.sizes


@pytest.mark.parametrize("threads", [2, 3])
def test_several_threads_find_the_same_states_level_by_level(threads: int) -> None:
    constants = Constants(resource_managers=7)
    alone = explicit_search.explore(TWO_PHASE_COMMIT, constants)
    together = explicit_search.explore(TWO_PHASE_COMMIT, constants, threads=threads)
    assert together.sizes == alone.sizes
    assert (together.distinct, together.generated) == (alone.distinct, alone.generated)
    assert together.seen_at == alone.seen_at
    found = [set(map(bytes, search.store.all_words())) for search in (alone, together)]
    assert found[0] == found[1]
    assert (together.store.counts > 0).sum() == threads


def test_no_state_is_stored_twice() -> None:
    found = explicit_search.explore(TWO_PHASE_COMMIT, Constants(resource_managers=7))
    assert found.compiled.packing.words == 1
    assert len(set(map(bytes, found.store.all_words()))) == found.distinct


@pytest.fixture
def a_level_at_a_time(monkeypatch: pytest.MonkeyPatch) -> None:
    """A search comes back behind each level, however small, so that it can be watched and interrupted there."""
    monkeypatch.setattr(explicit_search, "LEVELS_A_CALL", 1)


@pytest.mark.usefixtures("a_level_at_a_time")
def test_progress_grows_and_ends_with_the_result() -> None:
    seen: list[Progress] = []
    found = explicit_search.explore(TWO_PHASE_COMMIT, Constants(resource_managers=7), report=seen.append)
    assert len(seen) > found.depth
    assert all(a.distinct <= b.distinct and a.generated <= b.generated for a, b in pairwise(seen))
    assert (seen[-1].distinct, seen[-1].generated, seen[-1].queue) == (found.distinct, found.generated, 0)
    assert seen[-1].depth == found.depth


@pytest.mark.usefixtures("a_level_at_a_time")
def test_an_interruption_keeps_what_was_found() -> None:
    def interrupt(progress: Progress) -> None:
        if progress.depth == 5:
            raise KeyboardInterrupt

    found = explicit_search.explore(TWO_PHASE_COMMIT, Constants(resource_managers=5), report=interrupt)
    assert not found.complete
    assert 0 < found.distinct < 8_832
    assert found.depth == 6


def test_what_is_forgotten_at_once_is_judged_all_the_same() -> None:
    """What the clause forbids is in no state that is kept."""
    constants = forgetful_machine.Constants(cells=2)
    slow = cpython.explore(forgetful_machine.FORGETFUL, constants)
    found = explicit_search.explore(forgetful_machine.FORGETFUL, constants)
    (clause,) = forgetful_machine.FORGETFUL.clauses
    path = slow.path_to(slow.violations[clause])
    assert (found.distinct, found.generated, found.seen_at) == (slow.distinct, slow.generated, (len(path),))


def grow_too_long(s: forgetful_machine.State, c: forgetful_machine.Constants) -> None:
    """Forgetting that writes a number beyond its range once the cursor has passed two."""
    if s.desk.cursor == 2:
        s.gone = s.gone + c.most + 1


@pytest.mark.parametrize("threads", [1, 2, 3])
def test_what_leaves_its_range_when_a_state_forgets_stops_all_threads(threads: int) -> None:
    machine = replace(forgetful_machine.FORGETFUL, forget=grow_too_long)
    with pytest.raises(EvaluationError, match=r"^forgetting what is over: a value left its declared range"):
        explicit_search.explore(machine, forgetful_machine.Constants(), threads=threads)


def test_what_a_part_of_a_level_has_seen_is_seen_at_that_level(monkeypatch: pytest.MonkeyPatch) -> None:
    whole = explicit_search.explore(TWO_PHASE_COMMIT, Constants(resource_managers=5))
    monkeypatch.setattr(explicit_search, "PARENTS_A_CALL", explicit_search.CHUNK)
    calls: list[Progress] = []
    in_parts = explicit_search.explore(TWO_PHASE_COMMIT, Constants(resource_managers=5), report=calls.append)
    assert max(whole.sizes) > 4 * explicit_search.CHUNK
    assert len(calls) >= whole.distinct // (2 * explicit_search.CHUNK)
    assert (in_parts.seen_at, in_parts.sizes) == (whole.seen_at, whole.sizes)


@pytest.mark.parametrize("threads", [1, 2])
def test_a_level_that_finds_more_than_the_table_may_hold_goes_on_in_a_larger_one(
    monkeypatch: pytest.MonkeyPatch, threads: int
) -> None:
    whole = explicit_search.explore(TWO_PHASE_COMMIT, Constants(resource_managers=6))
    for name, slots in (("FIRST_SLOTS", 1 << 12), ("SMALL", 0), ("LARGE", 0)):  # it grows as little as it can
        monkeypatch.setattr(hash_table, name, slots)
    search = StateStore.search

    def search_and_look(store: StateStore, *arguments: Any) -> list[Counts]:
        finished = search(store, *arguments)
        assert int(store.counts.sum()) <= store.table.states
        return finished

    monkeypatch.setattr(StateStore, "search", search_and_look)
    found = explicit_search.explore(TWO_PHASE_COMMIT, Constants(resource_managers=6), threads=threads)
    assert found.sizes == whole.sizes
    assert max(whole.sizes) > hash_table.LOAD * hash_table.FIRST_SLOTS


@pytest.mark.parametrize("most_states", [None, 1, 500, 5_000])
@pytest.mark.parametrize("threads", [1, 2, 3])
@pytest.mark.parametrize("levels", [2, 3, 64])
def test_levels_that_are_searched_in_one_call_are_what_they_are_one_by_one(
    monkeypatch: pytest.MonkeyPatch, levels: int, threads: int, most_states: int | None
) -> None:
    """Their sizes, and the depth at which each clause is violated and each witness seen."""

    def numbers_with(most: int, threads: int) -> tuple[object, ...]:
        monkeypatch.setattr(explicit_search, "LEVELS_A_CALL", most)
        found = explicit_search.explore(
            TWO_PHASE_COMMIT, Constants(resource_managers=5), threads=threads, most_states=most_states
        )
        states = sorted(map(bytes, found.store.all_words()))
        return found.sizes, found.seen_at, found.generated, found.complete, found.depth, states

    assert numbers_with(levels, threads) == numbers_with(1, 1)


def test_few_calls_search_many_small_levels() -> None:
    calls: list[Progress] = []
    found = explicit_search.explore(TWO_PHASE_COMMIT, Constants(resource_managers=5), report=calls.append)
    new = {depth for depth in found.seen_at if depth is not None}
    assert len(calls) == len(new - {0}) + 1 < found.depth


def test_a_search_ends_behind_the_level_at_which_it_has_seen_what_it_was_to_see() -> None:
    whole = explicit_search.explore(MACHINE, Sizes())
    seen = explicit_search.explore(MACHINE, Sizes(), until=[1])
    assert (seen.depth, seen.complete, seen.distinct) == (3, False, 4)
    assert seen.seen_at == (None, whole.seen_at[1])
    both = explicit_search.explore(MACHINE, Sizes(), until=[0, 1])
    assert (both.depth, both.seen_at) == (4, whole.seen_at)
