"""Queues: halves that wait in another topic, queues that are deleted, that nobody reads, that show too much."""

from __future__ import annotations

from fuzz.defects.broker_under_test import GROUP, TOPIC, BrokerUnderTest
from fuzz.defects.scenario import BrokerProfile, Seen, scenario
from reference.broker.processor.end_transaction_processor import TRANSACTION_ROLLBACK, EndTransactionRequestHeader
from reference.client.client_message import send_back_by_send
from reference.client.producer_messages import MQClientError
from reference.format.properties import UNIQUE_KEY
from reference.format.record import TRANSACTION_COMMIT, QueueOffset
from reference.format.system_topics import DISCARD_TOPIC, HALF_TOPIC, OP_TOPIC, SCHEDULE_TOPIC, TIMER_TOPIC, retry_topic
from reference.store.light_queues import MULTI_DISPATCH, MULTI_QUEUE_OFFSET
from reference.store.message_store_config import MessageStoreConfig
from reference.versions.versions import V4_5_1

_LIGHT_QUEUE = "%LMQ%device"


@scenario("A33", "S9", affected="4.5.1", repaired_in="4.9.7", also_in="4.9.7-spares_op_queue")
def op_queue_that_is_deleted(profile: BrokerProfile) -> Seen:
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
    before = under.process.end_of_queue(OP_TOPIC)
    under.process.delete_topic("Unused")
    after = under.process.end_of_queue(OP_TOPIC)
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


@scenario("B33", "L5", affected="5.3.3", repaired_in="5.3.3+delivers_where_readable", also_in="4.5.1 4.9.7 5.4.0 5.5.1")
def queue_that_nobody_reads(profile: BrokerProfile) -> Seen:
    """A topic gets fewer queues between a half and its commit.

    Between the half for queue 3 and its commit, an operator leaves the topic one queue.
    """
    under = BrokerUnderTest(profile)
    under.process.update_topic(TOPIC, 4)
    half = under.half(queue_id=3)
    under.process.update_topic(TOPIC, 1)
    code = under.commit(half)
    (delivered,) = under.stored(TOPIC)
    readable = under.broker.topic_config_manager.read_queues(TOPIC)
    return Seen(
        symptom=delivered.queue_id >= readable,
        facts={"answer to the commit": code, "queues that consumers read": readable, "queue": delivered.queue_id},
    )


@scenario(
    "B34", "S5", affected="5.3.3", repaired_in="5.3.3+hides_halves_from_light_queues", also_in="4.9.7 5.4.0 5.5.1"
)
def half_in_a_light_queue(profile: BrokerProfile) -> Seen:
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


@scenario("B37", "L5", affected="5.3.3", repaired_in="5.3.3+keeps_offsets_of_halves", also_in="5.0.0 5.4.0 5.5.1")
def half_of_a_static_topic(profile: BrokerProfile) -> Seen:
    """A half is sent to a static topic whose offsets begin at 1000 on this broker, and committed.

    The topic is static, and this broker's part of queue 0 begins at offset 1000; the producer commits.
    """
    under = BrokerUnderTest(profile)
    under.process.map_topic(TOPIC, 1_000)
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


_CONSUMERS = "consumers"
_ROUNDS = 17


@scenario("A22", "L5", affected="4.5.1", repaired_in="4.9.7")
def half_with_a_delay_level(profile: BrokerProfile) -> Seen:
    """A producer sends a half with delay level 1 and commits it.

    The Java client and one that sends DELAY on, each with one half that is committed at once.
    """
    java, other = BrokerUnderTest(profile), BrokerUnderTest(profile)
    first = java.half({"DELAY": "1"})
    java.commit(first)
    java.wait(2)
    raw = other.half({"DELAY": "1"}, java_client=False)
    code = other.commit(raw)
    other.wait(2)
    checks = other.checks(_ROUNDS)
    return Seen(
        symptom=not java.delivered,
        facts={
            "topic of the Java client's half": first.topic,
            "delivered of the Java client's": len(java.delivered),
            "topic of another client's half": raw.topic,
            "answer to its commit": code,
            "delivered of another client's": len(other.delivered),
            "half messages": len(other.stored(HALF_TOPIC)),
            "scheduled messages": len(other.stored(SCHEDULE_TOPIC)),
            "dropped by the schedule service": len(other.broker.schedule_message_service.dropped),
            "checks in 17 rounds": len(checks),
            "discard records": len(other.stored(DISCARD_TOPIC)),
        },
    )


@scenario("A23", "L5", affected="5.3.3", repaired_in="5.5.0", also_in="5.0.0 5.1.0 5.2.0 5.4.0")
def half_with_a_timer(profile: BrokerProfile) -> Seen:
    """A Java producer sends a half that is to be delivered in two seconds, and commits it."""
    under = BrokerUnderTest(profile)
    half, code, refused = None, None, None
    try:
        half = under.half({"TIMER_DELAY_SEC": "2"})
        code = under.commit(half)
    except MQClientError as refusal:
        refused = str(refusal)
    under.wait(5)
    op = under.stored(OP_TOPIC)
    checks = under.checks(3)
    return Seen(
        symptom=half is not None and not under.delivered,
        facts={
            "the producer is told": refused,
            "topic of the half": None if half is None else half.topic,
            "answer to the commit": code,
            "delivered": len(under.delivered),
            "timer messages": len(under.stored(TIMER_TOPIC)),
            "half messages": len(under.stored(HALF_TOPIC)),
            "op message": op[0].body.decode() if op else None,
            "checks in 3 rounds": len(checks),
            "topic in a check": checks[0].topic if checks else None,
        },
    )


def _retry(under: BrokerUnderTest, *, by_old_consumer: bool) -> Seen:
    """A consumer fails on a committed message, its send-back is not answered, and it sends the message by itself."""
    half = under.half({"TAGS": "TagA"})
    under.commit(half)
    (delivered,) = under.stored(TOPIC)
    switches = V4_5_1 if by_old_consumer else under.profile.switches
    sent = under.request(send_back_by_send(delivered, _CONSUMERS, under.clock.now, switches))
    under.wait(15)
    checks = under.checks(_ROUNDS)
    retries = under.stored(retry_topic(_CONSUMERS))
    scheduled = under.stored(SCHEDULE_TOPIC)
    return Seen(
        symptom=not retries,
        facts={
            "answer to the retry": sent.response.code,
            "stored for": scheduled[0].properties["REAL_TOPIC"],
            "retries that arrive": len(retries),
            "dropped by the schedule service": len(under.broker.schedule_message_service.dropped),
            "checks in 17 rounds": len(checks),
            "discard records": len(under.stored(DISCARD_TOPIC)),
        },
    )


@scenario(
    "A24",
    "L1",
    affected="4.5.1",
    repaired_in="4.9.7",
    story="A consumer fails on a committed message, the broker does not answer its send-back, and the consumer "
    "sends the message to the retry topic by itself.",
)
def retry_of_a_consumer(profile: BrokerProfile) -> Seen:
    """Consumer and broker are of the same version."""
    return _retry(BrokerUnderTest(profile), by_old_consumer=False)


@scenario("B12", "L1", affected="4.9.7", repaired_in="5.0.0")
def retry_of_an_old_consumer(profile: BrokerProfile) -> Seen:
    """The same, with a consumer of 4.5.1."""
    return _retry(BrokerUnderTest(profile), by_old_consumer=True)


@scenario(
    "B09",
    "S4",
    affected="5.3.3",
    repaired_in="5.4.0",
    also_in="4.5.1 4.9.7",
    story="X rolls back a half that waits in the timer or schedule topic; Y's half has the same offset in the half "
    "queue, and Y's END_TRANSACTION is lost.",
)
def op_with_an_offset_of_another_queue(profile: BrokerProfile) -> Seen:
    """X ends a half that waits in another topic; Y's half has the same offset, and its END_TRANSACTION is lost."""
    under = BrokerUnderTest(profile)
    of_x = {"TIMER_DELAY_SEC": "3600"} if under.profile.switches.has_timer_wheel else {"DELAY": "1"}
    other = under.half(of_x, java_client=under.profile.switches.has_timer_wheel)
    lost = under.half()
    code = under.roll_back(other)
    under.wait(5)
    ops = under.stored(OP_TOPIC)
    branches = [step.branch.value for step in under.round() if step.half == lost.queue_offset]
    checks = [check for check in under.checks(_ROUNDS) if check.msg_id == lost.properties["UNIQ_KEY"]]
    return Seen(
        symptom=branches == ["settled"] and not checks and not under.deliveries(lost.properties["UNIQ_KEY"]),
        facts={
            "X's half": f"{other.topic} {other.queue_id} at {other.queue_offset}",
            "Y's half": f"{lost.topic} {lost.queue_id} at {lost.queue_offset}",
            "answer to X's rollback": code,
            "op message": ops[0].body.decode() if ops else None,
            "Y's half in the first round": branches[-1],
            "later checks of Y": len(checks),
            "deliveries of Y": under.deliveries(lost.properties["UNIQ_KEY"]),
            "discard records": len(under.stored(DISCARD_TOPIC)),
        },
    )
