"""Orders that wait: for a producer, rounds, a message or its consumption; and for one whole round."""

from __future__ import annotations

import asyncio
import time
from typing import TYPE_CHECKING, Any, Final

from reference.broker.broker_settings import BrokerRole
from wire.control.consumption import consumed, is_real
from wire.errors import BadOrderError, WireError
from wire.node.faults import bears
from wire.node.ordered_faults import seen_in

if TYPE_CHECKING:
    from reference.broker.broker_controller import BrokerController
    from reference.format.record import LogRecord
    from wire.node.broker_node import BrokerNode

_GLANCE_SECONDS: Final = 0.01
_MOST_NAMED: Final = 8
_INNER_PRODUCER: Final = "CLIENT_INNER_PRODUCER"
"""``MixAll.CLIENT_INNER_PRODUCER_GROUP``: each Java client has one, with which nobody sends."""


async def wait(node: BrokerNode, arguments: dict[str, Any]) -> object:
    """Wait in real time, while other orders are carried out; answers whether it came, and if not, what came instead."""
    asked = [kind for kind in _KINDS if kind in arguments]
    if len(asked) != 1:
        message = f"wait: {' and '.join(asked) or 'nothing'} is given; give one of {', '.join(_KINDS)}"
        raise BadOrderError(message)
    awaited = _KINDS[asked[0]](node, arguments)
    end = time.monotonic() + arguments["timeout_ms"] / 1_000
    while not (came := awaited.has_come()) and time.monotonic() < end:
        await asyncio.sleep(_GLANCE_SECONDS)
    return {
        "came": came,
        "says": None if came else awaited.says(),
        "producers": _producers(node),
        "rounds_ended": node.recorder.rounds_ended,
    }


def _producers(node: BrokerNode) -> list[str]:
    return sorted(group for group in node.channels.groups() if group != _INNER_PRODUCER)


class _Producer:
    def __init__(self, node: BrokerNode, arguments: dict[str, Any]) -> None:
        self._node, self._group = node, arguments["producer"]

    def has_come(self) -> bool:
        return self._group in self._node.channels.groups()

    def says(self) -> str:
        return f"no producer of {self._group} has come; producers: {', '.join(_producers(self._node)) or 'none'}"


class _Rounds:
    def __init__(self, node: BrokerNode, arguments: dict[str, Any]) -> None:
        self._node, self._until = node, node.recorder.rounds_ended + arguments["rounds"]

    def has_come(self) -> bool:
        return bool(self._node.recorder.rounds_ended >= self._until)

    def says(self) -> str:
        hint = "" if self._node.pace.speed is not None else "; with --clock virtual the order round lets one pass"
        return f"{self._until - self._node.recorder.rounds_ended} check rounds have not ended{hint}"


class _Delivered:
    """A message with a key is in its topic; each record of the log is looked at once."""

    def __init__(self, node: BrokerNode, arguments: dict[str, Any]) -> None:
        self._node, self._key = node, str(arguments.get("delivered", arguments.get("consumed")))
        self._seen = 0
        self._found: list[LogRecord] = []
        self._others: dict[str, None] = {}

    def has_come(self) -> bool:
        return any(is_real(record) for record in self._records())

    def says(self) -> str:
        named = list(self._others)[-_MOST_NAMED:]
        return f"no message with the key {self._key} was delivered; delivered: {', '.join(named) or 'none'}"

    def _records(self) -> list[LogRecord]:
        if not self._node.is_up:
            return []
        records = self._node.broker.message_store.records()
        if self._seen > len(records):
            self._seen, self._found = 0, []
        for record in records[self._seen :]:
            if bears(record.properties, self._key):
                self._found.append(record)
            elif is_real(record):
                self._others[seen_in(record.properties)] = None
        self._seen = len(records)
        return self._found


class _Consumed(_Delivered):
    def __init__(self, node: BrokerNode, arguments: dict[str, Any]) -> None:
        super().__init__(node, arguments)
        if "group" not in arguments:
            message = "wait: group is missing, expected a text: the consumer group that is to have consumed the message"
            raise BadOrderError(message)
        self._group, self._times = arguments["group"], arguments["times"]

    def has_come(self) -> bool:
        return self._node.is_up and consumed(self._node, self._group, self._records()) >= self._times

    def says(self) -> str:
        if not any(map(is_real, self._found)):
            return super().says()
        times = consumed(self._node, self._group, self._found) if self._node.is_up else 0
        known = ", ".join(sorted(self._node.consumers.client_ids())) or "none"
        return f"{self._group} has consumed {self._key} {times} of {self._times} times; consumer groups there: {known}"


_KINDS: Final[dict[str, type[_Producer | _Rounds | _Delivered]]] = {
    "producer": _Producer,
    "rounds": _Rounds,
    "delivered": _Delivered,
    "consumed": _Consumed,
}


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
