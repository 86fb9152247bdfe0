"""Writing and reading of the small files below ``config/``, and the JSON that fastjson prints into them."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, TypeVar

from reference.format.errors import BrokenConfigError
from reference.java import HashMapKeys

if TYPE_CHECKING:
    from collections.abc import Callable

    from reference.store.disk import Disk
    from reference.versions.switches import ReleaseSwitches

T = TypeVar("T")


def string_to_file(disk: Disk, name: str, content: bytes, switches: ReleaseSwitches) -> None:
    """Save a configuration file, the content before it as ``.bak`` (``MixAll#string2File``).

    Up to 5.0 the new content is written to ``.tmp`` first, the file is deleted, and ``.tmp`` is renamed; a crash in
    between leaves the backup. From 5.1.0 on the file is written over.
    """
    if switches.renames_config_files:
        disk.write(f"{name}.tmp", content)
    before = disk.read(name)
    if before is not None:
        disk.write(f"{name}.bak", before)
    if switches.renames_config_files:
        disk.delete(name)
        disk.rename(f"{name}.tmp", name)
    else:
        disk.write(name, content)


def load_or_backup(disk: Disk, name: str, parse: Callable[[bytes], T]) -> T | None:
    """Read a file, else its backup (``ConfigManager#load``); one that is broken and has none counts as missing.

    Raises
    ------
    BrokenConfigError
        The backup is needed, and can't be understood either: the broker does not start.
    """
    problem = f"{name} is empty"
    for each in (name, f"{name}.bak"):
        raw = disk.read(each)
        try:
            if raw:
                return parse(raw)
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            if each != name:
                message = f"{problem}, and {each} can't be understood: {error!r}"
                raise BrokenConfigError(message) from error
            problem = f"{name} can't be understood"
    return None


def config_json(value: Any, switches: ReleaseSwitches) -> str:
    """The text of a configuration file of this version."""
    return to_pretty_json(value, each_item=switches.prints_each_item, spreads_empty=switches.spreads_empty_tables)


class PrintedTable:
    """The text of a large table that stands last in a configuration file, kept while entries come to it.

    Its file is saved with each of them: what was printed is moved to make room, which costs a tenth of the saving.
    """

    def __init__(self, switches: ReleaseSwitches, buckets: int) -> None:
        self._switches = switches
        self._keys = HashMapKeys(buckets)
        self._items: dict[str, bytes] = {}
        self._lengths: list[int] = []
        self._text = bytearray()

    def put(self, name: str, entry: Any) -> None:
        """Print an entry, over the one of that name."""
        style = {"each_item": self._switches.prints_each_item, "spreads_empty": self._switches.spreads_empty_tables}
        text = to_pretty_json(entry, 2, **style)
        item = f"\n\t\t{json.dumps(name, ensure_ascii=False)}:{text},".encode()
        self._items[name] = item
        place = self._keys.put(name)
        if place is None:
            items = [self._items[each] for each in self._keys.in_order]
            self._lengths, self._text = [*map(len, items)], bytearray().join(items)
        else:
            at = sum(self._lengths[:place])
            self._lengths.insert(place, len(item))
            self._text[at:at] = item

    def file(self, before: dict[str, Any], key: str) -> bytes:
        """The file, with what stands before the table."""
        text = config_json({**before, key: {}}, self._switches).encode()
        if not self._text:
            return text
        return b"".join((text[: text.rindex(b"{") + 1], memoryview(self._text)[:-1], b"\n\t}\n}"))


def to_pretty_json(value: Any, depth: int = 0, **style: bool) -> str:
    r"""The text of a value (``RemotingSerializable#toJson`` with ``prettyFormat``).

    Parameters
    ----------
    style
        ``each_item``: as fastjson 2 does it, integer keys and the items of a list have a line each; fastjson 1 runs
        them together. ``spreads_empty``: an empty table takes three lines, as in the fastjson of 5.4.0.

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
        return f"{{{line}{end}}}" if style.get("spreads_empty") and brackets == "{}" else brackets
    each_item = style.get("each_item", False)
    if isinstance(value, list):
        separator = line if each_item else ""
        items = [separator + to_pretty_json(item, depth + 1, **style) for item in value]
        return "[" + ",".join(items) + (end if each_item else "") + "]"
    items = [
        (line if each_item or isinstance(key, str) else "")
        + (json.dumps(key, ensure_ascii=False) if isinstance(key, str) else str(key))
        + ":"
        + to_pretty_json(item, depth + 1, **style)
        for key, item in value.items()
    ]
    return "{" + ",".join(items) + end + "}"
