"""The check round: when it begins, where it ends, and what it does with a half."""

from __future__ import annotations

from dataclasses import replace

import pytest

from reference.broker.transaction.check_outcome import CheckBranch
from reference.errors import ActivityIsOverError, BrokerIsDownError
from reference.format.record import QueueOffset
from reference.format.system_topics import HALF_TOPIC, OP_TOPIC
from reference.store.message import MessageExtBrokerInner
from tests.reference.one_broker import SETTINGS, OneBroker


def test_rounds_begin_an_interval_after_the_start_and_after_the_end_of_the_last_never_two_at_once() -> None:
    one = OneBroker("5.3.3")
    one.clock.advance(29_999)
    assert one.broker.begin_check_round() is None
    one.clock.advance(1)
    check_round = one.broker.begin_check_round()
    assert check_round is not None
    one.clock.advance(40_000)
    assert one.broker.begin_check_round() is None
    assert check_round.step().branch is CheckBranch.ENDED_AT_QUEUE_END
    one.clock.advance(29_999)
    assert one.broker.begin_check_round() is None
    with pytest.raises(ActivityIsOverError):
        check_round.step()


def test_a_check_names_the_copy_but_the_times_of_the_half_and_wait_is_false_only_in_memory() -> None:
    one = OneBroker("5.3.3")
    half = one.half()
    (step,) = [step for step in one.round() if step.check_request is not None]
    check, copy = step.check_request, step.record
    assert check is not None
    assert copy is not None
    assert (check.tran_state_table_offset, check.commit_log_offset) == (copy.queue_offset, copy.physical_offset)
    assert (check.store_timestamp, check.topic, check.queue_id) == (half.store_timestamp, "T", 3)
    assert (copy.properties["WAIT"], check.properties["WAIT"]) == ("true", "false")
    assert (copy.properties["TRANSACTION_CHECK_TIMES"], step.check_times) == ("1", 1)
    assert copy.born_timestamp == half.born_timestamp
    assert list(one.broker.check_requests) == [check]


def test_a_young_half_ends_the_round_and_an_immune_one_does_not() -> None:
    one = OneBroker("4.9.7")
    one.half(CHECK_IMMUNITY_TIME_IN_SECONDS="60")
    one.clock.advance(29_000)
    one.half()
    assert one.branches(1_000) == ["put_back_for_immunity", "ended_at_young_half"]
    assert one.offsets == (1, -1)


@pytest.mark.parametrize(("immunity", "branch"), [("0", "put_back_for_check"), ("abc", "put_back_for_immunity")])
def test_an_immunity_of_zero_protects_from_nothing_and_nonsense_means_the_timeout(immunity: str, branch: str) -> None:
    one = OneBroker("4.9.7")
    one.clock.advance(25_000)
    one.half(CHECK_IMMUNITY_TIME_IN_SECONDS=immunity)
    taken = [step.branch.value for step in one.round(5_000)]
    assert taken[0] == branch


def test_a_round_does_not_check_its_own_copies_but_may_discard_them() -> None:
    one = OneBroker("5.3.3", replace(SETTINGS, transaction_check_max=2))
    one.half()
    assert one.branches() == ["put_back_for_check", "ended_at_fresh_half"]
    assert one.branches() == ["put_back_for_check", "discarded", "ended_at_queue_end"]


def test_a_copy_that_is_not_dispatched_yet_is_not_seen() -> None:
    one = OneBroker("5.3.3", replace(SETTINGS, transaction_check_max=1))
    one.half()
    one.broker.message_store.dispatches_at_once = False
    assert one.branches() == ["put_back_for_check", "ended_at_queue_end"]
    one.broker.message_store.dispatch()
    assert one.branches() == ["discarded", "ended_at_queue_end"]


def test_a_half_born_too_long_ago_is_discarded_with_a_check_counted() -> None:
    one = OneBroker("4.9.7", replace(SETTINGS, file_reserved_time_ms=29_999))
    one.half()
    assert one.branches()[0] == "discarded"
    assert one.discarded[0].properties["TRANSACTION_CHECK_TIMES"] == "1"
    younger = OneBroker("4.9.7", replace(SETTINGS, file_reserved_time_ms=30_000))
    younger.half()
    assert younger.branches()[0] == "put_back_for_check"


def test_ops_are_pulled_by_the_number_until_the_half_is_found_or_the_end_is() -> None:
    one = OneBroker("4.9.7", replace(SETTINGS, op_msg_pull_nums=2))
    unresolved, *others = [one.half() for _ in range(6)]
    for half in others:
        one.commit(half)
    assert unresolved.queue_offset == 0
    assert one.branches() == [*["ops_pulled"] * 3, "put_back_for_check", *["settled"] * 5, "ended_at_fresh_half"]
    assert one.offsets == (6, 5)


def test_a_round_over_nothing_commits_nothing() -> None:
    one = OneBroker("5.3.3")
    assert one.branches() == ["ended_at_queue_end"]
    assert one.offsets == (-1, -1)


def test_the_thread_does_not_sleep_after_a_pull_that_found_ops() -> None:
    one = OneBroker("5.3.3", replace(SETTINGS, op_msg_pull_nums=1))
    one.half()
    for _ in range(2):
        one.roll_back(one.half())
        one.flush_ops()
    one.clock.advance(30_000)
    check_round = one.broker.begin_check_round()
    assert check_round is not None
    assert [check_round.step().branch.value for _ in range(3)] == ["ops_pulled", "ops_pulled", "asleep"]


@pytest.mark.parametrize(("version", "op_offset"), [("4.9.7", -1), ("5.3.3", 1)])
def test_an_op_message_with_another_tag_settles_nothing_and_in_4_x_is_never_done(version: str, op_offset: int) -> None:
    one = OneBroker(version)
    one.half()
    host = one.settings.store_host
    one.broker.message_store.put_message(
        MessageExtBrokerInner(OP_TOPIC, 0, b"0", "TAGS\x01x\x02", one.clock.now, host, host)
    )
    assert "settled" not in one.branches()
    assert one.offsets == (1, op_offset)


def test_an_immune_half_whose_original_can_not_be_read_is_neither_put_back_nor_checked() -> None:
    one = OneBroker("4.9.7")
    one.half(CHECK_IMMUNITY_TIME_IN_SECONDS="60", TRAN_PREPARED_QUEUE_OFFSET="none")
    one.clock.advance(30_000)
    check_round = one.broker.begin_check_round()
    assert check_round is not None
    assert [check_round.step().branch.value for _ in range(2)] == ["ops_pulled"] * 2


def test_b32_a_copy_loses_the_users_flag_and_a_delivered_original_keeps_it() -> None:
    one = OneBroker("5.3.3")
    one.commit(one.half(flag=7))
    (step,) = [step for step in one.round() if step.check_request is not None]
    assert step.check_request is not None
    one.answer_commit(step.check_request)
    assert [record.flag for record in one.stored("T")] == [7, 0]


def test_a_half_behind_its_op_is_settled_without_another_pull() -> None:
    one = OneBroker("4.9.7")
    for half in [one.half() for _ in range(3)]:
        one.roll_back(half)
    assert one.branches() == ["settled"] * 3 + ["ended_at_queue_end"]


def test_ops_of_halves_below_the_half_offset_are_done_without_effect() -> None:
    one = OneBroker("5.3.3")
    half = one.half()
    one.branches()
    one.commit(half)
    one.flush_ops()
    assert one.branches()[0] == "ops_pulled"
    assert one.offsets == (2, 1)


def test_an_op_message_that_another_repeats_is_done_a_round_later() -> None:
    one = OneBroker("5.3.3")
    half = one.half()
    for _ in range(2):
        one.commit(half)
        one.flush_ops()
    assert one.branches() == ["settled", "ended_at_queue_end"]
    assert one.offsets == (1, -1)
    one.branches()
    assert one.offsets == (1, 2)


def test_the_last_op_of_a_pull_if_born_a_timeout_into_the_round_lets_a_half_be_checked() -> None:
    one = OneBroker("4.9.7", replace(SETTINGS, op_msg_pull_nums=2))
    one.half()
    one.commit(one.half())
    one.clock.advance(30_000)
    check_round = one.broker.begin_check_round()
    assert check_round is not None
    one.roll_back(one.half())
    one.clock.advance(6_001)
    one.commit(one.half())
    assert [check_round.step().branch.value for _ in range(2)] == ["ops_pulled", "put_back_for_check"]
    assert check_round.op_remove_map.pull_result.found is not None


def test_b27_a_half_born_in_the_brokers_future_is_checked_before_the_op_that_names_it_is_read() -> None:
    one = OneBroker("4.9.7", replace(SETTINGS, op_msg_pull_nums=1))
    ahead, other = one.half(born_ahead_ms=120_000), one.half()
    one.commit(other)
    one.commit(ahead)
    assert one.branches()[0] == "put_back_for_check"


def test_a_half_born_in_the_brokers_future_is_checked_when_there_are_no_ops_at_all() -> None:
    one = OneBroker("4.9.7")
    one.half(born_ahead_ms=30_001)
    assert one.branches()[0] == "put_back_for_check"


def test_b28_after_the_clock_stepped_back_every_half_counts_as_stored_within_the_round() -> None:
    one = OneBroker("4.9.7")
    one.half()
    one.clock.step(-50_000)
    assert one.branches() == ["ended_at_fresh_half"]
    assert one.branches()[0] == "put_back_for_check"


def test_a_copy_that_can_not_be_stored_is_tried_again_until_the_time_limit() -> None:
    one = OneBroker("4.9.7")
    one.half()
    one.half(CHECK_IMMUNITY_TIME_IN_SECONDS="600")
    one.clock.advance(30_000)
    one.broker.message_store.is_writeable = False
    check_round = one.broker.begin_check_round()
    assert check_round is not None
    assert [check_round.step().branch.value for _ in range(3)] == ["put_back_failed"] * 3
    one.clock.advance(60_000)
    assert check_round.step().branch is CheckBranch.PUT_BACK_FAILED
    one.broker.message_store.is_writeable = True
    assert check_round.step().branch is CheckBranch.PUT_BACK_FOR_CHECK
    one.broker.message_store.is_writeable = False
    assert check_round.step().branch is CheckBranch.OPS_PULLED
    one.clock.advance(1)
    assert check_round.step().branch is CheckBranch.ENDED_BY_TIME_LIMIT
    assert one.offsets == (1, -1)


@pytest.mark.parametrize(
    ("version", "after_the_pull"),
    [
        ("4.5.1", "put_back_for_check"),
        ("4.9.7", "put_back_for_check"),
        ("5.3.3", "asleep"),
        ("5.4.0", "asleep"),
    ],
)
def test_the_thread_sleeps_a_second_after_a_pull_without_ops_from_5_1_on(version: str, after_the_pull: str) -> None:
    one = OneBroker(version)
    one.commit(one.half())
    one.half()
    one.flush_ops()
    one.clock.advance(30_000)
    check_round = one.broker.begin_check_round()
    assert check_round is not None
    assert [check_round.step().branch.value for _ in range(2)] == ["settled", "ops_pulled"]
    one.clock.advance(999)
    assert check_round.step().branch.value == after_the_pull
    one.clock.advance(1)
    assert check_round.step().branch.value == (
        "put_back_for_check" if after_the_pull == "asleep" else "ended_at_fresh_half"
    )


def test_a15_the_op_of_an_immune_halfs_original_is_done_whatever_else_it_names() -> None:
    one = OneBroker("5.3.3")
    immune = one.half(CHECK_IMMUNITY_TIME_IN_SECONDS="600")
    assert one.branches()[0] == "put_back_for_immunity"
    one.commit(immune)
    one.commit(one.half())
    one.flush_ops()
    one.broker.consumer_offset_manager.commit_offset(HALF_TOPIC, 0, QueueOffset(0))
    one.clock.advance(30_000)
    check_round = one.broker.begin_check_round()
    assert check_round is not None
    check_round.op_remove_map.settle_prepared(QueueOffset(0))
    assert check_round.op_remove_map.done_op_offset == [0]
    assert check_round.op_remove_map.op_msg_map == {0: {0, 2}}


def test_a_round_dies_with_its_process_and_its_copies_stay() -> None:
    one = OneBroker("4.9.7")
    one.half()
    one.clock.advance(30_000)
    check_round = one.broker.begin_check_round()
    assert check_round is not None
    assert check_round.step().branch is CheckBranch.PUT_BACK_FOR_CHECK
    one.broker.crash()
    with pytest.raises(BrokerIsDownError):
        check_round.step()
    one.broker = one.broker.restart()
    assert one.offsets == (-1, -1)
    assert one.branches() == ["put_back_for_check", "put_back_for_check", "ended_at_fresh_half"]
    assert len(one.stored(HALF_TOPIC)) == 4
