"""The transactions of a broker that runs: what its log holds of each, and what is to come."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from reference.broker.broker_settings import BrokerRole
from reference.broker.transaction.half_judge import HalfJudge
from reference.broker.transaction.transactional_message_service import OFFSET_SEPARATOR
from reference.format.properties import (
    CHECK_TIMES,
    IMMUNITY_SECONDS,
    KEYS,
    PRODUCER_GROUP,
    REAL_TOPIC,
    TAGS,
    UNIQUE_KEY,
)
from reference.format.record import TRANSACTION_BITS, TRANSACTION_COMMIT
from reference.format.system_topics import DISCARD_TOPIC, HALF_TOPIC, OP_TOPIC, REMOVE_TAG
from wire.control.consumption import consumed, is_real
from wire.node.faults import bears

if TYPE_CHECKING:
    from reference.broker.broker_controller import BrokerController
    from reference.format.record import LogRecord
    from wire.node.broker_node import BrokerNode


@dataclass(slots=True)
class LiveTransaction:
    """The records of one transaction, in the order of the log."""

    halves: list[LogRecord] = field(default_factory=list)
    deliveries: list[LogRecord] = field(default_factory=list)
    discards: list[LogRecord] = field(default_factory=list)
    others: list[LogRecord] = field(default_factory=list)
    """Those that were given back, came again, or are dead letters."""


def transactions(node: BrokerNode, arguments: dict[str, Any]) -> object:
    """The transactions that bear a key, or all, with the times of the broker's clock in milliseconds."""
    broker = node.broker
    found: dict[str, LiveTransaction] = {}
    stored: set[int] = set()
    for record in broker.message_store.records():
        if record.topic == OP_TOPIC:
            stored |= _named_by(record)
        elif (of := _place_in(record, found)) is not None:
            of.append(record)
    in_memory = {
        int(entry.rstrip(OFFSET_SEPARATOR))
        for context in broker.transactional_message_service.delete_context.values()
        for entry in context.context_queue
    }
    begins = _next_round(broker)
    wanted = arguments.get("key")
    return {
        "now": node.clock.now,
        "next_round": begins,
        "transactions": [
            _shown(broker, each, stored, in_memory, begins) | {"consumed": _consumed(node, each)}
            for each in found.values()
            if each.halves and (wanted is None or bears(each.halves[0].properties, wanted))
        ],
    }


def _place_in(record: LogRecord, found: dict[str, LiveTransaction]) -> list[LogRecord] | None:
    """Where a record belongs; None if it is of no transaction."""
    key = record.properties.get(UNIQUE_KEY, f"@{record.physical_offset}")
    if record.topic == HALF_TOPIC:
        return found.setdefault(key, LiveTransaction()).halves
    if key not in found:
        return None
    if record.topic == DISCARD_TOPIC:
        return found[key].discards
    if not is_real(record):
        return found[key].others
    return found[key].deliveries if record.sys_flag & TRANSACTION_BITS == TRANSACTION_COMMIT else None


def _consumed(node: BrokerNode, one: LiveTransaction) -> dict[str, int]:
    """By consumer group how often it has consumed the message."""
    offsets, records = node.broker.consumer_offset_manager, one.deliveries + one.others
    groups = {group for record in one.deliveries for group in offsets.groups_of(record.topic)}
    return {group: consumed(node, group, records) for group in sorted(groups)}


def _named_by(op: LogRecord) -> set[int]:
    """The half queue offsets that an op message names, as one number or as a list."""
    if op.properties.get(TAGS) != REMOVE_TAG:
        return set()
    return {int(text) for text in op.body.decode(errors="replace").split(OFFSET_SEPARATOR) if text.isdecimal()}


def _shown(
    broker: BrokerController, one: LiveTransaction, stored: set[int], in_memory: set[int], begins: int | None
) -> dict[str, object]:
    first, last = one.halves[0], one.halves[-1]
    offsets = {half.queue_offset for half in one.halves}
    is_open = last.queue_offset not in stored | in_memory
    is_ahead = last.queue_offset >= broker.transactional_message_bridge.fetch_consume_offset(HALF_TOPIC)
    state = _state(one, is_settled=bool(offsets & (stored | in_memory)), is_pending=is_open and is_ahead)
    checks = (one.discards or one.halves)[-1].properties.get(CHECK_TIMES, "0")
    return {
        "unique_key": first.properties.get(UNIQUE_KEY, ""),
        "keys": first.properties.get(KEYS, ""),
        "group": first.properties.get(PRODUCER_GROUP, ""),
        "topic": first.properties.get(REAL_TOPIC, ""),
        "state": state,
        "checks": int(checks) if checks.isdecimal() else 0,
        "op": "stored" if offsets & stored else "in_memory" if offsets & in_memory else None,
        "stored_at": first.store_timestamp,
        "checked_not_before": _checked_not_before(broker, last, begins) if state == "pending" else None,
        "halves": [_where(half) for half in one.halves],
        "deliveries": [_where(message) for message in one.deliveries],
        "discards": [_where(discard) for discard in one.discards],
    }


def _state(one: LiveTransaction, *, is_settled: bool, is_pending: bool) -> str:
    """By the words of ``halfcheck audit``, the gravest that holds; a half that is just passed may be lost."""
    if len(one.deliveries) > 1:
        return "doubled"
    if one.discards:
        return "parked"
    if is_pending:
        return "pending"
    if one.deliveries:
        return "delivered"
    return "rolled_back" if is_settled else "lost"


def _where(record: LogRecord) -> dict[str, object]:
    return {
        "topic": record.topic,
        "queue": record.queue_id,
        "queue_offset": record.queue_offset,
        "commit_log_offset": record.physical_offset,
        "stored_at": record.store_timestamp,
    }


def _next_round(broker: BrokerController) -> int | None:
    """When the next check round begins, now if one runs; None if none will."""
    service = broker.check_service
    if broker.role is BrokerRole.SLAVE or not service.is_alive:
        return None
    if service.round is not None:
        return broker.clock.now
    left = service.waits_since + broker.settings.transaction_check_interval_ms - broker.clock.elapsed
    return broker.clock.now + max(0, left)


def _checked_not_before(broker: BrokerController, half: LogRecord, begins: int | None) -> int | None:
    """When it is old enough (``transactionTimeOut``, or its own immunity) and a round may run; None if none will."""
    text = half.properties.get(IMMUNITY_SECONDS)
    judge = HalfJudge(broker, broker.clock.now)
    immunity = broker.settings.transaction_timeout_ms if text is None else judge.immunity_time(text)
    return None if begins is None else max(begins, half.born_timestamp + immunity)
