r"""A properties file as ``java.util.Properties`` loads it from bytes: Latin-1, whatever the editor has written.

Lines end with \n, \r or both and with nothing else; a line whose first character is # or ! is a comment to its end; an
odd number of backslashes at a line's end goes on in the next one. Only a blank, a tab and a form feed are blanks.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from reference.format.errors import BrokenConfigError

if TYPE_CHECKING:
    from collections.abc import Iterator

_BLANKS: Final = " \t\f"
_LINE_END: Final = re.compile(rb"\r\n|\r|\n")
_KEY: Final = re.compile(r"\A((?:[^\\ \t\f=:]|\\.)*)[ \t\f]*[=:]?[ \t\f]*(.*)\Z", re.DOTALL)
_ESCAPE: Final = re.compile(r"\\(u[0-9a-fA-F]{4}|.)", re.DOTALL)
_ESCAPED: Final = {"t": "\t", "n": "\n", "r": "\r", "f": "\f"}
_SHOWN: Final = 60


@dataclass(frozen=True, slots=True)
class Setting:
    """One setting of a file: the line on which it ends, its key, and its value with any blanks behind it."""

    line: int
    key: str
    value: str


def read_properties(source: object, data: bytes) -> Iterator[Setting]:
    r"""Each setting of a file, in order; of two with one key, the later counts in Java.

    A file that begins with a mark of UTF-8 has it in its first key, as in Java. JDK 8 reads one form in another way:
    behind a line of a backslash alone, it takes a comment for a setting.

    Raises
    ------
    BrokenConfigError
        A ``\u`` has no four hexadecimal digits behind it: Java throws IllegalArgumentException, and a broker with
        this file does not start.

    Examples
    --------
    >>> [(one.key, one.value) for one in read_properties("a file", b"a\\ b : 1 \\\n  2\n#c=3\r\\u0064")]
    [('a b', '1 2'), ('d', '')]
    """
    for number, line in _logical_lines(data):
        ((key, value),) = _KEY.findall(line)
        try:
            yield Setting(number, _unescaped(key), _unescaped(value))
        except ValueError:
            message = (
                f"{source}, line {number}: {as_written(line)[:_SHOWN]!r} has a \\u without four hexadecimal digits, at "
                "which Java stops: the broker does not start; write \\\\ for a backslash"
            )
            raise BrokenConfigError(message) from None


def as_written(text: str) -> str:
    """A key or value as an editor shows it: Java takes each byte of UTF-8 for a letter, and people do not.

    Examples
    --------
    >>> as_written("5 # \u00e4\u00ba\u0094"), as_written("\u00e4")
    ('5 # 五', 'ä')
    """
    try:
        return text.encode("latin-1").decode("utf-8")
    except UnicodeError:
        return text


def _logical_lines(data: bytes) -> Iterator[tuple[int, str]]:
    """Lines that are no comments and not empty, with those that they go on in, and the number of the last of them.

    A backslash alone at the end of a file is one with an empty key, as in Java.
    """
    pending, number, is_lone = "", 0, False
    for number, raw in enumerate(_LINE_END.split(data), start=1):
        line = raw.decode("latin-1").lstrip(_BLANKS)
        if not pending and (not line or line[0] in "#!"):
            continue
        is_lone = not pending and line == "\\"
        pending += line
        if (len(line) - len(line.rstrip("\\"))) % 2:
            pending = pending[:-1]
        else:
            yield number, pending
            pending = ""
    if pending or (is_lone and data.endswith((b"\\", b"\\\n", b"\\\r"))):
        yield number, pending


def _unescaped(text: str) -> str:
    return _ESCAPE.sub(_character, text) if "\\" in text else text


def _character(escape: re.Match[str]) -> str:
    character = escape[1]
    if character[0] != "u":
        return _ESCAPED.get(character, character)
    if len(character) == 1:
        raise ValueError(escape)
    return chr(int(character[1:], 16))
