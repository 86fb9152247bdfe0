"""What is assumed of all checks refuses nothing where the instance has as many checks as the configuration."""

from __future__ import annotations

from dataclasses import replace

import pytest

from model_check.broker_conf.assumed_times import with_assumed_times
from model_check.broker_conf.ticks import UNASKED_FAULTS
from model_check.check import check
from model_check.instances import load_instance
from model_check.question import Question
from model_check.world import World
from spec.constants import FAULTS
from spec.transactional_messages import TRANSACTIONAL_MESSAGES
from tests.sampled import sampled

pytestmark = pytest.mark.untraced

SIZES = replace(
    load_instance("deep"), name="deep, three ticks between rounds", check_interval=3, immunities=(-1, 8), skews=(0,)
)
ALL_BUT_ONE = (SIZES.check_max - 1) * SIZES.check_interval
WORLDS = [(version, fault) for fault in ("", *FAULTS) if fault not in UNASKED_FAULTS for version in ("4.9.7", "5.3.3")]


def violated(version: str, fault: str, checks_time: int) -> set[str]:
    world = World.of(version, [fault] if fault else [], SIZES)
    machine, constants = with_assumed_times(TRANSACTIONAL_MESSAGES, world.constants, checks_time=checks_time)
    found = check(Question(world=world, given=machine, constants=constants, most_states=1_500_000))
    return {row.name for row in found.violated.values()}


@pytest.mark.parametrize(("version", "fault"), sampled(WORLDS, 4))
def test_all_checks_take_all_intervals_but_one_whatever_goes_wrong(version: str, fault: str) -> None:
    """With -1 any half may be discarded that has no checks left; what then breaks, breaks under the assumption, too."""
    assert violated(version, fault, ALL_BUT_ONE) == violated(version, fault, -1)


def test_a_tick_more_would_hide_that_an_immunity_uses_up_all_checks() -> None:
    """Rounds after 1, 4 and 7 ticks put a half back that is immune below 8."""
    assert "L2.never_asked" in violated("4.9.7", "", ALL_BUT_ONE) - violated("4.9.7", "", ALL_BUT_ONE + 1)
