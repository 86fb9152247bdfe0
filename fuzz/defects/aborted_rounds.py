"""Rounds that end early, or pass a half over: full pools, Errors, two looks at one clock."""

from __future__ import annotations

from fuzz.defects.broker_under_test import START_MS, BrokerUnderTest
from fuzz.defects.scenario import Seen, scenario
from reference.broker.transaction.check_step import CheckBranch
from reference.errors import ErrorInCheckError
from reference.format.properties import UNIQUE_KEY
from reference.format.system_topics import HALF_TOPIC
from reference.simulation.virtual_clock import VirtualClock

_POOL = 20
_HALVES = 25
_PHASES = 60
_IMMUNITY_S = 100


class CreepingClock(VirtualClock):
    """A clock that goes on by a millisecond whenever it is read: a thread does not see the same time twice."""

    @property
    def now(self) -> int:
        """The wall clock, which has moved since it was read last."""
        self.advance(1)
        return super().now


@scenario("A04", "R1", affected="4.5.1", repaired_in="4.9.7")
def full_pool_for_checks(profile: str) -> Seen:
    """More halves are to be checked than the pool for checks can hold, and no channel takes anything.

    No channel takes anything, 25 halves are to be checked, and the pool has room for 20.
    """
    under = BrokerUnderTest(profile, check_pool_length=_POOL)
    for _ in range(_HALVES):
        under.half()
    under.broker.check_listener.waits_for_channels = True
    ends, offsets, stored = [], [], []
    for _ in range(3):
        ends.append(under.round()[-1].branch.value)
        under.broker.check_listener.waiting.clear()
        offsets.append(under.half_offset)
        stored.append(len(under.stored(HALF_TOPIC)))
    return Seen(
        symptom=offsets[-1] < _HALVES,
        facts={
            "ends of 3 rounds": tuple(ends),
            "half offset after each": tuple(offsets),
            "half messages after each": tuple(stored),
        },
    )


@scenario("A40", "L1", affected="4.5.1", repaired_in="4.9.7")
def error_in_a_round(profile: str) -> Seen:
    """A round ends in an Error.

    The broker has too little memory for one read of the half queue.
    """
    under = BrokerUnderTest(profile)
    half = under.half()
    steps = []
    for step in under.steps():
        steps.append(step.branch)
        if step.branch is CheckBranch.PUT_BACK_FOR_CHECK:
            under.broker.message_store.miss_next_read(ErrorInCheckError("java.lang.OutOfMemoryError"))
    checks = under.checks(10)
    return Seen(
        symptom=not checks,
        facts={
            "end of the round": steps[-1].value,
            "checks in the next 10 intervals": len(checks),
            "deliveries": under.deliveries(half.properties[UNIQUE_KEY]),
        },
    )


@scenario("A01", "L1", affected="4.5.1-measures_age_once", repaired_in="4.5.1")
def end_of_an_immunity(profile: str) -> Seen:
    """A round meets a half in the millisecond in which its immunity ends.

    Rounds at sixty moments around the end of a half's immunity; the thread reads its clock twice.
    """
    lost = []
    for phase in range(_PHASES):
        under = BrokerUnderTest(profile, clock=CreepingClock(START_MS))
        half = under.half({"CHECK_IMMUNITY_TIME_IN_SECONDS": str(_IMMUNITY_S)})
        born = half.born_timestamp
        under.clock.advance(born + _IMMUNITY_S * 1_000 - _PHASES + phase - under.clock.elapsed)
        steps = list(under.steps(waits=False))
        checks = under.checks(2)
        if not checks and all(step.check_request is None for step in steps):
            lost.append(phase)
    return Seen(symptom=bool(lost), facts={"moments": _PHASES, "moments at which the half is never checked": len(lost)})
