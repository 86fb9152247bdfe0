"""What a record of the commit log is to a transaction."""

from __future__ import annotations

from enum import IntEnum
from typing import TYPE_CHECKING

from reference.format import properties
from reference.format.record import TRANSACTION_BITS, TRANSACTION_COMMIT, Record

if TYPE_CHECKING:
    from reference.format.frame import Frame

HALF_TOPIC = "RMQ_SYS_TRANS_HALF_TOPIC"
OP_TOPIC = "RMQ_SYS_TRANS_OP_HALF_TOPIC"
DISCARD_TOPIC = "TRANS_CHECK_MAX_TIME_TOPIC"

_TRANSACTION_TOPICS = frozenset(topic.encode() for topic in (HALF_TOPIC, OP_TOPIC, DISCARD_TOPIC))
NOT_A_DELIVERY = (
    b"%RETRY%",
    b"%DLQ%",
    b"SCHEDULE_TOPIC_XXXX",
    b"rmq_sys_",
    b"RMQ_SYS_",
    b"TRANS_CHECK_MAX_TIME_TOPIC",
)
"""Topics whose records keep the commit bits of the message that they copy: retries, dead letters, waiting rooms."""


class RecordKind(IntEnum):
    """The parts that a record can play in the life of a transaction: halves come first, op messages behind the rest."""

    FIRST_HALF = 0
    PUT_BACK = 1
    DELIVERED = 2
    DISCARDED = 3
    OP = 4
    OTHER = 5

    @property
    def words(self) -> str:
        """Such as ``first half``."""
        return self.name.lower().replace("_", " ")


def concerns_a_transaction(frame: Frame) -> bool:
    """Whether a record is part of a transaction's life: half, op, discard, or a committed message in its real topic."""
    if frame.topic in _TRANSACTION_TOPICS:
        return True
    return frame.sys_flag & TRANSACTION_BITS == TRANSACTION_COMMIT and not frame.topic.startswith(NOT_A_DELIVERY)


def classify(record: Record) -> RecordKind:
    """The kind of one record, from the record alone.

    A put-back is known by its check count (``TransactionalMessageServiceImpl#needDiscard`` sets it), a delivery by the
    commit bits of its system flag (``EndTransactionProcessor#endMessageTransaction``). A consumer's retry keeps those
    bits and is no delivery.
    """
    if record.topic == HALF_TOPIC:
        is_put_back = properties.CHECK_TIMES in record.properties
        return RecordKind.PUT_BACK if is_put_back else RecordKind.FIRST_HALF
    if record.topic == OP_TOPIC:
        return RecordKind.OP
    if record.topic == DISCARD_TOPIC:
        return RecordKind.DISCARDED
    is_committed = record.transaction_type == TRANSACTION_COMMIT
    return (
        RecordKind.DELIVERED
        if is_committed and not record.topic.encode().startswith(NOT_A_DELIVERY)
        else RecordKind.OTHER
    )
