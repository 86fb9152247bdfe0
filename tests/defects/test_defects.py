"""One test an id: the defect is found in the profile that has it, and is gone in the profile that is rid of it.

What is asked stands in `model_check/defects/`, with the steps that make a schedule one of that defect and the depth on
record. A wrong repair is asked about in the same way: it breaks what the profile without it keeps. Searches that take
long are left to `make defects`; those and defects that want a closer look have a file of their own beside this one.
"""

from __future__ import annotations

from functools import cache

import pytest

from fuzz.defects.on_classes import given_to_classes
from model_check.check import check
from model_check.counterexample.steps import replay
from model_check.defects.__main__ import questions
from model_check.defects.findings import CLASSES_FINDINGS, SEARCH_FINDINGS, digits_of
from model_check.defects.search import FoundDefect, find, without_repair
from model_check.engines import ENGINES
from model_check.finding import Holds, Violated
from model_check.question import Question
from model_check.world import Profile
from spec.transactional_messages import TRANSACTIONAL_MESSAGES
from tests.model_check.checked import untraced

SEARCHES = {name: search for name, _, search in questions() if not search.takes_long}
FINDINGS = SEARCH_FINDINGS.read()
ON_CLASSES = {name: each for name, each in CLASSES_FINDINGS.read().items() if each.by == "schedule"}

FEW, FEW_OF_THE_SWEEP = 800, 3_000
"""With so many states on the way, the CPython engine takes half a second, and a second or two."""

BY_INSTANCE = [(search.world.instance.name, name) for name, search in SEARCHES.items()]
"""The instance in the name of a test decides the worker (see the root conftest.py)."""

AGAIN = [
    pytest.param(instance, name, marks=() if FINDINGS[name].states <= FEW else pytest.mark.sweep)
    for instance, name in BY_INSTANCE
    if FINDINGS[name].states <= FEW_OF_THE_SWEEP
]


@cache
def found(name: str, engine: str = "numba") -> FoundDefect:
    with untraced():
        search = SEARCHES[name]
        return find(search if engine == "numba" else without_repair(search), engine=ENGINES[engine])


@pytest.mark.parametrize(("instance", "name"), BY_INSTANCE)
def test_the_defect_is_found_where_it_is_and_gone_where_it_is_repaired(instance: str, name: str) -> None:
    answer, recorded = found(name), FINDINGS[name]
    assert (answer.depth, answer.absence) == (recorded.depth, recorded.repaired)
    if "cpython" in recorded.engines:
        assert answer.affected.numbers.distinct == recorded.states
    if "cpython" in recorded.repaired_engines:
        assert answer.repaired is not None
        numbers = answer.repaired.numbers
        assert (numbers.distinct, numbers.depth) == (recorded.repaired_states, recorded.repaired_depth)


@pytest.mark.parametrize(("instance", "name"), [(i, n) for i, n in BY_INSTANCE if ON_CLASSES.get(n)])
def test_the_real_classes_were_given_this_schedule(instance: str, name: str) -> None:
    world = SEARCHES[name].world
    asked = {release: digits for release, _, digits, _ in ON_CLASSES[name].asked}
    assert asked[world.profile.unturned] == digits_of(*given_to_classes(world, found(name).violated.steps))


@pytest.mark.parametrize(("instance", "name"), BY_INSTANCE)
def test_its_schedule_replays_and_cannot_be_cut(instance: str, name: str) -> None:
    violated = found(name).violated
    assert violated.path
    constants = violated.world.constants
    whole, cut = (replay(TRANSACTIONAL_MESSAGES, constants, path) for path in (violated.path, violated.path[:-1]))
    assert violated.clause in whole.violated
    assert violated.clause not in cut.violated


@pytest.mark.parametrize(
    ("instance", "name"), [(i, n) for i, n in BY_INSTANCE if n.isalnum() and SEARCHES[n].repaired_in]
)
def test_the_repaired_profile_is_rid_of_all_that_can_be_repaired(instance: str, name: str) -> None:
    search = SEARCHES[name]
    with untraced():
        finding = check(Question(world=search.world.in_profile(Profile.of("fixed")), clauses=(search.clause,)))
    assert isinstance(finding[search.clause], Holds)


@pytest.mark.parametrize(("instance", "name"), AGAIN)
def test_the_slow_judge_finds_the_same_schedule(instance: str, name: str) -> None:
    slow, fast = found(name, "cpython"), found(name)
    assert slow.violated.path == fast.violated.path
    assert slow.affected.numbers.distinct == fast.affected.numbers.distinct


@pytest.mark.parametrize(
    ("instance", "name", "profile"),
    [
        pytest.param(i, name, profile, id=f"{i}-{name}-{profile}")
        for i, name in BY_INSTANCE
        for profile in SEARCHES[name].also_in
    ],
)
def test_the_other_profiles_that_are_named_have_it_too(instance: str, name: str, profile: Profile) -> None:
    search = SEARCHES[name]
    question = Question(world=search.world.in_profile(profile), clauses=(search.clause,), until=(search.clause,))
    with untraced():
        finding = check(question)
    assert isinstance(finding[search.clause], Violated)
