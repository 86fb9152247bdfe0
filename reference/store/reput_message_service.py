"""Enters what the log holds into the consume queues, a moment later (``DefaultMessageStore.ReputMessageService``)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from reference.format.properties import parse_properties
from reference.store.light_queues import LIGHT_QUEUE_ID, MULTI_QUEUE_OFFSET, light_queues

if TYPE_CHECKING:
    from reference.store.consume_queue_store import ConsumeQueueStore
    from reference.store.message_store_config import MessageStoreConfig
    from reference.store.writable_consume_queue import WritableConsumeQueue
    from reference.versions.switches import ReleaseSwitches


class ReputMessageService:
    """The records that wait to be entered."""

    def __init__(self, queues: ConsumeQueueStore, config: MessageStoreConfig, switches: ReleaseSwitches) -> None:
        self.backlog: list[tuple[WritableConsumeQueue, int, int, int]] = []
        """For each entry its queue, and the record's offset, size and tags code."""
        self._queues = queues
        self._has_light_queues = config.enable_multi_dispatch
        self._switches = switches

    def next_light_offset(self, name: str) -> int:
        """The offset that the next message gets in a light queue."""
        return self._queues.find_or_create(name, LIGHT_QUEUE_ID).next_offset

    def enter_light_queues(self, topic: str, properties_text: str, offset: int, size: int, tags: int) -> None:
        """Let a record wait for each of its light queues, too."""
        for queue in self.light_queues(topic, properties_text):
            queue.next_offset += 1
            self.backlog.append((queue, offset, size, tags))

    def light_queues(self, topic: str, properties_text: str) -> list[WritableConsumeQueue]:
        """The light queues that a record is entered in beside its own (``ConsumeQueue#multiDispatchLmqQueue``).

        It must tell its offsets in them (``MultiDispatchUtils#checkMultiDispatchQueue``).
        """
        if not self._has_light_queues:
            return []
        properties = dict(parse_properties(properties_text))
        names = light_queues(topic, properties, self._switches) if MULTI_QUEUE_OFFSET in properties else ()
        return [self._queues.find_or_create(name, LIGHT_QUEUE_ID) for name in names]

    def do_reput(self) -> None:
        """Enter every record that is still missing into its queue (``#doReput``).

        Raises
        ------
        NoSpaceLeftError
            A queue needs another file and there is no room for it; what is left stays waiting.
        """
        done = 0
        try:
            for queue, offset, size, tags in self.backlog:
                queue.put(offset, size, tags)
                done += 1
        finally:
            del self.backlog[:done]
