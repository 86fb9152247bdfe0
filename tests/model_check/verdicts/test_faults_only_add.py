"""A fault only adds behaviour: what smaller sets of faults reach and break, larger ones reach and break, too.

The search for minimal sets relies on it. Shown in two ways: on the source, where faults may only open guards, and by
searching random environments and larger ones around them.
"""

from __future__ import annotations

import random
from dataclasses import fields, is_dataclass, replace

import pytest

from model_check.explicit.search import Exploration, explore
from model_check.front_end.lower import Lowering
from model_check.front_end.terms import Apply, Switch
from model_check.instances import constants_for
from model_check.verdicts.environment import in_order
from spec.constants import FAULTS
from spec.profiles import PROFILES
from spec.transactional_messages import TRANSACTIONAL_MESSAGES

MACHINE = TRANSACTIONAL_MESSAGES
MOST_STATES = 150_000


@pytest.fixture(autouse=True, params=["tiny"])
def compiled_instance(request: pytest.FixtureRequest) -> str:
    """All tests here run on the worker that compiles it (see the root conftest.py)."""
    return str(request.param)


def faults_in(term: object) -> set[str]:
    if isinstance(term, Switch):
        return {term.name}
    if isinstance(term, tuple):
        return {name for part in term for name in faults_in(part)}
    if is_dataclass(term):
        return {name for field in fields(term) for name in faults_in(getattr(term, field.name))}
    return set()


def faults_that_may_close(condition: object) -> set[str]:
    """Those that stand anywhere but under `and` and `or`: turned on, they might make the condition false."""
    if isinstance(condition, Switch):
        return set()
    if isinstance(condition, Apply) and condition.operator in ("and", "or"):
        return {name for part in condition.arguments for name in faults_that_may_close(part)}
    return faults_in(condition)


@pytest.mark.parametrize("profile", PROFILES)
def test_in_the_source_faults_only_open_guards(profile: str) -> None:
    constants = constants_for(profile, (), "tiny")
    lowering = Lowering(replace(MACHINE, switches=FAULTS), constants)
    opened: set[str] = set()
    for step in MACHINE.steps(constants):
        action = lowering.action(step)
        assert faults_in(action.effect) == set(), f"the effect of {step} depends on a fault"
        for conjunct in action.guard:
            assert faults_that_may_close(conjunct.condition) == set(), f"{step}: {conjunct.rule}"
            opened |= faults_in(conjunct.condition)
    assert opened


def explored(profile: str, faults: tuple[str, ...]) -> Exploration:
    return explore(MACHINE, constants_for(profile, faults, "tiny"), most_states=MOST_STATES)


def reached(found: Exploration, depth: int) -> set[bytes]:
    """The states at most so many steps from the start; searched with one thread, so that levels follow one another."""
    return set(map(bytes, found.store.all_words()[: int(found.levels[depth + 1].sum())]))


@pytest.mark.parametrize("seed", range(12))
def test_a_larger_environment_reaches_and_breaks_all_that_a_smaller_one_does(seed: int) -> None:
    chance = random.Random(seed)
    profile = chance.choice(list(PROFILES))
    smaller = in_order(chance.sample(FAULTS, chance.randint(0, 2)))
    larger = in_order({*smaller, *chance.sample(FAULTS, chance.randint(1, 2))})
    few, many = explored(profile, smaller), explored(profile, larger)
    depth = min(whole_levels(few), whole_levels(many))
    assert depth >= 5
    assert reached(few, depth) <= reached(many, depth)
    for at, sooner in zip(few.seen_at, many.seen_at, strict=True):
        if at is not None and at <= depth:
            assert sooner is not None
            assert sooner <= at


def whole_levels(found: Exploration) -> int:
    return found.depth if found.complete else found.depth - 1
