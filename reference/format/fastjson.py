"""JSON as fastjson prints it prettily: with tabs, and integer keys without quotes."""

from __future__ import annotations

import json
from typing import Any


def to_pretty_json(value: Any, depth: int = 0, *, each_item: bool = False) -> str:
    r"""The text of a value (``RemotingSerializable#toJson`` with ``prettyFormat``).

    Parameters
    ----------
    each_item
        As fastjson 2 does it: integer keys and the items of a list have a line each. fastjson 1 runs them together.

    Examples
    --------
    >>> to_pretty_json({"t": {"T@G": {0: 16, 1: 2}}, "l": ["a", "b"], "e": {}})
    '{\n\t"t":{\n\t\t"T@G":{0:16,1:2\n\t\t}\n\t},\n\t"l":["a","b"],\n\t"e":{}\n}'
    >>> to_pretty_json({"t": {0: 16}, "l": ["a", "b"]}, each_item=True)
    '{\n\t"t":{\n\t\t0:16\n\t},\n\t"l":[\n\t\t"a",\n\t\t"b"\n\t]\n}'
    """
    if not isinstance(value, dict | list):
        return json.dumps(value, ensure_ascii=False)
    brackets = "{}" if isinstance(value, dict) else "[]"
    end, line = "\n" + "\t" * depth, "\n" + "\t" * (depth + 1)
    if not value:
        return f"{{{line}{end}}}" if each_item and brackets == "{}" else brackets
    if isinstance(value, list):
        separator = line if each_item else ""
        items = [separator + to_pretty_json(item, depth + 1, each_item=each_item) for item in value]
        return "[" + ",".join(items) + (end if each_item else "") + "]"
    items = [
        (line if each_item or isinstance(key, str) else "")
        + (json.dumps(key, ensure_ascii=False) if isinstance(key, str) else str(key))
        + ":"
        + to_pretty_json(item, depth + 1, each_item=each_item)
        for key, item in value.items()
    ]
    return "{" + ",".join(items) + end + "}"
