"""The files that a power loss leaves, at the next starts."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fuzz.defects.broker_under_test import BrokerUnderTest
from fuzz.defects.scenario import BrokerProfile, Seen, scenario
from reference.format.properties import UNIQUE_KEY
from reference.format.system_topics import HALF_TOPIC
from reference.store.memory_disk import MemoryDisk

if TYPE_CHECKING:
    from reference.format.record import LogRecord

_HALF_QUEUE = f"consumequeue/{HALF_TOPIC}/0/{0:020d}"


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
    under.broker.message_store.flush()
    gone = [under.half() for _ in range(2)]
    disk.force(_HALF_QUEUE)
    under.broker.crash()
    disk.lose_power()
    under.start()
    before = under.stored(HALF_TOPIC)
    ends = [_end_of_half_queue(under)]
    under.send(body=bytes(_padding(profile, gone[0])))
    half = under.half()
    code = under.commit(half)
    under.wait(5)
    under.restart()
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
    return under.broker.message_store.get_max_offset_in_queue(HALF_TOPIC, 0)
