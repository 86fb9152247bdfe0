"""A setting that is swept: a key of ``broker.conf`` or of the workload, and its values as a list or a range."""

from __future__ import annotations

import re
from dataclasses import dataclass
from math import exp, floor, log, log10
from typing import TYPE_CHECKING, Final, Self

from files.durations import read_milliseconds
from model_check.did_you_mean import meant
from reference.format.broker_keys import any_key
from traffic.errors import TrafficError
from traffic.workload.reading import SECTIONS, duration_distribution, size_distribution

if TYPE_CHECKING:
    from collections.abc import Iterable

BROKER_KEYS: Final = {
    "transactionTimeOut": 1,
    "transactionCheckMax": 0,
    "transactionCheckInterval": 1,
    "transactionOpBatchInterval": 1,
    "transactionOpMsgMaxSize": 0,
    "fileReservedTime": 3_600_000,
    "flushConsumerOffsetInterval": 1,
    "flushDiskType": 0,
    "rejectTransactionMessage": 0,
}
"""The keys of ``broker.conf`` on which a simulation depends, with the milliseconds of their unit; 0 for no time."""

_DISTRIBUTIONS: Final = (duration_distribution, size_distribution)
_PERCENTILES: Final = ("p50", "p99")
USUAL_STEPS: Final = 5
_MOST_STEPS: Final = 1000
_TWO_DIGITS: Final = 100
_WIDE: Final = 10
"""A range whose end is so many times its beginning is stepped through by factors."""
_RANGE: Final = re.compile(
    r"(?P<low>[^.:]+(?:\.\d+)?[^.:]*)\.\.(?P<high>[^:]+)(?::(?P<steps>[^:]*))?(?::(?P<scale>.*))?"
)
_SCALES: Final = ("log", "linear")
_UNITS: Final = ((86_400_000.0, "d", 3), (3_600_000.0, "h", 2), (60_000.0, "m", 10), (1000.0, "s", 1), (1.0, "ms", 1))


@dataclass(frozen=True, slots=True)
class SweptValue:
    """A value as a user writes it, and where it stands on an axis; None for a word."""

    text: str
    number: float | None


@dataclass(frozen=True, slots=True)
class SweptRange:
    """The ends of a range."""

    low: float
    high: float
    is_time: bool
    is_whole: bool
    is_log: bool

    def at(self, share: float) -> SweptValue:
        """The value so far from the beginning of the range, from 0 to 1, rounded to what a person would write."""
        low, high = self.low, self.high
        if share in {0, 1}:
            value = high if share else low
        else:
            value = exp(log(low) + share * (log(high) - log(low))) if self.is_log else low + share * (high - low)
            value = round(value) if self.is_whole and value < _TWO_DIGITS else _rounded(value)
        if self.is_time:
            return SweptValue(time_text(value), value)
        return SweptValue(f"{round(value)}" if self.is_whole else f"{value:g}", value)


@dataclass(frozen=True, slots=True)
class SweptSetting:
    """A setting and its values.

    Attributes
    ----------
    values
        The values of a list, or the steps of a range; at least one, each once.
    range
        Where a range was given: a Latin hypercube takes other values of it.
    """

    name: str
    values: tuple[SweptValue, ...]
    range: SweptRange | None = None

    @property
    def is_of_broker(self) -> bool:
        """Whether it is a key of ``broker.conf``; else it is one of the workload."""
        return self.name in BROKER_KEYS

    @property
    def is_number(self) -> bool:
        """Whether its values can stand on an axis of numbers."""
        return all(value.number is not None for value in self.values)

    @property
    def is_time(self) -> bool:
        """Whether its numbers are milliseconds."""
        return all(read_milliseconds(value.text) is not None for value in self.values)

    @classmethod
    def of(cls, text: str) -> Self:
        """A setting of ``NAME=VALUES``: a list ``1s,3s,10s``, or a range ``1s..60s``, ``1s..60s:7``, ``0..1:5:linear``.

        Raises
        ------
        TrafficError
            There is no such setting, the list is empty, or the range is none.

        Examples
        --------
        >>> [value.text for value in SweptSetting.of("transactionTimeOut=1s..60s").values]
        ['1s', '2.8s', '7.7s', '22s', '60s']
        >>> [value.text for value in SweptSetting.of("transactionCheckMax=5..15:3").values]
        ['5', '10', '15']
        >>> SweptSetting.of("local.p99=1s,3s").name
        'local.time.p99'
        """
        given, equals, values = text.partition("=")
        if not equals:
            message = f"--sweep {text}: expected NAME=VALUES, such as transactionTimeOut=1s..60s or local.p99=1s,3s"
            raise TrafficError(message)
        name = _known(given.strip())
        try:
            found = _range_of(values.strip())
            if found is not None:
                ends, steps = found
                return cls(name, _steps_of(ends, steps), ends)
            return cls(name, _list_of(values))
        except ValueError as error:
            message = f"--sweep {text}: {error}"
            raise TrafficError(message) from None


def _steps_of(ends: SweptRange, steps: int) -> tuple[SweptValue, ...]:
    values = tuple(dict.fromkeys(ends.at(step / (steps - 1)) for step in range(steps)))
    if len(values) < steps:
        message = f"{steps} steps are too many for that range: to two digits they are {len(values)} values"
        raise ValueError(message)
    return values


def _list_of(values: str) -> tuple[SweptValue, ...]:
    words = [word.strip() for word in values.split(",")]
    if not any(words):
        message = "there is nothing to sweep over; give values with commas (1s,3s,10s) or a range (1s..60s)"
        raise ValueError(message)
    if not all(words):
        message = "a value between two commas is empty"
        raise ValueError(message)
    found = tuple(dict.fromkeys(SweptValue(word, _number(word)) for word in words))
    if len(found) < len(words):
        message = "a value stands there twice"
        raise ValueError(message)
    return found


def _range_of(text: str) -> tuple[SweptRange, int] | None:
    """The range of a text and its number of steps; None where it is a list."""
    if ".." not in text:
        return None
    found = _RANGE.fullmatch(text)
    if found is None:
        message = "expected LOW..HIGH, LOW..HIGH:STEPS or LOW..HIGH:STEPS:log"
        raise ValueError(message)
    low_text, high_text = found["low"].strip(), found["high"].strip()
    low, high = _number(low_text), _number(high_text)
    if low is None or high is None:
        message = f"{low_text if low is None else high_text!r} is no number and no length of time such as 250ms or 60s"
        raise ValueError(message)
    is_time = read_milliseconds(low_text) is not None
    if is_time != (read_milliseconds(high_text) is not None):
        message = f"one end of {low_text}..{high_text} has a unit and the other one has none"
        raise ValueError(message)
    if high <= low:
        turned = f"; did you mean {high_text}..{low_text}?" if high < low else ""
        message = f"the range {low_text}..{high_text} has to end above its beginning{turned}"
        raise ValueError(message)
    scale = found["scale"] or ("log" if low > 0 and high >= _WIDE * low else "linear")
    if scale not in _SCALES:
        message = f"no scale {scale!r}; expected log or linear"
        raise ValueError(message)
    if scale == "log" and low <= 0:
        message = f"a logarithmic range can't begin at {low_text}; give a beginning above 0, or :linear"
        raise ValueError(message)
    steps = _steps(found["steps"])
    is_whole = (
        not is_time and high - low >= steps - 1 and all(re.fullmatch(r"\d+", end) for end in (low_text, high_text))
    )
    return SweptRange(low, high, is_time, is_whole, scale == "log"), steps


def _steps(text: str | None) -> int:
    if not text:
        return USUAL_STEPS
    if not re.fullmatch(r"\d{1,9}", text) or not 2 <= int(text) <= _MOST_STEPS:
        message = f"{text} is no number of steps from 2 to {_MOST_STEPS:,}"
        raise ValueError(message)
    return int(text)


def _number(word: str) -> float | None:
    """A length of time in milliseconds, or a number; None for another word."""
    milliseconds = read_milliseconds(word)
    if milliseconds is not None:
        return milliseconds
    try:
        number = float(word)
    except ValueError:
        return None
    return number if abs(number) < float("inf") else None


def _rounded(value: float) -> float:
    """A number to two digits that count.

    Examples
    --------
    >>> _rounded(2783.1), _rounded(0.000316)
    (2800.0, 0.00032)
    """
    return value if value == 0 else round(value, 1 - floor(log10(abs(value))))


def time_text(milliseconds: float) -> str:
    """A length of time as a workload has it.

    Examples
    --------
    >>> time_text(6000), time_text(2800.0), time_text(0.3), time_text(86_400_000 * 30), time_text(60_000)
    ('6s', '2.8s', '0.3ms', '30d', '60s')
    """
    for unit, name, least in _UNITS:
        if milliseconds >= least * unit:
            return f"{milliseconds / unit:.6g}{name}"
    return f"{milliseconds:.6g}ms"


def workload_names() -> dict[str, str]:
    """The keys of a workload that can be swept, by each name that they go by.

    A section with one distribution lends its percentiles its name: ``local.p99`` is ``local.time.p99``.
    """
    names: dict[str, str] = {}
    for section, about in SECTIONS.items():
        spread = [key for key, known in about.keys.items() if known.read in _DISTRIBUTIONS]
        names |= {f"{section}.{key}": f"{section}.{key}" for key in about.keys}
        for key in spread:
            names |= {f"{section}.{key}.{part}": f"{section}.{key}.{part}" for part in _PERCENTILES}
        if len(spread) == 1:
            names |= {f"{section}.{part}": f"{section}.{spread[0]}.{part}" for part in _PERCENTILES}
    return names


def _known(name: str) -> str:
    """The full name of a setting; raises `TrafficError` with the nearest that there are."""
    names = workload_names()
    if name in BROKER_KEYS:
        return name
    if name in names:
        return names[name]
    if any_key(name) is not None:
        message = f"--sweep {name}: no simulation depends on it; of broker.conf they depend on {_listed(BROKER_KEYS)}"
        raise TrafficError(message)
    near = meant(name, (*BROKER_KEYS, *names))
    hint = f"did you mean {near[0]}?" if near else f"there are {_listed(BROKER_KEYS)}, and the keys of the workload"
    message = f"--sweep {name or '(nothing)'}: no such setting; {hint}"
    raise TrafficError(message)


def _listed(names: Iterable[str]) -> str:
    return ", ".join(names)
