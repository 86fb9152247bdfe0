"""The part of a commit log record in a transaction: kind, identity, checks, op entries."""

from __future__ import annotations

from enum import IntEnum
from hashlib import sha256
from typing import TYPE_CHECKING

from reference.format import properties
from reference.format.record import TRANSACTION_BITS, TRANSACTION_COMMIT, LogRecord, QueueOffset

if TYPE_CHECKING:
    from collections.abc import Hashable

    from reference.format.frame import Frame

HALF_TOPIC = "RMQ_SYS_TRANS_HALF_TOPIC"
OP_TOPIC = "RMQ_SYS_TRANS_OP_HALF_TOPIC"
DISCARD_TOPIC = "TRANS_CHECK_MAX_TIME_TOPIC"

_TRANSACTION_TOPICS = frozenset(topic.encode() for topic in (HALF_TOPIC, OP_TOPIC, DISCARD_TOPIC))
NOT_A_DELIVERY = b"%RETRY%", b"%DLQ%", b"SCHEDULE_TOPIC_XXXX", b"rmq_sys_", b"RMQ_SYS_", b"TRANS_CHECK_MAX_TIME_TOPIC"
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


def classify(record: LogRecord) -> RecordKind:
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


def identity_of(record: LogRecord) -> Hashable:
    """The identity of a record's transaction: UNIQ_KEY and group, or the parts that no put-back changes."""
    values = record.properties
    group = values.get(properties.PRODUCER_GROUP, "")
    unique_key = values.get(properties.UNIQUE_KEY)
    if unique_key:
        return unique_key, group
    real_topic = values.get(properties.REAL_TOPIC, record.topic)
    real_queue = values.get(properties.REAL_QUEUE_ID, str(record.queue_id))
    body = sha256(record.body).hexdigest() if record.has_sound_body else ""
    return group, record.born_timestamp, record.born_host, record.body_crc, body, real_topic, real_queue


def immunity_ms(text: str | None, timeout_ms: int) -> int | None:
    """CHECK_IMMUNITY_TIME_IN_SECONDS as the check round reads it; None if the message does not carry it.

    RocketMQ: TransactionalMessageServiceImpl#getImmunityTime: -1 and what is no number stand for the timeout.
    """
    if text is None:
        return None
    seconds = _java_long(text)
    return timeout_ms if seconds == -1 else seconds * 1000


def check_times(record: LogRecord) -> int | None:
    """The check count of a half or a discarded message; None if it has none, -1 if it is not a number."""
    text = record.properties.get(properties.CHECK_TIMES)
    return None if text is None else _java_long(text)


def _java_long(text: str) -> int:
    """``TransactionalMessageServiceImpl#getLong`` and ``#getInt``: -1 for what is no number."""
    try:
        return int(text) if text.strip() == text and "_" not in text else -1
    except ValueError:
        return -1


def parse_op_body(body: bytes) -> list[QueueOffset] | None:
    """The half queue offsets in an op body, in their order and with repeats; None if it can't be understood.

    Up to 5.0 it is one decimal number (``TransactionalMessageBridge#addRemoveTagInTransactionOp``), from 5.1 on a list
    in which each offset is followed by a comma (``TransactionalOpBatchService``, ``OFFSET_SEPARATOR``).

    Examples
    --------
    >>> parse_op_body(b"7"), parse_op_body(b"7,6,6,"), parse_op_body(b"x")
    ([7], [7, 6, 6], None)
    """
    try:
        items = body.decode("ascii").split(",")
    except UnicodeDecodeError:
        return None
    if items[-1] == "":
        items.pop()
    if not items or not all(item.isdecimal() for item in items):
        return None
    return [QueueOffset(int(item)) for item in items]


def is_batched(body: bytes) -> bool:
    """Whether the body is of the kind that 5.1 and later write."""
    return b"," in body


NOTHING = -(1 << 62)
"""Where a record has no such number."""


class RecordField(IntEnum):
    """The fields of a transaction's record: the rows of the columns that :mod:`property_kernels` fills.

    Texts are given by their positions in the file, 0 and 0 if there are none. The hashes only share rows out and find
    candidates: all that they bring together is compared. Compiled kernels take the numbers for constants and are cached
    from run to run: a new field goes behind the others.
    """

    KIND = 0
    IS_ODD = 1
    KEY_HASH = 2
    CHECK_TIMES = 3
    IMMUNITY_SECONDS = 4
    CONSTANTS = 5
    REAL_QUEUE = 6
    PREPARED_QUEUE_OFFSET = 7
    BIRTH_HASH = 8
    FEATURES = 9
    KEY_AT = 10
    KEY_SIZE = 11
    GROUP_AT = 12
    GROUP_SIZE = 13
    TOPIC_AT = 14
    TOPIC_SIZE = 15
    TAGS_CODE = 16
    ENTRIES = 17
    STAYS_AT = 18
    STAYS_SIZE = 19
    KEYS_AT = 20
    KEYS_SIZE = 21
    TAGS_AT = 22
    TAGS_SIZE = 23


class Feature(IntEnum):
    """Bits of a record that tell versions apart, and whether its properties stand in a known order."""

    TRANSACTION_ID = 1
    TRAILING_SEPARATOR = 2
    REGION = 4
    SMALL_ORDER = 8
    LARGE_ORDER = 16
    REAL_TOPIC = 32
    BATCHED = 64
