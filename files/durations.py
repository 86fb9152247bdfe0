"""Durations as people read them: `3 days and 1 ms`, not `259200.001 s`; all printed times come from here."""

from __future__ import annotations

import re
from itertools import pairwise
from typing import Final

_SECOND_MS: Final = 1_000
_MINUTE_MS: Final = 60 * _SECOND_MS
_HOUR_MS: Final = 60 * _MINUTE_MS
_DAY_MS: Final = 24 * _HOUR_MS
_UNITS: Final = ((_DAY_MS, "days"), (_HOUR_MS, "h"), (_MINUTE_MS, "min"))
_SHORT: Final = {"s": _SECOND_MS, "m": _MINUTE_MS, "h": _HOUR_MS, "d": _DAY_MS, "w": 7 * _DAY_MS}
_FINE: Final = {"us": 0.001, "ms": 1.0}


def read_duration(text: str) -> int | None:
    """A length of time as options take it, in milliseconds; None if it is none.

    Examples
    --------
    >>> read_duration("30s"), read_duration("2h"), read_duration("1 d"), read_duration("90")
    (30000, 7200000, 86400000, None)
    """
    found = re.fullmatch(r"(\d{1,9})\s*([smhdw])", text.strip().lower())
    return None if found is None else int(found[1]) * _SHORT[found[2]]


def read_milliseconds(text: str) -> float | None:
    """A length of time down to microseconds, as files of distributions have it, in milliseconds; None if it is none.

    Examples
    --------
    >>> read_milliseconds("0.3ms"), read_milliseconds("250us"), read_milliseconds("30s"), read_milliseconds("90")
    (0.3, 0.25, 30000.0, None)
    """
    found = re.fullmatch(r"(\d{1,9}(?:\.\d{1,6})?)\s*(us|ms|s|m|h|d|w)", text.strip().lower())
    return None if found is None else float(found[1]) * (_FINE | _SHORT)[found[2]]


def duration(milliseconds: int) -> str:
    """A length of time without loss, in the units that it has; an `and` stands where units between are none.

    Examples
    --------
    >>> duration(10), duration(2_500), duration(60_000), duration(90_000)
    ('10 ms', '2.5 s', '1 min', '1 min 30 s')
    >>> duration(600_000_000), duration(259_200_001), duration(86_460_000)
    ('6 days 22 h 40 min', '3 days and 1 ms', '1 day and 1 min')
    """
    if milliseconds < 0:
        return f"-{duration(-milliseconds)}"
    parts: list[tuple[int, str]] = []
    rest = milliseconds
    for place, (unit, name) in enumerate(_UNITS):
        count, rest = divmod(rest, unit)
        if count:
            parts.append((place, f"{count:,} {name}" if (count, name) != (1, "days") else "1 day"))
    if 0 < rest < _SECOND_MS:
        parts.append((len(_UNITS) + 1, f"{rest} ms"))
    elif rest or not parts:
        parts.append((len(_UNITS), f"{rest / _SECOND_MS:g} s"))
    words = parts[0][1]
    for (before, _), (place, text) in pairwise(parts):
        words += f" {text}" if place == before + 1 else f" and {text}"
    return words


def moment(milliseconds: int) -> str:
    """A moment, counted from a beginning: to the millisecond in seconds, and in words after an hour.

    Examples
    --------
    >>> moment(6_001), moment(426_001), moment(259_200_001)
    ('6.001 s', '426.001 s', '3 days and 1 ms')
    """
    return duration(milliseconds) if abs(milliseconds) >= _HOUR_MS else f"{milliseconds / _SECOND_MS:.3f} s"


def taken(seconds: float) -> str:
    """A duration of something that was done, as :func:`moment` prints it.

    Examples
    --------
    >>> taken(0.0264), taken(5400)
    ('0.026 s', '1 h 30 min')
    """
    return moment(round(seconds * _SECOND_MS))


def about(seconds: float) -> str:
    """A length of time that is only known roughly: in seconds below a minute, in minutes from there on.

    Examples
    --------
    >>> about(7.4), about(59.6), about(89), about(3 * 3600 + 300)
    ('7 s', '1 min', '1 min', '3 h 5 min')
    """
    unit = _SECOND_MS if round(seconds) * _SECOND_MS < _MINUTE_MS else _MINUTE_MS
    return duration(round(seconds * _SECOND_MS / unit) * unit)


def three_digits(milliseconds: float) -> str:
    """A measured time to three digits: a quantile, a mean.

    Examples
    --------
    >>> three_digits(1.2345), three_digits(28141.4), three_digits(453000.0)
    ('1.23 ms', '28.1 s', '7 min 33 s')
    """
    if milliseconds < _SECOND_MS:
        return f"{float(f'{milliseconds:.3g}'):g} ms"
    if milliseconds < _MINUTE_MS:
        return duration(round(float(f"{milliseconds:.3g}")))
    return duration(round(milliseconds / _SECOND_MS) * _SECOND_MS)
