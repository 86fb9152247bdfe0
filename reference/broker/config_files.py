"""The broker's small files below ``config/``, with the real habits (``ConfigManager``, ``MixAll#string2File``)."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar

from reference.format.consumer_offsets import NAME, ConsumerOffsets, load_consumer_offsets
from reference.format.errors import BrokenConfigError, NoSpaceLeftError
from reference.format.fastjson import to_pretty_json
from reference.java.hash_map import hash_map_order

if TYPE_CHECKING:
    from collections.abc import Callable

    from reference.simulation.virtual_clock import VirtualClock
    from reference.store.disk import Disk
    from reference.versions.switches import VersionSwitches

T = TypeVar("T")

_OFFSET_TABLE_BUCKETS = 1024
"""``new ConcurrentHashMap<>(512)``"""

_LOADED_TABLE_BUCKETS = 16
"""fastjson makes its own map."""

_TOPICS_OF_GROUP_BUCKETS = 8


def string_to_file(disk: Disk, name: str, content: bytes, switches: VersionSwitches) -> None:
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


class ConsumerOffsetFile:
    """``config/consumerOffset.json``.

    Attributes
    ----------
    saved
        What the file holds.
    """

    def __init__(self, disk: Disk, switches: VersionSwitches, clock: VirtualClock) -> None:
        self._disk = disk
        self._switches = switches
        self.saved = load_consumer_offsets(disk.read)
        self._version = {"counter": 0, "stateVersion": 0, "timestamp": clock.now} | self.saved.data_version
        self._buckets = _OFFSET_TABLE_BUCKETS if self.saved.source is None else _LOADED_TABLE_BUCKETS

    def save(self, offsets: ConsumerOffsets) -> None:
        """Write the file; without room for it, what was saved before stays (``ConfigManager#persist``)."""
        try:
            string_to_file(self._disk, NAME, self._encode(offsets).encode(), self._switches)
        except NoSpaceLeftError:
            self.saved = load_consumer_offsets(self._disk.read)
        else:
            self.saved = offsets

    def _encode(self, offsets: ConsumerOffsets) -> str:
        keys = hash_map_order(tuple(offsets.table), self._buckets)
        table = {key: dict(sorted(offsets.table[key].items())) for key in keys}  # type: ignore[index]
        if not self._switches.versions_consumer_offsets:
            return to_pretty_json({"offsetTable": table}, each_item=self._switches.prints_each_item)
        groups: dict[str, list[str]] = {}
        for key in keys:
            topic, _, group = key.partition("@")
            groups.setdefault(group, []).append(topic)
        topics = {
            group: list(hash_map_order(tuple(groups[group]), _TOPICS_OF_GROUP_BUCKETS))
            for group in hash_map_order(tuple(groups), 128)
        }
        content = {"dataVersion": self._version, "groupTopicMap": topics, "offsetTable": table}
        return to_pretty_json(content, each_item=self._switches.prints_each_item)
