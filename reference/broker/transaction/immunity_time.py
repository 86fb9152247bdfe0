"""CHECK_IMMUNITY_TIME_IN_SECONDS, which RocketMQ reads in two ways that disagree (catalogue B25)."""

from __future__ import annotations

from reference.java import get_long, wrap_long


def check_immunity_time(text: str, transaction_timeout_ms: int) -> int:
    """The time in which a check round leaves a half alone (``TransactionalMessageServiceImpl#getImmunityTime``).

    -1 and what is no number mean the timeout. Nothing else is bounded: 0 and negative numbers protect from nothing.

    Examples
    --------
    >>> [check_immunity_time(text, 6_000) for text in ("20", "0", "-1", "-2", "abc")]
    [20000, 0, 6000, -2000, 6000]
    >>> check_immunity_time("9223372036854775807", 6_000)
    -1000
    """
    seconds = get_long(text)
    return transaction_timeout_ms if seconds == -1 else wrap_long(seconds * 1000)


def end_transaction_immunity_time(text: str, transaction_timeout_ms: int) -> int:
    """Until which age END_TRANSACTION is accepted (``TransactionalMessageUtil#getImmunityTime``): at least the timeout.

    Examples
    --------
    >>> [end_transaction_immunity_time(text, 6_000) for text in ("20", "0", "-2", "abc")]
    [20000, 6000, 6000, 6000]
    """
    seconds = get_long(text)
    return max(wrap_long(seconds * 1000), transaction_timeout_ms)
