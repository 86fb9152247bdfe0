"""A store on a disk that is full, dies between two writes, tears one, or forgets what was not flushed."""

from __future__ import annotations

import errno
import os
from dataclasses import replace
from types import SimpleNamespace
from typing import TYPE_CHECKING

import pytest

from reference.broker.broker_settings import BrokerSettings
from reference.broker.config_files import string_to_file
from reference.broker.config_manager import TopicConfigManager
from reference.broker.consumer_offset_manager import ConsumerOffsetManager
from reference.format.commit_log import CommitLog
from reference.format.consume_queue import open_consume_queues
from reference.format.consumer_offsets import ConsumerOffsets, TopicAtGroup, load_consumer_offsets
from reference.format.errors import BrokenConfigError, DiskHasStoppedError, NoSpaceLeftError, NotAStoreError
from reference.format.record import MAGIC_V2, CommitLogOffset, QueueOffset
from reference.simulation.virtual_clock import VirtualClock
from reference.store.disk import BLANK_RECORD, LOG_RECORD, MAPPED_FILE, QUEUE_ENTRY, RENAME, DirectoryDisk
from reference.store.get_message import GetMessageStatus
from reference.store.memory_disk import MemoryDisk
from reference.store.message import MessageExtBrokerInner
from reference.store.message_store import ABORT, MessageStore
from reference.store.message_store_config import MessageStoreConfig
from reference.store.put_message import PutMessageStatus
from reference.versions.versions import STORE_VERSIONS

if TYPE_CHECKING:
    from pathlib import Path

    from reference.versions.switches import ReleaseSwitches

HOST = "127.0.0.1:10911"
SMALL = MessageStoreConfig(mapped_file_size_commit_log=1_000, mapped_file_size_consume_queue=60)
V = STORE_VERSIONS["5.3.3"]


def message(number: int = 0, topic: str = "T", **fields: str | bytes) -> MessageExtBrokerInner:
    values = {"body": b"body%03d" % number, "properties_text": "TAGS\x01d\x02", "born_host": HOST} | fields
    return MessageExtBrokerInner(topic, number % 2, store_host=HOST, born_timestamp=5, **values)  # type: ignore[arg-type]


def store(disk: MemoryDisk | DirectoryDisk, switches: ReleaseSwitches = V) -> MessageStore:
    return MessageStore(switches, VirtualClock(7), disk, SMALL)


def fill(subject: MessageStore, count: int) -> list[CommitLogOffset]:
    offsets = []
    for number in range(count):
        result = subject.put_message(message(number))
        assert result.physical_offset is not None
        offsets.append(result.physical_offset)
    return offsets


def assert_consistent(subject: MessageStore) -> None:
    """Each record can be read through its queue at its own queue offset."""
    records = subject.records()
    for queue_id in (0, 1):
        own = [r for r in records if r.queue_id == queue_id]
        assert [r.queue_offset for r in own] == list(range(len(own)))
        assert subject.get_max_offset_in_queue("T", queue_id) == len(own)
        for record in own:
            assert subject.get_message("T", queue_id, record.queue_offset, 1).records == (record,)


@pytest.mark.parametrize("on_directory", [False, True])
def test_files_roll_over_and_are_read_by_the_other_reader(tmp_path: Path, *, on_directory: bool) -> None:
    disk = DirectoryDisk(tmp_path) if on_directory else MemoryDisk()
    subject = store(disk)
    offsets = fill(subject, 20)
    assert len(disk.names("commitlog")) == 3
    assert offsets[9] == 1_000
    assert_consistent(subject)
    if on_directory:
        subject.shutdown()
        assert [record.physical_offset for record in CommitLog.open(tmp_path).records()] == offsets
        assert [queue.end for queue in open_consume_queues(tmp_path).values()] == [10, 10]
        blank = (tmp_path / "commitlog" / f"{0:020d}").read_bytes()[offsets[8] + 106 :]
        assert blank == (1_000 - offsets[8] - 106).to_bytes(4) + b"\xcb\xd4\x31\x94" + bytes(len(blank) - 8)
        assert disk.read(ABORT) is None
        assert_consistent(store(DirectoryDisk(tmp_path)))


def test_4_5_1_fills_a_file_with_the_bytes_of_earlier_messages() -> None:
    disk = MemoryDisk()
    subject = store(disk, STORE_VERSIONS["4.5.1"])
    offsets = fill(subject, 10)
    end = offsets[8] + 106
    blank = disk.files()[f"commitlog/{0:020d}"].ljust(1_000, b"\0")[end:]
    last = disk.files()[f"commitlog/{0:020d}"][offsets[8] : end]
    assert blank == (46).to_bytes(4) + b"\xcb\xd4\x31\x94" + last[8:46]
    assert any(blank[8:])


def test_a_long_topic_is_a_record_of_version_2_where_the_version_has_that() -> None:
    name = "t" * 128
    for version, status in (("5.3.3", PutMessageStatus.PUT_OK), ("4.9.7", PutMessageStatus.MESSAGE_ILLEGAL)):
        result = store(MemoryDisk(), STORE_VERSIONS[version]).put_message(message(topic=name))
        assert result.status is status
        if result.record is not None:
            assert (result.record.magic, result.record.topic) == (MAGIC_V2, name)


def test_what_is_too_long_is_refused() -> None:
    subject = store(MemoryDisk())
    assert subject.put_message(message(topic="t" * 1_001)).status is PutMessageStatus.MESSAGE_ILLEGAL
    long = message(properties_text="K\x01" + "v" * 33_000)
    assert subject.put_message(long).status is PutMessageStatus.PROPERTIES_SIZE_EXCEEDED
    assert MessageStore(V, VirtualClock(7)).put_message(message(body=bytes(5 << 20))).status is (
        PutMessageStatus.MESSAGE_ILLEGAL
    )
    assert subject.records() == ()


def test_hosts_of_sixteen_bytes_set_their_flags() -> None:
    subject = store(MemoryDisk())
    record = subject.put_message(message(born_host="[2001:db8::1]:80")).record
    assert record is not None
    assert (record.born_host, record.sys_flag, record.total_size) == ("[2001:db8::1]:80", 1 << 4, 118)
    assert_consistent(store(subject.disk))  # type: ignore[arg-type]


def test_without_room_for_the_next_file_nothing_that_was_acknowledged_is_lost() -> None:
    disk = MemoryDisk()
    subject = store(disk)
    fill(subject, 9)
    disk.space_left = 500
    assert subject.put_message(message(9)).status is PutMessageStatus.CREATE_MAPPED_FILE_FAILED
    assert subject.put_message(message(9)).status is PutMessageStatus.CREATE_MAPPED_FILE_FAILED
    assert len(subject.records()) == 9
    disk.space_left = 5_000
    assert subject.put_message(message(9)).physical_offset == 1_000
    assert_consistent(subject)


def writes_of(count: int) -> int:
    disk = MemoryDisk()
    fill(store(disk), count)
    assert disk.writes[LOG_RECORD] == count == disk.writes[QUEUE_ENTRY]
    assert (disk.writes[BLANK_RECORD], disk.writes[MAPPED_FILE]) == (2, 3 + 8)
    return disk.write_count


@pytest.mark.parametrize("torn_bytes", [0, 1, 30, 90, 101])
def test_after_a_crash_at_any_write_all_that_was_acknowledged_is_there(torn_bytes: int) -> None:
    total = writes_of(20)
    for stops_after in range(total):
        disk = MemoryDisk()
        disk.stops_after, disk.torn_bytes = stops_after, torn_bytes
        acknowledged = 0
        try:
            subject = store(disk)
            for number in range(20):
                subject.put_message(message(number))
                acknowledged += 1
        except DiskHasStoppedError:
            pass
        else:
            pytest.fail("the disk did not stop")
        disk.resume()
        recovered = store(disk)
        assert acknowledged <= len(recovered.records()) <= acknowledged + 1
        assert_consistent(recovered)
        rest = 20 - len(recovered.records())
        for number in range(20 - rest, 20):
            assert recovered.put_message(message(number)).status is PutMessageStatus.PUT_OK
        assert_consistent(store(disk))


def test_a_loss_of_power_takes_what_was_not_flushed() -> None:
    for survivors in range(40):
        disk = MemoryDisk(loses_power=True)
        subject = store(disk)
        fill(subject, 8)
        subject.flush()
        disk.flush()
        for number in range(8, 20):
            subject.put_message(message(number))
        disk.lose_power(survivors)
        recovered = store(disk)
        assert 8 <= len(recovered.records()) <= 20
        assert (survivors > 0) or len(recovered.records()) == 8
        assert_consistent(recovered)


def test_entries_that_point_behind_the_log_are_taken_out() -> None:
    disk = MemoryDisk()
    offsets = fill(store(disk), 20)
    name = f"commitlog/{offsets[15] // 1_000 * 1_000:020d}"
    file = disk.map_file(name, 1_000)
    file.write(offsets[15] % 1_000 + 95, b"\xff")
    recovered = store(disk)
    assert [record.physical_offset for record in recovered.records()] == offsets[:15]
    assert_consistent(recovered)
    assert recovered.put_message(message(15)).physical_offset == offsets[15]


def test_older_files_that_are_gone_move_the_queues_beginning() -> None:
    disk = MemoryDisk()
    fill(store(disk), 20)
    disk.delete(f"commitlog/{0:020d}")
    recovered = store(disk)
    result = recovered.get_message("T", 0, QueueOffset(0), 1)
    assert (result.status, result.next_begin_offset) == (GetMessageStatus.OFFSET_TOO_SMALL, 5)
    (first,) = recovered.get_message("T", 0, QueueOffset(5), 9).records
    assert first is not None
    assert first.queue_offset == 5


def test_a_log_that_is_gone_takes_the_queues_with_it() -> None:
    disk = MemoryDisk()
    fill(store(disk), 3)
    disk.delete(f"commitlog/{0:020d}")
    recovered = store(disk)
    assert recovered.get_max_offset_in_queue("T", 0) == 0
    assert fill(recovered, 2) == [0, 106]


@pytest.mark.parametrize(
    ("name", "message_part"),
    [
        ("commitlog/one", "is not a 20-digit offset"),
        (f"commitlog/{500:020d}", "is the configured file size right"),
        ("consumequeue/T/x/a", "its name is not a number"),
    ],
)
def test_a_directory_that_is_no_store_is_refused_by_name(tmp_path: Path, name: str, message_part: str) -> None:
    subject = store(DirectoryDisk(tmp_path))
    fill(subject, 1)
    subject.shutdown()
    path = tmp_path / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.touch()
    with pytest.raises(NotAStoreError, match=message_part):
        store(DirectoryDisk(tmp_path))


def test_files_longer_than_configured_are_refused(tmp_path: Path) -> None:
    subject = store(DirectoryDisk(tmp_path))
    fill(subject, 1)
    subject.shutdown()
    with pytest.raises(NotAStoreError, match="has 1000 bytes, its files are to have 500"):
        MessageStore(V, VirtualClock(7), DirectoryDisk(tmp_path), MessageStoreConfig(500))


def test_a_message_longer_than_a_file_is_refused() -> None:
    assert store(MemoryDisk()).put_message(message(body=bytes(950))).status is PutMessageStatus.MESSAGE_ILLEGAL


def test_without_room_for_a_consume_queue_the_store_refuses_what_comes_after() -> None:
    disk = MemoryDisk()
    subject = store(disk)
    fill(subject, 6)
    disk.space_left = 59
    assert subject.put_message(message(6)).status is PutMessageStatus.PUT_OK
    assert subject.put_message(message(7)).status is PutMessageStatus.SERVICE_NOT_AVAILABLE
    assert len(subject.records()) == 7
    assert subject.get_max_offset_in_queue("T", 0) == 3
    disk.space_left = None
    assert_consistent(store(disk))


def test_a_configuration_file_for_which_there_is_no_room_stays_as_it_was() -> None:
    for version in ("4.9.7", "5.3.3"):
        disk, clock = MemoryDisk(), VirtualClock(7)
        offsets = ConsumerOffsetManager(disk, STORE_VERSIONS[version], clock)
        first = ConsumerOffsets({TopicAtGroup("T@G"): {0: QueueOffset(1)}})
        offsets.save(first)
        disk.space_left = 3
        offsets.save(ConsumerOffsets({TopicAtGroup("T@G"): {0: QueueOffset(2)}}))
        assert offsets.saved.table == first.table
        assert load_consumer_offsets(disk.read).table == first.table


def test_a_configuration_file_is_saved_beside_and_renamed_up_to_5_0() -> None:
    for version, renames in (("5.0.0", 2), ("5.1.0", 0)):
        disk = MemoryDisk()
        for content in (b"one", b"two"):
            string_to_file(disk, "config/a", content, STORE_VERSIONS[version])
        assert (disk.read("config/a"), disk.read("config/a.bak")) == (b"two", b"one")
        assert disk.writes[RENAME] == renames


def test_a_broken_configuration_file_counts_as_missing_unless_its_backup_is_broken_too() -> None:
    disk, clock = MemoryDisk(), VirtualClock(7)
    settings = BrokerSettings()
    for name in ("config/topics.json", "config/consumerOffset.json"):
        disk.write(name, b'{"')
    assert load_consumer_offsets(disk.read).table == {}
    assert "T" not in TopicConfigManager(disk, V, clock, settings).table
    TopicConfigManager(disk, V, clock, settings).create("T")
    disk.write("config/topics.json", b'{"')
    disk.write("config/topics.json.bak", b"{}")
    with pytest.raises(BrokenConfigError, match=r"topics\.json can't be understood, and config/topics\.json\.bak"):
        TopicConfigManager(disk, V, clock, settings)
    disk.write("config/consumerOffset.json.bak", b"{}")
    with pytest.raises(BrokenConfigError, match=r"consumerOffset\.json can't be understood"):
        load_consumer_offsets(disk.read)


def test_a_record_leaves_room_for_queues_and_what_finds_none_is_said(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A page of a mapped file that finds no room ends a process: each step has its place before it is written."""
    file = DirectoryDisk(tmp_path).map_file("log/0", 1 << 24)
    file.write(0, b"one")
    monkeypatch.setattr(os, "fstatvfs", lambda _: SimpleNamespace(f_bavail=250, f_frsize=4096))
    file.write(3, b"beside it")
    with pytest.raises(NoSpaceLeftError, match="has no room for 2 bytes more: No space left on device"):
        file.write(1 << 20, b"no")
    file.write(1 << 20, b"an entry", QUEUE_ENTRY)
    monkeypatch.setattr(os, "posix_fallocate", no_room)
    with pytest.raises(NoSpaceLeftError):
        file.write(1 << 22, b"an entry", QUEUE_ENTRY)
    assert bytes(file.buffer[1 << 20 : (1 << 20) + 8]) == b"an entry"
    assert bytes(file.buffer[1 << 22 : (1 << 22) + 8]) == bytes(8)
    with pytest.raises(NoSpaceLeftError, match="can't be made in its size"):
        DirectoryDisk(tmp_path).map_file("log/1", 1 << 24)
    file.close()


@pytest.mark.parametrize("missing", [errno.ENOSPC, errno.EMFILE])
def test_a_file_that_can_not_be_opened_is_no_room_either(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, missing: int
) -> None:
    """A disk has room and no inode left, or the process has as many files open as it may."""
    subject = store(DirectoryDisk(tmp_path))
    fill(subject, 1)
    real = os.open

    def opened(path: Path, *more: int) -> int:
        if "consumequeue/other" in str(path):
            raise OSError(missing, os.strerror(missing))
        return real(path, *more)

    monkeypatch.setattr(os, "open", opened)
    assert subject.put_message(message(1, topic="other")).status is PutMessageStatus.PUT_OK
    subject.dispatch()
    assert subject.put_message(message(2)).status is PutMessageStatus.SERVICE_NOT_AVAILABLE
    subject.shutdown()
    monkeypatch.undo()
    assert len(store(DirectoryDisk(tmp_path)).records()) == 2


@pytest.mark.parametrize(
    ("of_users", "share"), [(True, 0.76), (False, 0.6)], ids=["rounded up, of what users may have", "of all"]
)
def test_a_disk_is_as_full_as_java_says(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, of_users: bool, share: float
) -> None:
    """Of 1,000 blocks 600 are taken, and users may have 190 of those that are left: 600 of 790 are 75.9 %."""
    monkeypatch.setattr(os, "statvfs", lambda _: SimpleNamespace(f_blocks=1_000, f_bfree=400, f_bavail=190))
    assert DirectoryDisk(tmp_path).used_share(of_users=of_users) == share


def no_room(*_: object) -> None:
    raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


def test_a_message_that_finds_no_room_is_refused_and_the_next_one_stored_when_there_is(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    subject = MessageStore(
        V, VirtualClock(1), DirectoryDisk(tmp_path), replace(SMALL, mapped_file_size_commit_log=1 << 16)
    )
    assert subject.put_message(message(0)).status is PutMessageStatus.PUT_OK
    end = subject.max_phy_offset
    with monkeypatch.context() as full:
        full.setattr(os, "fstatvfs", lambda _: SimpleNamespace(f_bavail=0, f_frsize=4096))
        refused = [subject.put_message(message(number)).status for number in range(60)]
    assert PutMessageStatus.SERVICE_NOT_AVAILABLE in refused
    assert subject.max_phy_offset > end
    assert subject.put_message(message(1)).status is PutMessageStatus.PUT_OK
    subject.shutdown()
