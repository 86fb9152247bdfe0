"""The mapping of the broker's stored records, read one by one as the log grows; no crash undoes this part."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any, Final

from fuzz.broker_side.producers import TOPIC, transaction_of_key
from reference.format.properties import CHECK_TIMES, IMMUNITY_SECONDS, PREPARED_QUEUE_OFFSET, UNIQUE_KEY
from reference.format.system_topics import DISCARD_TOPIC, HALF_TOPIC, OP_TOPIC
from reference.store.put_message import MOST_PROPERTIES
from spec.language import NONE
from spec.state import Kind

if TYPE_CHECKING:
    from collections.abc import Callable

    from reference.format.record import CommitLogOffset, LogRecord
    from reference.store.message_store import MessageStore

TICK_MS: Final = 1_000
"""Milliseconds of the broker's clock in one tick: CHECK_IMMUNITY_TIME_IN_SECONDS counts seconds."""

NO_WHOLE_TICK: Final = -2
"""Image of an instant between two ticks; no field of the specification ever holds it."""


def ticks(milliseconds: int) -> int:
    """The instant in ticks, exactly.

    Examples
    --------
    >>> ticks(7_000), ticks(7_001)
    (7, -2)
    """
    whole, rest = divmod(milliseconds, TICK_MS)
    return NO_WHOLE_TICK if rest else whole


GROWTH: Final = len(f"{CHECK_TIMES}\x011\x02")
"""By so many characters at least the properties of a half grow when it is put back for the first time."""


class BrokerRecords:
    """Maps each record of the commit log to fields of the specification, once.

    A power loss takes halves and op messages away again; what consumers and operators have seen stays seen.

    Parameters
    ----------
    put
        Takes a field as `half.check_times`, its place or None, and the value.
    clear
        Takes the name of a record (`half`, `op`) and the place from which on all of its fields hold nothing.
    """

    def __init__(self, put: Callable[[str, int | None, int], None], clear: Callable[[str, int], None]) -> None:
        self.half_places: list[CommitLogOffset] = []
        self.op_places: list[CommitLogOffset] = []
        """Where each half and each op message begins in the commit log."""
        self.deliveries: Counter[int] = Counter()
        """For each transaction how many real messages were stored."""
        self.transactions: list[int] = []
        """The transaction of each half."""
        self._put = put
        self._clear = clear
        self._end = 0
        self._decay_seen: tuple[object, int, int, int] = (None, 0, 0, 0)
        self._readers = {
            HALF_TOPIC: self._half, OP_TOPIC: self._op, DISCARD_TOPIC: self._discarded, TOPIC: self._delivered,
        }  # fmt: skip

    def read(self, store: MessageStore) -> None:
        """Map the records that are new, after forgetting those that are gone."""
        if store.max_phy_offset < self._end:
            self._forget(store)
        if store.max_phy_offset > self._end:
            for record in store.records():
                if record.physical_offset < self._end:
                    continue
                if record.topic in self._readers:
                    self._readers[record.topic](record)
        self._end = store.max_phy_offset

    def read_decay(self, store: MessageStore, rotten: int) -> None:
        """Map which halves and op messages can no longer be decoded.

        They are looked for where a record was damaged, one is new, or the process is another one.
        """
        seen = (store, rotten, len(self.half_places), len(self.op_places))
        if seen == self._decay_seen:
            return
        self._decay_seen = seen
        left = store.cleaning.min_phy_offset
        for place, offset in enumerate(self.half_places):
            if offset >= left and store.look_message_by_offset(offset) is None:
                self._put("transaction.kind", self.transactions[place], Kind.UNDECODABLE)
        for place, offset in enumerate(self.op_places):
            if offset >= left:
                self._put("op.undecodable", place, int(store.look_message_by_offset(offset) is None))

    def flushed(self, store: MessageStore) -> tuple[int, int]:
        """How many halves and op messages are on the disk, or were before they were deleted."""
        return self._before(max(store.flushed_where, store.cleaning.min_phy_offset))

    def deleted(self, store: MessageStore) -> tuple[int, int]:
        """How many halves and op messages are no longer in the log, as retention has deleted them."""
        return self._before(store.cleaning.min_phy_offset)

    def place_of(self, number: int) -> CommitLogOffset:
        """Where half or op message `number` begins, counted together in the order of the commit log."""
        return sorted(self.half_places + self.op_places)[number]

    def halves_before(self, end: CommitLogOffset) -> int:
        """How many halves begin before a place in the commit log."""
        return sum(at < end for at in self.half_places)

    def _before(self, end: int) -> tuple[int, int]:
        return sum(at < end for at in self.half_places), sum(at < end for at in self.op_places)

    def _half(self, record: LogRecord) -> None:
        place, properties = len(self.half_places), record.properties
        self.half_places.append(record.physical_offset)
        transaction = transaction_of_key(properties[UNIQUE_KEY])
        self.transactions.append(transaction)
        self._put("half.transaction", place, transaction)
        self._put("half.check_times", place, int(properties.get(CHECK_TIMES, "0")))
        self._put("half.original", place, int(properties.get(PREPARED_QUEUE_OFFSET, NONE)))
        self._put("half.born_at", place, ticks(record.born_timestamp))
        self._put("half.stored_at", place, ticks(record.store_timestamp))
        if len(record.properties_text) + GROWTH > MOST_PROPERTIES:
            self._put("transaction.kind", transaction, Kind.POISON)
        self._put("transaction.immunity", transaction, int(properties.get(IMMUNITY_SECONDS, NONE)))
        self._put("half_length", None, len(self.half_places))

    def _op(self, record: LogRecord) -> None:
        place = len(self.op_places)
        self._put("op.names", place, mask_of(record.body.decode().split(",")))
        self._put("op.born_at", place, ticks(record.born_timestamp))
        self._put("op.halves_before", place, len(self.half_places))
        self.op_places.append(record.physical_offset)
        self._put("op_length", None, len(self.op_places))

    def _discarded(self, record: LogRecord) -> None:
        """One that could not be decoded says where it stood."""
        key, original = record.properties.get(UNIQUE_KEY), record.properties.get(PREPARED_QUEUE_OFFSET)
        transaction = self.transactions[int(original or 0)] if key is None else transaction_of_key(key)
        self._put("transaction.parked", transaction, 1)

    def _delivered(self, record: LogRecord) -> None:
        self.deliveries[transaction_of_key(record.properties[UNIQUE_KEY])] += 1

    def _forget(self, store: MessageStore) -> None:
        self.half_places = [at for at in self.half_places if at < store.max_phy_offset]
        self.op_places = [at for at in self.op_places if at < store.max_phy_offset]
        del self.transactions[len(self.half_places) :]
        self._clear("half", len(self.half_places))
        self._clear("op", len(self.op_places))
        self._put("half_length", None, len(self.half_places))
        self._put("op_length", None, len(self.op_places))
        self._end = store.max_phy_offset


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
