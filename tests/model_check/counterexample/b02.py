"""The shortest counterexample there is, for tests that need one and no search: an acknowledged END is lost (B02)."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

from model_check.counterexample.steps import Replay, read_path, replay
from model_check.world import World
from spec.transactional_messages import TRANSACTIONAL_MESSAGES

if TYPE_CHECKING:
    from spec.language import Step

STEPS = ("send_half t=0 immunity=-1", "roll_back_locally t=0", "buffer_op h=0", "crash")
ORIGIN = {"profile": "5.3.3", "faults": ["crash"], "instance": "tiny"}
WORLD = World.of("5.3.3", ["crash"], "tiny")
CONSTANTS = WORLD.constants


@cache
def path() -> tuple[Step, ...]:
    return tuple(read_path(TRANSACTIONAL_MESSAGES, CONSTANTS, "; ".join(STEPS)))


@cache
def replayed() -> Replay:
    return replay(TRANSACTIONAL_MESSAGES, CONSTANTS, list(path()))
