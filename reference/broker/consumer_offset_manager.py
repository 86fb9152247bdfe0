"""How far the check service has read the half and the op queue: in memory at once, on disk now and then."""

from __future__ import annotations

from reference.format.consumer_offsets import ConsumerOffsets, TopicAtGroup
from reference.format.offsets import QueueOffset
from reference.format.system_topics import CHECK_GROUP

NO_OFFSET = QueueOffset(-1)
"""``ConsumerOffsetManager#queryOffset`` of a queue that nobody has committed an offset for."""


class ConsumerOffsetManager:
    """The consumer offsets of one process (``ConsumerOffsetManager``).

    Parameters
    ----------
    saved
        What ``config/consumerOffset.json`` held when the process started.
    """

    def __init__(self, saved: ConsumerOffsets) -> None:
        self._table = {key: dict(queues) for key, queues in saved.table.items()}

    def query_offset(self, topic: str, queue_id: int, group: str = CHECK_GROUP) -> QueueOffset:
        """The committed offset, or -1."""
        return self._table.get(TopicAtGroup(f"{topic}@{group}"), {}).get(queue_id, NO_OFFSET)

    def commit_offset(self, topic: str, queue_id: int, offset: QueueOffset, group: str = CHECK_GROUP) -> None:
        """Commit an offset in memory; it may be less than the one before."""
        self._table.setdefault(TopicAtGroup(f"{topic}@{group}"), {})[queue_id] = offset

    def put_all(self, offsets: ConsumerOffsets) -> None:
        """Take over what another broker of the group has committed (``SlaveSynchronize#syncConsumerOffset``)."""
        self._table.update({key: dict(queues) for key, queues in offsets.table.items()})

    def encode(self) -> ConsumerOffsets:
        """What is to be saved (``ConsumerOffsetManager#encode``)."""
        return ConsumerOffsets({key: dict(queues) for key, queues in self._table.items()})
