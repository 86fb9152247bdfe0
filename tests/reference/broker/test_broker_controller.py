"""A broker process: what it takes in, what it saves when, and what is left of it after a crash."""

from __future__ import annotations

from dataclasses import replace

import pytest

from reference.broker.broker_controller import BrokerController
from reference.broker.broker_settings import BrokerSettings
from reference.broker.processor.send_message_processor import SendMessageRequest
from reference.broker.response import NO_PERMISSION, SERVICE_NOT_AVAILABLE, RemotingResponse
from reference.errors import BrokerIsDownError, BrokerIsRunningError
from reference.format.stored_message import decode_message_id
from reference.format.system_topics import HALF_TOPIC
from reference.simulation.virtual_clock import VirtualClock
from reference.store.memory_disk import MemoryDisk
from reference.store.message_store import MessageStore
from reference.versions.versions import switches_of
from tests.reference.one_broker import SETTINGS, OneBroker

HALF = SendMessageRequest("T", 3, b"body", 1_000_000, {"TRAN_MSG": "true", "PGROUP": "g", "UNIQ_KEY": "K"})


@pytest.mark.parametrize(
    ("version", "added"),
    [
        ("4.5.1", {}),
        ("4.9.7", {"CLUSTER": "DefaultCluster"}),
        (
            "5.3.3",
            {
                "MSG_REGION": "DefaultRegion",
                "TRACE_ON": "true",
                "CLUSTER": "DefaultCluster",
                "__transactionId__": "K",
            },
        ),
    ],
)
def test_a_half_lies_in_the_half_topic_with_its_real_place_in_its_properties(
    version: str, added: dict[str, str]
) -> None:
    result = OneBroker(version).broker.send_message(HALF)
    assert result.record is not None
    assert (result.record.topic, result.record.queue_id) == (HALF_TOPIC, 0)
    assert result.record.properties == {**HALF.properties, **added, "REAL_TOPIC": "T", "REAL_QID": "3"}
    assert decode_message_id(result.msg_id) == result.record.physical_offset


@pytest.mark.parametrize(("text", "topic"), [("TRUE", HALF_TOPIC), ("yes", "T")])
def test_tran_msg_is_read_as_a_java_boolean(text: str, topic: str) -> None:
    record = OneBroker("5.3.3").broker.send_message(replace(HALF, properties={"TRAN_MSG": text})).record
    assert record is not None
    assert record.topic == topic


def test_a_message_without_tran_msg_goes_straight_to_its_topic() -> None:
    record = OneBroker("5.3.3").broker.send_message(replace(HALF, properties={"UNIQ_KEY": "K"})).record
    assert record is not None
    assert (record.topic, record.queue_id) == ("T", 3)


@pytest.mark.parametrize(("version", "keys"), [("4.5.1", 0), ("4.9.7", 0), ("5.3.3", 2), ("5.4.0", 2)])
def test_5_x_gives_a_message_without_a_unique_key_one_of_its_own(version: str, keys: int) -> None:
    one = OneBroker(version)
    for _ in range(2):
        one.broker.send_message(replace(HALF, properties={"TRAN_MSG": "true"}))
    given = {record.properties.get("UNIQ_KEY") for record in one.stored(HALF_TOPIC)}
    assert len(given - {None}) == keys


def test_halves_are_refused_when_transactions_are_forbidden_or_the_store_is_full() -> None:
    one = OneBroker("5.3.3", replace(SETTINGS, reject_transaction_message=True))
    remark = "the broker[127.0.0.1] sending transaction message is forbidden"
    assert one.broker.send_message(HALF).response == RemotingResponse(NO_PERMISSION, remark)
    full = OneBroker("5.3.3")
    full.broker.message_store.is_writeable = False
    assert full.broker.send_message(HALF).response.code == SERVICE_NOT_AVAILABLE


@pytest.mark.parametrize(
    ("version", "remark"),
    [
        (
            "4.7.1",
            "service not available now, maybe disk full, CL:  1.00 CQ:  1.00 INDEX:  1.00, maybe your broker machine "
            "memory too small.",
        ),
        (
            "5.5.1",
            "service not available now. It may be caused by one of the following reasons: the broker's disk is full "
            "[CL:  1.00 CQ:  1.00 INDEX:  1.00], messages are put to the slave, message store has been shut down, etc.",
        ),
    ],
)
def test_a_refused_send_is_answered_in_the_words_of_its_release(version: str, remark: str) -> None:
    disk = MemoryDisk()
    switches, settings, clock = switches_of(version), replace(SETTINGS), VirtualClock(1)
    full = BrokerController(switches, settings, clock, MessageStore(switches, clock, disk))
    disk.space_left = 0
    full.message_store.is_writeable = False
    assert full.send_message(HALF).response == RemotingResponse(SERVICE_NOT_AVAILABLE, remark)


def test_offsets_are_saved_first_ten_seconds_after_the_start_and_then_at_a_fixed_rate() -> None:
    one = OneBroker("5.3.3", BrokerSettings())
    saved_at = []
    for _ in range(22):
        one.clock.advance(1_000)
        if one.broker.persist_consumer_offsets():
            saved_at.append(one.clock.now - 1_000_000)
    assert saved_at == [10_000, 15_000, 20_000]


def test_a_restarted_broker_knows_what_was_stored_and_what_was_saved_and_nothing_else() -> None:
    one = OneBroker("5.3.3")
    one.commit(one.half())
    one.flush_ops()
    one.branches()
    one.broker.persist_consumer_offsets()
    one.commit(one.half())
    one.branches()
    assert one.offsets == (2, 1)
    one.broker.crash()
    one.broker = one.broker.restart()
    assert one.offsets == (1, 1)
    assert one.broker.transactional_message_service.delete_context == {}
    assert one.broker.check_service.round is None
    assert one.delivered == ["K0", "K1"]


def test_a_process_that_is_gone_does_nothing_and_a_running_one_is_not_restarted() -> None:
    one = OneBroker("5.3.3")
    with pytest.raises(BrokerIsRunningError):
        one.broker.restart()
    one.broker.crash()
    for act in (
        lambda: one.broker.send_message(HALF),
        one.broker.begin_check_round,
        one.broker.run_op_batch_service,
        one.broker.persist_consumer_offsets,
        one.broker.shutdown,
        one.broker.crash,
    ):
        with pytest.raises(BrokerIsDownError):
            act()


def test_a_starting_broker_enters_into_the_queues_what_only_the_log_has() -> None:
    one = OneBroker("5.3.3")
    one.broker.message_store.dispatches_at_once = False
    one.half()
    assert one.broker.message_store.get_max_offset_in_queue(HALF_TOPIC, 0) == 0
    one.broker.crash()
    one.broker = one.broker.restart()
    assert one.broker.message_store.get_max_offset_in_queue(HALF_TOPIC, 0) == 1
