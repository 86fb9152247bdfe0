"""One test an id: the defect is found in the profile that has it, and is gone in the profile that is rid of it.

What is asked stands in `model_check/defects/`, with the steps that make a schedule one of that defect and the depth on
record. A wrong repair is asked about in the same way: it breaks what the profile without it keeps. Searches that take
long are left to `make defects`; those and defects that want a closer look have a file of their own beside this one.
"""

from __future__ import annotations

from functools import cache

import pytest

from model_check.check import Verdict, check
from model_check.counterexample.steps import replay
from model_check.defects.__main__ import questions
from model_check.defects.findings import read_findings
from model_check.defects.search import Found, clause_of, find, without_repair
from model_check.instances import constants_for
from spec.transactional_messages import TRANSACTIONAL_MESSAGES
from tests.model_check.checked import untraced

SEARCHES = {name: search for name, _, search in questions() if not search.takes_long}
FINDINGS = read_findings()

FEW, FEW_OF_THE_SWEEP = 800, 3_000
"""With so many states on the way, the CPython engine takes half a second, and a second or two."""

BY_INSTANCE = [(search.instance, name) for name, search in SEARCHES.items()]
"""The instance in the name of a test decides the worker (see the root conftest.py)."""

AGAIN = [
    pytest.param(instance, name, marks=() if FINDINGS[name].states <= FEW else pytest.mark.sweep)
    for instance, name in BY_INSTANCE
    if FINDINGS[name].states <= FEW_OF_THE_SWEEP
]


@cache
def found(name: str, engine: str = "numba") -> Found:
    with untraced():
        search = SEARCHES[name]
        return find(search if engine == "numba" else without_repair(search), engine=engine)


@pytest.mark.parametrize(("instance", "name"), BY_INSTANCE)
def test_the_defect_is_found_where_it_is_and_gone_where_it_is_repaired(instance: str, name: str) -> None:
    answer, recorded = found(name), FINDINGS[name]
    assert (answer.depth, answer.absence) == (recorded.depth, recorded.repaired)
    if "cpython" in recorded.readings:
        assert answer.affected.distinct == recorded.states
    if "cpython" in recorded.repaired_readings:
        assert answer.repaired is not None
        assert (answer.repaired.distinct, answer.repaired.depth) == (recorded.repaired_states, recorded.repaired_depth)


@pytest.mark.parametrize(("instance", "name"), BY_INSTANCE)
def test_its_schedule_replays_and_cannot_be_cut(instance: str, name: str) -> None:
    search, violated = SEARCHES[name], found(name).violated
    assert violated.path is not None
    assert violated.instance is not None
    constants = constants_for(search.profile, search.faults, violated.instance)
    whole, cut = (replay(TRANSACTIONAL_MESSAGES, constants, path) for path in (violated.path, violated.path[:-1]))
    assert violated.clause in whole.violated
    assert violated.clause not in cut.violated


@pytest.mark.parametrize(
    ("instance", "name"), [(i, n) for i, n in BY_INSTANCE if n.isalnum() and SEARCHES[n].repaired_in]
)
def test_the_repaired_profile_is_rid_of_all_that_can_be_repaired(instance: str, name: str) -> None:
    search = SEARCHES[name]
    with untraced():
        result = check("fixed", search.faults, instance, properties=(search.clause,))
    assert clause_of(result, search.clause).verdict is Verdict.HOLDS


@pytest.mark.parametrize(("instance", "name"), AGAIN)
def test_the_slow_judge_finds_the_same_schedule(instance: str, name: str) -> None:
    slow, fast = found(name, "cpython"), found(name)
    assert slow.violated.path == fast.violated.path
    assert slow.affected.distinct == fast.affected.distinct


@pytest.mark.parametrize(
    ("instance", "name", "profile"),
    [(i, name, profile) for i, name in BY_INSTANCE for profile in SEARCHES[name].also_in],
)
def test_the_other_profiles_that_are_named_have_it_too(instance: str, name: str, profile: str) -> None:
    search = SEARCHES[name]
    with untraced():
        result = check(profile, search.faults, instance, properties=(search.clause,), until_violated=True)
    assert clause_of(result, search.clause).verdict is Verdict.VIOLATED
