"""Java's parsing of numbers, where it decides what a property means (``TransactionalMessageServiceImpl#getLong``)."""

from __future__ import annotations

import re

_NUMBER = re.compile(r"[+-]?[0-9]+")
_LONG_BITS, _INT_BITS = 64, 32


def get_long(text: str) -> int:
    """The number in a string, or -1 if ``Long.parseLong`` would throw.

    Examples
    --------
    >>> get_long("12"), get_long("+3"), get_long(" 3"), get_long("abc"), get_long("9223372036854775808")
    (12, 3, -1, -1, -1)
    """
    return _parse(text, _LONG_BITS)


def get_int(text: str) -> int:
    """The number in a string, or -1 if ``Integer.parseInt`` would throw.

    Examples
    --------
    >>> get_int("15"), get_int("2147483648")
    (15, -1)
    """
    return _parse(text, _INT_BITS)


def wrap_long(value: int) -> int:
    """What is left of a number in 64 bits, as after an overflow in Java.

    Examples
    --------
    >>> wrap_long(9_223_372_036_854_775_807 * 1000)
    -1000
    """
    return (value + (1 << 63)) % (1 << 64) - (1 << 63)


def _parse(text: str, bits: int) -> int:
    if not _NUMBER.fullmatch(text):
        return -1
    value = int(text)
    return value if -(1 << bits - 1) <= value < 1 << bits - 1 else -1
