"""Threads that do not sleep: the loop of a service as RocketMQ writes it, and how often it wakes up."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fuzz.defects.broker_under_test import SECOND_MS, BrokerUnderTest
from fuzz.defects.scenario import BrokerProfile, Seen, scenario
from reference.format.system_topics import OP_TOPIC

if TYPE_CHECKING:
    from collections.abc import Iterator


_ENOUGH = 1_000
"""So many passes without a wait, one behind the other, are a loop that takes a core for itself."""
_MINUTE_S = 60


def passes(under: BrokerUnderTest, loop: Iterator[int], seconds: int = _MINUTE_S) -> tuple[int, int]:
    """Let a loop run for some time: how often it woke up, and how often of them while the clock stood still.

    Time passes only while it waits. A loop that spins is left when it has done so for long enough.
    """
    ends = under.clock.now + seconds * SECOND_MS
    woken = spun = 0
    for wait in loop:
        if under.clock.now + wait > ends or spun == _ENOUGH:
            break
        under.process.advance(wait)
        woken += 1
        spun += not wait
    return woken, spun


@scenario("A17", "R1", affected="5.5.1", repaired_in="5.5.1+sleeps_while_nothing_waits", also_in="5.5.0")
def op_batch_thread_without_work(profile: BrokerProfile) -> Seen:
    """One transaction is committed, and nothing else happens.

    The thread that writes op batches is watched before the commit, and when the batch is written.
    """
    under = BrokerUnderTest(profile)
    service = under.broker.transactional_message_service
    before, _ = passes(under, service.run())
    under.commit(under.half())
    while not under.stored(OP_TOPIC):
        under.wait(1)
    began = under.clock.now
    woken, spun = passes(under, service.run())
    return Seen(
        symptom=spun == _ENOUGH,
        facts={
            "wake-ups in a minute before the commit": before,
            "op messages": len(under.stored(OP_TOPIC)),
            "wake-ups behind its batch": woken,
            "of them while no time passed": spun,
            "seconds in which they came": (under.clock.now - began) // SECOND_MS,
        },
    )


@scenario("A18", "R1", affected="5.5.0", repaired_in="5.5.1", also_in="5.2.0 5.3.3 5.4.0")
def thread_that_saves_counts(profile: BrokerProfile) -> Seen:
    """A broker starts, and nobody sends anything.

    The thread that saves the counts of halves is watched at the start, and when its first interval is over.
    """
    under = BrokerUnderTest(profile)
    began, service = under.clock.now, under.broker.transaction_metrics_flush_service
    loop = service.run()
    woken, spun = passes(under, loop)
    seconds = (under.clock.now - began) // SECOND_MS
    under.clock.advance(service.pause_ms)
    return Seen(
        symptom=spun == _ENOUGH,
        facts={
            "wake-ups": woken,
            "of them while no time passed": spun,
            "seconds in which they came": seconds,
            "waits of the next passes, in ms": (next(loop), next(loop)),
        },
    )
