"""Queues that are deleted, that nobody reads, that show too much, or whose offsets are told otherwise."""

from __future__ import annotations

from fuzz.defects.broker_under_test import GROUP, TOPIC, BrokerUnderTest
from fuzz.defects.scenario import Seen, scenario
from reference.broker.processor.end_transaction_processor import TRANSACTION_ROLLBACK, EndTransactionRequestHeader
from reference.format.properties import UNIQUE_KEY
from reference.format.record import TRANSACTION_COMMIT, QueueOffset
from reference.format.system_topics import HALF_TOPIC, OP_TOPIC
from reference.store.light_queues import MULTI_DISPATCH, MULTI_QUEUE_OFFSET
from reference.store.message_store_config import MessageStoreConfig

_LIGHT_QUEUE = "%LMQ%device"


@scenario("A33", "S9", affected="4.5.1", repaired_in="4.9.7", also_in="4.9.7-spares_op_queue")
def op_queue_that_is_deleted(profile: str) -> Seen:
    """An operator deletes a topic that nobody needs, while settled halves wait for the next round.

    Three transactions are settled and met by a round, three more are settled, and a topic is deleted.
    """
    under = BrokerUnderTest(profile)
    under.send(topic="Unused")
    for half in [under.half() for _ in range(3)]:
        under.commit(half)
    under.wait(5)
    under.round()
    under.round()
    late = [under.half() for _ in range(3)]
    for half in late:
        under.commit(half)
    under.wait(5)
    before = under.broker.message_store.get_max_offset_in_queue(OP_TOPIC, 0)
    under.broker.admin_broker_processor.delete_topic("Unused")
    after = under.broker.message_store.get_max_offset_in_queue(OP_TOPIC, 0)
    checks = under.checks()
    for check in checks:
        under.answer_commit(check)
    deliveries = tuple(under.deliveries(half.properties[UNIQUE_KEY]) for half in late)
    return Seen(
        symptom=max(deliveries) > 1,
        facts={
            "end of the op queue": before,
            "after a topic was deleted": after,
            "checks of settled halves": len(checks),
            "deliveries of the last three": deliveries,
        },
    )


@scenario("B33", "L5", affected="5.3.3", repaired_in="5.3.3+delivers_where_readable", also_in="4.5.1 4.9.7 5.4.0")
def queue_that_nobody_reads(profile: str) -> Seen:
    """A topic gets fewer queues between a half and its commit.

    Between the half for queue 3 and its commit, an operator leaves the topic one queue.
    """
    under = BrokerUnderTest(profile)
    half = under.half(queue_id=3)
    under.broker.admin_broker_processor.update_topic(TOPIC, 1)
    code = under.commit(half)
    (delivered,) = under.stored(TOPIC)
    readable = under.broker.topic_config_manager.read_queues(TOPIC)
    return Seen(
        symptom=delivered.queue_id >= readable,
        facts={"answer to the commit": code, "queues that consumers read": readable, "queue": delivered.queue_id},
    )


@scenario("B34", "S5", affected="5.3.3", repaired_in="5.3.3+hides_halves_from_light_queues", also_in="4.9.7 5.4.0")
def half_in_a_light_queue(profile: str) -> Seen:
    """A half names a light queue, where the broker enters messages in such.

    A half asks to be entered in a light queue, where that is enabled; it is rolled back.
    """
    under = BrokerUnderTest(profile, MessageStoreConfig(enable_lmq=True, enable_multi_dispatch=True))
    half = under.half({MULTI_DISPATCH: _LIGHT_QUEUE})
    read = under.broker.message_store.get_message(_LIGHT_QUEUE, 0, QueueOffset(0), 32)
    checks = under.checks(2)
    for check in checks:
        under.end_request(
            EndTransactionRequestHeader(
                GROUP, check.tran_state_table_offset, check.commit_log_offset, TRANSACTION_ROLLBACK, True
            )
        )
    under.wait(5)
    later = under.broker.message_store.get_message(_LIGHT_QUEUE, 0, QueueOffset(0), 32)
    return Seen(
        symptom=bool(read.records),
        facts={
            "in the light queue before any END_TRANSACTION": len(read.records),
            "INNER_MULTI_QUEUE_OFFSET of the half": half.properties.get(MULTI_QUEUE_OFFSET),
            "topic of it": ", ".join(record.topic for record in read.records if record is not None) or None,
            "there after two checks and a rollback": len(later.records),
            "delivered": len(under.stored(TOPIC)),
        },
    )


@scenario("B37", "L5", affected="5.3.3", repaired_in="5.3.3+keeps_offsets_of_halves", also_in="5.0.0 5.4.0")
def half_of_a_static_topic(profile: str) -> Seen:
    """A half is sent to a static topic whose offsets begin at 1000 on this broker, and committed.

    The topic is static, and this broker's part of queue 0 begins at offset 1000; the producer commits.
    """
    under = BrokerUnderTest(profile)
    under.broker.topic_queue_mappings[TOPIC] = 1_000
    plain = under.send()
    half = under.send({"TRAN_MSG": "true", "PGROUP": GROUP})
    (record,) = under.stored(HALF_TOPIC)
    code = under.end_request(
        EndTransactionRequestHeader(GROUP, half.queue_offset, record.physical_offset, TRANSACTION_COMMIT)
    )
    direct = len(under.stored(TOPIC)) - 1
    for check in under.checks():
        under.answer_commit(check)
    return Seen(
        symptom=not direct,
        facts={
            "queue offset in the answer to a plain message": plain.queue_offset,
            "queue offset in the answer to the half": half.queue_offset,
            "queue offset of the half": record.queue_offset,
            "answer to the commit": code,
            "delivered by it": direct,
            "delivered after a check": len(under.stored(TOPIC)) - 1,
        },
    )
