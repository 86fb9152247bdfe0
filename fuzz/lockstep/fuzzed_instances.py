"""The instances that the fuzzer runs: one too wide for any exhaustive search, and one to visit every state of."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Final

from model_check.errors import ModelCheckError
from model_check.instances import refuse_crowd
from model_check.world import Profile, World
from spec.constants import Instance
from spec.language import NONE

if TYPE_CHECKING:
    from collections.abc import Iterable


FUZZED: Final = Instance(
    name="fuzzed",
    transactions=3,
    half_slots=12,
    op_slots=10,
    check_max=2,
    timeout=2,
    immunities=(NONE, 1, 3),
    check_interval=1,
    round_limit=4,
    op_batch_interval=1,
    op_batch_size=2,
    op_pull_size=2,
    first_checks=(0, 1, 2),
    skews=(-2, 2),
    clock_steps=3,
    mishaps=60,
    stray_ends=60,
)
"""Three transactions on long queues. A round may last long enough for an op message to be born late in it."""

FUZZED_BEHIND_PROXIES: Final = replace(FUZZED, name="fuzzed_behind_proxies", proxies=2, data_life=3)
"""The same, with two proxies between producers and the broker."""

COUNTED: Final = Instance(
    name="counted",
    transactions=1,
    half_slots=2,
    op_slots=2,
    check_max=2,
    timeout=2,
    immunities=(NONE,),
    check_interval=1,
    round_limit=1,
    op_batch_interval=1,
    op_batch_size=9,
    op_pull_size=1,
    mishaps=1,
)
"""So small that each of its states can be visited."""


def fuzzed_world(profile: str | Profile, faults: Iterable[str] = (), instance: str = FUZZED.name) -> World:
    """The world of these names, on an instance of this module or one of the specification's.

    Raises
    ------
    ModelCheckError
        A profile, a fault or an instance of that name is not known, the instance is crowded, or its op batch has
        no counterpart in characters.
    """
    own = {size.name: size for size in (FUZZED, FUZZED_BEHIND_PROXIES, COUNTED)}
    world = World.of(profile, faults, own.get(instance, instance))
    size = world.instance
    refuse_crowd(size, "no reference broker takes steps of theirs")
    if size.half_slots > 10 and size.op_batch_size > 2:
        msg = (
            f"instance {instance}: {size.half_slots} half slots and an op batch of {size.op_batch_size} have "
            "no transactionOpMsgMaxSize that fits offsets of one digit and of two; use at most 10 slots or a batch of 2"
        )
        raise ModelCheckError(msg)
    return world
