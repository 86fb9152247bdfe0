"""What the broker has stored, read record by record as it grows: the part of the mapping that no crash undoes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from fuzz.requests import TOPIC, transaction_of_key
from fuzz.time_unit import ticks
from reference.store.properties import CHECK_TIMES, IMMUNITY_SECONDS, PREPARED_QUEUE_OFFSET, UNIQUE_KEY
from reference.system_topics import DISCARD_TOPIC, HALF_TOPIC, OP_TOPIC
from spec.language import NONE

if TYPE_CHECKING:
    from collections.abc import Callable

    from reference.message_store import MessageStore
    from reference.store.offsets import CommitLogOffset
    from reference.store.record import Record


class BrokerRecords:
    """Maps each record of the commit log to fields of the specification, once.

    Parameters
    ----------
    put
        Takes a field as `half.check_times`, its place or None, and the value.

    Attributes
    ----------
    half_places
        For each half, where it begins in the commit log.
    """

    def __init__(self, put: Callable[[str, int | None, int], None]) -> None:
        self.half_places: list[CommitLogOffset] = []
        self._put = put
        self._read = 0
        self._op_length = 0
        self._deliveries: dict[int, int] = {}

    def read(self, store: MessageStore) -> None:
        """Map the records that are new."""
        records = store.records()
        for record in records[self._read :]:
            {HALF_TOPIC: self._half, OP_TOPIC: self._op, DISCARD_TOPIC: self._discarded, TOPIC: self._delivered}[
                record.topic
            ](record)
        self._read = len(records)

    def _half(self, record: Record) -> None:
        place, properties = len(self.half_places), record.properties
        self.half_places.append(record.physical_offset)
        transaction = transaction_of_key(properties[UNIQUE_KEY])
        self._put("half.transaction", place, transaction)
        self._put("half.check_times", place, int(properties.get(CHECK_TIMES, "0")))
        self._put("half.original", place, int(properties.get(PREPARED_QUEUE_OFFSET, NONE)))
        self._put("half.born_at", place, ticks(record.born_timestamp))
        self._put("half.stored_at", place, ticks(record.store_timestamp))
        if CHECK_TIMES not in properties:
            self._put("transaction.first_half", transaction, record.queue_offset)
        self._put("transaction.immunity", transaction, int(properties.get(IMMUNITY_SECONDS, NONE)))
        self._put("half_length", None, len(self.half_places))

    def _op(self, record: Record) -> None:
        self._put("op.names", self._op_length, mask_of(record.body.decode().split(",")))
        self._put("op.born_at", self._op_length, ticks(record.born_timestamp))
        self._put("op.halves_before", self._op_length, len(self.half_places))
        self._op_length += 1
        self._put("op_length", None, self._op_length)

    def _discarded(self, record: Record) -> None:
        self._put("transaction.parked", transaction_of_key(record.properties[UNIQUE_KEY]), 1)

    def _delivered(self, record: Record) -> None:
        transaction = transaction_of_key(record.properties[UNIQUE_KEY])
        self._deliveries[transaction] = self._deliveries.get(transaction, 0) + 1
        self._put("transaction.deliveries", transaction, min(self._deliveries[transaction], 2))


def mask_of(offsets: Any) -> int:
    """A set of half offsets, written as numbers or as text, as the integer that the specification keeps.

    Examples
    --------
    >>> mask_of(["0", "2", ""]), mask_of({3})
    (5, 8)
    """
    mask = 0
    for offset in offsets:
        if offset != "":
            mask |= 1 << int(offset)
    return mask
