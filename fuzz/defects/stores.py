"""A broker's files: what a power loss leaves of queues, and the counts of open halves (5.2.0 and later) in theirs."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fuzz.defects.broker_under_test import TOPIC, BrokerUnderTest
from fuzz.defects.scenario import BrokerProfile, Seen, scenario
from reference.format.properties import UNIQUE_KEY
from reference.format.system_topics import HALF_TOPIC
from reference.store.memory_disk import MemoryDisk

if TYPE_CHECKING:
    from reference.format.record import LogRecord

_HALF_QUEUE = f"consumequeue/{HALF_TOPIC}/0/{0:020d}"

_SOME_SECONDS = 11
"""Longer than any version waits before it saves the counts."""


@scenario("A54", "M1", affected="5.3.3", repaired_in="5.4.0", also_in="5.2.0")
def power_loss(profile: BrokerProfile) -> Seen:
    """The machine loses power after the counts of open halves were saved.

    The counts are saved after two halves and after a third, the log is flushed, and the power fails.
    """
    disk = MemoryDisk(loses_power=True)
    under = BrokerUnderTest(profile, disk=disk)
    saved = []
    for halves in (2, 1):
        for _ in range(halves):
            under.half()
        under.process.advance(_SOME_SECONDS * 1_000)
        saved.append(int(under.process.save_counts()))
    counted = _count(under)
    under.process.flush()
    under.process.lose_unforced(disk)
    under.start()
    restored, halves = _count(under), len(under.stored(HALF_TOPIC))
    for check in under.checks():
        under.answer_commit(check)
    return Seen(
        symptom=restored != counted,
        facts={
            "saved": tuple(saved),
            "count before": counted,
            "halves after": halves,
            "count after": restored,
            "count when all are committed": _count(under),
        },
    )


@scenario("B40", "M1", affected="5.3.3", repaired_in="5.4.0", also_in="5.2.0")
def synchronous_sends(profile: BrokerProfile) -> Seen:
    """Messages are sent to a broker whose asyncSendEnable is off."""
    under = BrokerUnderTest(profile, async_send_enable=False)
    plain = under.send()
    delayed = under.send({"DELAY": "1"})
    under.half()
    return Seen(
        symptom=_count(under) != 1,
        facts={
            "answers": (plain.response.code, delayed.response.code),
            "exceptions behind an answer": under.broker.send_message_processor.thrown,
            "halves": len(under.stored(HALF_TOPIC)),
            "count": _count(under),
        },
    )


@scenario("B46", "M1", affected="5.3.3", repaired_in="5.3.3+counts_each_half_once", also_in="5.2.0 5.4.0 5.5.1")
def commits_that_come_twice(profile: BrokerProfile) -> Seen:
    """A half is committed by its producer and by the answer to a check as well."""
    under = BrokerUnderTest(profile)
    half = under.half()
    (check,) = under.checks()
    codes = under.commit(half), under.answer_commit(check)
    return Seen(
        symptom=_count(under) < 0,
        facts={
            "answers": tuple(-1 if code is None else code for code in codes),
            "deliveries": len(under.stored(TOPIC)),
            "count": _count(under),
        },
    )


def _count(under: BrokerUnderTest) -> int:
    return under.process.count_of_halves(TOPIC)


@scenario(
    "B58", "S1", affected="5.5.1", repaired_in="5.5.1+erases_truncated_entries", also_in="4.5.1 4.9.7 5.3.3 5.4.0"
)
def entries_without_records(profile: BrokerProfile) -> Seen:
    """A power loss takes two halves and leaves their queue entries; the broker starts, and later starts once more.

    Behind the first start a message and a half are sent, each as long as one of those that are gone; the half is
    committed.
    """
    disk = MemoryDisk(loses_power=True)
    under = BrokerUnderTest(profile, disk=disk)
    under.half()
    under.process.flush()
    gone = [under.half() for _ in range(2)]
    disk.force(_HALF_QUEUE)
    under.process.lose_unforced(disk)
    under.start()
    before = under.stored(HALF_TOPIC)
    ends = [_end_of_half_queue(under)]
    under.send(body=bytes(_padding(profile, gone[0])))
    half = under.half()
    code = under.commit(half)
    under.wait(5)
    under.restart(kill=True)
    ends.append(_end_of_half_queue(under))
    checks = [check for check in under.checks() if check.msg_id == half.properties[UNIQUE_KEY]]
    for check in checks:
        under.answer_commit(check)
    return Seen(
        symptom=under.deliveries(half.properties[UNIQUE_KEY]) > 1,
        facts={
            "halves in the log when it starts": len(before),
            "end of the half queue after each start": tuple(ends),
            "offset of the new half in its queue": half.queue_offset,
            "its place is that of the second that is gone": int(half.physical_offset == gone[1].physical_offset),
            "answer to its commit": code,
            "checks of it": len(checks),
            "deliveries": under.deliveries(half.properties[UNIQUE_KEY]),
        },
    )


def _padding(profile: BrokerProfile, half: LogRecord) -> int:
    """How long the body of a message is that takes as many bytes as a half."""
    empty = BrokerUnderTest(profile).send(body=b"").record
    return half.total_size - (empty.total_size if empty is not None else 0)


def _end_of_half_queue(under: BrokerUnderTest) -> int:
    return under.process.end_of_queue(HALF_TOPIC)
