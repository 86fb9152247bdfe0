"""What a broker tells an administrator of itself: its log's beginning, its clock, its topics and their queues."""

from __future__ import annotations

import re
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from files.content import parse_json
from files.errors import BadContentError
from wire.client.channel import NoAnswerError
from wire.remoting.codes import RequestCode, ResponseCode

if TYPE_CHECKING:
    from collections.abc import Callable

    from wire.client.channel import BrokerChannel
    from wire.remoting.command import RemotingCommand

_RUNTIME: Final = re.compile(r"(\d+) days, (\d+) hours, (\d+) minutes, (\d+) seconds")
_TRIES: Final = 10
_PAUSE_S: Final = 0.3
_UNIT_MS: Final = (86_400_000, 3_600_000, 60_000, 1_000)


@dataclass(frozen=True, slots=True)
class RuntimeInfo:
    """GET_BROKER_RUNTIME_INFO (``AdminBrokerProcessor#prepareRuntimeInfo``), as far as it is asked for here.

    Attributes
    ----------
    log_begin, log_end
        Commit log offsets between which the broker has its log; 0 of one that is empty, which says -1.
    booted_at_ms
        When its process began; None where the broker does not say.
    now_ms
        Its clock, to the second; this machine's where the broker does not say.
    is_active
        Whether the check service runs (``BrokerController#isSpecialServiceRunning``); None before 5.0.0, which does not
        say.
    """

    log_begin: int
    log_end: int
    booted_at_ms: int | None
    now_ms: int
    is_active: bool | None


def runtime_info(channel: BrokerChannel, sleep: Callable[[float], None] = time.sleep) -> RuntimeInfo:
    """Ask for it; `NoAnswerError` where it is not told.

    In its first second a broker answers with an error, as it has counted nothing yet (``StoreStatsService#getPutTps``).
    """
    answer = channel.ask(RequestCode.GET_BROKER_RUNTIME_INFO)
    for _ in range(_TRIES):
        if answer.code != ResponseCode.SYSTEM_ERROR:
            break
        sleep(_PAUSE_S)
        answer = channel.ask(RequestCode.GET_BROKER_RUNTIME_INFO)
    table = _told(channel, answer, RequestCode.GET_BROKER_RUNTIME_INFO, "table")
    runtime, booted = _RUNTIME.search(str(table.get("runtime", ""))), str(table.get("bootTimestamp", ""))
    booted_at = int(booted) if booted.isdecimal() else None
    now = time.time_ns() // 1_000_000
    if runtime is not None and booted_at is not None:
        now = booted_at + sum(int(number) * unit for number, unit in zip(runtime.groups(), _UNIT_MS, strict=True))
    begin, end = (max(int(table.get(name, 0)), 0) for name in ("commitLogMinOffset", "commitLogMaxOffset"))
    active = table.get("brokerActive")
    return RuntimeInfo(begin, end, booted_at, now, None if active is None else str(active) == "true")


def topic_queues(channel: BrokerChannel) -> dict[str, int]:
    """By topic how many queues may be read (GET_ALL_TOPIC_CONFIG); `NoAnswerError` where it is not told."""
    answer = channel.ask(RequestCode.GET_ALL_TOPIC_CONFIG)
    table = _told(channel, answer, RequestCode.GET_ALL_TOPIC_CONFIG, "topicConfigTable")
    return {name: int(config.get("readQueueNums", 1)) for name, config in table.items() if isinstance(config, dict)}


def _told(channel: BrokerChannel, answer: RemotingCommand, code: RequestCode, name: str) -> dict[str, Any]:
    """An object of the answer's body."""
    if answer.code != ResponseCode.SUCCESS:
        message = f"{channel.address}: request {int(code)} ({code.name}) is answered {answer.code}: {answer.remark}"
        raise NoAnswerError(message)
    try:
        return dict(parse_json(answer.body)[name])
    except (BadContentError, KeyError, TypeError, ValueError):
        message = f"{channel.address}: the answer to {code.name} has no {name}; is it a broker?"
        raise NoAnswerError(message) from None
