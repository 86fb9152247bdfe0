"""Counterexamples on RocketMQ's own classes: each step is taken by them, beside specification and reference broker."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import asdict, dataclass, replace
from enum import StrEnum
from functools import partial
from typing import TYPE_CHECKING, Any, Final

from fuzz.broker_side.producers import TOPIC, transaction_of_key
from fuzz.broker_side.twin_process import TwinProcesses
from fuzz.lockstep.pairing import DRIVEN, RECORDS, Mismatch, Pair, Pairing, is_excluded
from model_check.clauses import name_of
from model_check.instances import refuse_crowd
from reference.format.properties import UNIQUE_KEY
from spec.language import holds

if TYPE_CHECKING:
    from collections.abc import Iterable

    from conformance.java.real_classes import RealClasses
    from model_check.world import World
    from spec.language import Property, Step

_MORE: Final = 9
"""So much more may go wrong than in the instance: where nothing more may, the specification forgets some things."""


class RealOutcome(StrEnum):
    """Whether the real classes took a schedule."""

    TAKEN = "taken"
    """All steps, with the answers, records and offsets that specification and reference broker have."""
    LEFT_OUT = "left out"
    """The harness, or the lockstep, can't do a step of it."""
    DIFFERENT = "different"
    """They did otherwise."""


@dataclass(frozen=True, slots=True)
class RealReplay:
    """A schedule on the real classes."""

    release: str
    outcome: RealOutcome
    steps: int
    """How many were taken."""
    reason: str = ""
    """What was left out, or differs."""
    delivered: tuple[tuple[int, tuple[int, ...]], ...] = ()
    """Each transaction that was delivered more than once, with the places of its messages in the commit log."""
    whose: str = ""
    """What the classes are called, where they need not be the release's."""

    @property
    def is_different(self) -> bool:
        """Whether the real classes did otherwise."""
        return self.outcome is RealOutcome.DIFFERENT

    def to_json(self) -> dict[str, Any]:
        """The replay as plain data."""
        return asdict(self) | {"delivered": {str(transaction): list(at) for transaction, at in self.delivered}}


def replay_on(real: RealClasses, world: World, steps: Iterable[Step], clause: Property | None = None) -> RealReplay:
    """Take a schedule on all three sides; the broker and the classes are the release's of `real`.

    With a clause, the state that is reached must break it.
    """
    twins = TwinProcesses(real)
    size = world.instance
    refuse_crowd(size, "no broker takes steps of theirs")
    roomy = world.on(replace(size, mishaps=size.mishaps + _MORE, stray_ends=size.stray_ends + _MORE))
    pair = Pair(Pairing(roomy, make_process=twins, release=real.release))
    replay = partial(RealReplay, real.release, whose=real.name)
    try:
        for step in steps:
            why = _why_not(pair, step)
            if why:
                return replay(RealOutcome.LEFT_OUT, len(pair.taken), why)
            refused = pair.take(step)
            if refused is not None:
                return replay(RealOutcome.LEFT_OUT, len(pair.taken), f"{step}: {refused.rule}")
        pair.collect()
    except Mismatch as mismatch:
        return replay(RealOutcome.DIFFERENT, mismatch.number, str(mismatch))
    if twins.left_at:
        return replay(RealOutcome.LEFT_OUT, len(pair.taken), f"it has {next(iter(twins.left_at))}")
    if clause is not None and holds(pair.state, pair.constants, clause):
        return replay(RealOutcome.DIFFERENT, len(pair.taken), f"{name_of(clause)} holds at its end")
    return replay(RealOutcome.TAKEN, len(pair.taken), delivered=_delivered_twice(pair))


def _why_not(pair: Pair, step: Step) -> str:
    name = step.action.name
    if name not in DRIVEN:
        return f"{name}: {getattr(RECORDS[name], 'why', '')}"
    record = DRIVEN[name]
    if is_excluded(record, pair.side, step):
        first = (getattr(record.unless, "__doc__", None) or "").strip().partition("\n")[0]
        return f"{name}: {first.removesuffix('.').lower()}"
    return ""


def _delivered_twice(pair: Pair) -> tuple[tuple[int, tuple[int, ...]], ...]:
    """The deliveries of the broker itself; what another master delivered lies in another log."""
    places: defaultdict[int, list[int]] = defaultdict(list)
    for record in pair.side.broker.message_store.records():
        if record.topic == TOPIC:
            places[transaction_of_key(record.properties[UNIQUE_KEY])].append(int(record.physical_offset))
    return tuple((transaction, tuple(at)) for transaction, at in sorted(places.items()) if len(at) > 1)
