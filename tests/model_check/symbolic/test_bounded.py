"""The search to a bound on machines of a few lines: where it stops, and what it refuses to believe."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING

import pytest

from benchmarks.machines import two_phase_commit
from benchmarks.machines.two_phase_commit import TWO_PHASE_COMMIT, TMState
from model_check.cpython import explore
from model_check.errors import EvaluationError, ModelCheckError
from model_check.front_end.terms import Apply, Int, Read
from model_check.symbolic import bounded, relation
from model_check.symbolic.bounded import BoundedVerdict, search
from model_check.symbolic.if_conversion import Conversion, Effect
from model_check.symbolic.relation import relation_of
from spec.language import (
    Machine,
    MachineState,
    action,
    always,
    array_of,
    count,
    declared_action,
    declared_always,
    number,
    require,
)

if TYPE_CHECKING:
    from model_check.front_end.terms import Expression, LoweredAction
    from model_check.symbolic.values import Truth


@dataclass(frozen=True)
class Room:
    places: int = 3
    most: int = 5
    careful: bool = True


class Counter(MachineState):
    value: int = count("most")
    seen: list[int] = array_of(number(0, 1), "places")


@action()
def one_more(s: Counter, c: Room) -> None:
    require(not c.careful or s.value < c.most, "there is room")
    s.value += 1


@action()
def note(s: Counter, c: Room) -> None:
    require(not c.careful or s.value < c.places, "there is a place")
    require(s.value != c.most, "the counter still runs")
    s.seen[s.value] = 1


@always("X", clause="three")
def it_is_never_three(s: Counter, c: Room) -> bool:
    return s.value != 3


@always("X", clause="zero")
def it_is_never_zero(s: Counter, c: Room) -> bool:
    return s.value != 0


@always("X", clause="large")
def it_stays_small(s: Counter, c: Room) -> bool:
    return s.value <= c.most


@always("X", clause="unseen")
def what_it_is_was_never_seen(s: Counter, c: Room) -> bool:
    return s.seen[s.value] == 0


THREE, ZERO, LARGE, UNSEEN = (
    declared_always(f) for f in (it_is_never_three, it_is_never_zero, it_stays_small, what_it_is_was_never_seen)
)
COUNTER = Machine(
    "counter",
    Counter,
    (declared_action(one_more), declared_action(note)),
    (THREE, ZERO, LARGE),
    (),
    switches=("careful",),
)


def test_the_bound_is_the_last_depth_that_is_looked_at() -> None:
    assert search(COUNTER, Room(), THREE, 2).verdict is BoundedVerdict.HOLDS_TO_BOUND
    found = search(COUNTER, Room(), THREE, 3)
    assert (found.verdict, found.depth) == (BoundedVerdict.VIOLATED, 3)
    assert [str(step) for step in found.path or ()] == ["one_more"] * 3


def test_the_initial_state_is_looked_at() -> None:
    found = search(COUNTER, Room(), ZERO, 0)
    assert (found.verdict, found.depth, found.path) == (BoundedVerdict.VIOLATED, 0, [])


def test_each_depth_without_a_violation_is_reported() -> None:
    done: list[int] = []
    search(COUNTER, Room(), THREE, 9, done.append)
    assert done == [0, 1, 2]


def test_a_negative_bound_is_refused() -> None:
    with pytest.raises(ModelCheckError, match="depth -1: give 0 or more"):
        search(COUNTER, Room(), THREE, -1)


def test_an_interruption_makes_the_verdict_unknown() -> None:
    def interrupt(depth: int) -> None:
        if depth == 1:
            raise KeyboardInterrupt

    found = search(COUNTER, Room(), THREE, 9, interrupt)
    assert (found.verdict, found.depth, found.path) == (BoundedVerdict.UNKNOWN, 1, None)
    assert found.reason == "interrupted behind depth 1"


def test_a_write_out_of_its_declared_range_is_an_error() -> None:
    constants = Room(careful=False, places=9)
    assert search(COUNTER, constants, LARGE, 4).verdict is BoundedVerdict.HOLDS_TO_BOUND
    with pytest.raises(EvaluationError, match=r"^after (one_more; ){4}one_more: value = 6: declared range is 0\.\.5$"):
        search(COUNTER, constants, LARGE, 5)


def test_an_index_of_no_element_is_an_error() -> None:
    assert search(COUNTER, Room(careful=False), LARGE, 2).verdict is BoundedVerdict.HOLDS_TO_BOUND
    with pytest.raises(EvaluationError, match=r"^after one_more; one_more; one_more: seen\[3\]: there are 3 places$"):
        search(COUNTER, Room(careful=False), LARGE, 9)


def test_a_clause_that_reads_no_element_is_an_error() -> None:
    machine = replace(COUNTER, clauses=(UNSEEN,), actions=COUNTER.actions[:1])
    with pytest.raises(EvaluationError, match=r"seen\[3\]: there are 3 places"):
        search(machine, Room(), UNSEEN, 9)


@always("X", clause="lazy")
def what_it_is_was_never_seen_where_there_is_a_place(s: Counter, c: Room) -> bool:
    by_if = s.seen[s.value] if s.value < c.places else 0
    by_and = s.value < c.places and s.seen[s.value] == 1
    by_or = s.value >= c.places or s.seen[s.value] == 0
    return by_if == 0 and not by_and and by_or


def test_an_index_behind_a_test_that_guards_it_is_no_error() -> None:
    lazy = declared_always(what_it_is_was_never_seen_where_there_is_a_place)
    only_counting = replace(COUNTER, clauses=(lazy,), actions=COUNTER.actions[:1])
    assert search(only_counting, Room(), lazy, 6).verdict is BoundedVerdict.HOLDS_TO_BOUND
    assert search(replace(COUNTER, clauses=(lazy,)), Room(), lazy, 6).depth == 1


class EnablesAll(Conversion):
    """A reading without guards."""

    def effect(self, action: LoweredAction) -> Effect:
        return super().effect(replace(action, guard=()))


class TakesThreeForFour(Conversion):
    """A reading of the clause `three` that comes too late."""

    def claim(self, term: Expression) -> tuple[Truth, Truth]:
        return super().claim(Apply("!=", (Read(("value",), None), Int(4))))


class TakesThreeForZero(Conversion):
    """A reading of the clause `three` that comes too early."""

    def claim(self, term: Expression) -> tuple[Truth, Truth]:
        return super().claim(Apply("!=", (Read(("value",), None), Int(0))))


@pytest.mark.parametrize(
    ("broken", "when"), [(TakesThreeForFour, "before its end"), (TakesThreeForZero, "not at its end")]
)
def test_a_path_that_violates_the_clause_elsewhere_in_cpython_is_not_given(
    monkeypatch: pytest.MonkeyPatch, broken: type[Conversion], when: str
) -> None:
    monkeypatch.setattr(relation, "Conversion", broken)
    with pytest.raises(EvaluationError, match=rf"X\.three violates it {when}$"):
        search(COUNTER, Room(), THREE, 9)


def test_a_path_that_cpython_refuses_is_not_given(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bounded, "relation_of", partial(relation_of, conversion=EnablesAll))
    (clause,) = TWO_PHASE_COMMIT.clauses
    with pytest.raises(EvaluationError, match="does not replay: step 2, rm_rcv_commit_msg"):
        search(TWO_PHASE_COMMIT, two_phase_commit.Constants(resource_managers=3), clause, 5)


def test_a_state_that_only_z3_finds_wrong_is_not_given(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bounded, "relation_of", partial(relation_of, conversion=EnablesAll))
    with pytest.raises(EvaluationError, match="in the Z3 engine only"):
        search(COUNTER, Room(), LARGE, 9)


# --- two-phase commit -------------------------------------------------------------------------------------------------


@action()
def tm_abort_at_any_time(s: two_phase_commit.State, c: two_phase_commit.Constants) -> None:
    s.tm_state = TMState.ABORTED
    s.messages.abort = True


BROKEN = replace(
    TWO_PHASE_COMMIT,
    actions=tuple(
        declared_action(tm_abort_at_any_time) if a.name == "tm_abort" else a for a in TWO_PHASE_COMMIT.actions
    ),
)


def test_two_phase_commit_holds_to_the_depth_of_its_deepest_state() -> None:
    constants = two_phase_commit.Constants(resource_managers=3)
    (clause,) = TWO_PHASE_COMMIT.clauses
    assert explore(TWO_PHASE_COMMIT, constants).depth == 10
    found = search(TWO_PHASE_COMMIT, constants, clause, 10)
    assert (found.verdict, found.depth) == (BoundedVerdict.HOLDS_TO_BOUND, 10)


def test_a_manager_that_aborts_after_it_committed_is_found_at_the_least_depth() -> None:
    constants = two_phase_commit.Constants(resource_managers=3)
    (clause,) = BROKEN.clauses
    judge = explore(BROKEN, constants)
    path = judge.path_to(judge.violations[clause])
    found = search(BROKEN, constants, clause, 12)
    assert (found.verdict, found.depth) == (BoundedVerdict.VIOLATED, len(path))
    assert found.path == path
    assert found.depth == 10
    assert search(BROKEN, constants, clause, 9).verdict is BoundedVerdict.HOLDS_TO_BOUND
