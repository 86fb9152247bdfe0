"""Bad input, case by case: what the real broker does where it does something, else one clear error.

What is here is what no other file asks for. A torn record and no space left: `store/test_disks.py`,
`test_broken_store.py` and every crash of `tests/seeds/`; an immunity that is no number: `test_check_round.py` and the
real stores `immunity`; what a reader of a damaged store is told: `store/test_commit_log.py` and
`tests/halfcheck/test_audit.py`; a bad run beside a store: `tests/halfcheck/diff/test_diff.py`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from reference.broker.broker_controller import BrokerController
from reference.broker.broker_settings import BrokerSettings
from reference.broker.consumer_offset_manager import NO_OFFSET, ConsumerOffsetManager
from reference.broker.processor.end_transaction_processor import EndTransactionRequestHeader
from reference.broker.processor.send_message_processor import SendMessageRequest
from reference.broker.response import ILLEGAL_OPERATION, SUCCESS, SYSTEM_ERROR
from reference.broker.transaction.check_outcome import CheckBranch
from reference.format.consumer_offsets import NAME as OFFSET_FILE
from reference.format.errors import BrokenConfigError
from reference.format.record import TRANSACTION_COMMIT, CommitLogOffset, LogRecord, QueueOffset
from reference.format.system_topics import DISCARD_TOPIC, HALF_TOPIC
from reference.store.get_message import GetMessageStatus
from reference.store.memory_disk import MemoryDisk
from reference.store.message_store import MessageStore
from reference.store.message_store_config import MessageStoreConfig
from reference.versions.versions import STORE_VERSIONS, VERSIONS, switches_of
from tests.reference.one_broker import GROUP, OneBroker

if TYPE_CHECKING:
    from collections.abc import Callable

SMALL_FILES = MessageStoreConfig(1_000, 200)
ALL = tuple(VERSIONS)


def on_disk(version: str, disk: MemoryDisk) -> OneBroker:
    """A broker on what a disk holds, whose files take three halves each."""
    one = OneBroker(version)
    store = MessageStore(one.broker.switches, one.clock, disk, SMALL_FILES)
    one.broker = BrokerController(one.broker.switches, one.settings, one.clock, store)
    return one


def file_and_position(disk: MemoryDisk, record: LogRecord) -> tuple[str, int]:
    at = record.physical_offset % 1_000
    return f"commitlog/{record.physical_offset - at:020d}", at


def rot(disk: MemoryDisk, record: LogRecord, at: int, damaged: bytes) -> None:
    """Let some bytes of a record rot, counted from its first."""
    name, start = file_and_position(disk, record)
    disk.map_file(name, 1_000).write(start + at, damaged)


DAMAGE: dict[str, Callable[[MemoryDisk, LogRecord], None]] = {
    "magic code": lambda disk, record: rot(disk, record, 4, b"\x01\x02\x03\x04"),
    "checksum": lambda disk, record: rot(disk, record, 8, b"\x01\x02\x03\x04"),
    "size": lambda disk, record: rot(disk, record, 0, b"\x7f\xff\xff\xff"),
    "body length": lambda disk, record: rot(disk, record, 84, b"\x80\x00\x00\x00"),
    "torn": lambda disk, record: rot(disk, record, 100, bytes(record.total_size - 100)),
}


@pytest.mark.parametrize("is_killed", [True, False])
@pytest.mark.parametrize("version", ALL)
@pytest.mark.parametrize("damage", DAMAGE)
def test_the_log_ends_before_a_record_that_a_starting_broker_finds_damaged(
    damage: str, version: str, is_killed: bool
) -> None:
    """``CommitLog#recoverNormally`` and ``#recoverAbnormally`` break there; what lies behind is cut off."""
    disk = MemoryDisk()
    one = on_disk(version, disk)
    halves = [one.half() for _ in range(8)]
    if is_killed:
        one.broker.crash()
    else:
        one.broker.shutdown()
    DAMAGE[damage](disk, halves[7])
    one = on_disk(version, disk)
    assert list(one.broker.message_store.records()) == halves[:7]
    assert one.broker.message_store.get_max_offset_in_queue(HALF_TOPIC, 0) == 7
    following = one.half()
    assert (following.physical_offset, following.queue_offset) == (halves[7].physical_offset, 7)
    one.broker.crash()
    assert list(on_disk(version, disk).broker.message_store.records()) == [*halves[:7], following]


@pytest.mark.parametrize(
    ("version", "looks"), [("4.5.1", True), ("4.9.7", True), ("5.2.0", True), ("5.3.3", False), ("5.4.0", False)]
)
@pytest.mark.parametrize("damaged_file", [1, 2])
def test_after_an_orderly_stop_only_some_files_are_looked_at(version: str, looks: bool, damaged_file: int) -> None:
    """Up to 5.3.1 the last three, later what was not dispatched (``CommitLog#recoverNormally``); here of five."""
    disk, switches = MemoryDisk(), STORE_VERSIONS[version]
    one = OneBroker("5.3.3")
    store = MessageStore(switches, one.clock, disk, SMALL_FILES)
    one.broker = BrokerController(switches, one.settings, one.clock, store)
    halves = []
    while len(disk.names("commitlog")) < 5:
        halves.append(one.half())
    one.broker.shutdown()
    damaged = next(half for half in halves if half.physical_offset == damaged_file * 1_000)
    rot(disk, damaged, 4, b"\x01\x02\x03\x04")
    reopened = MessageStore(switches, one.clock, disk, SMALL_FILES)
    is_cut = looks and damaged_file == 2
    end = damaged.physical_offset if is_cut else halves[-1].physical_offset + halves[-1].total_size
    assert reopened.max_phy_offset == end
    assert reopened.get_max_offset_in_queue(HALF_TOPIC, 0) == (halves.index(damaged) if is_cut else len(halves))


@pytest.mark.parametrize("version", ALL)
@pytest.mark.parametrize("offset", [-1, -(1 << 63), 1, 10_000_000, (1 << 63) - 1])
def test_an_end_transaction_for_a_place_where_no_record_begins_is_answered(version: str, offset: int) -> None:
    one = OneBroker(version)
    half = one.half()
    (refused,) = one.end(
        EndTransactionRequestHeader(GROUP, QueueOffset(0), CommitLogOffset(offset), TRANSACTION_COMMIT)
    )
    assert refused.response is not None
    assert (refused.response.code, refused.response.remark) == (
        SYSTEM_ERROR,
        "Find prepared transaction message failed",
    )
    assert one.commit(half)[-1].response == type(refused.response)(SUCCESS)


@pytest.mark.parametrize("version", ALL)
@pytest.mark.parametrize("queue_offset", [-1, 1, 1 << 62])
def test_an_end_transaction_with_a_queue_offset_that_is_not_the_halfs_is_answered(
    version: str, queue_offset: int
) -> None:
    one = OneBroker(version)
    half = one.half()
    header = EndTransactionRequestHeader(GROUP, QueueOffset(queue_offset), half.physical_offset, TRANSACTION_COMMIT)
    (refused,) = one.end(header)
    assert refused.response is not None
    assert refused.response.remark == "The transaction state table offset wrong"


@pytest.mark.parametrize("version", ALL)
@pytest.mark.parametrize(
    ("offset", "status"),
    [(-5, GetMessageStatus.OFFSET_TOO_SMALL), (1 << 62, GetMessageStatus.OFFSET_OVERFLOW_BADLY)],
)
def test_a_queue_that_is_read_at_an_offset_that_there_is_not_says_so(
    version: str, offset: int, status: GetMessageStatus
) -> None:
    one = OneBroker(version)
    one.half()
    found = one.broker.message_store.get_message(HALF_TOPIC, 0, QueueOffset(offset), 1)
    assert (found.status, found.records) == (status, ())
    assert 0 <= found.next_begin_offset <= 1


def test_an_offset_of_minus_one_of_a_consumer_is_kept_and_is_none() -> None:
    disk = MemoryDisk()
    disk.write(OFFSET_FILE, b'{"offsetTable":{"T@readers":{0:-1,1:3}}}')
    offsets = ConsumerOffsetManager(disk, VERSIONS["5.3.3"], OneBroker("5.3.3").clock)
    assert [offsets.query_offset("T", queue_id, "readers") for queue_id in (0, 1, 2)] == [NO_OFFSET, 3, NO_OFFSET]
    offsets.persist()
    assert b"0:-1" in (disk.read(OFFSET_FILE) or b"")


@pytest.mark.parametrize("offset", ["-1", "1.5", '"7"', "true", "null"])
def test_saved_offsets_that_are_none_are_passed_over_for_the_backup_which_must_be_sound(offset: str) -> None:
    """Without a backup the broker starts with no offsets (``ConfigManager#loadBak``)."""
    disk = MemoryDisk()
    key = f"{HALF_TOPIC}@CID_RMQ_SYS_TRANS"
    broken = f'{{"offsetTable":{{"{key}":{{0:{offset}}}}}}}'.encode()
    disk.write(OFFSET_FILE, broken)
    given = disk, VERSIONS["5.3.3"], OneBroker("5.3.3").clock
    assert ConsumerOffsetManager(*given).saved.table == {}
    disk.write(f"{OFFSET_FILE}.bak", broken)
    with pytest.raises(BrokenConfigError, match=r"consumerOffset.json can't be understood: .* has the offset"):
        ConsumerOffsetManager(*given)
    disk.write(f"{OFFSET_FILE}.bak", f'{{"offsetTable":{{"{key}":{{0:3}}}}}}'.encode())
    assert ConsumerOffsetManager(*given).saved.get(HALF_TOPIC, 0) == 3


def levels(content: bytes, backup: bytes | None = None) -> dict[int, int]:
    disk = MemoryDisk()
    disk.write("config/delayOffset.json", content)
    if backup is not None:
        disk.write("config/delayOffset.json.bak", backup)
    return on_disk("5.3.3", disk).broker.schedule_message_service.offset_table


@pytest.mark.parametrize("torn", [b"{", b'{"offsetTable"', b"[]", b"{}", b'{"offsetTable":{"1":"x"}}'])
def test_offsets_of_delay_levels_that_are_torn_are_passed_over_for_the_backup_which_must_be_sound(torn: bytes) -> None:
    assert levels(b'{"offsetTable":{1:7,\n2:8}}') == levels(b'{"offsetTable":{"1":7,"2":8}}') == {1: 7, 2: 8}
    assert levels(torn) == {}
    assert levels(torn, b'{"offsetTable":{1:7}}') == {1: 7}
    with pytest.raises(BrokenConfigError, match="delayOffset"):
        levels(torn, torn)


def half_without_group(one: OneBroker) -> LogRecord:
    own = {"TRAN_MSG": "true", "UNIQ_KEY": "without", "WAIT": "true"}
    record = one.broker.send_message(SendMessageRequest("T", 3, b"body", one.clock.now, own)).record
    assert record is not None
    return record


@pytest.mark.parametrize("version", ALL)
def test_a_half_without_a_group_is_stored_and_its_end_is_answered_with_a_system_error(version: str) -> None:
    """``EndTransactionProcessor#checkPrepareMessage`` calls equals on the group that is not there."""
    one = OneBroker(version)
    half = half_without_group(one)
    assert "PGROUP" not in half.properties
    for group in (GROUP, ""):
        header = EndTransactionRequestHeader(group, half.queue_offset, half.physical_offset, TRANSACTION_COMMIT)
        (refused,) = one.end(header)
        assert refused.response is not None
        assert (refused.response.code, refused.response.remark) == (SYSTEM_ERROR, "java.lang.NullPointerException")
    assert one.stored("T") == []


@pytest.mark.parametrize("version", ALL)
def test_a_half_without_a_group_is_put_back_asks_nobody_and_is_given_up(version: str) -> None:
    """``ProducerManager#getAvailableChannel`` gives null for it; the half behind it is checked all the same."""
    one = OneBroker(version, BrokerSettings(transaction_check_max=2, sleep_while_no_op_ms=0))
    half_without_group(one)
    behind = one.half()
    steps = [step for _ in range(4) for step in one.round()]
    asked = [step.check_request.msg_id for step in steps if step.check_request is not None]
    assert set(asked) == {behind.properties["UNIQ_KEY"]}
    branches = [step.branch for step in steps]
    assert branches.count(CheckBranch.PUT_BACK_UNASKED) == branches.count(CheckBranch.PUT_BACK_FOR_CHECK) == 2
    given_up = [record.properties["UNIQ_KEY"] for record in one.stored(DISCARD_TOPIC)]
    assert given_up == ([] if version == "4.5.1" else ["without", behind.properties["UNIQ_KEY"]])
    assert branches.count(CheckBranch.DISCARDED) == 2


@pytest.mark.parametrize("version", ALL)
@pytest.mark.parametrize("text", ["abc", "", " ", "1e3", "12.5", "0x10", "99999999999999999999", "-", "١٢"])
def test_an_immunity_that_is_no_number_throws_nowhere(version: str, text: str) -> None:
    one = OneBroker(version)
    early, late = (one.half(CHECK_IMMUNITY_TIME_IN_SECONDS=text) for _ in range(2))
    assert one.commit(early)[-1].response is not None
    one.clock.advance(100_000)
    (*_, last) = one.commit(late)
    assert last.response is not None
    is_refused = bool(text) and one.broker.switches.refuses_late_end
    assert last.response.code == (ILLEGAL_OPERATION if is_refused else SUCCESS)
    assert not any(step.thrown for step in one.round())


@pytest.mark.parametrize("profile", ["9.9.9", "", "5.3", "5.3.3.1"])
def test_a_version_that_there_is_not_is_refused_with_those_that_there_are(profile: str) -> None:
    with pytest.raises(ValueError, match=r"no version .*; there are 4\.3\.0, 4\.3\.2, 4\.5\.1, 4\.7\.1"):
        switches_of(profile)
