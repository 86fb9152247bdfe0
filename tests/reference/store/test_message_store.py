"""The store in memory answers as RocketMQ's does: offsets, sizes, and what it says at a queue's end."""

from __future__ import annotations

import pytest

from reference.format.record import CommitLogOffset, QueueOffset
from reference.simulation.virtual_clock import VirtualClock
from reference.store.get_message import GetMessageStatus
from reference.store.message import MessageExtBrokerInner
from reference.store.message_store import MessageStore
from reference.store.put_message import PutMessageStatus
from reference.versions.versions import VERSIONS

HOST = "127.0.0.1:10911"


def message(topic: str = "T", queue_id: int = 0, body: bytes = b"body") -> MessageExtBrokerInner:
    return MessageExtBrokerInner(topic, queue_id, body, "K\x01V\x02", 5, HOST, HOST)


def store(version: str = "5.3.3") -> MessageStore:
    return MessageStore(VERSIONS[version], VirtualClock(7))


def test_each_queue_counts_its_messages_and_the_log_counts_bytes() -> None:
    subject = store()
    records = [subject.put_message(message(topic, queue)).record for topic, queue in (("T", 0), ("T", 1), ("T", 0))]
    assert [(r.queue_offset, r.physical_offset, r.total_size, r.store_timestamp) for r in records if r is not None] == [
        (0, 0, 100, 7),
        (0, 100, 100, 7),
        (1, 200, 100, 7),
    ]
    assert subject.max_phy_offset == 300
    assert subject.get_max_offset_in_queue("T", 0) == 2


@pytest.mark.parametrize(
    ("offset", "status", "following", "count"),
    [
        (0, GetMessageStatus.FOUND, 2, 2),
        (2, GetMessageStatus.FOUND, 3, 1),
        (3, GetMessageStatus.OFFSET_OVERFLOW_ONE, 3, 0),
        (4, GetMessageStatus.OFFSET_OVERFLOW_BADLY, 3, 0),
    ],
)
def test_a_read_says_what_it_found_and_where_to_go_on(
    offset: int, status: GetMessageStatus, following: int, count: int
) -> None:
    subject = store()
    for _ in range(3):
        subject.put_message(message())
    result = subject.get_message("T", 0, QueueOffset(offset), 2)
    assert (result.status, result.next_begin_offset, len(result.records), result.max_offset) == (
        status,
        following,
        count,
        3,
    )


@pytest.mark.parametrize("version", ["4.5.1", "4.9.7", "5.3.3", "5.5.0"])
def test_a_read_of_no_message_gives_one(version: str) -> None:
    """The Go client's pull consumer asks for none, over and over where it gets none (``#isTheBatchFull``)."""
    subject = store(version)
    for _ in range(3):
        subject.put_message(message())
    result = subject.get_message("T", 0, QueueOffset(1), 0)
    assert (result.status, result.next_begin_offset) == (GetMessageStatus.FOUND, 2)
    assert [record.queue_offset for record in result.records if record is not None] == [1]


def test_an_empty_queue_sends_its_reader_to_the_beginning() -> None:
    result = store().get_message("T", 0, QueueOffset(7), 1)
    assert (result.status, result.next_begin_offset) == (GetMessageStatus.NO_MESSAGE_IN_QUEUE, 0)


def test_a_record_is_found_at_its_first_byte_only() -> None:
    subject = store()
    record = subject.put_message(message()).record
    assert subject.look_message_by_offset(CommitLogOffset(0)) == record
    assert subject.look_message_by_offset(CommitLogOffset(1)) is None


def test_a_record_that_is_not_dispatched_is_in_the_log_but_not_in_its_queue() -> None:
    subject = store()
    subject.dispatches_at_once = False
    subject.put_message(message())
    assert subject.look_message_by_offset(CommitLogOffset(0)) is not None
    assert subject.get_max_offset_in_queue("T", 0) == 0
    subject.dispatch()
    assert subject.get_max_offset_in_queue("T", 0) == 1


def test_a_full_disk_refuses_every_message() -> None:
    subject = store()
    subject.is_writeable = False
    result = subject.put_message(message())
    assert (result.status, result.record, subject.records()) == (PutMessageStatus.SERVICE_NOT_AVAILABLE, None, ())
