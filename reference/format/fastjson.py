"""JSON as fastjson writes it: the keys of a map of numbers are numbers without quotes, so that it is not strict."""

from __future__ import annotations

import re
from typing import Any, Final

from files.content import parse_json

_STRING_OR_KEY: Final = re.compile(r'"(?:[^"\\]|\\.)*"|([{,]\s*)(-?\d+)(\s*:)')


def parse_fastjson(raw: bytes) -> Any:
    """The value, such keys as texts; `ValueError` if it is not JSON but for them.

    Examples
    --------
    >>> parse_fastjson(b'{"a":{0:16,1:2}}')
    {'a': {'0': 16, '1': 2}}
    """
    return parse_json(_STRING_OR_KEY.sub(_quote_key, raw.decode()))


def _quote_key(match: re.Match[str]) -> str:
    return match[0] if match[2] is None else f'{match[1]}"{match[2]}"{match[3]}'
