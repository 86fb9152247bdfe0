"""Offsets of each group in each queue, also of the check service in half and op queue: in memory, and in a file."""

from __future__ import annotations

from typing import TYPE_CHECKING

from reference.broker.config_files import config_json, string_to_file
from reference.format.consumer_offsets import NAME, ConsumerOffsets, TopicAtGroup, load_consumer_offsets
from reference.format.errors import NoSpaceLeftError
from reference.format.record import QueueOffset
from reference.format.system_topics import CHECK_GROUP
from reference.java import hash_map_order

if TYPE_CHECKING:
    from reference.simulation.virtual_clock import VirtualClock
    from reference.store.disk import Disk
    from reference.versions.switches import ReleaseSwitches

_OFFSET_TABLE_BUCKETS = 1024
"""``new ConcurrentHashMap<>(512)``"""

_LOADED_TABLE_BUCKETS = 16
"""fastjson makes its own map."""

_TOPICS_OF_GROUP_BUCKETS = 8

NO_OFFSET = QueueOffset(-1)
"""``ConsumerOffsetManager#queryOffset`` of a queue that nobody has committed an offset for."""


class ConsumerOffsetManager:
    """The consumer offsets of one process, and ``config/consumerOffset.json`` (``ConsumerOffsetManager``)."""

    def __init__(self, disk: Disk, switches: ReleaseSwitches, clock: VirtualClock) -> None:
        self._disk = disk
        self._switches = switches
        self.saved = load_consumer_offsets(disk.read)
        """The offsets in the file."""
        self.changes = 0
        """How often an offset in memory became another one."""
        self._version = {"counter": 0, "stateVersion": 0, "timestamp": clock.now} | self.saved.data_version
        self._buckets = _OFFSET_TABLE_BUCKETS if self.saved.source is None else _LOADED_TABLE_BUCKETS
        self._table = {key: dict(queues) for key, queues in self.saved.table.items()}

    def query_offset(self, topic: str, queue_id: int, group: str = CHECK_GROUP) -> QueueOffset:
        """The committed offset, or -1."""
        return self._table.get(TopicAtGroup(f"{topic}@{group}"), {}).get(queue_id, NO_OFFSET)

    def groups_of(self, topic: str) -> list[str]:
        """The groups that have committed an offset in a topic (``#whichGroupByTopic``)."""
        return [group for known, _, group in (key.rpartition("@") for key in self._table) if known == topic]

    def commit_offset(self, topic: str, queue_id: int, offset: QueueOffset, group: str = CHECK_GROUP) -> None:
        """Commit an offset in memory; it may be less than the one before."""
        queues = self._table.setdefault(TopicAtGroup(f"{topic}@{group}"), {})
        if queues.get(queue_id) != offset:
            queues[queue_id] = offset
            self.changes += 1

    def put_all(self, offsets: ConsumerOffsets) -> None:
        """Take over what another broker of the group has committed (``SlaveSynchronize#syncConsumerOffset``)."""
        self._table.update({key: dict(queues) for key, queues in offsets.table.items()})
        self.changes += 1

    @property
    def has_moved(self) -> bool:
        """Whether some offset is not as in the file."""
        now = {key: queues for key, queues in self._table.items() if queues}
        return now != {key: queues for key, queues in self.saved.table.items() if queues}

    def persist(self) -> None:
        """Save what is in memory."""
        self.save(ConsumerOffsets({key: dict(queues) for key, queues in self._table.items()}))

    def save(self, offsets: ConsumerOffsets) -> None:
        """Write the file; without room for it, what was saved before stays (``ConfigManager#persist``)."""
        try:
            string_to_file(self._disk, NAME, self._encode(offsets).encode(), self._switches)
        except NoSpaceLeftError:
            self.saved = load_consumer_offsets(self._disk.read)
        else:
            self.saved = offsets

    def _encode(self, offsets: ConsumerOffsets) -> str:
        """The text of the file (``ConsumerOffsetManager#encode``); pull offsets of consumers are not stored."""
        keys = hash_map_order(tuple(offsets.table), self._buckets)
        table = {key: dict(sorted(offsets.table[key].items())) for key in keys}  # type: ignore[index]
        if not self._switches.versions_consumer_offsets:
            return config_json({"offsetTable": table}, self._switches)
        groups: dict[str, list[str]] = {}
        for key in keys:
            topic, _, group = key.partition("@")
            groups.setdefault(group, []).append(topic)
        topics = {
            group: list(hash_map_order(tuple(groups[group]), _TOPICS_OF_GROUP_BUCKETS))
            for group in hash_map_order(tuple(groups), 128)
        }
        content = {"dataVersion": self._version, "groupTopicMap": topics, "offsetTable": table}
        if self._switches.saves_pull_offsets:
            content["pullOffsetTable"] = {}
        return config_json(content, self._switches)
