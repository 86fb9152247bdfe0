"""Configuration of a broker: times in milliseconds and limits, by its broker.conf and the messages of its producers."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import Any, Self

from model_check.errors import ModelCheckError
from model_check.releases import profile_for
from model_check.world import Profile
from spec.releases.broker_defaults import defaults_of

_UNITS_MS = {"ms": 1, "s": 1000, "m": 60_000, "h": 3_600_000}
_DEFAULTS = {
    "timeout_ms": ("transactionTimeOut", 1),
    "check_max": ("transactionCheckMax", 1),
    "check_interval_ms": ("transactionCheckInterval", 1),
    "op_batch_interval_ms": ("transactionOpBatchInterval", 1),
    "op_message_max_size": ("transactionOpMsgMaxSize", 1),
    "file_reserved_ms": ("fileReservedTime", _UNITS_MS["h"]),
    "save_interval_ms": ("flushConsumerOffsetInterval", 1),
    "round_limit_ms": ("MAX_PROCESS_TIME_LIMIT", 1),
    "op_pull_size": ("OP_MSG_PULL_NUMS", 1),
}
"""Field → its default in `spec.releases.broker_defaults`, and the milliseconds of its unit."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Configuration:
    """A broker's settings, each with the default of its version where the file has none."""

    profile: Profile
    """Of a release, with the switches turned by which the release differs from it."""
    timeout_ms: int
    """`transactionTimeOut`."""
    check_max: int
    """`transactionCheckMax`."""
    check_interval_ms: int
    """`transactionCheckInterval`."""
    op_batch_interval_ms: int
    """`transactionOpBatchInterval`."""
    op_message_max_size: int
    """`transactionOpMsgMaxSize`, in characters."""
    file_reserved_ms: int
    """`fileReservedTime`."""
    save_interval_ms: int
    """`flushConsumerOffsetInterval`."""
    round_limit_ms: int
    """`MAX_PROCESS_TIME_LIMIT`, which no setting changes."""
    op_pull_size: int
    """`OP_MSG_PULL_NUMS`, which no setting changes."""
    immunities_ms: tuple[int, ...] = ()
    """CHECK_IMMUNITY_TIME_IN_SECONDS of the messages that carry it; messages without it are always there, too."""
    local_ms: int | None = None
    """The age of a half by which its local transaction is over and its END_TRANSACTION has arrived, if that is
    known."""
    release: str = ""
    """The release that was asked for, which `profile` stands for."""
    given: frozenset[str] = frozenset()
    """The fields that have no default of the release: an upgrade leaves them as they are."""

    @property
    def times(self) -> dict[str, int]:
        """The times for which :class:`model_check.remedies.advice.Situation` asks."""
        immunity_ms = max(self.immunities_ms, default=0)
        return {"timeout_ms": self.timeout_ms, "check_interval_ms": self.check_interval_ms, "immunity_ms": immunity_ms}

    @classmethod
    def of_release(cls, release: str, **given: Any) -> Self:
        """A broker of a release; what is not given, or None, has its default.

        Examples
        --------
        >>> Configuration.of_release("4.9.7", check_max=3).check_interval_ms
        60000
        """
        known = {name: value for name, value in given.items() if value is not None}
        return cls(**{**_of_release(release), **known, "given": frozenset(known)})

    def upgraded(self, release: str) -> Self:
        """The same file and the same messages with another release, whose defaults count where the file sets nothing.

        Examples
        --------
        >>> one = Configuration.of_release("4.9.7", timeout_ms=9_000)
        >>> one.upgraded("5.5.1").check_interval_ms, one.upgraded("5.5.1").timeout_ms
        (30000, 9000)
        """
        return replace(self, **{name: value for name, value in _of_release(release).items() if name not in self.given})

    @property
    def reserved_ms(self) -> int | None:
        """`fileReservedTime` where a half may grow so old before its checks are used up; None where none can.

        RocketMQ: TransactionalMessageServiceImpl#needSkip.
        """
        return self.file_reserved_ms if self.file_reserved_ms <= self.oldest_ms else None

    @property
    def oldest_ms(self) -> int:
        """The age by which the checks of every half are used up."""
        return max(self.timeout_ms, *self.immunities_ms, 0) + self.check_max * self.check_interval_ms

    @property
    def ops_in_a_batch(self) -> int:
        """So many half offsets of one digit, each with its comma, fill an op message.

        RocketMQ: TransactionalMessageServiceImpl#batchSendOpMessage, MessageQueueOpContext#getTotalSize.
        """
        return max(1, -(-self.op_message_max_size // 2))


def changed_settings(before: Configuration, after: Configuration) -> tuple[str, ...]:
    """The settings in which two configurations differ, with the value of the second in the unit of the file.

    Examples
    --------
    >>> one = Configuration.of_release("4.3.0")
    >>> changed_settings(one, one.upgraded("4.5.1")), changed_settings(one, one)
    (('transactionTimeOut=6000', 'transactionCheckMax=15'), ())
    """
    return tuple(
        f"{name}={getattr(after, field) // unit}"
        for field, (name, unit) in _DEFAULTS.items()
        if getattr(after, field) != getattr(before, field)
    )


def _of_release(release: str) -> dict[str, Any]:
    defaults = defaults_of(release)
    return {
        "profile": Profile.of(profile_for(release, with_switches=True)[0]),
        "release": release,
        **{field: defaults[name] * factor for field, (name, factor) in _DEFAULTS.items()},
    }


def read_duration(option: str, text: str) -> int:
    """Milliseconds of a duration such as `500ms`, `60s`, `10m` or `1h`.

    Raises `ModelCheckError`, which names the option, when the text is none.

    Examples
    --------
    >>> read_duration("--immunity", "60s"), read_duration("--local", "500ms")
    (60000, 500)
    """
    match = re.fullmatch(r"([1-9]\d{0,14})(ms|s|m|h)", text.strip())
    if match is None:
        msg = f"{option} {text}: expected a whole number with a unit, such as 500ms, 60s, 10m or 1h"
        raise ModelCheckError(msg)
    return int(match[1]) * _UNITS_MS[match[2]]
