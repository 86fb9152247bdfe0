"""A fault that is called idle does nothing in any environment; one that does something is never called idle."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from model_check.cpython import explore
from model_check.instances import load_instance
from model_check.verdicts.same_searches import idle_faults
from model_check.world import Profile, World
from spec.constants import FAULTS
from spec.profiles import PROFILES, distinct
from spec.transactional_messages import TRANSACTIONAL_MESSAGES
from tests.model_check.checked import checked, untraced
from tests.sampled import sampled

if TYPE_CHECKING:
    from spec.language import Machine


@pytest.fixture(autouse=True, params=["tiny"])
def compiled_instance(request: pytest.FixtureRequest) -> str:
    """All tests here run on the worker that compiles it (see the root conftest.py)."""
    return str(request.param)


def without(*actions: str) -> Machine:
    kept = tuple(action for action in TRANSACTIONAL_MESSAGES.actions if action.name not in actions)
    return replace(TRANSACTIONAL_MESSAGES, actions=kept)


@pytest.mark.sweep
def test_without_its_action_a_fault_is_idle_and_reaches_nothing_new() -> None:
    machine = without("lose_end")
    instance = load_instance("tiny")
    idle = idle_faults(machine, Profile.of("4.9.7"), instance)
    assert set(idle) == {*idle_faults(TRANSACTIONAL_MESSAGES, Profile.of("4.9.7"), instance), "lose_end"}
    with untraced():
        for others in ((), ("lose_check",)):
            alone, more = (
                explore(machine, World.of("4.9.7", faults, instance).constants)
                for faults in (others, (*others, "lose_end"))
            )
            assert (alone.distinct, alone.generated) == (more.distinct, more.generated)


@pytest.mark.parametrize("profile", sampled(distinct(PROFILES), 3))
def test_a_fault_that_reaches_something_new_is_not_idle(profile: str) -> None:
    idle = idle_faults(TRANSACTIONAL_MESSAGES, Profile.of(profile), load_instance("tiny"))
    quiet = checked(profile, "quiet", "tiny").numbers
    for fault in ("slow_local", "lose_end", "slow_round", "crash"):
        if checked(profile, fault, "tiny").numbers.distinct > quiet.distinct:
            assert fault not in idle
    for fault in idle:
        assert checked(profile, fault, "tiny").numbers.generated == quiet.generated
    assert set(idle) < set(FAULTS)
