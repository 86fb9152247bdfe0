"""Holds the commit log against its redundancy: the consume queues, each queue's own counting, time and host.

Only body and lengths of a record are protected by a checksum or by arithmetic. A wrong byte in its queue, its time or
its topic shows where another file, or the records around it, say otherwise. Every rule here is one that a real broker
keeps, also across a crash and a restart:

- the consume queue entry of a record names its place and its size, and each entry names a record of its queue;
- entries are written in the order of the log (``DefaultMessageStore.ReputMessageService``), so one that is missing
  while a later record has its entry was lost;
- without a consume queue: the offsets of one queue count up by one;
- the time of storing and the broker's address do not change for one record alone.
"""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING, NamedTuple

from reference.format.errors import CorruptRegion
from reference.format.properties import TAGS, tags_code_of
from reference.format.record import TRANSACTION_BITS, TRANSACTION_COMMIT, LogRecord
from reference.format.system_topics import HALF_TOPIC, OP_TOPIC

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from reference.format.commit_log import CommitLog
    from reference.format.consume_queue import ConsumeQueue, ConsumeQueueEntry
    from reference.format.frame import Frame

INNER_BATCH_FLAG = 1 << 7
"""``MessageSysFlag.INNER_BATCH_FLAG``: one record stands for several queue offsets."""

_OF_ROUNDS = frozenset({HALF_TOPIC, OP_TOPIC})
_LEAST_TAGS_CODE = -(1 << 31)
"""Below it a tags code is an address (``ConsumeQueueExt.MAX_ADDR``)."""


class Missing(NamedTuple):
    """A record whose consume queue has no entry for it."""

    commit_log_offset: int
    queue: ConsumeQueue
    queue_offset: int

    def region(self) -> CorruptRegion:
        """The damage that it is, if later records have their entries."""
        at = self.commit_log_offset
        reason = f"it has no entry for the record at {at} of the commit log, later records have theirs"
        return self.queue.region(self.queue_offset, reason)


def wrong_count(key: tuple[str, int], queue_offset: int, expected: int) -> str:
    """The complaint about a record that does not continue its queue."""
    return f"{key[0]}/{key[1]} goes on at {queue_offset}, expected {expected}"


class CrossCheck:
    """Takes in every record of a log in its order, and gives the damage at the end, also that of the queues given."""

    def __init__(self, log: CommitLog, queues: dict[tuple[str, int], ConsumeQueue]) -> None:
        self._log = log
        self._queues = queues
        self.matched: dict[tuple[str, int], int] = dict.fromkeys(queues, 0)
        self.missing: list[Missing] = []
        self.displaced: list[int] = []
        self.undispatched: list[int] = []
        """Commit log offsets of halves and op messages that their consume queue does not list: another record stands at
        their place, or none does."""
        self.last_dispatched = -1
        self._next_offset: dict[tuple[str, int, int], int] = {}
        self.found: list[CorruptRegion] = []
        self.is_start = True
        self._last_three: deque[Frame | LogRecord] = deque(maxlen=3)

    def see(self, record: Frame | LogRecord) -> None:
        """Take in one record."""
        topic = record.topic if isinstance(record.topic, str) else record.topic.decode(errors="replace")
        self.check_flags(record)
        key = topic, record.queue_id
        queue = self._queues.get(key)
        if queue is None:
            self._check_counting(key, record)
            self.see_without_queue(key, [record.physical_offset])
        else:
            self.check_entry(queue, key, record)
        self._last_three.append(record)
        if len(self._last_three) == 3:
            self.check_neighbours(*self._last_three)

    def see_without_queue(self, key: tuple[str, int], commit_log_offsets: Iterable[int]) -> None:
        """Take in records of a queue that has no files, though others have."""
        if self._queues and key[0] in _OF_ROUNDS:
            self.undispatched.extend(commit_log_offsets)

    def unseen(self) -> set[int]:
        """Commit log offsets of halves and op messages that no check round sees: no queue lists them, or ever will.

        Dispatching goes on behind the last record that any queue lists (``DefaultMessageStore``, recheck of the reput
        offset), and a place that is taken is not written again (``ConsumeQueue#putMessagePositionInfo``). Only a start
        after a crash dispatches a last part of the log once more.
        """
        return {*self.displaced, *(at for at in self.undispatched if at < self.last_dispatched)}

    def finish(self) -> Iterator[CorruptRegion]:
        """Every piece of damage that was found."""
        if len(self._last_three) == 3:
            self.check_last(*self._last_three)
        yield from self.found
        for missing in self.missing:
            if missing.commit_log_offset < self.last_dispatched:
                yield missing.region()
        for key, queue in self._queues.items():
            yield from self.wrong_sizes(queue)
            yield from self.unmatched_entries(key, queue)

    def check_flags(self, record: Frame | LogRecord) -> None:
        """Hold the system flag of a record against the half that it names."""
        kind = record.sys_flag & TRANSACTION_BITS
        if kind not in (0, TRANSACTION_COMMIT):
            self._add(record, f"its transaction type is {kind}, which no broker stores")
        elif kind == 0 and record.prepared_transaction_offset:
            self._add(record, f"it is not committed, yet names the half at {record.prepared_transaction_offset}")

    def check_last(self, first: Frame | LogRecord, second: Frame | LogRecord, last: Frame | LogRecord) -> None:
        """Look at the times of the last three records of a log."""
        if last.store_timestamp < first.store_timestamp <= second.store_timestamp:
            self._add(last, "it was stored earlier than the two records before it")

    def wrong_sizes(self, queue: ConsumeQueue) -> Iterator[CorruptRegion]:
        """A queue whose files are empty or end inside an entry."""
        if self._log.is_cut:
            return
        if queue.is_empty:
            yield queue.region(0, "the file is empty")
        if queue.torn_bytes:
            yield queue.region(queue.end, f"the file ends inside an entry: {queue.torn_bytes} bytes are left")

    def _add(self, record: Frame | LogRecord, reason: str) -> None:
        self.found.append(CorruptRegion(*self._log.place(record.physical_offset), reason))

    def check_entry(self, queue: ConsumeQueue, key: tuple[str, int], record: Frame | LogRecord) -> None:
        """Hold a record against its consume queue's entry."""
        if record.sys_flag & INNER_BATCH_FLAG:
            return
        entry = queue.entry(record.queue_offset)
        if entry is None:
            if not self._is_of_a_deleted_topic(queue, record):
                self.missing.append(Missing(record.physical_offset, queue, record.queue_offset))
                self.see_without_queue(key, [record.physical_offset])
            return
        if (entry.commit_log_offset, entry.size_bytes) != (record.physical_offset, record.total_size):
            is_same = entry.commit_log_offset == record.physical_offset
            if is_same or not self._answers(key, record.queue_offset, entry.commit_log_offset):
                reason = (
                    f"the entry points to {entry.size_bytes} bytes at {entry.commit_log_offset}, the commit log holds "
                    f"that message in {record.total_size} bytes at {record.physical_offset}"
                )
                self.found.append(queue.region(record.queue_offset, reason))
            elif key[0] in _OF_ROUNDS:
                self.displaced.append(record.physical_offset)
            return
        self.matched[key] += 1
        self.last_dispatched = record.physical_offset
        if isinstance(record, LogRecord) and entry.tags_code >= _LEAST_TAGS_CODE:
            tags = record.properties.get(TAGS, "")
            if tags_code_of(record.properties) != entry.tags_code:
                reason = f"the entry's tags code is {entry.tags_code}, the message's tags {tags!r} have another"
                self.found.append(queue.region(record.queue_offset, reason))

    def _is_of_a_deleted_topic(self, queue: ConsumeQueue, record: Frame | LogRecord) -> bool:
        """Whether the queue was made after the record: deleting a topic deletes its queues and leaves the log alone."""
        first = queue.entry(queue.first)
        return first is not None and first.commit_log_offset > record.physical_offset

    def _answers(self, key: tuple[str, int], queue_offset: int, commit_log_offset: int) -> bool:
        """Whether the record at an offset is the one that a consume queue says."""
        frame = self._log.frame_at(commit_log_offset)
        return frame is not None and (frame.topic.decode(errors="replace"), frame.queue_id, frame.queue_offset) == (
            *key,
            queue_offset,
        )

    def _check_counting(self, key: tuple[str, int], record: Frame | LogRecord) -> None:
        """Without a consume queue, the records of a queue must count up; a queue may begin anew at 0.

        A partial copy has those that their queue lists.
        """
        part = self._log.part_of(record.physical_offset)
        expected = self._next_offset.get((*key, part), record.queue_offset if part else 0)
        is_batch = record.sys_flag & INNER_BATCH_FLAG
        is_checked = not is_batch and not self._queues and self._log.partial is None
        if record.queue_offset not in (expected, 0) and is_checked:
            self._add(record, wrong_count(key, record.queue_offset, expected))
        self._next_offset[*key, part] = record.queue_offset + 1

    def check_neighbours(self, before: Frame | LogRecord, record: Frame | LogRecord, after: Frame | LogRecord) -> None:
        """Hold the times of three records in a row against each other; the first call is of a log's first three."""
        low, high = before.store_timestamp, after.store_timestamp
        if self.is_start and low > high >= record.store_timestamp:
            self._add(before, "it was stored later than the two records behind it")
        self.is_start = False
        if low <= high and not low <= record.store_timestamp <= high:
            self._add(record, f"it was stored at {record.store_timestamp}, the records around it at {low} and {high}")

    def unmatched_entries(self, key: tuple[str, int], queue: ConsumeQueue) -> Iterator[CorruptRegion]:
        """Entries that no record of the log answers to; looked for only where the numbers differ."""
        log = self._log
        if queue.end - queue.first == self.matched[key]:
            return
        for offset, entry in queue.entries():
            if entry.commit_log_offset >= log.start:
                yield from self.check_answer(key, queue, offset, entry)

    def check_answer(
        self, key: tuple[str, int], queue: ConsumeQueue, offset: int, entry: ConsumeQueueEntry
    ) -> Iterator[CorruptRegion]:
        """Hold an entry of a queue against the record that it points to."""
        log = self._log
        is_behind = entry.commit_log_offset >= log.files[-1].end
        if log.is_gone(entry.commit_log_offset) or (is_behind and log.is_cut):
            return
        frame = log.frame_at(entry.commit_log_offset)
        if is_behind:
            yield queue.region(offset, f"the entry points to {entry.commit_log_offset}, behind the commit log's end")
        elif frame is None:
            reason = f"{queue.name} at {offset} points here, but no sound record does start here"
            yield CorruptRegion(*log.place(entry.commit_log_offset), reason)
        elif not self._answers(key, offset, entry.commit_log_offset):
            reason = f"the record is {frame.name}, its consume queue says {key[0]}/{key[1]} at {offset}"
            yield CorruptRegion(*log.place(entry.commit_log_offset), reason)
