"""Each switch of a version shows in what the broker does: the catalogue's schedules, run on the versions beside it."""

from __future__ import annotations

from dataclasses import replace

import pytest

from reference.broker.processor.end_transaction_processor import EndTransactionOutcome
from reference.broker.response import ILLEGAL_OPERATION, NOT_SET_REMARK, RemotingResponse
from reference.format.record import TRANSACTION_COMMIT, QueueOffset
from reference.format.system_topics import HALF_TOPIC
from reference.versions.switches import BrokerRepairs, ReleaseSwitches
from tests.reference.one_broker import SETTINGS, OneBroker

ALL = ["4.5.1", "4.9.7", "5.3.3", "5.4.0"]


@pytest.mark.parametrize(("version", "deliveries"), [("4.5.1", 2), *((later, 1) for later in ALL[1:])])
def test_a02_a_commit_that_was_read_before_a_young_half_is_forgotten_in_4_5_1(version: str, deliveries: int) -> None:
    one = OneBroker(version)
    one.half()
    one.clock.advance(26_000)
    one.half()
    one.commit(one.half())
    one.flush_ops()
    assert one.branches(1_000) == ["ops_pulled", "put_back_for_check", "ended_at_young_half"]
    assert one.offsets == (1, 1 if version == "4.5.1" else -1)
    for step in one.round():
        if step.check_request is not None:
            one.answer_commit(step.check_request)
    assert one.delivered.count("K2") == deliveries


@pytest.mark.parametrize(("version", "op_offset"), [("4.5.1", -1), *((later, 1) for later in ALL[1:])])
def test_a03_an_op_that_settled_its_half_is_done_a_round_later_in_4_5_1(version: str, op_offset: int) -> None:
    one = OneBroker(version)
    one.commit(one.half())
    one.flush_ops()
    assert one.branches()[0] == "settled"
    assert one.offsets == (1, op_offset)
    one.branches()
    assert one.offsets == (1, 1)


@pytest.mark.parametrize("version", ALL)
def test_b01_an_in_time_commit_of_an_immune_half_that_was_put_back_is_delivered_twice(version: str) -> None:
    one = OneBroker(version)
    half = one.half(CHECK_IMMUNITY_TIME_IN_SECONDS="100")
    assert one.branches()[0] == "put_back_for_immunity"
    one.commit(half)
    one.flush_ops()
    checks = [step.check_request for _ in range(4) for step in one.round() if step.check_request is not None]
    one.answer_commit(checks[0])
    assert one.delivered == ["K0", "K0"]
    assert {record.properties.get("TRAN_PREPARED_QUEUE_OFFSET") for record in one.stored(HALF_TOPIC)} == {
        None,
        "0",
    }


@pytest.mark.parametrize(
    ("version", "is_checked"), [("4.5.1", False), ("4.9.7", False), ("5.3.3", True), ("5.4.0", True)]
)
def test_b02_a_crash_before_the_batch_is_written_forgets_an_acknowledged_commit(version: str, is_checked: bool) -> None:
    one = OneBroker(version)
    assert one.commit(one.half())[-1].response == RemotingResponse(0)
    one.broker.crash()
    one.broker = one.broker.restart()
    assert one.broker.run_op_batch_service().written == ()
    assert ("put_back_for_check" in one.branches()) is is_checked


@pytest.mark.parametrize(
    ("version", "is_refused"), [("4.5.1", False), ("4.9.7", False), ("5.3.3", True), ("5.4.0", True)]
)
def test_a58_a_late_end_of_a_half_with_an_immunity_is_refused_with_604(version: str, is_refused: bool) -> None:
    one = OneBroker(version)
    half, plain = one.half(CHECK_IMMUNITY_TIME_IN_SECONDS="20"), one.half()
    one.clock.advance(20_000)
    assert one.commit(half)[-1].response == RemotingResponse(0)
    one.clock.advance(1)
    first = one.commit(half)[0]
    assert (first.response == RemotingResponse(ILLEGAL_OPERATION, NOT_SET_REMARK)) is is_refused
    assert one.delivered == ["K0"] * (1 if is_refused else 2)
    assert one.commit(plain)[-1].response == RemotingResponse(0)
    answer = one.end(one.header(half, TRANSACTION_COMMIT, from_check=True))
    assert answer[0].outcome is EndTransactionOutcome.MESSAGE_STORED


@pytest.mark.parametrize("version", ALL)
def test_a31_a_half_that_was_checked_too_often_is_kept_from_4_5_2_on(version: str) -> None:
    one = OneBroker(version, replace(SETTINGS, transaction_check_max=2))
    one.half()
    taken = [branch for _ in range(3) for branch in one.branches()]
    assert [branch for branch in taken if branch in ("put_back_for_check", "discarded")] == [
        "put_back_for_check",
        "put_back_for_check",
        "discarded",
    ]
    stored = [(record.queue_id, record.properties["TRANSACTION_CHECK_TIMES"]) for record in one.discarded]
    assert stored == ([] if version == "4.5.1" else [(0, "2")])
    assert one.offsets[0] == 3


@pytest.mark.parametrize(
    ("version", "branch"), [*((old, "ops_pulled") for old in ALL[:3]), ("5.4.0", "ended_at_young_half")]
)
def test_a19_an_age_that_equals_the_timeout_is_young_in_5_4_0_and_neither_before(version: str, branch: str) -> None:
    one = OneBroker(version, replace(SETTINGS, sleep_while_no_op_ms=0, transaction_check_interval_ms=6_000))
    one.half()
    one.clock.advance(6_000)
    check_round = one.broker.begin_check_round()
    assert check_round is not None
    assert check_round.step().branch.value == branch


@pytest.mark.parametrize(("version", "start"), [("4.5.1", 0), *((later, 1) for later in ALL[1:])])
def test_b15_an_offset_beyond_the_queue_rewinds_to_its_beginning_in_4_5_1(version: str, start: int) -> None:
    one = OneBroker(version)
    one.commit(one.half())
    one.flush_ops()
    one.broker.consumer_offset_manager.commit_offset(HALF_TOPIC, 0, QueueOffset(5))
    steps = one.round()
    assert [(step.branch.value, step.half) for step in steps][:1] == [("null_half", 5)]
    assert steps[1].half == start


@pytest.mark.parametrize(("version", "has_real_topic"), [("5.3.3", True), ("5.4.0", False)])
def test_b11_a_delivered_message_keeps_tran_msg_and_before_5_4_0_its_real_topic(
    version: str, has_real_topic: bool
) -> None:
    one = OneBroker(version)
    half = one.half()
    one.commit(half)
    (delivered,) = one.stored("T")
    assert ("REAL_TOPIC" in delivered.properties, "REAL_QID" in delivered.properties) == (has_real_topic,) * 2
    assert delivered.properties["TRAN_MSG"] == "true"
    assert (delivered.queue_id, delivered.sys_flag, delivered.prepared_transaction_offset) == (
        3,
        8,
        half.physical_offset,
    )


def test_a_switch_is_declared_in_one_place() -> None:
    assert not set(BrokerRepairs.__annotations__) & set(ReleaseSwitches.__annotations__)
