"""Without room in the count that an instance bounds, just the faults that are called counted do nothing."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from model_check.cpython import explore
from model_check.instances import load_instance
from model_check.verdicts.page import COUNTERS, counted_faults
from model_check.verdicts.same_searches import idle_faults
from model_check.world import Profile, World
from spec.transactional_messages import TRANSACTIONAL_MESSAGES
from tests.model_check.checked import untraced

PROFILE = "fixed"
"""The smallest of those in which a slave may act for the master."""

NOT_COUNTED = ("lose_end", "put_failure")

MOST_STATES = 2_000
"""More than the quiet world has, so that a search which ends there has found something else."""


NANO = load_instance(str(Path(__file__).parents[1] / "instances" / "nano.toml"))


def distinct(faults: tuple[str, ...], bound: str) -> int:
    """States of `nano` where nothing of the bound is left from the start."""
    instance = replace(NANO, mishaps=0) if bound == "mishaps" else replace(NANO, stray_ends=0)
    with untraced():
        return explore(
            TRANSACTIONAL_MESSAGES, World.of(PROFILE, faults, instance).constants, most_states=MOST_STATES
        ).distinct


@pytest.mark.parametrize("bound", ["mishaps", "stray_ends"])
def test_where_nothing_of_a_bound_is_left_just_the_faults_that_it_counts_do_nothing(bound: str) -> None:
    quiet = distinct((), bound)
    assert quiet < MOST_STATES
    counted = counted_faults()[bound]
    assert counted
    idle = idle_faults(TRANSACTIONAL_MESSAGES, Profile.of(PROFILE), NANO)
    for fault in counted:
        assert fault not in idle
        assert distinct((fault,), bound) == quiet, fault
    for fault in NOT_COUNTED:
        assert fault not in counted
        assert distinct((fault,), bound) > quiet, fault


def test_the_clock_counts_its_own_steps_alone() -> None:
    counted = counted_faults()
    assert tuple(counted) == COUNTERS
    assert counted["clock_steps"] == ("clock_step",)
