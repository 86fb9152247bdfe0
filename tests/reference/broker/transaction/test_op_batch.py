"""Op messages by the batch (5.1.0 and later): when one is due, and what goes into it."""

from __future__ import annotations

from dataclasses import replace

import pytest

from reference.format.system_topics import OP_TOPIC
from tests.reference.one_broker import SETTINGS, OneBroker


def bodies(one: OneBroker) -> list[bytes]:
    return [record.body for record in one.stored(OP_TOPIC)]


def test_the_first_batch_waits_for_an_interval_since_the_first_end_and_the_next_since_the_last_write() -> None:
    one = OneBroker("5.3.3")
    one.clock.advance(10_000)
    one.commit(one.half())
    one.clock.advance(2_999)
    one.roll_back(one.half())
    assert one.broker.run_op_batch_service().written == ()
    one.clock.advance(1)
    batch = one.broker.run_op_batch_service()
    assert ([record.body for record in batch.written], batch.wakeup_timestamp) == ([b"0,1,"], one.clock.now + 3_000)
    one.clock.advance(2_999)
    one.commit(one.half())
    assert one.broker.run_op_batch_service().written == ()
    one.clock.advance(1)
    assert one.broker.run_op_batch_service().written != ()
    assert bodies(one) == [b"0,1,", b"2,"]


@pytest.mark.parametrize(("version", "wakes_in"), [("5.4.0", 3_000), ("5.5.1", 1)])
def test_a16_from_5_5_on_an_entry_that_is_passed_is_met_an_interval_after_the_last_write(
    version: str, wakes_in: int
) -> None:
    one = OneBroker(version)
    one.commit(one.half())
    one.clock.advance(2_999)
    assert one.broker.run_op_batch_service().wakeup_timestamp == one.clock.now + wakes_in


@pytest.mark.parametrize(("version", "sleeps"), [("5.4.0", True), ("5.5.0", False), ("5.5.1", False)])
def test_a17_from_5_5_on_an_interval_after_a_batch_the_thread_does_not_sleep_any_more(
    version: str, sleeps: bool
) -> None:
    one = OneBroker(version)
    one.commit(one.half())
    one.clock.advance(3_000)
    assert one.broker.run_op_batch_service().wakeup_timestamp == one.clock.now + 3_000
    one.clock.advance(3_000)
    batch = one.broker.run_op_batch_service()
    assert batch.written == ()
    assert batch.wakeup_timestamp == (one.clock.now + 3_000 if sleeps else 0)
    one.roll_back(one.half())
    assert len(one.broker.run_op_batch_service().written) == 1, "the first entry behind an idle interval is due at once"


def test_a_batch_is_due_at_once_when_its_characters_reach_the_maximum() -> None:
    one = OneBroker("5.3.3", replace(SETTINGS, op_msg_max_size=6))
    halves = [one.half() for _ in range(4)]
    for half in halves[:2]:
        one.commit(half)
    assert one.broker.run_op_batch_service().written == ()
    one.commit(halves[2])
    assert one.broker.run_op_batch_service().wakeup_timestamp == one.clock.now + 3_000
    assert bodies(one) == [b"0,1,2,"]
    one.commit(halves[3])
    assert one.broker.run_op_batch_service().written == ()


def test_a_body_may_exceed_the_maximum_by_less_than_its_last_entry_and_the_thread_runs_on_while_more_is_due() -> None:
    one = OneBroker("5.3.3", replace(SETTINGS, op_msg_max_size=3))
    for half in [one.half() for _ in range(4)]:
        one.commit(half)
    assert one.broker.run_op_batch_service().wakeup_timestamp == 0
    assert bodies(one) == [b"0,1,"]
    one.broker.run_op_batch_service()
    assert bodies(one) == [b"0,1,", b"2,3,"]


def test_a_repeated_end_is_named_twice() -> None:
    one = OneBroker("5.3.3")
    half = one.half()
    one.commit(half)
    one.commit(half)
    one.flush_ops()
    assert bodies(one) == [b"0,0,"]


def test_when_no_more_entries_fit_the_end_writes_its_own_and_as_many_as_go_into_one_message() -> None:
    one = OneBroker("5.3.3", replace(SETTINGS, op_context_queue_length=2))
    for half in [one.half() for _ in range(3)]:
        last = one.commit(half)[-1]
    assert last.outcome.value == "op_stored"
    assert bodies(one) == [b"2,0,1,"]


def test_b04_a_batch_that_the_store_refuses_is_gone() -> None:
    one = OneBroker("5.3.3")
    one.commit(one.half())
    one.clock.advance(3_000)
    one.broker.message_store.is_writeable = False
    assert one.broker.run_op_batch_service().lost == ("0,",)
    one.broker.message_store.is_writeable = True
    one.flush_ops()
    assert bodies(one) == []


@pytest.mark.parametrize(("idle_ms", "written"), [(2_999, [b"0,"]), (3_000, [b"0,", b"1,"])])
def test_b03_a_shutdown_writes_only_what_is_due_and_saves_the_offsets(idle_ms: int, written: list[bytes]) -> None:
    """An interval after the last batch everything is due at once."""
    one = OneBroker("5.3.3")
    one.commit(one.half())
    one.clock.advance(27_000)
    one.flush_ops()
    one.branches(0)
    one.clock.advance(idle_ms)
    one.commit(one.half())
    one.broker.shutdown()
    assert bodies(one) == written
    assert one.broker.consumer_offset_manager.saved.get("RMQ_SYS_TRANS_HALF_TOPIC", 0) == 1
