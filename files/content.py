"""JSON and TOML from files and the network; content nested too deep and absurd numbers are refused in one line."""

from __future__ import annotations

import json
import re
import tomllib
from typing import TYPE_CHECKING, Any, Final, NoReturn

from files.errors import ANOTHER, BadContentError
from files.reading import TABLE_BYTES, read_bytes, read_text

if TYPE_CHECKING:
    from files.remote_path import Location

MOST_DEPTH: Final = 64
"""How deep objects and lists may stand in each other; nothing that is read here needs ten."""

MOST_DIGITS: Final = 40
"""How long a whole number may be."""

_STRING: Final = re.compile(rb'"(?:[^"\\]++|\\.)*+"', re.DOTALL)
_LONG_NUMBER: Final = re.compile(rb"\d{%d}" % (MOST_DIGITS + 1))
_TOO_DEEP: Final = f"nested deeper than {MOST_DEPTH}"
_OPENING, _CLOSING = b"[{", b"]}"
_ALIKE: Final = bytes.maketrans(_OPENING + _CLOSING, b"(())")
_ALL_BUT_BRACKETS: Final = bytes(set(range(256)) - set(_OPENING + _CLOSING))


def parse_json(content: bytes | str) -> Any:
    """The value of a JSON text.

    Raises
    ------
    BadContentError
        It is no UTF-8, no JSON, nested deeper than :data:`MOST_DEPTH`, or holds a number of more than
        :data:`MOST_DIGITS` digits.

    Examples
    --------
    >>> parse_json(b'{"a": [1, 2]}')
    {'a': [1, 2]}
    >>> parse_json("[" * 100 + "]" * 100)
    Traceback (most recent call last):
    files.errors.BadContentError: nested deeper than 64
    """
    raw = content.encode("utf-8", "surrogatepass") if isinstance(content, str) else content
    if raw.count(b"[") + raw.count(b"{") > MOST_DEPTH and _is_too_deep(raw):
        raise BadContentError(_TOO_DEEP)
    try:
        text = content if isinstance(content, str) else raw.decode()
        return (_COUNTING_DIGITS if _LONG_NUMBER.search(raw) else _DECODER).decode(text)
    except UnicodeDecodeError as error:
        message = f"not UTF-8 text, from byte {error.start} on"
        raise BadContentError(message) from None
    except json.JSONDecodeError as error:
        message = f"not JSON: {error.msg}, line {error.lineno} column {error.colno}"
        raise BadContentError(message) from None


def _short_number(text: str) -> int:
    if len(text) > MOST_DIGITS:
        raise BadContentError(_too_long(text))
    return int(text)


def _too_long(digits: str) -> str:
    return f"the number {digits[:20]}… has more than {MOST_DIGITS} digits"


def _refuse_constant(text: str) -> NoReturn:
    message = f"not JSON: {text} is no number there"
    raise BadContentError(message)


_DECODER: Final = json.JSONDecoder(parse_constant=_refuse_constant)
_COUNTING_DIGITS: Final = json.JSONDecoder(parse_constant=_refuse_constant, parse_int=_short_number)


def _is_too_deep(raw: bytes) -> bool:
    """Whether brackets stand deeper in each other, strings aside; each turn takes the innermost pairs away."""
    brackets = _STRING.sub(b"", raw).translate(_ALIKE, _ALL_BUT_BRACKETS)
    for turn in range(MOST_DEPTH):
        fewer = brackets.replace(b"()", b"")
        if len(fewer) == len(brackets):
            return turn + brackets.count(b"(") > MOST_DEPTH
        brackets = fewer
    return b"(" in brackets


def parse_toml(text: str) -> dict[str, Any]:
    """The tables of a TOML text.

    Raises
    ------
    BadContentError
        It is no TOML, nested deeper than :data:`MOST_DEPTH`, or holds a number of more than :data:`MOST_DIGITS` digits.
    """
    try:
        tables = tomllib.loads(text)
    except RecursionError:
        raise BadContentError(_TOO_DEEP) from None
    except tomllib.TOMLDecodeError as error:
        message = f"not TOML: {error}"
        raise BadContentError(message) from None
    except ValueError:  # int() of some thousand digits
        found = _LONG_NUMBER.search(text.replace("_", "").encode("utf-8", "surrogatepass"))
        raise BadContentError(_too_long(found[0].decode() if found else "")) from None
    _require_moderate([tables])
    return tables


def _require_moderate(level: list[Any]) -> None:
    for _ in range(MOST_DEPTH + 1):
        long = next((value for value in level if isinstance(value, int) and abs(value) >= 10**MOST_DIGITS), None)
        if long is not None:
            raise BadContentError(_too_long(str(long)))
        level = [
            inner
            for value in level
            if isinstance(value, dict | list)
            for inner in (value.values() if isinstance(value, dict) else value)
        ]
        if not level:
            return
    raise BadContentError(_TOO_DEEP)


def read_json(path: Location, most_bytes: int = TABLE_BYTES) -> Any:
    """The value of a JSON file; raises as :func:`files.reading.read_bytes`, and with the path as :func:`parse_json`."""
    try:
        return parse_json(read_bytes(path, most_bytes))
    except BadContentError as error:
        message = f"{path}: {error}: mend it, or {ANOTHER}"
        raise BadContentError(message) from None


def read_toml(path: Location, most_bytes: int = TABLE_BYTES) -> dict[str, Any]:
    """The tables of a TOML file; raises as :func:`files.reading.read_bytes`, with the path as :func:`parse_toml`."""
    text = read_text(path, most_bytes)
    try:
        return parse_toml(text)
    except BadContentError as error:
        message = f"{path}: {error}: mend it, or {ANOTHER}"
        raise BadContentError(message) from None
