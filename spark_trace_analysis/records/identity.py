"""What a record of a transaction says of it: which one it is, its immunity, and how often it was checked."""

from __future__ import annotations

from typing import TYPE_CHECKING

from reference.format import properties

if TYPE_CHECKING:
    from collections.abc import Hashable

    from reference.format.record import Record


def identity_of(record: Record) -> Hashable:
    """What all records of one transaction have in common: UNIQ_KEY and group, or what no put-back changes."""
    values = record.properties
    group = values.get(properties.PRODUCER_GROUP, "")
    unique_key = values.get(properties.UNIQUE_KEY)
    if unique_key:
        return unique_key, group
    real_topic = values.get(properties.REAL_TOPIC, record.topic)
    real_queue = values.get(properties.REAL_QUEUE_ID, str(record.queue_id))
    return group, record.born_timestamp, record.born_host, record.body_crc, len(record.body), real_topic, real_queue


def immunity_ms(text: str | None, timeout_ms: int) -> int | None:
    """CHECK_IMMUNITY_TIME_IN_SECONDS as the check round reads it; None if the message does not carry it.

    RocketMQ: TransactionalMessageServiceImpl#getImmunityTime: -1 and what is no number stand for the timeout.
    """
    if text is None:
        return None
    seconds = _java_long(text)
    return timeout_ms if seconds == -1 else seconds * 1000


def check_times(record: Record) -> int | None:
    """The check count of a half or a discarded message; None if it has none, -1 if it is not a number."""
    text = record.properties.get(properties.CHECK_TIMES)
    return None if text is None else _java_long(text)


def _java_long(text: str) -> int:
    """``TransactionalMessageServiceImpl#getLong`` and ``#getInt``: -1 for what is no number."""
    try:
        return int(text) if text.strip() == text and "_" not in text else -1
    except ValueError:
        return -1
