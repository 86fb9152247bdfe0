"""Slaves, producers that are gone, power losses and operators."""

from __future__ import annotations

import pytest

from reference.broker.processor.end_transaction_processor import EndTransactionOutcome
from reference.broker.processor.send_message_processor import SendMessageRequest
from reference.broker.response import (
    FLUSH_DISK_TIMEOUT,
    SERVICE_NOT_AVAILABLE,
    SLAVE_NOT_AVAILABLE,
    SUCCESS,
    SYSTEM_ERROR,
)
from reference.broker.transaction.check_outcome import CheckBranch
from reference.format.consumer_offsets import ConsumerOffsets, TopicAtGroup
from reference.format.record import CommitLogOffset, QueueOffset
from reference.format.stored_message import create_message_id
from reference.format.system_topics import CHECK_GROUP, HALF_TOPIC, OP_TOPIC
from reference.store.consume_queue_store import ConsumeQueueStore
from tests.reference.one_broker import GROUP, OneBroker

# --- slaves -----------------------------------------------------------------------------------------------------------


def test_a_slave_stores_nothing_ends_nothing_and_checks_nothing_until_it_is_the_master_again() -> None:
    one = OneBroker("4.9.7")
    half = one.half()
    one.broker.change_to_slave()
    (refused,) = one.commit(half)
    assert refused.response is not None
    assert refused.response.code == SLAVE_NOT_AVAILABLE
    sent = one.broker.send_message(SendMessageRequest("T", 0, b"body", 0, {"TRAN_MSG": "true", "PGROUP": GROUP}))
    assert (sent.response.code, sent.record) == (SERVICE_NOT_AVAILABLE, None)
    one.clock.advance(30_000)
    assert one.broker.begin_check_round() is None
    one.broker.change_to_master()
    assert one.broker.begin_check_round() is None, "its thread is started anew, and waits"
    assert one.branches() == ["put_back_for_check", "ended_at_fresh_half"]


def test_b04_what_waits_in_the_batch_of_a_slave_is_lost() -> None:
    one = OneBroker("5.3.3")
    one.roll_back(one.half())
    one.broker.change_to_slave()
    one.clock.advance(3_000)
    assert one.broker.run_op_batch_service().lost == ("0,",)


def test_a_commit_that_was_begun_before_the_role_changed_loses_its_op() -> None:
    one = OneBroker("4.9.7")
    end = one.broker.end_transaction(one.header(one.half(), 8))
    assert end.step().outcome is EndTransactionOutcome.MESSAGE_STORED
    one.broker.change_to_slave()
    assert end.step().outcome is EndTransactionOutcome.OP_LOST


# --- producers --------------------------------------------------------------------------------------------------------


def test_b19_with_no_producer_connected_a_half_is_put_back_with_a_check_counted_and_nobody_is_asked() -> None:
    one = OneBroker("4.9.7")
    one.half()
    one.broker.producer_manager.do_channel_close_event("127.0.0.1:4242")
    (put_back, _) = one.round()
    assert put_back.branch is CheckBranch.PUT_BACK_UNASKED
    assert put_back.check_request is None
    assert put_back.check_times == 1
    assert not one.broker.check_requests
    assert "put_back_unasked" in [row["event"] for row in one.broker.recorder.rows]
    one.broker.producer_manager.register_producer(GROUP, "10.0.0.1:1")
    assert one.branches()[0] == "put_back_for_check"


def test_a_producer_of_another_group_is_not_asked() -> None:
    one = OneBroker("5.3.3")
    one.half(PGROUP="other")
    one.half()
    one.broker.producer_manager.do_channel_close_event("127.0.0.1:4242")
    one.broker.producer_manager.register_producer(GROUP, "10.0.0.1:1")
    steps = [step.branch.value for step in one.round()]
    assert steps == ["put_back_unasked", "put_back_for_check", "ended_at_fresh_half"]


def test_producers_connect_again_to_a_broker_that_starts_again() -> None:
    one = OneBroker("5.3.3")
    one.half()
    one.broker.crash()
    one.broker = one.broker.restart()
    assert one.branches()[0] == "put_back_for_check"


def test_a37_a_flush_that_takes_too_long_is_answered_with_the_offsets_of_what_is_stored() -> None:
    one = OneBroker("5.3.3")
    request = SendMessageRequest("T", 3, b"body", 0, {"TRAN_MSG": "true", "PGROUP": GROUP, "UNIQ_KEY": "K"})
    answer = one.broker.send_message(request)
    timed_out = answer.but_flush_timed_out()
    assert (timed_out.response.code, timed_out.msg_id, timed_out.record) == (
        FLUSH_DISK_TIMEOUT,
        answer.msg_id,
        answer.record,
    )


# --- power losses -----------------------------------------------------------------------------------------------------


def test_b14_a_power_loss_takes_the_end_of_the_log_and_leaves_the_offsets() -> None:
    one = OneBroker("5.3.3")
    first, second = one.half(), one.half()
    one.broker.message_store.flush()
    assert one.broker.message_store.flushed_where == second.physical_offset + second.total_size
    one.branches()
    one.broker.persist_consumer_offsets()
    copies = one.stored(HALF_TOPIC)[2:]
    one.broker.lose_power(CommitLogOffset(copies[0].physical_offset))
    one.broker = one.broker.restart()
    assert one.stored(HALF_TOPIC) == [first, second]
    assert one.broker.message_store.get_max_offset_in_queue(HALF_TOPIC, 0) == 2
    assert one.offsets[0] == 2
    again = one.half()
    assert (again.queue_offset, again.physical_offset) == (2, copies[0].physical_offset)


@pytest.mark.parametrize("version", ["4.9.7", "5.3.3"])
@pytest.mark.parametrize(("keeps_entries", "seen"), [(False, 2), (True, 3)])
def test_queue_entries_that_outlive_their_records_come_back_with_the_second_start(
    keeps_entries: bool, seen: int, version: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where the queues were flushed, the next process goes on before the entries that point behind the log.

    Their bytes stay, and those that nothing has overwritten until yet another start count as entries then
    (``ConsumeQueue#truncateDirtyLogicFiles``, ``#recover``).
    """
    if keeps_entries:
        monkeypatch.setattr(ConsumeQueueStore, "lose_from", lambda _queues, _end: None)
    one = OneBroker(version)
    first, _, lost = one.half(), one.half(), one.half()
    one.broker.lose_power(lost.physical_offset)
    one.broker = one.broker.restart()
    store = one.broker.message_store
    assert store.get_max_offset_in_queue(HALF_TOPIC, 0) == 2
    one.commit(first)
    one.broker.crash()
    one.broker = one.broker.restart()
    store = one.broker.message_store
    assert store.get_max_offset_in_queue(HALF_TOPIC, 0) == seen
    behind = store.get_message(HALF_TOPIC, 0, QueueOffset(2), 1).records
    assert [record.topic for record in behind if record is not None] == ["T"] * (seen - 2)


def test_what_was_flushed_no_power_loss_takes() -> None:
    one = OneBroker("5.3.3")
    half = one.half()
    one.broker.message_store.flush()
    with pytest.raises(ValueError, match="a power loss can't take it from 0 on"):
        one.broker.lose_power(CommitLogOffset(half.physical_offset))
    assert one.broker.is_running


@pytest.mark.parametrize(("version", "jumps_to"), [("4.5.1", 0), ("5.3.3", 1)])
def test_b15_an_offset_beyond_the_end_is_corrected_to_the_end_or_up_to_4_9_3_to_the_beginning(
    version: str, jumps_to: int
) -> None:
    one = OneBroker(version)
    one.half()
    table = {TopicAtGroup(f"{HALF_TOPIC}@{CHECK_GROUP}"): {0: QueueOffset(5)}}
    one.broker.consumer_offset_manager.put_all(ConsumerOffsets(table))
    one.clock.advance(30_000)
    running = one.broker.begin_check_round()
    assert running is not None
    assert running.step().branch is CheckBranch.NULL_HALF
    assert running.new_offset == jumps_to


def test_b10_after_a_power_loss_a_commit_may_find_another_half_in_the_place_of_its_own() -> None:
    one = OneBroker("5.3.3")
    gone = one.half()
    one.broker.lose_power(CommitLogOffset(0))
    one.broker = one.broker.restart()
    other = one.half()
    assert (other.queue_offset, other.physical_offset) == (gone.queue_offset, gone.physical_offset)
    one.commit(gone)
    assert one.delivered == [other.properties["UNIQ_KEY"]]


# --- operators --------------------------------------------------------------------------------------------------------


def test_b30_a_resumed_half_counts_its_checks_anew_keeps_the_rest_and_may_be_resumed_again() -> None:
    one = OneBroker("5.3.3")
    one.half(flag=7, TRANSACTION_CHECK_TIMES="15")
    assert one.branches()[0] == "discarded"
    (discarded,) = one.discarded
    msg_id = create_message_id(discarded.store_host, discarded.physical_offset)
    for _ in range(2):
        assert one.broker.admin_broker_processor.resume_check_half_message(msg_id).code == SUCCESS
    resumed = one.stored(HALF_TOPIC)[1:]
    assert [record.properties["TRANSACTION_CHECK_TIMES"] for record in resumed] == ["0", "0"]
    assert [(record.flag, record.queue_id, record.topic) for record in resumed] == [(7, 0, HALF_TOPIC)] * 2
    assert one.broker.recorder.rows[-1]["event"] == "half_resumed"
    assert one.branches() == ["put_back_for_check", "put_back_for_check", "ended_at_fresh_half"]


def test_nothing_can_be_resumed_where_nothing_lies_or_nothing_can_be_stored() -> None:
    one = OneBroker("5.3.3")
    half = one.half()
    resume = one.broker.admin_broker_processor.resume_check_half_message
    assert resume(create_message_id(half.store_host, CommitLogOffset(1))).code == SYSTEM_ERROR
    one.broker.message_store.is_writeable = False
    assert resume(create_message_id(half.store_host, half.physical_offset)).code == SYSTEM_ERROR
    assert len(one.stored(HALF_TOPIC)) == 1


def test_an_op_offset_that_is_put_back_is_read_again() -> None:
    one = OneBroker("4.9.7")
    one.roll_back(one.half())
    one.branches()
    assert one.offsets == (1, 1)
    table = {TopicAtGroup(f"{OP_TOPIC}@{CHECK_GROUP}"): {0: QueueOffset(0)}}
    one.broker.consumer_offset_manager.put_all(ConsumerOffsets(table))
    one.branches()
    assert one.offsets == (1, 1)


def test_a_thread_that_oversleeps_begins_its_round_later() -> None:
    one = OneBroker("5.3.3")
    one.broker.check_service.oversleep(1_000)
    one.clock.advance(30_999)
    assert one.broker.begin_check_round() is None
    one.clock.advance(1)
    assert one.broker.begin_check_round() is not None
