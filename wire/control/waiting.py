"""Orders that wait: until a producer is known, rounds have ended or a message is there; and for one whole round."""

from __future__ import annotations

import asyncio
import time
from typing import TYPE_CHECKING, Any, Final

from reference.broker.broker_settings import BrokerRole
from reference.format.system_topics import NOT_ALLOWED_SEND_TOPICS
from wire.errors import BadOrderError, WireError
from wire.node.faults import bears

if TYPE_CHECKING:
    from collections.abc import Callable

    from reference.broker.broker_controller import BrokerController
    from reference.format.record import LogRecord
    from wire.node.broker_node import BrokerNode

_GLANCE_SECONDS: Final = 0.01
_KINDS: Final = ("producer", "rounds", "delivered")


async def wait(node: BrokerNode, arguments: dict[str, Any]) -> object:
    """Wait in real time, while other orders are carried out; answers whether it came."""
    asked = [kind for kind in _KINDS if kind in arguments]
    if len(asked) != 1:
        message = f"wait: {' and '.join(asked) or 'nothing'} is given; give one of {', '.join(_KINDS)}"
        raise BadOrderError(message)
    has_come = _condition(node, asked[0], arguments[asked[0]])
    end = time.monotonic() + arguments["timeout_ms"] / 1_000
    while not (came := has_come()) and time.monotonic() < end:
        await asyncio.sleep(_GLANCE_SECONDS)
    return {"came": came, "producers": sorted(node.channels.groups()), "rounds_ended": node.recorder.rounds_ended}


def _condition(node: BrokerNode, kind: str, wanted: Any) -> Callable[[], bool]:
    if kind == "producer":
        return lambda: wanted in node.channels.groups()
    if kind == "rounds":
        until = node.recorder.rounds_ended + wanted
        return lambda: node.recorder.rounds_ended >= until
    seen = 0

    def is_delivered() -> bool:
        nonlocal seen
        if not node.is_up:
            return False
        records = node.broker.message_store.records()
        news, seen = records[seen if seen <= len(records) else 0 :], len(records)
        return any(is_real(record) and bears(record.properties, wanted) for record in news)

    return is_delivered


def is_real(record: LogRecord) -> bool:
    """Whether a message lies in a topic of clients: no half, none that is delayed, given back or dead."""
    return record.topic not in NOT_ALLOWED_SEND_TOPICS and not record.topic.startswith("%")


async def one_round(node: BrokerNode, _: dict[str, Any]) -> object:
    """Let time pass until one whole check round has begun and ended.

    A round may sleep for want of op messages (``SLEEP_WHILE_NO_OP``), so that a push of one interval ends in it.
    """
    if node.pace.speed is not None:
        message = "round: time passes by itself here; wait rounds=1 waits for one, or start with --clock virtual"
        raise BadOrderError(message)
    began, ended = node.clock.elapsed, node.recorder.rounds_ended
    until = ended + (1 if node.broker.check_service.round is None else 2)
    while node.recorder.rounds_ended < until:
        await node.push_clock(_ms_to_next_step(node.broker))
    return {"now": node.clock.now, "passed_ms": node.clock.elapsed - began, "rounds_ended": node.recorder.rounds_ended}


def _ms_to_next_step(broker: BrokerController) -> int:
    """Milliseconds until the round goes on, or the next one begins; `WireError` if none will."""
    service = broker.check_service
    if broker.role is BrokerRole.SLAVE or not service.is_alive:
        why = "a slave checks nothing" if service.is_alive else "its thread has ended by an Error"
        message = f"round: no check round begins: {why}"
        raise WireError(message)
    at = service.waits_since + broker.settings.transaction_check_interval_ms
    if service.round is not None:
        at = service.round.wakes_at
    return max(1, at - broker.clock.elapsed)
