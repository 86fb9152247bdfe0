"""Files of the commit log go as a whole; a read passes what is gone, and queues follow as their version does."""

from __future__ import annotations

import pytest

from reference.format.record import CommitLogOffset, QueueOffset
from reference.simulation.virtual_clock import VirtualClock
from reference.store.get_message import GetMessageStatus
from reference.store.message import MessageExtBrokerInner
from reference.store.message_store import MessageStore
from reference.store.message_store_config import MessageStoreConfig
from reference.versions.versions import VERSIONS

HOST = "127.0.0.1:10911"
TWO_A_FILE = MessageStoreConfig(mapped_file_size_commit_log=250, mapped_file_size_consume_queue=60)


def store_of(messages: int, version: str = "5.3.3") -> MessageStore:
    """A store with so many messages of 100 bytes in one queue, two a file; a file of the queue has three entries.

    The log's first file holds another message, as the place 0 is read otherwise than all others.
    """
    subject = MessageStore(VERSIONS[version], VirtualClock(7), config=TWO_A_FILE)
    subject.put_message(MessageExtBrokerInner("U", 0, b"body", "K\x01V\x02", 5, HOST, HOST))
    subject.cleaning.roll_commit_log()
    for _ in range(messages):
        subject.put_message(MessageExtBrokerInner("T", 0, b"body", "K\x01V\x02", 5, HOST, HOST))
    return subject


def found(subject: MessageStore, offset: int, wanted: int = 1) -> tuple[str, int, list[int]]:
    """What a read gives: its status, where to go on, and the queue offsets of what was found."""
    read = subject.get_message("T", 0, QueueOffset(offset), wanted)
    return read.status.value, read.next_begin_offset, [r.queue_offset for r in read.records if r is not None]


def test_a_read_of_what_is_gone_gives_the_first_message_that_is_left() -> None:
    subject = store_of(5)
    subject.cleaning.clean_commit_log(CommitLogOffset(749))
    assert subject.cleaning.min_phy_offset == 500
    assert found(subject, 0) == ("FOUND", 3, [2])
    assert found(subject, 1) == ("FOUND", 3, [2])
    assert found(subject, 0, wanted=2) == ("FOUND", 3, [2])
    assert found(subject, 3) == ("FOUND", 4, [3])


def test_for_the_place_0_the_first_record_that_is_left_is_read() -> None:
    """As the real classes do, beside which the lockstep holds this (tests/conformance/java)."""
    subject = MessageStore(VERSIONS["5.3.3"], VirtualClock(7), config=TWO_A_FILE)
    for body in (b"longer", b"body", b"body", b"even longer", b"body"):
        subject.put_message(MessageExtBrokerInner("T", 0, body, "K\x01V\x02", 5, HOST, HOST))
        subject.cleaning.roll_commit_log()
    subject.cleaning.clean_commit_log(CommitLogOffset(250))
    assert found(subject, 0) == ("FOUND", 1, [1])
    assert found(subject, 0, wanted=2) == ("FOUND", 2, [1, 1])
    subject.cleaning.clean_commit_log(CommitLogOffset(750))
    assert found(subject, 0) == ("FOUND", 1, [])  # what is longer than the entry says is cut off, and can't be decoded
    left = subject.look_message_by_offset(CommitLogOffset(0))
    assert left is not None
    assert (left.queue_offset, left.physical_offset) == (3, 750)


def test_the_last_file_stays() -> None:
    subject = store_of(4)
    subject.cleaning.clean_commit_log(subject.max_phy_offset)
    assert subject.cleaning.min_phy_offset == 500


@pytest.mark.parametrize(("version", "lower_end"), [("4.5.1", 0), ("4.9.7", 0), ("5.3.3", 2), ("5.4.0", 2)])
def test_up_to_4_9_the_lower_end_of_a_queue_stays_where_nothing_is_left(version: str, lower_end: int) -> None:
    subject = store_of(2, version)
    subject.cleaning.roll_commit_log()
    subject.cleaning.clean_commit_log(subject.max_phy_offset)
    assert found(subject, 1) == ("MESSAGE_WAS_REMOVING", 2, [])
    subject.cleaning.clean_consume_queues()
    assert subject.cleaning.get_min_offset_in_queue("T", 0) == lower_end
    subject.put_message(MessageExtBrokerInner("T", 0, b"body", "K\x01V\x02", 5, HOST, HOST))
    assert found(subject, 0) == (("OFFSET_TOO_SMALL", 2, []) if lower_end else ("FOUND", 3, [2]))
    subject.cleaning.clean_consume_queues()  # The log has lost no other file.
    assert subject.cleaning.get_min_offset_in_queue("T", 0) == lower_end
    assert subject.reopen().cleaning.get_min_offset_in_queue("T", 0) == 2


def test_a_queue_that_follows_begins_with_what_is_left_and_loses_its_old_files() -> None:
    subject = store_of(8)
    assert len(subject.disk.names("consumequeue/T/0")) == 3
    subject.cleaning.clean_commit_log(CommitLogOffset(750))
    assert found(subject, 0) == ("MESSAGE_WAS_REMOVING", 3, [])  # a read ends with its file of the queue
    assert found(subject, 3) == ("FOUND", 5, [4])
    subject.cleaning.clean_consume_queues()
    assert found(subject, 0) == ("OFFSET_TOO_SMALL", 4, [])
    assert found(subject, 4) == ("FOUND", 5, [4])
    assert len(subject.disk.names("consumequeue/T/0")) == 2
    assert found(subject.reopen(), 0) == (GetMessageStatus.OFFSET_TOO_SMALL.value, 4, [])


def test_a_read_looks_at_800_entries_at_most() -> None:
    wide = MessageStoreConfig(mapped_file_size_commit_log=250)
    subject = MessageStore(VERSIONS["5.3.3"], VirtualClock(7), config=wide)
    subject.put_message(MessageExtBrokerInner("U", 0, b"body", "K\x01V\x02", 5, HOST, HOST))
    subject.cleaning.roll_commit_log()
    for _ in range(804):
        subject.put_message(MessageExtBrokerInner("T", 0, b"body", "K\x01V\x02", 5, HOST, HOST))
    subject.cleaning.clean_commit_log(subject.max_phy_offset)
    assert found(subject, 0) == ("MESSAGE_WAS_REMOVING", 800, [])
    assert found(subject, 800) == ("FOUND", 803, [802])


@pytest.mark.parametrize(
    ("limits", "count"),
    [
        (MessageStoreConfig(physical_memory=1 << 62), 20),
        (MessageStoreConfig(physical_memory=250), 8),
        (MessageStoreConfig(physical_memory=5_000), 20),
        (MessageStoreConfig(max_transfer_count_on_message_in_memory=3), 3),
        (MessageStoreConfig(max_transfer_bytes_on_message_in_memory=499), 4),
    ],
)
def test_a_read_is_cut_where_the_queue_lies_behind_the_memory_and_at_what_is_transferred(
    limits: MessageStoreConfig, count: int
) -> None:
    subject = MessageStore(VERSIONS["5.3.3"], VirtualClock(7), config=limits)
    for _ in range(20):
        subject.put_message(MessageExtBrokerInner("T", 0, b"body", "K\x01V\x02", 5, HOST, HOST))
    assert found(subject, 0, wanted=32) == ("FOUND", count, list(range(count)))
