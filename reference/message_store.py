"""The store of one broker: a commit log of immutable records, and for each queue the list of its records.

It holds records as values. Their sizes, offsets and fields are those that the files would have, so that a store of
bytes can take its place. It outlives the broker's process.
"""

from __future__ import annotations

import zlib
from collections import defaultdict
from typing import TYPE_CHECKING

from reference.get_message_result import GetMessageResult, GetMessageStatus
from reference.put_message_result import PutMessageResult, PutMessageStatus
from reference.store.offsets import CommitLogOffset, QueueOffset
from reference.store.record import FIXED_BYTES, MAGIC_V1, Record

if TYPE_CHECKING:
    from reference.message import MessageExtBrokerInner
    from reference.version_switches import VersionSwitches
    from reference.virtual_clock import VirtualClock

_BODY_CRC_MASK = 0x7FFFFFFF


class MessageStore:
    """Stores and finds messages (``DefaultMessageStore``).

    Parameters
    ----------
    switches
        The version; here it decides where a reader beyond a queue's end is sent.
    clock
        Gives the store timestamps.

    Attributes
    ----------
    is_writeable
        False while the disk is full: every put is refused (``RunningFlags``).
    dispatches_at_once
        True: a record can be read from its queue as soon as it is put. False: only after :meth:`dispatch`, which a real
        broker's ``ReputMessageService`` does within a few milliseconds.
    """

    def __init__(self, switches: VersionSwitches, clock: VirtualClock) -> None:
        self.is_writeable = True
        self.dispatches_at_once = True
        self._switches = switches
        self._clock = clock
        self._records: dict[CommitLogOffset, Record] = {}
        self._undispatched: list[Record] = []
        self._max_phy_offset = CommitLogOffset(0)
        self._queue_offsets: defaultdict[tuple[str, int], int] = defaultdict(int)
        self._consume_queues: defaultdict[tuple[str, int], list[Record]] = defaultdict(list)

    @property
    def max_phy_offset(self) -> CommitLogOffset:
        """The end of the commit log in bytes (``CommitLog#getMaxOffset``)."""
        return self._max_phy_offset

    def records(self) -> tuple[Record, ...]:
        """Every record, in the order of the commit log."""
        return tuple(self._records.values())

    def put_message(self, message: MessageExtBrokerInner) -> PutMessageResult:
        """Append a message (``DefaultMessageStore#putMessage``)."""
        if not self.is_writeable:
            return PutMessageResult(PutMessageStatus.SERVICE_NOT_AVAILABLE)
        queue = (message.topic, message.queue_id)
        record = Record(
            total_size=FIXED_BYTES
            + len(message.body)
            + len(message.topic.encode())
            + len(message.properties_text.encode()),
            magic=MAGIC_V1,
            body_crc=zlib.crc32(message.body) & _BODY_CRC_MASK,
            queue_id=message.queue_id,
            flag=message.flag,
            queue_offset=QueueOffset(self._queue_offsets[queue]),
            physical_offset=self._max_phy_offset,
            sys_flag=message.sys_flag,
            born_timestamp=message.born_timestamp,
            born_host=message.born_host,
            store_timestamp=self._clock.now,
            store_host=message.store_host,
            reconsume_times=message.reconsume_times,
            prepared_transaction_offset=CommitLogOffset(message.prepared_transaction_offset),
            body=message.body,
            topic=message.topic,
            properties_text=message.properties_text,
        )
        self._records[record.physical_offset] = record
        self._queue_offsets[queue] += 1
        self._max_phy_offset = CommitLogOffset(self._max_phy_offset + record.total_size)
        self._undispatched.append(record)
        if self.dispatches_at_once:
            self.dispatch()
        return PutMessageResult(PutMessageStatus.PUT_OK, record)

    def dispatch(self) -> None:
        """Enter every record that is still missing into its queue (``ReputMessageService#doReput``)."""
        for record in self._undispatched:
            self._consume_queues[record.topic, record.queue_id].append(record)
        self._undispatched.clear()

    def get_message(self, topic: str, queue_id: int, offset: QueueOffset, max_msg_nums: int) -> GetMessageResult:
        """Read some messages of a queue (``DefaultMessageStore#getMessage``).

        Parameters
        ----------
        offset
            Where to begin, counted in messages.
        max_msg_nums
            The most messages to return.
        """
        queue = self._consume_queues[topic, queue_id]
        end = QueueOffset(len(queue))
        if not queue:
            return GetMessageResult(GetMessageStatus.NO_MESSAGE_IN_QUEUE, QueueOffset(0), end)
        if offset == end:
            return GetMessageResult(GetMessageStatus.OFFSET_OVERFLOW_ONE, end, end)
        if offset > end:
            following = QueueOffset(0) if self._switches.rewinds_beyond_end else end
            return GetMessageResult(GetMessageStatus.OFFSET_OVERFLOW_BADLY, following, end)
        found = tuple(queue[offset : offset + max_msg_nums])
        return GetMessageResult(GetMessageStatus.FOUND, QueueOffset(offset + len(found)), end, found)

    def look_message_by_offset(self, commit_log_offset: CommitLogOffset) -> Record | None:
        """The record that begins at a commit log offset (``DefaultMessageStore#lookMessageByOffset``)."""
        return self._records.get(commit_log_offset)

    def get_max_offset_in_queue(self, topic: str, queue_id: int) -> QueueOffset:
        """The end of a queue, counted in messages."""
        return QueueOffset(len(self._consume_queues[topic, queue_id]))
