"""What repairs keep over a crash, a stop or a failed write, where the lockstep does not look."""

from __future__ import annotations

from typing import TYPE_CHECKING

from reference.broker.transaction.settled_transactions import SettledTransactions
from reference.format.record import TRANSACTION_COMMIT, QueueOffset
from reference.format.stored_message import create_message_id
from reference.format.system_topics import HALF_TOPIC, OP_TOPIC
from reference.store.get_message import GetMessageStatus
from tests.reference.broker.test_escape import Elsewhere, acting
from tests.reference.one_broker import OneBroker

if TYPE_CHECKING:
    import pytest


def start_again(one: OneBroker) -> None:
    one.broker.crash()
    one.broker = one.broker.restart()


def test_what_was_rolled_back_is_known_after_a_crash_that_takes_its_op_entry() -> None:
    one = OneBroker("5.5.1+settles_once")
    half = one.half()
    one.roll_back(half)
    start_again(one)
    assert [step.outcome.value for step in one.commit(half)] == ["ignored"]
    assert one.branches(60_000) == ["known_as_settled", "ended_at_queue_end"]
    assert one.delivered == []


def test_what_was_delivered_is_found_in_the_log_where_the_index_was_not_saved(monkeypatch: pytest.MonkeyPatch) -> None:
    one = OneBroker("5.5.1+settles_once")
    half = one.half()
    end = one.broker.end_transaction(one.header(half, TRANSACTION_COMMIT))
    monkeypatch.setattr(SettledTransactions, "_save", lambda index: None)
    end.step()
    start_again(one)
    assert [step.outcome.value for step in one.commit(half)] == ["ignored"]
    assert one.delivered == ["K0"]


def test_a_half_that_was_resumed_is_open_again() -> None:
    one = OneBroker("5.5.1+settles_once")
    half = one.half(TRANSACTION_CHECK_TIMES="15")
    assert one.branches()[0] == "discarded"
    assert [step.outcome.value for step in one.commit(half)] == ["ignored"]
    aside = create_message_id(one.settings.store_host, one.discarded[0].physical_offset)
    one.broker.admin_broker_processor.resume_check_half_message(aside)
    assert [step.outcome.value for step in one.commit(half)] == ["message_stored", "op_buffered"]


def test_copies_are_known_after_a_start_and_where_the_offset_goes_back() -> None:
    one = OneBroker("5.5.1+copies_once+links_every_copy")
    one.half()
    assert one.branches(60_000)[0] == "put_back_for_check"
    one.broker.save_consumer_offsets()
    assert one.offsets[0] == 1
    start_again(one)
    assert one.branches(60_000)[0] == "put_back_for_check"
    one.broker.consumer_offset_manager.commit_offset(HALF_TOPIC, 0, QueueOffset(0))
    assert one.branches(60_000)[:3] == ["copy_ahead", "copy_ahead", "put_back_for_check"]


def test_a_stop_awaits_a_commit_between_its_two_writes_and_writes_its_op_message() -> None:
    for repairs, ops in (("", 0), ("+awaits_ends_on_stop", 0), ("+awaits_ends_on_stop+flushes_on_stop", 1)):
        one = OneBroker(f"5.5.1{repairs}")
        end = one.broker.end_transaction(one.header(one.half(), TRANSACTION_COMMIT))
        end.step()
        one.broker.begin_shutdown(wakes_check_service=False)
        assert (end.is_over, len(one.stored(OP_TOPIC))) == (bool(repairs), ops)


def test_what_an_op_message_named_that_was_not_stored_waits_in_its_order() -> None:
    one = OneBroker("5.5.1+keeps_failed_ops")
    halves = [one.half() for _ in range(3)]
    for half in halves:
        one.roll_back(half)
    one.clock.advance(one.settings.op_batch_interval_ms)
    one.broker.message_store.is_writeable = False
    assert one.broker.run_op_batch_service().lost == ()
    one.broker.message_store.is_writeable = True
    one.broker.run_op_batch_service()
    assert [op.body for op in one.stored(OP_TOPIC)] == [b"0,1,2,"]


def test_an_op_message_of_4_9_that_was_not_stored_is_tried_again() -> None:
    one = OneBroker("4.9.7+keeps_failed_ops+retries_commits")
    end = one.broker.end_transaction(one.header(one.half(), TRANSACTION_COMMIT))
    outcomes = []
    for is_writeable in (False, True, False, True):
        one.broker.message_store.is_writeable = is_writeable
        outcomes.append(end.step().outcome.value)
    assert outcomes == ["waiting", "message_stored", "waiting", "op_stored"]
    assert one.delivered == ["K0"]


def test_another_master_knows_what_has_escaped_to_it_after_a_start() -> None:
    one = OneBroker("5.5.1+escapes_once")
    one.half()
    acting(one)
    elsewhere = Elsewhere(one, answers=False)
    assert one.broker.begin_check_round() is None
    one.clock.advance(60_000)
    running = one.broker.begin_check_round()
    assert running is not None
    assert running.step().branch.value == "escape_failed"
    start_again(elsewhere.other)
    elsewhere.answers = True
    one.clock.advance(1_000)
    assert running.step().branch.value == "escaped"
    assert len(elsewhere.halves) == 1


def test_a_half_that_cannot_be_decoded_is_put_aside_with_its_bytes() -> None:
    one = OneBroker("5.5.1+parks_poison")
    half = one.half()
    store = one.broker.message_store
    store.damage(half.physical_offset)
    stored = store.get_data(half.physical_offset, store.max_phy_offset)
    assert one.branches() == ["discarded", "ended_at_queue_end"]
    (aside,) = one.discarded
    assert (aside.body, aside.properties["TRAN_PREPARED_QUEUE_OFFSET"]) == (stored, "0")


def test_retention_keeps_the_first_half_of_a_transaction_that_is_open() -> None:
    one = OneBroker("5.5.1+keeps_pending_files")
    store = one.broker.message_store
    one.half()
    store.cleaning.roll_commit_log()
    one.branches(60_000)
    one.broker.save_consumer_offsets()
    store.cleaning.roll_commit_log()
    store.cleaning.clean_commit_log(store.max_phy_offset)
    assert store.get_message(HALF_TOPIC, 0, QueueOffset(0), 1).status is GetMessageStatus.FOUND
    one.commit(one.stored(HALF_TOPIC)[-1])
    one.flush_ops()
    one.branches()
    one.branches()
    one.broker.save_consumer_offsets()
    store.cleaning.roll_commit_log()
    store.cleaning.clean_commit_log(store.max_phy_offset)
    assert store.get_message(HALF_TOPIC, 0, QueueOffset(0), 1).records == ()
