"""Writing and reading of the small files below ``config/``, and the JSON that fastjson prints into them."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, TypeVar

from reference.format.errors import BrokenConfigError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

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


class Printed(str):
    """JSON that is printed already, and goes into the text as it is."""

    __slots__ = ()


def printed_table(items: Iterable[str], switches: ReleaseSwitches) -> Printed:
    """A table that stands directly in a configuration file, of its items by :func:`printed_item`."""
    text = ",".join(items)
    return Printed(f"{{{text}\n\t}}" if text else to_pretty_json({}, 1, spreads_empty=switches.spreads_empty_tables))


def printed_item(name: str, entry: Any, switches: ReleaseSwitches) -> str:
    """One item of such a table; it changes when its entry does, while the file is saved with all of them each time."""
    style = {"each_item": switches.prints_each_item, "spreads_empty": switches.spreads_empty_tables}
    return f"\n\t\t{json.dumps(name, ensure_ascii=False)}:{to_pretty_json(entry, 2, **style)}"


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
    if isinstance(value, Printed):
        return value
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
