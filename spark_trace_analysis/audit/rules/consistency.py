"""Holds the records of one transaction against each other, and each against the form of its kind.

A checksum covers the body alone. But every copy of a half repeats it, and so does the delivered message, so a wrong
byte in a property or a host shows as one record that disagrees with its siblings. What a broker writes itself (op
messages, check counts, flags of a put-back) has one form only. A record that stands alone can't be checked this way.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from reference.format import properties
from reference.format.record import BORN_HOST_V6_FLAG, STORE_HOST_V6_FLAG, TRANSACTION_BITS, LogRecord
from spark_trace_analysis.records.transaction_record import RecordKind

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from spark_trace_analysis.audit.rules.history import History

_VARYING = frozenset({
    properties.CHECK_TIMES, properties.PREPARED_QUEUE_OFFSET, properties.WAIT_STORE_OK, properties.TRANSACTION_PREPARED,
    properties.REAL_TOPIC, properties.REAL_QUEUE_ID, "__CRC32#", "DELAY",
})  # fmt: skip
"""Properties that a broker may change from one record of a transaction to the next."""

_NEEDED = (properties.REAL_TOPIC, properties.REAL_QUEUE_ID, properties.TRANSACTION_PREPARED, properties.PRODUCER_GROUP)
"""Without one of these a broker could neither deliver a half nor ask for it."""

_ALWAYS_THERE = frozenset({properties.WAIT_STORE_OK})
"""Of the varying properties those that are in all records of a transaction or in none."""

_OF_ONE_SENDING = frozenset({"the born host", "the real queue"})
"""Parts that differ where an acting slave hands on several copies of a half, each to another queue. Those do not wait
for the store (``EscapeBridge#putMessage``), as copies for an immunity do not either."""

_FLAGS = (properties.WAIT_STORE_OK, properties.TRANSACTION_PREPARED)
_HOST_FLAGS = BORN_HOST_V6_FLAG | STORE_HOST_V6_FLAG
_OP_PROPERTIES = {properties.WAIT_STORE_OK: "true", properties.TAGS: "d"}
FEW = 3
_LONGEST_WRITE_MS = 60_000


@dataclass(slots=True)
class Siblings:
    """The constant parts of the records of one transaction."""

    values: dict[str, list[tuple[int, object]]] = field(default_factory=dict)

    def add(self, offset: int, what: dict[str, object]) -> None:
        """Take in what one record says."""
        for name, value in what.items():
            self.values.setdefault(name, []).append((offset, value))

    def odd_ones(self) -> Iterator[tuple[int, str]]:
        """Records that differ from most of their siblings; of two that differ, the later one."""
        for name, seen in self.values.items():
            counts = Counter(value for _, value in seen)
            if len(counts) < 2:
                continue
            usual = counts.most_common(1)[0][0]
            for offset, value in seen:
                if value != usual:
                    yield offset, f"{name} is {value!r}, in the transaction's other records it is {usual!r}"


class Consistency:
    """Takes in every record of every transaction and gives the inconsistencies.

    What was before the first byte of the log, or in a file that is gone, can't be missed.
    """

    def __init__(self, log_start: int, is_gone: Callable[[int], bool]) -> None:
        self._log_start = log_start
        self._is_gone = is_gone
        self._siblings: dict[int, Siblings] = {}
        self._hosts: dict[str, list[int]] = {}
        self._found: list[tuple[int, str]] = []
        self._unordered: list[int] = []
        self._ordered = 0

    def see(self, record: LogRecord, kind: RecordKind, history: History | None) -> None:
        """Take in a record; an op belongs to no single history."""
        offset = record.physical_offset
        self._hosts.setdefault(record.store_host, []).append(offset)
        self._found.extend((offset, reason) for reason in wrong_form(record, kind))
        if history is None:
            return
        if is_in_a_known_order(record):
            self._ordered += 1
        else:
            self._unordered.append(offset)
        self._siblings.setdefault(id(history), Siblings()).add(offset, unchanging(record, kind))

    def finish(self, histories: list[History]) -> Iterator[tuple[int, str]]:
        """Commit log offset and reason of everything that does not fit."""
        yield from self._found
        for siblings in self._siblings.values():
            yield from siblings.odd_ones()
        for history in histories:
            yield from wrong_links(history, self._log_start, self._is_gone)
        yield from wrong_groups(histories)
        if not self._log_start:
            yield from wrong_keys(histories)
        if len(self._unordered) < self._ordered:
            for offset in self._unordered:
                yield offset, UNORDERED
        total = sum(map(len, self._hosts.values()))
        for host, offsets in self._hosts.items():
            if len(offsets) == 1 and total > FEW:
                yield offsets[0], lone_host(host)


UNORDERED = "its properties are not in the order of a Java HashMap, so a key must be wrong"
"""Said where most other records are in such an order."""


def lone_host(host: str) -> str:
    """The complaint about the one record of a host, if there are more than a few records."""
    return f"it was stored by {host}, no other record was"


def wrong_links(history: History, log_start: int, is_gone: Callable[[int], bool]) -> Iterator[tuple[int, str]]:
    """Deliveries without their half, and copies without the one before."""
    for delivery in history.deliveries:
        source = history.source_of(delivery)
        if source is None:
            if delivery.prepared_offset > log_start and not is_gone(delivery.prepared_offset):
                reason = f"it was committed from {delivery.prepared_offset}, where no half of its transaction stands"
                yield delivery.commit_log_offset, reason
        elif (delivery.flag, delivery.check_times) != (source.flag, source.check_times):
            reason = f"its flag and check count are {delivery.flag} and {delivery.check_times}, its half's are"
            yield delivery.commit_log_offset, f"{reason} {source.flag} and {source.check_times}"
    if log_start:
        return
    for copy in history.copies[1:]:
        if copy.check_times is not None and copy.parent is None and not history.was_resumed(copy):
            reason = f"its check count is {copy.check_times}, but no copy with the one before it was put back"
            yield copy.commit_log_offset, reason


def wrong_groups(histories: list[History]) -> Iterator[tuple[int, str]]:
    """Records that would continue another transaction, if not for their own group."""
    by_key: dict[str, list[History]] = {}
    for history in histories:
        by_key.setdefault(history.key.unique_key, []).append(history)
    for key, namesakes in by_key.items():
        for history in sorted(namesakes, key=lambda history: history.size)[: len(namesakes) - 1]:
            reason = f"its group is {history.key.group!r}, other records of the transaction {key} have another"
            yield history.first_offset, reason


def wrong_keys(histories: list[History]) -> Iterator[tuple[int, str]]:
    """Records that would continue another transaction, if not for their own UNIQ_KEY, in a log kept from its start."""
    by_birth: dict[object, list[History]] = {}
    for history in histories:
        by_birth.setdefault(history.birth, []).append(history)
    for twins in by_birth.values():
        for history in twins:
            if len(twins) > 1 and not any(copy.check_times is None for copy in history.copies):
                yield history.first_offset, unknown_key(history.key.unique_key)


def unknown_key(unique_key: str) -> str:
    """The complaint about a transaction without a half that has a twin."""
    return f"its UNIQ_KEY is {unique_key!r}, and no half in the log has it"


def unchanging(record: LogRecord, kind: RecordKind) -> dict[str, object]:
    """The parts that must be the same in all records of a transaction."""
    values = record.properties
    stays = {key: value for key, value in values.items() if key not in _VARYING}
    what: dict[str, object] = {
        "the system flag": record.sys_flag & ~TRANSACTION_BITS,
        "the born timestamp": record.born_timestamp,
        "the born host": record.born_host,
        "the checksum": record.body_crc,
        "the number of reconsumptions": record.reconsume_times,
        "the set of properties": ", ".join(sorted(key for key in values if key in stays or key in _ALWAYS_THERE)),
    }
    what.update({f"the property {key}": value for key, value in stays.items()})
    if kind is RecordKind.DELIVERED:
        what["the real topic"] = record.topic
        what["the real queue"] = str(record.queue_id)
    if properties.PREPARED_QUEUE_OFFSET in values:
        what["the prepared queue offset"] = values[properties.PREPARED_QUEUE_OFFSET]
    for name, key in (("the real topic", properties.REAL_TOPIC), ("the real queue", properties.REAL_QUEUE_ID)):
        if key in values:
            what[name] = values[key] if what.get(name, values[key]) == values[key] else f"{what[name]}, {values[key]}"
    if values.get(properties.WAIT_STORE_OK) == "false" and properties.PREPARED_QUEUE_OFFSET not in values:
        what = {name: value for name, value in what.items() if name not in _OF_ONE_SENDING}
    return what


def is_in_a_known_order(record: LogRecord) -> bool:
    """Whether a record's properties stand in the order of a Java HashMap of either capacity."""
    keys = [key for key, _ in record.pairs]
    return any(
        properties.is_in_hash_map_order(keys, capacity)
        for capacity in (properties.SMALL_CAPACITY, properties.LARGE_CAPACITY)
    )


def wrong_form(record: LogRecord, kind: RecordKind) -> Iterator[str]:
    """The complaint about a record of a form that its kind never has."""
    if kind is RecordKind.OP:
        yield from _wrong_op(record)
        return
    values = record.properties
    if len(record.pairs) != len([item for item in record.properties_text.split(properties.PROPERTY_SEPARATOR) if item]):
        yield "one of its properties has no name or no separator between name and value"
    unique_key = values.get(properties.UNIQUE_KEY)
    if values.get(properties.TRANSACTION_ID, unique_key) != unique_key:
        other = values[properties.TRANSACTION_ID]
        yield f"its {properties.TRANSACTION_ID} {other!r} is not its UNIQ_KEY {unique_key!r}"
    for key in _FLAGS:
        if values.get(key, "true") not in ("true", "false"):
            yield f"its property {key} is {values[key]!r}, neither true nor false"
    if kind is RecordKind.DELIVERED:
        return
    for key in _NEEDED:
        if key not in values:
            yield f"it is a half without the property {key}"
    if record.prepared_transaction_offset:
        half = record.prepared_transaction_offset
        yield f"a {kind.words} message with the prepared transaction offset {half}, expected 0"
    if kind is not RecordKind.FIRST_HALF and record.flag:
        yield f"a {kind.words} message with the flag {record.flag}, a broker writes 0"


def _wrong_op(record: LogRecord) -> Iterator[str]:
    """An op message comes from the broker itself and has one form (``TransactionalMessageBridge#writeOp``).

    That of rocketmq-rust has a UNIQ_KEY besides, which no damage makes, and does not wait for the store.
    """
    values = record.properties
    of_rust = {
        **_OP_PROPERTIES,
        properties.WAIT_STORE_OK: "false",
        properties.UNIQUE_KEY: values.get(properties.UNIQUE_KEY),
    }
    if values not in (_OP_PROPERTIES, of_rust):
        yield f"an op message with the properties {values!r}, expected {_OP_PROPERTIES!r}"
    if not 0 <= record.store_timestamp - record.born_timestamp < _LONGEST_WRITE_MS:
        yield f"an op message born at {record.born_timestamp} and stored at {record.store_timestamp}"
    if record.born_host != record.store_host:
        yield f"an op message born on {record.born_host} and stored on {record.store_host}"
    numbers = record.flag, record.sys_flag & ~_HOST_FLAGS, record.reconsume_times, record.prepared_transaction_offset
    if any(numbers):
        yield f"an op message whose flag, system flag, reconsumptions and half are {numbers}, expected zeros"
