"""Parsing of a setting's text: ``MixAll#properties2Object`` and the setters that it calls.

An exception of Java is swallowed there, and the setting is as if it were not in the file. A truth is never refused:
what is not ``true`` is false. From 5.2.0 on, blanks around a text count for nothing; around a number they always did.
"""

from __future__ import annotations

import re
import struct
import unicodedata
from typing import TYPE_CHECKING, Final

from spec.releases.broker_defaults import release_numbers

if TYPE_CHECKING:
    from collections.abc import Callable

    from reference.format.broker_keys import Key

Value = int | float | bool | str

_BITS: Final = {"int": 31, "long": 63}
_TRIMS_TEXTS: Final = (5, 2, 0)
_CONTROLS_AND_BLANK: Final = "".join(map(chr, range(0x21)))
"""Characters that ``String#trim`` takes away, and ``Double#parseDouble`` before it reads."""
_FRACTION: Final = re.compile(
    r"[+-]?(NaN|Infinity|(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?[fFdD]?|0[xX]([0-9a-fA-F]+\.?|[0-9a-fA-F]*\.[0-9a-fA-F]+)"
    r"[pP][+-]?\d+[fFdD]?)",
    re.ASCII,
)
_PRECISIONS_MS: Final = (100, 200, 500, 1000)


def value_of(key: Key, text: str, release: str | None) -> Value | None:
    """The value that a setting has in force; None where the broker swallows it and runs with its default.

    The text is as ``Properties`` has it; without a release, the newest is meant.

    Examples
    --------
    >>> from reference.format.broker_keys import keys_of
    >>> timeout = keys_of("5.3.3")["transactionTimeOut"]
    >>> value_of(timeout, "20000", "5.3.3"), value_of(timeout, "20000 # 20 s", "5.3.3")
    (20000, None)
    """
    *names, last = key.kind.split("|")
    if key.kind in _BITS:
        value = _whole_number(key.kind, text)
        return value if value is None or _is_before(release, _SETTERS_SINCE) else _SETTERS.get(key.name, int)(value)
    if key.kind in {"double", "float"}:
        return _fraction(key.kind, text)
    if key.kind == "boolean":
        return re.fullmatch("true", text, re.ASCII | re.IGNORECASE) is not None
    word = text if _is_before(release, _TRIMS_TEXTS) else text.strip(_CONTROLS_AND_BLANK)
    if not names or word in {*names, last} - {"int"}:
        return word
    number = _whole_number("int", text) if last == "int" else None
    return None if number is None else names[number if 0 <= number < len(names) else 0]


def _is_before(release: str | None, since: tuple[int, ...]) -> bool:
    """Whether a release is older; one that is not known is taken to be the newest."""
    return () < release_numbers(release or "") < since


def _whole_number(kind: str, text: str) -> int | None:
    """``Integer#parseInt`` and ``Long#parseLong``: a sign and digits, of any script, and nothing else."""
    digits = text[1:] if text[:1] in {"+", "-"} else text
    if not digits or not all(
        len(digit.encode("utf-16-le", "surrogatepass")) == 2 and _digit(digit) for digit in digits
    ):
        return None
    value = int("".join(str(unicodedata.decimal(digit)) for digit in digits).lstrip("0")[:20] or "0")
    value = -value if text[0] == "-" else value
    return value if -(2 ** _BITS[kind]) <= value < 2 ** _BITS[kind] else None


def _digit(character: str) -> bool:
    return unicodedata.category(character) == "Nd"


def _fraction(kind: str, text: str) -> float | None:
    """``Double#parseDouble`` and ``Float#parseFloat``."""
    text = text.strip(_CONTROLS_AND_BLANK)
    if _FRACTION.fullmatch(text) is None:
        return None
    try:
        if re.match("[+-]?0x", text, re.IGNORECASE):
            value = float.fromhex(text.rstrip("fFdD") if re.search("[pP]", text) else text)
        else:
            value = float(text if text.endswith(("NaN", "Infinity")) else text.rstrip("fFdD"))
        return value if kind == "double" else float(struct.unpack("f", struct.pack("f", value))[0])
    except OverflowError:
        return float("-inf" if text[0] == "-" else "inf")


def _timer_precision(value: int) -> int:
    """``MessageStoreConfig#setTimerPrecisionMs``: the largest of four that is at most the value, or the least."""
    return max((one for one in _PRECISIONS_MS if one <= value), default=_PRECISIONS_MS[0])


def _at_least_0(value: int) -> int:
    """``MessageStoreConfig#setHaListenPort``."""
    return max(value, 0)


_SETTERS: Final[dict[str, Callable[[int], int]]] = {"timerPrecisionMs": _timer_precision, "haListenPort": _at_least_0}
"""The setters that do more than put their value away, but for those of enums; from 5.0.0 on."""
_SETTERS_SINCE: Final = (5, 0, 0)
