"""The topics and the consumer group that a broker keeps for its transactions (``TopicValidator``, ``MixAll``)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from reference.format.consumer_offsets import TRANSACTION_GROUP

if TYPE_CHECKING:
    from reference.versions.switches import ReleaseSwitches

HALF_TOPIC: Final = "RMQ_SYS_TRANS_HALF_TOPIC"
OP_TOPIC: Final = "RMQ_SYS_TRANS_OP_HALF_TOPIC"
DISCARD_TOPIC: Final = "TRANS_CHECK_MAX_TIME_TOPIC"
SCHEDULE_TOPIC: Final = "SCHEDULE_TOPIC_XXXX"
TIMER_TOPIC: Final = "rmq_sys_wheel_timer"
REMOVE_TAG: Final = "d"
"""``TransactionalMessageUtil.REMOVE_TAG``: the tag of an op message whose halves are to be removed."""

CHECK_GROUP: Final = TRANSACTION_GROUP
"""The group under which the check service reads the half and the op queue."""

HALF_QUEUE_ID: Final = 0
"""Half messages of all topics share this one queue; its op messages lie in the op queue of the same number."""

NOT_ALLOWED_SEND_TOPICS: Final = (
    SCHEDULE_TOPIC, HALF_TOPIC, OP_TOPIC, DISCARD_TOPIC, "SELF_TEST_TOPIC", "OFFSET_MOVED_EVENT",
)  # fmt: skip
"""Topics that no client may send to, where the broker forbids it (``TopicValidator``, 4.9.4 and later)."""


def retry_topic(group: str) -> str:
    """``MixAll#getRetryTopic``."""
    return f"%RETRY%{group}"


def dead_letter_topic(group: str) -> str:
    """``MixAll#getDLQTopic``."""
    return f"%DLQ%{group}"


def topics_that_are_never_deleted(switches: ReleaseSwitches) -> tuple[str, ...]:
    """Topics whose queues stay without a configuration (``DefaultMessageStore#cleanUnusedTopic``)."""
    if switches.has_timer_wheel:
        return (SCHEDULE_TOPIC, HALF_TOPIC, OP_TOPIC, DISCARD_TOPIC, TIMER_TOPIC)
    return (SCHEDULE_TOPIC, OP_TOPIC) if switches.spares_op_queue else (SCHEDULE_TOPIC,)
