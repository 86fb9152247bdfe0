"""Coverage counted by compiled guards and by the actions themselves is the same, and says what was never put to use."""

from __future__ import annotations

from dataclasses import dataclass

import pytest

from model_check.explicit.search import Exploration, explore
from model_check.guard_coverage import ConjunctCoverage, Coverage, Uncovered, cover_by_cpython, cover_by_numba
from model_check.world import Environment, World
from spec.language import (
    Machine,
    MachineState,
    action,
    always,
    array_of,
    assume,
    declared_action,
    declared_always,
    declared_sometimes,
    each,
    number,
    require,
    sometimes,
    within,
)
from spec.transactional_messages import TRANSACTIONAL_MESSAGES
from tests.model_check.checked import untraced
from tests.sampled import sampled

WORLDS = [
    ("4.9.7", "slow_local,lose_end,lose_check,duplicate_end,wrong_end,late_end,slow_round,slow_dispatch,crash", "tiny"),
    ("5.3.3", "quiet", "tiny"),
    ("4.5.1", "crash,slow_round", "tiny"),
    ("5.4.0", "wrong_end,slow_dispatch", "tiny"),
]


def both(machine: Machine, found: Exploration) -> tuple[Coverage, Coverage]:
    states = [found.compiled.packing.unpack(words) for words in found.store.all_words()]
    return cover_by_numba(found), cover_by_cpython(machine, found.constants, states)


@pytest.mark.parametrize(("profile", "environment", "instance"), sampled(WORLDS, 4))
def test_both_readings_count_the_same(profile: str, environment: str, instance: str) -> None:
    machine = TRANSACTIONAL_MESSAGES
    constants = World.of(profile, Environment.named(environment), instance).constants
    with untraced():
        found = explore(machine, constants, threads=2, most_states=2_000)
        compiled, judge = both(machine, found)
    assert compiled == judge
    assert compiled.states == found.distinct >= 2_000
    for covered, declared in zip(compiled.actions, machine.actions, strict=True):
        steps = sum(step.action is declared for step in machine.steps(constants))
        tried = covered.enabled + sum(conjunct.first_false for conjunct in covered.conjuncts)
        assert tried == steps * found.distinct, covered.name


# --- a machine of which the counts are known --------------------------------------------------------------------------


@dataclass(frozen=True, kw_only=True)
class Sizes:
    places: int = 2
    most: int = 2
    is_guarded: int = 0


class State(MachineState):
    count: int = number(0, 3)
    seen: list[int] = array_of(number(0, 1), "places")


def has_room(s: State, c: Sizes) -> None:
    within(s.count < c.most, "there is room")


def is_unseen(s: State, i: int) -> None:
    require(s.seen[i] == 0, "the place is new")


@action(i=each("places"))
def count_up(s: State, c: Sizes, i: int) -> None:
    has_room(s, c)
    require(s.count <= c.most, "the count is not above its end")
    has_room(s, c)
    is_unseen(s, i)
    s.seen[i] = 1
    s.count += 1


@action()
def never_enabled(s: State, c: Sizes) -> None:
    if c.is_guarded == 1:
        assume(s.count == 1, "only in another instance")
    for i in range(c.places):
        require(s.seen[i] == 1, "every place is seen")
    require(s.count < c.most, "and yet there is room")
    s.count += 1


@always("X1", clause="below_two", i=each("places"))
def below_two(s: State, c: Sizes, i: int) -> bool:
    return s.count < 2


@sometimes("X1")
def one_is_reached(s: State, c: Sizes) -> bool:
    return s.count == 1


SMALL = Machine(
    name="counted",
    state=State,
    actions=(declared_action(count_up), declared_action(never_enabled)),
    clauses=(declared_always(below_two),),
    witnesses=(declared_sometimes(one_is_reached),),
)
"""Four states: nothing seen, place 0, place 1, both."""


def test_an_unreachable_rule_and_an_action_that_is_never_enabled_are_reported() -> None:
    compiled, judge = both(SMALL, explore(SMALL, Sizes()))
    assert compiled == judge
    assert compiled.states == 4
    up, never = compiled.actions
    assert up.enabled == 2 + 1 + 1
    assert up.conjuncts == (
        ConjunctCoverage("within", "there is room", 2),  # both choices of i, in the last state
        ConjunctCoverage("require", "the count is not above its end", 0),
        ConjunctCoverage("within", "there is room (2)", 0),
        ConjunctCoverage("require", "the place is new", 2),  # one choice of i in each state between
    )
    assert never.enabled == 0
    assert never.conjuncts == (
        ConjunctCoverage("assume", "only in another instance", 0),
        ConjunctCoverage("require", "every place is seen", 3),  # one rule, whichever place of the loop it fails for
        ConjunctCoverage("require", "and yet there is room", 1),
    )
    assert compiled.violated == {"X1.below_two": 1}
    assert compiled.witnessed == {"one_is_reached": 2}
    assert compiled.uncovered() == (
        Uncovered("count_up", "the count is not above its end"),
        Uncovered("count_up", "there is room (2)"),
        Uncovered("never_enabled", None),
        Uncovered("never_enabled", "only in another instance"),
    )


def test_what_one_world_leaves_another_may_cover() -> None:
    alone = cover_by_numba(explore(SMALL, Sizes(is_guarded=0)))
    joined = alone + cover_by_numba(explore(SMALL, Sizes(is_guarded=1)))
    assert joined.states == 8
    assert set(alone.uncovered()) - set(joined.uncovered()) == {Uncovered("never_enabled", "only in another instance")}
    assert joined.violated == {"X1.below_two": 2}
