"""END_TRANSACTION: what is answered, what is written, in which steps, and what a crash between them leaves."""

from __future__ import annotations

from dataclasses import replace

import pytest

from reference.broker.processor.end_transaction_processor import EndTransactionOutcome, EndTransactionStep
from reference.broker.processor.send_message_processor import SendMessageRequest
from reference.broker.response import (
    ILLEGAL_OPERATION,
    NOT_SET_REMARK,
    SERVICE_NOT_AVAILABLE,
    SYSTEM_ERROR,
    RemotingResponse,
)
from reference.errors import ActivityIsOverError, BrokerIsDownError
from reference.format.record import TRANSACTION_COMMIT, CommitLogOffset, QueueOffset
from reference.format.system_topics import OP_TOPIC
from tests.reference.one_broker import SETTINGS, OneBroker


def refusal(code: int, remark: str) -> list[EndTransactionStep]:
    return [EndTransactionStep(EndTransactionOutcome.REFUSED, RemotingResponse(code, remark))]


def test_group_and_both_offsets_must_be_those_of_the_half() -> None:
    one = OneBroker("5.3.3")
    half = one.half()
    header = one.header(half, TRANSACTION_COMMIT)
    assert one.end(replace(header, producer_group="other")) == refusal(SYSTEM_ERROR, "The producer group wrong")
    wrong = replace(header, tran_state_table_offset=QueueOffset(1))
    assert one.end(wrong) == refusal(SYSTEM_ERROR, "The transaction state table offset wrong")
    beyond = replace(header, commit_log_offset=CommitLogOffset(1))
    assert one.end(beyond) == refusal(SYSTEM_ERROR, "Find prepared transaction message failed")
    assert len(one.broker.message_store.records()) == 1


def test_unknown_is_dropped_without_an_answer_and_any_other_number_is_an_error() -> None:
    one = OneBroker("5.3.3")
    half = one.half()
    assert one.end(one.header(half, 0)) == [EndTransactionStep(EndTransactionOutcome.DROPPED)]
    assert one.end(one.header(half, 4)) == refusal(SYSTEM_ERROR, "commitOrRollback field wrong")
    one.broker.change_to_slave()
    assert one.end(one.header(half, 4)) == refusal(SYSTEM_ERROR, "commitOrRollback field wrong"), "read before the role"


def test_a_commit_answers_after_its_second_write_and_a_rollback_after_its_only_one() -> None:
    one = OneBroker("4.9.7")
    first, second = one.half(), one.half()
    commit = one.commit(first)
    assert [(step.outcome.value, step.response) for step in commit] == [
        ("message_stored", None),
        ("op_stored", RemotingResponse(0)),
    ]
    rollback = one.roll_back(second)
    assert [(step.outcome.value, step.response) for step in rollback] == [
        ("op_stored", RemotingResponse(0, NOT_SET_REMARK))
    ]
    assert [(record.body, record.properties) for record in one.stored(OP_TOPIC)] == [
        (body, {"WAIT": "true", "TAGS": "d"}) for body in (b"0", b"1")
    ]


def test_a_crash_between_the_two_writes_of_a_commit_leaves_a_delivered_message_without_an_op() -> None:
    one = OneBroker("4.9.7")
    end = one.broker.end_transaction(one.header(one.half(), TRANSACTION_COMMIT))
    end.step()
    one.broker.crash()
    with pytest.raises(BrokerIsDownError):
        end.step()
    assert (one.delivered, one.stored(OP_TOPIC)) == (["K0"], [])


def test_a_request_that_was_handled_takes_no_further_step() -> None:
    one = OneBroker("5.3.3")
    end = one.broker.end_transaction(one.header(one.half(), 0))
    end.step()
    with pytest.raises(ActivityIsOverError):
        end.step()


def test_nothing_is_idempotent() -> None:
    one = OneBroker("4.9.7")
    half = one.half()
    for act in (one.commit, one.commit, one.roll_back):
        assert act(half)[-1].response is not None
    assert (one.delivered, len(one.stored(OP_TOPIC))) == (["K0", "K0"], 3)


def test_a_full_store_refuses_the_real_message_and_swallows_a_lost_op() -> None:
    one = OneBroker("4.9.7")
    half = one.half()
    one.broker.message_store.is_writeable = False
    assert one.commit(half) == refusal(SERVICE_NOT_AVAILABLE, "Service not available now.")
    assert one.roll_back(half) == [
        EndTransactionStep(EndTransactionOutcome.OP_LOST, RemotingResponse(0, NOT_SET_REMARK)),
    ]


def test_a_delivered_message_can_be_ended_again_into_an_op_queue_that_is_not_its_own() -> None:
    """B10, B09: the topic is not compared, so the real message of queue 3 passes for a half."""
    one = OneBroker("4.9.7")
    one.commit(one.half())
    one.commit(one.stored("T")[0])
    assert one.delivered == ["K0", "K0"]
    assert [(record.queue_id, record.body) for record in one.stored(OP_TOPIC)] == [(0, b"0"), (3, b"0")]


def test_a_delivered_message_of_5_4_0_is_refused_because_it_names_no_real_queue() -> None:
    one = OneBroker("5.4.0")
    one.commit(one.half())
    (step,) = one.commit(one.stored("T")[0])
    assert step.response is not None
    assert step.response.code == SYSTEM_ERROR
    assert one.delivered == ["K0"]


@pytest.mark.parametrize(
    ("version", "outcome", "ops"),
    [
        ("4.9.7", EndTransactionOutcome.OP_STORED, [b"0"]),
        ("5.3.3", EndTransactionOutcome.OP_BUFFERED, [b"0,"]),
        ("5.4.0", EndTransactionOutcome.NO_HALF, []),
    ],
)
def test_b09_what_waits_in_another_topic_gets_no_op_message_from_5_4_0_on(
    version: str, outcome: EndTransactionOutcome, ops: list[bytes]
) -> None:
    one = OneBroker(version)
    (step,) = one.roll_back(one.half(DELAY="1"))
    one.flush_ops()
    assert (step.outcome, step.response) == (outcome, RemotingResponse(0, NOT_SET_REMARK))
    assert [record.body for record in one.stored(OP_TOPIC)] == ops


def test_a_rollback_of_a_message_that_5_4_0_delivered_dies_at_its_count() -> None:
    one = OneBroker("5.4.0")
    one.commit(one.half())
    assert one.roll_back(one.stored("T")[0]) == refusal(SYSTEM_ERROR, "java.lang.NullPointerException")


def test_what_5_4_0_delivers_into_the_half_topic_is_never_asked_about_and_discarded() -> None:
    one = OneBroker("5.4.0", replace(SETTINGS, transaction_check_max=2))
    one.commit(one.half(TIMER_DELAY_SEC="2"))
    rounds = [one.round() for _ in range(4)]
    assert [step.branch.value for steps in rounds for step in steps].count("put_back_unasked") == 2
    assert [step.check_request for steps in rounds for step in steps if step.check_request] == []
    assert len(one.discarded) == 1


def test_a_delivered_and_a_discarded_message_keep_flag_and_reconsume_times_of_their_half() -> None:
    one = OneBroker("4.9.7", replace(SETTINGS, file_reserved_time_ms=10_000))
    properties = {"TRAN_MSG": "true", "PGROUP": "g", "UNIQ_KEY": "K"}
    request = SendMessageRequest("T", 3, b"body", one.clock.now, properties, flag=7, reconsume_times=2)
    half = one.broker.send_message(request).record
    assert half is not None
    one.commit(half)
    one.broker.send_message(request)
    one.branches()
    stored = [*one.stored("T"), *one.discarded]
    assert [(record.flag, record.reconsume_times) for record in stored] == [(7, 2), (7, 2)]


def test_lateness_is_judged_before_group_and_offsets() -> None:
    one = OneBroker("5.3.3")
    half = one.half(CHECK_IMMUNITY_TIME_IN_SECONDS="20")
    one.clock.advance(20_001)
    foreign = replace(one.header(half, TRANSACTION_COMMIT), producer_group="other")
    assert one.end(foreign) == refusal(ILLEGAL_OPERATION, NOT_SET_REMARK)
