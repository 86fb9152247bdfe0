"""What the broker does when its store refuses a message, gives nothing, or holds what cannot be decoded."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from reference.broker.broker_controller import BrokerController
from reference.broker.processor.end_transaction_processor import EndTransactionOutcome
from reference.broker.processor.send_message_processor import SendMessageRequest
from reference.broker.response import MESSAGE_ILLEGAL, SERVICE_NOT_AVAILABLE, SUCCESS, SYSTEM_ERROR, RemotingResponse
from reference.broker.transaction.check_outcome import CheckBranch, CheckStep
from reference.broker.transaction.transactional_message_bridge import PullResult, PullStatus
from reference.errors import ThrownInCheckError
from reference.format.record import TRANSACTION_COMMIT, QueueOffset
from reference.format.system_topics import HALF_TOPIC, OP_TOPIC
from reference.store.disk import DirectoryDisk
from reference.store.get_message import GetMessageResult, GetMessageStatus
from reference.store.memory_disk import MemoryDisk
from reference.store.message_store import MessageStore
from reference.store.message_store_config import MessageStoreConfig
from reference.store.put_message import MOST_PROPERTIES
from tests.reference.one_broker import SETTINGS, OneBroker

if TYPE_CHECKING:
    from pathlib import Path

NO_ANSWER = GetMessageResult(GetMessageStatus.NO_ANSWER, QueueOffset(0), QueueOffset(0))


def begin(one: OneBroker) -> None:
    """Begin a round in due time; its steps are taken by `step`."""
    one.clock.advance(30_000)
    assert one.broker.begin_check_round() is not None


def step(one: OneBroker) -> CheckStep:
    running = one.broker.check_service.round
    assert running is not None
    return running.step()


def poison(one: OneBroker) -> int:
    """A half whose properties are as long as a record can hold, behind a plain one; its queue offset."""
    plain = len(one.half(note="x").properties_text)
    half = one.half(note="x" * (MOST_PROPERTIES - plain + 1))
    assert len(half.properties_text) == MOST_PROPERTIES
    return half.queue_offset


# --- writes -----------------------------------------------------------------------------------------------------------


def test_a_commit_whose_message_cannot_be_stored_is_refused_and_leaves_the_half_open() -> None:
    one = OneBroker("4.9.7")
    half = one.half()
    one.broker.message_store.is_writeable = False
    (refused,) = one.commit(half)
    assert refused.response is not None
    assert (refused.outcome, refused.response.code) == (EndTransactionOutcome.REFUSED, SERVICE_NOT_AVAILABLE)
    one.broker.message_store.is_writeable = True
    assert one.stored(OP_TOPIC) == []
    assert one.branches()[0] == "put_back_for_check"


def test_b04_an_op_message_that_cannot_be_stored_is_lost_and_answered_with_success() -> None:
    one = OneBroker("4.9.7")
    half = one.half()
    end = one.broker.end_transaction(one.header(half, TRANSACTION_COMMIT))
    end.step()
    one.broker.message_store.is_writeable = False
    lost = end.step()
    assert lost.response is not None
    assert (lost.outcome, lost.response.code) == (EndTransactionOutcome.OP_LOST, SUCCESS)
    one.broker.message_store.is_writeable = True
    assert one.branches()[0] == "put_back_for_check"


def test_b04_a_batch_that_cannot_be_stored_is_gone() -> None:
    one = OneBroker("5.3.3")
    one.roll_back(one.half())
    one.clock.advance(3_000)
    one.broker.message_store.is_writeable = False
    batch = one.broker.run_op_batch_service()
    assert (batch.written, batch.lost) == ((), ("0,",))
    one.broker.message_store.is_writeable = True
    one.flush_ops()
    assert one.stored(OP_TOPIC) == []


def test_b08_a_round_tries_a_copy_that_cannot_be_stored_until_its_time_limit() -> None:
    one = OneBroker("4.9.7")
    one.half()
    begin(one)
    one.broker.message_store.is_writeable = False
    assert [step(one).branch for _ in range(3)] == [CheckBranch.PUT_BACK_FAILED] * 3
    one.clock.advance(60_001)
    assert step(one).branch is CheckBranch.ENDED_BY_TIME_LIMIT
    assert one.offsets == (-1, -1)


def test_an_immune_half_that_cannot_be_put_back_is_kept_waiting_with_one_more_pull_of_ops_each_time() -> None:
    one = OneBroker("4.9.7")
    one.half(CHECK_IMMUNITY_TIME_IN_SECONDS="100")
    begin(one)
    one.broker.message_store.is_writeable = False
    assert [step(one).branch for _ in range(2)] == [CheckBranch.OPS_PULLED] * 2
    one.broker.message_store.is_writeable = True
    assert step(one).branch is CheckBranch.PUT_BACK_FOR_IMMUNITY


def test_b31_a_discarded_half_whose_record_cannot_be_stored_is_passed_all_the_same() -> None:
    one = OneBroker("5.3.3", replace(SETTINGS, transaction_check_max=1))
    one.half(TRANSACTION_CHECK_TIMES="1")
    begin(one)
    one.broker.message_store.is_writeable = False
    discarded = step(one)
    assert (discarded.branch, discarded.record) == (CheckBranch.DISCARDED, None)
    assert step(one).branch is CheckBranch.ENDED_AT_QUEUE_END
    assert (one.offsets[0], one.discarded) == (1, [])


@pytest.mark.parametrize("version", ["4.5.1", "4.9.7", "5.3.3", "5.4.0"])
def test_b07_a_half_whose_copy_is_longer_than_a_record_can_hold_is_stored_and_never_put_back(version: str) -> None:
    one = OneBroker(version)
    poisonous = poison(one)
    begin(one)
    assert step(one).branch is CheckBranch.PUT_BACK_FOR_CHECK
    failed = [step(one) for _ in range(2)]
    assert [(s.branch, s.half) for s in failed] == [(CheckBranch.PUT_BACK_FAILED, poisonous)] * 2
    assert one.broker.message_store.is_writeable


def test_a_message_with_longer_properties_than_a_record_can_hold_is_illegal() -> None:
    one = OneBroker("5.3.3")
    poison(one)
    with pytest.raises(AssertionError):
        one.half(note="x" * MOST_PROPERTIES)
    assert len(one.stored(HALF_TOPIC)) == 2


def test_a_commit_that_would_be_longer_than_a_record_can_hold_is_answered_as_illegal(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    one = OneBroker("5.3.3")
    half = one.half()
    for module in ("message_store", "put_message"):
        monkeypatch.setattr(f"reference.store.{module}.MOST_PROPERTIES", 10)
    (refused,) = one.commit(half)
    assert refused.response is not None
    assert refused.response.code == MESSAGE_ILLEGAL


def test_without_room_for_the_next_file_send_and_commit_are_answered_with_a_system_error() -> None:
    one = OneBroker("5.3.3")
    disk = MemoryDisk()
    store = MessageStore(one.broker.switches, one.clock, disk, MessageStoreConfig(1_000, 200))
    one.broker = BrokerController(one.broker.switches, one.settings, one.clock, store)
    half = one.half(note="x" * 500)
    disk.space_left = 0
    request = SendMessageRequest("T", 3, bytes(700), 0, {"TRAN_MSG": "true", "PGROUP": "g", "UNIQ_KEY": "K"})
    answer = one.broker.send_message(request)
    assert (answer.response.code, answer.record) == (SYSTEM_ERROR, None)
    (refused,) = one.commit(half)
    assert refused.response == RemotingResponse(SYSTEM_ERROR, "Create mapped file failed.")
    assert [record.queue_offset for record in store.records()] == [0]


@pytest.mark.parametrize("kind", ["memory", "directory"])
def test_a_power_loss_takes_the_log_from_the_midst_of_one_of_its_files_on(kind: str, tmp_path: Path) -> None:
    one = OneBroker("5.3.3")
    disk = MemoryDisk() if kind == "memory" else DirectoryDisk(tmp_path)
    store = MessageStore(one.broker.switches, one.clock, disk, MessageStoreConfig(1_000, 200))
    one.broker = BrokerController(one.broker.switches, one.settings, one.clock, store)
    halves = [one.half() for _ in range(20)]
    lost = next(half for half in halves if 2_000 < half.physical_offset < 3_000)
    assert halves[-1].physical_offset > 4_000
    one.broker.lose_power(lost.physical_offset)
    one.broker = one.broker.restart()
    stored = halves[: halves.index(lost)]
    assert list(one.broker.message_store.records()) == stored
    assert one.broker.message_store.get_max_offset_in_queue(HALF_TOPIC, 0) == len(stored)
    assert one.half().physical_offset == lost.physical_offset


# --- reads ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("version", ["4.5.1", "4.9.7", "5.3.3"])
def test_a08_a_store_that_answers_nothing_ends_the_round_and_nothing_is_committed(version: str) -> None:
    one = OneBroker(version)
    settled, _ = one.half(), one.half()
    one.roll_back(settled)
    if one.broker.switches.batches_ops:
        one.flush_ops()
    begin(one)
    assert step(one).branch is CheckBranch.SETTLED
    one.broker.message_store.miss_next_read(NO_ANSWER)
    aborted = step(one)
    assert aborted.branch is CheckBranch.ABORTED
    assert "NullPointerException" in aborted.thrown
    assert one.offsets == (-1, -1)
    assert one.broker.check_service.round is None


@pytest.mark.parametrize(("version", "is_tolerated"), [("4.5.1", False), ("4.9.7", False), ("5.3.3", True)])
def test_a_later_pull_of_op_messages_that_is_not_answered_is_tolerated_from_5_1_on(
    version: str, *, is_tolerated: bool
) -> None:
    one = OneBroker(version)
    begin(one)
    running = one.broker.check_service.round
    assert running is not None
    one.broker.message_store.miss_next_read(NO_ANSWER)
    if is_tolerated:
        assert running.op_remove_map.fill(QueueOffset(0)) == PullResult(PullStatus.NO_NEW_MSG, QueueOffset(0))
    else:
        with pytest.raises(ThrownInCheckError, match="NullPointerException"):
            running.op_remove_map.fill(QueueOffset(0))


def test_a_half_that_the_store_misses_is_jumped_over_once_a_round() -> None:
    one = OneBroker("4.9.7")
    for _ in range(3):
        one.half()
    begin(one)
    for jumped in (True, False):
        missed = GetMessageResult(GetMessageStatus.MESSAGE_WAS_REMOVING, QueueOffset(2 - jumped), QueueOffset(3))
        one.broker.message_store.miss_next_read(missed)
        branch = step(one).branch
        assert branch is (CheckBranch.NULL_HALF if jumped else CheckBranch.ENDED_AT_SECOND_NULL_HALF)
    assert one.offsets[0] == 1


def test_nothing_at_all_after_a_jump_ends_the_round_in_order() -> None:
    one = OneBroker("5.3.3")
    one.half()
    one.half()
    begin(one)
    missed = GetMessageResult(GetMessageStatus.MESSAGE_WAS_REMOVING, QueueOffset(1), QueueOffset(2))
    one.broker.message_store.miss_next_read(missed)
    step(one)
    one.broker.message_store.miss_next_read(NO_ANSWER)
    assert step(one).branch is CheckBranch.ENDED_AT_SECOND_NULL_HALF
    assert one.offsets[0] == 1


@pytest.mark.parametrize(
    ("version", "branches"),
    [
        ("4.5.1", ["aborted"]),
        ("4.7.1", ["aborted"]),
        ("5.0.0", ["aborted"]),
        ("4.9.7", ["null_half", "put_back_for_check", "ended_at_fresh_half"]),
        ("5.3.3", ["null_half", "put_back_for_check", "ended_at_fresh_half"]),
    ],
)
def test_a07_a_half_that_cannot_be_decoded_ends_the_round_or_is_jumped_over(version: str, branches: list[str]) -> None:
    one = OneBroker(version)
    rotten, _ = one.half(), one.half()
    one.broker.message_store.damage(rotten.physical_offset)
    assert one.branches() == branches
    assert one.offsets[0] == (-1 if branches == ["aborted"] else 2)


def test_an_end_transaction_for_a_half_that_cannot_be_decoded_finds_nothing() -> None:
    one = OneBroker("5.3.3")
    half = one.half()
    one.broker.message_store.damage(half.physical_offset)
    (refused,) = one.commit(half)
    assert refused.response is not None
    assert refused.response.code == SYSTEM_ERROR
    assert refused.response.remark == "Find prepared transaction message failed"


def test_no_starting_broker_finds_what_only_the_decoder_stumbles_over() -> None:
    one = OneBroker("5.3.3")
    rotten, sound = one.half(), one.half()
    one.broker.message_store.damage(rotten.physical_offset)
    one.broker.crash()
    one.broker = one.broker.restart()
    assert [record.queue_offset for record in one.stored(HALF_TOPIC)] == [0, 1]
    look = one.broker.message_store.look_message_by_offset
    assert (look(rotten.physical_offset), look(sound.physical_offset)) == (None, sound)
    assert one.broker.message_store.get_message(HALF_TOPIC, 0, QueueOffset(0), 32).records == (None, sound)


def rotten_op(version: str) -> OneBroker:
    """An open half, and an op message for another that cannot be decoded."""
    one = OneBroker(version)
    one.half()
    one.roll_back(one.half())
    if one.broker.switches.batches_ops:
        one.flush_ops()
    one.broker.message_store.damage(one.stored(OP_TOPIC)[0].physical_offset)
    return one


def test_b17_in_4_5_1_an_op_message_that_cannot_be_decoded_ends_every_round_before_it_begins() -> None:
    one = rotten_op("4.5.1")
    for _ in range(2):
        one.clock.advance(30_000)
        began = one.broker.begin_check_round()
        assert began is not None
        assert began.is_over
        assert one.broker.check_service.round is None
    assert one.broker.recorder.rows[-1]["event"] == "round_ended"


@pytest.mark.parametrize("version", ["4.7.1", "4.9.7", "5.0.0", "5.3.3"])
def test_b17_later_the_loop_looks_at_the_last_op_message_of_none(version: str) -> None:
    one = rotten_op(version)
    begin(one)
    aborted = step(one)
    assert aborted.branch is CheckBranch.ABORTED
    assert "IndexOutOfBoundsException" in aborted.thrown
    assert one.offsets == (-1, -1)


def test_beside_others_an_op_message_that_cannot_be_decoded_is_left_out_and_never_done() -> None:
    one = rotten_op("4.9.7")
    one.roll_back(one.half())
    assert one.branches() == [
        "ops_pulled",
        "put_back_for_check",
        "put_back_for_check",
        "settled",
        "ended_at_fresh_half",
    ]
    assert one.offsets == (3, -1)
