"""The probe's producers, with their halves, their ENDs and the checks that they got."""

from __future__ import annotations

import secrets
import time
from dataclasses import dataclass, field
from typing import Final

from reference.format.properties import IMMUNITY_SECONDS, UNIQUE_KEY
from wire.client.channel import Address, BrokerChannel, NoAnswerError
from wire.client.transactions import HalfName, end_transaction, half_of_check, heartbeat, send_half
from wire.remoting.codes import RequestCode
from wire.remoting.messages import decode_records

PREFIX: Final = "halfcheck_probe_"
"""Of the names of all topics and groups that a probe makes."""


@dataclass(frozen=True, slots=True)
class SentHalf:
    """A half that was sent: when, by the probe's clock in milliseconds, and when its answer had come."""

    name: HalfName
    sent_ms: int
    answered_ms: int


@dataclass(frozen=True, slots=True)
class SentEnd:
    """An END_TRANSACTION that was sent, and the code of its answer."""

    sent_ms: int
    half: HalfName
    outcome: int
    code: int


@dataclass(slots=True)
class ProbeProducers:
    """One producer group with one topic; raises `NoAnswerError` where its broker does not answer."""

    address: Address
    name: str = field(default_factory=lambda: f"{PREFIX}{secrets.token_hex(4)}")
    """Of both, with the prefix."""
    halves: dict[int, SentHalf] = field(default_factory=dict)
    """By transaction, the half that it sent."""
    ends: list[SentEnd] = field(default_factory=list)
    """All END_TRANSACTIONs but those that say UNKNOWN."""
    checks: dict[str, list[HalfName]] = field(default_factory=dict)
    """The copies that checks named, by unique key, in the order in which they came."""
    _channel: BrokerChannel | None = None

    def connect(self) -> BrokerChannel:
        """The connection, made where there is none, with a heartbeat."""
        if self._channel is None or not self._channel.is_open:
            self._channel = BrokerChannel(self.address)
            heartbeat(self._channel, f"probe@{self.name}", self.name)
        return self._channel

    def disconnect(self) -> None:
        """End the connection, and hear nothing any more."""
        self.hear()
        if self._channel is not None:
            self._channel.close()
        self._channel = None

    def send(self, transaction: int, immunity_s: int | None, skew_ms: int) -> None:
        """Send the half of a transaction."""
        key = f"{self.name}_{transaction}_{secrets.token_hex(4)}"
        own = {"KEYS": key, **({} if immunity_s is None else {IMMUNITY_SECONDS: str(immunity_s)})}
        channel, sent_ms = self.connect(), now_ms()
        name = send_half(channel, self.name, self.name, key, b"halfcheck", own, sent_ms + skew_ms)
        self.halves[transaction] = SentHalf(name, sent_ms, now_ms())

    def end(self, half: HalfName, outcome: int, *, answers_check: bool) -> int:
        """Send END_TRANSACTION; the code of its answer."""
        sent_ms = now_ms()
        code = end_transaction(self.connect(), self.name, half, outcome, answers_check=answers_check)
        self.ends.append(SentEnd(sent_ms, half, outcome, code))
        return code

    def hear(self) -> None:
        """Take in the checks that have come; nothing is answered."""
        while self._channel is not None and (request := self._channel.asked()) is not None:
            if request.code == RequestCode.CHECK_TRANSACTION_STATE:
                half = half_of_check(request)
                key = half.unique_key or _key_in(request.body)
                self.checks.setdefault(key, []).append(half)


def _key_in(body: bytes) -> str:
    """The unique key of the message that a check carries."""
    records = decode_records(body)
    if not records:
        message = "a check that carries no message"
        raise NoAnswerError(message)
    return records[0].properties.get(UNIQUE_KEY, "")


def now_ms() -> int:
    """The probe's clock, in milliseconds since 1970."""
    return time.time_ns() // 1_000_000
