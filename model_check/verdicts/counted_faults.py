"""Which faults strike only so often in a run, whatever else happens: those that an instance counts."""

from __future__ import annotations

from functools import cache

from model_check.front_end.lower import Lowering
from model_check.front_end.terms import Switch, Write, parts
from model_check.world import World
from spec.constants import FAULTS
from spec.transactional_messages import TRANSACTIONAL_MESSAGES

BOUNDS = ("mishaps", "stray_ends", "clock_steps")
"""Counts of the state that an instance bounds by a constant of the same name."""


@cache
def counted_faults() -> dict[str, tuple[str, ...]]:
    """By bound, the faults of which an action that assumes one of them adds to the count, in their order.

    Taken from the source: from what the rules `assume` and from what the actions write.
    """
    machine = TRANSACTIONAL_MESSAGES
    constants = World.of("5.3.3").constants
    lowering = Lowering(machine, constants)  # it leaves all switches open, so that the profile is of no matter
    counted: dict[str, set[str]] = {bound: set() for bound in BOUNDS}
    for step in machine.steps(constants):
        action = lowering.action(step)
        assumed = {
            part.name
            for conjunct in action.guard
            if conjunct.kind == "assume"
            for part in parts(conjunct.condition)
            if isinstance(part, Switch)
        }
        written = {part.path for part in parts(action.effect) if isinstance(part, Write)}
        for bound in BOUNDS:
            if (bound,) in written:
                counted[bound] |= assumed
    return {bound: tuple(fault for fault in FAULTS if fault in counted[bound]) for bound in BOUNDS}
