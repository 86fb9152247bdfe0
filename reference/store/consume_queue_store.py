"""All consume queues of one store (``ConsumeQueueStore``; before 5.0.0 a table in ``DefaultMessageStore``)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from reference.format.consume_queue import FOLDER
from reference.format.errors import NotAStoreError
from reference.store.light_queues import LIGHT_QUEUE_PREFIX
from reference.store.writable_consume_queue import WritableConsumeQueue

if TYPE_CHECKING:
    from collections.abc import Collection

    from reference.store.disk import Disk


class ConsumeQueueStore:
    """The queues by topic and number; those on the disk are opened at once.

    Raises
    ------
    NotAStoreError
        A folder below a topic's is not a number, or a queue's files are not of that size.
    """

    def __init__(self, disk: Disk, file_size: int) -> None:
        self._disk = disk
        self._file_size = file_size
        self._table: dict[tuple[str, int], WritableConsumeQueue] = {}
        for topic in disk.names(FOLDER):
            for name in disk.names(f"{FOLDER}/{topic}"):
                if not name.isdecimal():
                    message = f"{FOLDER}/{topic}/{name} is not a queue: its name is not a number"
                    raise NotAStoreError(message)
                self.find_or_create(topic, int(name))

    def find(self, topic: str, queue_id: int) -> WritableConsumeQueue | None:
        """A queue that there is."""
        return self._table.get((topic, queue_id))

    def find_or_create(self, topic: str, queue_id: int) -> WritableConsumeQueue:
        """A queue, with its folder if need be (``#findOrCreateConsumeQueue``)."""
        queue = self._table.get((topic, queue_id))
        if queue is None:
            queue = self._table[topic, queue_id] = WritableConsumeQueue(self._disk, topic, queue_id, self._file_size)
        return queue

    @property
    def max_phy_offset(self) -> int:
        """How far the commit log has been dispatched (``#getMaxPhyOffsetInConsumeQueue``)."""
        return max((queue.max_phy_offset for queue in self._table.values()), default=0)

    def truncate(self, end: int, *, erases: bool = False) -> None:
        """Take out what points at or behind the end of the log (``#truncateDirty``), and go on from there."""
        for queue in self._table.values():
            if queue.max_phy_offset > end:
                queue.truncate(end, erases=erases)
            queue.next_offset = queue.end

    def lose_from(self, end: int) -> None:
        """The entries of what the log has from a place on never reached the disk."""
        for queue in self._table.values():
            queue.lose_from(end)

    def delete_expired_files(self, min_phy_offset: int) -> None:
        """Delete the files of which the log has nothing any more (``#deleteExpiredFile``)."""
        for queue in self._table.values():
            queue.delete_expired_files(min_phy_offset)

    def correct_min_offset(self, min_phy_offset: int, *, passes_all: bool) -> None:
        """Let each queue begin with the first message that is still in the log (``#correctMinOffset``)."""
        for queue in self._table.values():
            queue.correct_min_offset(min_phy_offset, passes_all=passes_all)

    def flush(self) -> None:
        """Flush all files."""
        for queue in self._table.values():
            queue.flush()

    def close(self) -> None:
        """Unmap all files."""
        for queue in self._table.values():
            queue.close()

    def delete_all_but(self, topics: Collection[str]) -> None:
        """Delete the queues of all topics but some, and leave light queues alone."""
        for topic, queue_id in list(self._table):
            if topic not in topics and not topic.startswith(LIGHT_QUEUE_PREFIX):
                self._table.pop((topic, queue_id)).destroy()

    def destroy(self) -> None:
        """Delete all queues (``#destroy``)."""
        for queue in self._table.values():
            queue.destroy()
        self._table.clear()
