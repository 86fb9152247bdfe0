"""State by state, the formulas of the Z3 engine and the actions in CPython give the same; a broken reading is seen."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from typing import TYPE_CHECKING

import pytest

from benchmarks.machines.two_phase_commit import TWO_PHASE_COMMIT
from benchmarks.machines.two_phase_commit import Constants as TwoPhaseConstants
from model_check.symbolic.if_conversion import Conversion
from model_check.symbolic.relation import Relation, relation_of
from model_check.world import Environment, World
from spec.constants import FAULTS
from spec.language import holds, take
from spec.transactional_messages import TRANSACTIONAL_MESSAGES
from tests.model_check.checked import checked, untraced
from tests.model_check.symbolic.symbolic_successors import (
    Together,
    Values,
    by_the_solver,
    first_difference,
    in_cpython,
    values_of,
)
from tests.model_check.walked import walked_states
from tests.sampled import sampled

if TYPE_CHECKING:
    from model_check.front_end.terms import Expression, Path
    from model_check.symbolic.values import Value
    from spec.language import Property

pytestmark = pytest.mark.untraced

STATES = 20
"""Of the walks of each world; a hundred in the sweep."""
ALL_FAULTS = ",".join(FAULTS)
WORLDS = [
    ("4.5.1", "crash", "small"),
    ("4.9.7", "quiet", "tiny"),
    ("5.3.3", "quiet", "deep"),
    ("5.3.3", ALL_FAULTS, "tiny"),
    ("5.4.0", "late_end,slow_round", "medium"),
    ("5.3.3", ALL_FAULTS, "small"),
]


@cache
def relation_in(world: tuple[str, str, str]) -> Relation:
    return converted_by(Conversion, world)


def converted_by(conversion: type[Conversion], world: tuple[str, str, str]) -> Relation:
    profile, environment, instance = world
    return relation_of(
        TRANSACTIONAL_MESSAGES,
        World.of(profile, Environment.named(environment), instance).constants,
        conversion=conversion,
    )


@pytest.mark.parametrize("count", [STATES, pytest.param(100, marks=pytest.mark.sweep)])
@pytest.mark.parametrize("world", sampled([pytest.param(w, id="-".join(w)) for w in WORLDS], 3))
def test_formulas_and_actions_give_the_same_successors_and_refusals(world: tuple[str, str, str], count: int) -> None:
    with untraced():
        relation = relation_in(world)
        walked = walked_states(relation.machine, relation.constants, walks=12, steps=60, seed=4)[:100]
        states = walked[:: 100 // count]
        assert len(states) == count
        assert first_difference(relation, states) is None


@pytest.mark.parametrize("every", [80, pytest.param(20, marks=pytest.mark.sweep)])
@pytest.mark.parametrize("world", sampled([pytest.param(w, id="-".join(w)) for w in WORLDS[:4]], 4))
def test_the_unrolled_relation_has_these_successors_and_no_others(world: tuple[str, str, str], every: int) -> None:
    with untraced():
        relation = relation_in(world)
        walked = walked_states(relation.machine, relation.constants, walks=4, steps=60, seed=5)
        for values in walked[30::every]:
            assert by_the_solver(relation, values) == in_cpython(relation, values)


def test_two_phase_commit_has_the_same_successors_in_all_its_first_states() -> None:
    relation = relation_of(TWO_PHASE_COMMIT, TwoPhaseConstants(resource_managers=3))
    states = walked_states(relation.machine, relation.constants, walks=20, steps=20, seed=6)
    with untraced():
        assert first_difference(relation, states) is None


@pytest.mark.parametrize("every", [60, pytest.param(10, marks=pytest.mark.sweep)])
def test_clauses_are_judged_alike(every: int) -> None:
    relation = relation_in(("5.3.3", ALL_FAULTS, "tiny"))
    machine, constants = relation.machine, relation.constants
    questions = {clause: relation.violated(clause) for clause in machine.clauses}
    assert all(wrong is False for _, wrong in questions.values())
    together = Together(relation, (condition for condition, _ in questions.values()))

    def violated_in(values: Values) -> dict[Property, bool]:
        return dict(zip(questions, together.decided(values), strict=True))

    states = walked_states(machine, constants, walks=10, steps=60, seed=7)[::every]
    violated = [result for result in checked("5.3.3", "slow_local,crash", "tiny").rows if result.path]
    for result in violated:
        state = machine.initial(constants)
        for step in result.path or ():
            assert take(state, constants, step) is None
        assert violated_in(state.canonical())[result.clause]
        states.append(state.canonical())
    assert len(violated) >= 6
    for values in states:
        state = machine.initial(constants).load(values)
        for clause, is_violated in violated_in(values).items():
            assert is_violated is not holds(state, constants, clause), (clause, values)


@pytest.mark.parametrize("instance", sampled(["tiny", "medium"], 2))
def test_a_state_is_read_back_as_it_was_put_in(instance: str) -> None:
    relation = relation_in(("5.3.3", ALL_FAULTS, instance))
    for values in walked_states(relation.machine, relation.constants, walks=5, steps=60, seed=8):
        assert values_of(relation, relation.assignment(values)) == values


# --- broken on purpose ------------------------------------------------------------------------------------------------


class DropsAnAssignment(Conversion):
    """Forgets how a half was left behind."""

    def _write(self, path: Path, index: Expression | None, value: Expression) -> None:
        if path != ("half", "left"):
            super()._write(path, index, value)


class CutsAgesTooEarly(Conversion):
    """Takes births of the oldest two ages for the same."""

    def _in_range(self, path: Path, value: Value) -> Value:
        slots = self.slots[path]
        if path == ("half", "born_at"):
            self.slots = {**self.slots, path: tuple(replace(slot, low=slot.low + 1) for slot in slots)}
        stored = super()._in_range(path, value)
        self.slots = {**self.slots, path: slots}
        return stored


class AllowsOneCheckLess(Conversion):
    """Has a declared range that is too narrow."""

    def _in_range(self, path: Path, value: Value) -> Value:
        slots = self.slots[path]
        if path == ("half", "check_times"):
            self.slots = {**self.slots, path: tuple(replace(slot, high=slot.high - 1) for slot in slots)}
        stored = super()._in_range(path, value)
        self.slots = {**self.slots, path: slots}
        return stored


class TakesTheLastElement(Conversion):
    """Reads the element before the one that is asked for."""

    def _element(self, path: Path, index: Expression) -> Value:
        elements = self.state[path]
        self.state = {**self.state, path: (*elements[1:], elements[0])}
        value = super()._element(path, index)
        self.state = {**self.state, path: elements}
        return value


@pytest.mark.parametrize(
    ("broken", "action"),
    sampled(
        [
            (DropsAnAssignment, "put_back"),
            (AllowsOneCheckLess, "put_back"),
            (CutsAgesTooEarly, ""),
            (TakesTheLastElement, ""),
        ],
        2,
    ),
)
def test_a_broken_reading_is_seen(broken: type[Conversion], action: str) -> None:
    with untraced():
        relation = converted_by(broken, ("5.3.3", "slow_local,lose_end,lose_check", "tiny"))
        states = walked_states(relation.machine, relation.constants, walks=20, steps=60, seed=4)
        difference = first_difference(relation, states)
    assert difference is not None
    assert difference.startswith(action)
