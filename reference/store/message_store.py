"""The store of one broker: a commit log and consume queues in mapped files, on a disk that is given from outside.

It writes what RocketMQ writes, byte for byte, and a store that a real broker left can be opened and gone on from. With
a :class:`~reference.store.memory_disk.MemoryDisk` it lives in memory alone.
"""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING, Final, Self

from reference.format.errors import NoSpaceLeftError
from reference.format.record import (
    BLANK_BYTES,
    TRANSACTION_BITS,
    TRANSACTION_COMMIT,
    CommitLogOffset,
    LogRecord,
    QueueOffset,
)
from reference.format.stored_message import encode_message, host_bytes, port_at, topic_field
from reference.format.system_topics import topics_that_are_never_deleted
from reference.store.cleaning_service import CleaningService
from reference.store.consume_queue_store import ConsumeQueueStore
from reference.store.delay_levels import queue_tags_code
from reference.store.get_message import GetMessageResult, GetMessageStatus, read_queue, record_at
from reference.store.memory_disk import MemoryDisk
from reference.store.message_store_config import MessageStoreConfig
from reference.store.put_message import (
    MOST_PROPERTIES,
    PutMessageResult,
    PutMessageStatus,
    check_before_put_message,
    run_put_message_hooks,
)
from reference.store.recovery import recover
from reference.store.reput_message_service import ReputMessageService
from reference.store.store_checkpoint import StoreCheckpoint
from reference.store.writable_commit_log import WritableCommitLog

if TYPE_CHECKING:
    from collections.abc import Collection

    from reference.errors import ThrownInCheckError
    from reference.simulation.virtual_clock import VirtualClock
    from reference.store.disk import Disk
    from reference.store.message import MessageExtBrokerInner
    from reference.store.writable_consume_queue import WritableConsumeQueue
    from reference.versions.switches import ReleaseSwitches

ABORT: Final = "abort"
_CONSUMED: Final = (0, TRANSACTION_COMMIT)
_LONGEST_BACKLOG = 256
_MOST_BYTES_BESIDE_BODY = 64 << 10


class MessageStore:
    """Stores and finds messages (``DefaultMessageStore``).

    Parameters
    ----------
    switches
        The version; here it decides where a reader beyond a queue's end is sent.
    disk
        What holds the files; without it, a new disk in memory. What is there already is recovered.

    Attributes
    ----------
    switches, clock, disk, config
        As given.
    is_writeable
        False while the disk is full: every put is refused (``RunningFlags``).
    is_closed
        True from the beginning of a shutdown's last part on: nothing is given or taken any more.
    is_slave
        True while the broker is a slave: every put is refused, and offsets are not corrected.
    flushed_where
        Up to here the commit log is on the disk; a power loss takes nothing before it (``MappedFileQueue``).
    dispatches_at_once
        True: a record can be read from its queue as soon as it is put. False: only after :meth:`dispatch`, which a real
        broker's ``DefaultMessageStore.ReputMessageService`` does within a few milliseconds.
    cleaning
        Deletes what is too old.
    checkpoint
        Up to when log and queues were flushed.

    Raises
    ------
    NotAStoreError
        The files are not those of a store, or not of the configured sizes.
    """

    def __init__(
        self,
        switches: ReleaseSwitches,
        clock: VirtualClock,
        disk: Disk | None = None,
        config: MessageStoreConfig | None = None,
    ) -> None:
        self.is_writeable = True
        self.is_closed = False
        self.is_slave = False
        self.flushed_where = CommitLogOffset(0)
        self.dispatches_at_once = True
        self.config = MessageStoreConfig() if config is None else config
        self.disk: Disk = MemoryDisk() if disk is None else disk
        self.switches = switches
        self.clock = clock
        self._longest_backlog = 0 if self.disk.counts_writes else _LONGEST_BACKLOG
        self._last_store_timestamp = 0
        self._missed_reads: list[GetMessageResult | ThrownInCheckError] = []
        beside_body = 0 if switches.measures_whole_records else _MOST_BYTES_BESIDE_BODY
        self._most_record_bytes = self.config.max_message_size + beside_body
        file_size = self.config.mapped_file_size_commit_log
        self._surely_short_bytes = min(self.config.max_message_size, file_size - BLANK_BYTES)
        self._load()

    @property
    def max_phy_offset(self) -> CommitLogOffset:
        """The end of the commit log in bytes (``CommitLog#getMaxOffset``)."""
        return CommitLogOffset(self._log.max_offset)

    @property
    def is_behind(self) -> bool:
        """Whether records wait to be entered into their queues (``DefaultMessageStore#dispatchBehindBytes``)."""
        return bool(self._reput.backlog)

    def records(self) -> tuple[LogRecord, ...]:
        """Every record, in the order of the commit log; they are read once."""
        return self._log.records()

    # --- writing ------------------------------------------------------------------------------------------------------

    def put_message(self, message: MessageExtBrokerInner) -> PutMessageResult:
        """Append a message (``DefaultMessageStore#putMessage``)."""
        if not self.is_writeable or self.is_slave or self.is_closed:
            return _NOT_AVAILABLE
        store_timestamp = self.clock.now
        refused = run_put_message_hooks(message, self.switches, store_timestamp, self._next_light_offset)
        if refused is not None:
            return PutMessageResult(refused)
        properties_text = message.properties_text
        properties = properties_text.encode()
        route = self._routes.get((message.topic, message.queue_id))
        if route is None or len(properties) > MOST_PROPERTIES:
            refused = check_before_put_message(
                message.topic, len(properties), self.config.max_topic_length, self.switches
            )
            if refused is not None:
                return PutMessageResult(refused)
            queue = self._queues.find_or_create(message.topic, message.queue_id)
            route = self._routes[message.topic, message.queue_id] = (queue, topic_field(message.topic))
        queue, topic_bytes = route
        sys_flag = message.sys_flag
        is_consumed = sys_flag & TRANSACTION_BITS in _CONSUMED
        log = self._log
        at = log.wrote
        queue_offset = queue.next_offset if is_consumed else 0
        data = encode_message(
            topic_bytes, message.queue_id, message.flag, queue_offset, log.file_start + at, sys_flag,
            message.born_timestamp, host_bytes(message.born_host), store_timestamp, host_bytes(message.store_host),
            message.reconsume_times, message.prepared_transaction_offset, message.body, properties,
        )  # fmt: skip
        size = len(data)
        if size > self._surely_short_bytes and self._is_too_long(size, len(message.body)):
            return PutMessageResult(PutMessageStatus.MESSAGE_ILLEGAL)
        if at + size + BLANK_BYTES > log.file_size:
            try:
                log.roll()
            except NoSpaceLeftError:
                return PutMessageResult(PutMessageStatus.CREATE_MAPPED_FILE_FAILED)
            at = 0
            data = data[:28] + log.file_start.to_bytes(8) + data[36:]
        if not log.write(data):
            return _NOT_AVAILABLE
        offset = log.file_start + at
        self._last_store_timestamp = store_timestamp
        if is_consumed:
            queue.next_offset += 1
            backlog = self._reput.backlog
            tags = queue_tags_code(message.topic, properties_text, store_timestamp)
            backlog.append((queue, offset, size, tags))
            if self.config.enable_multi_dispatch:
                self._reput.enter_light_queues(message.topic, properties_text, offset, size, tags)
            if self.dispatches_at_once and len(backlog) > self._longest_backlog:
                self.dispatch()
        return PutMessageResult(
            PutMessageStatus.PUT_OK, self.look_message_by_offset, CommitLogOffset(offset), QueueOffset(queue_offset)
        )

    def _is_too_long(self, size: int, body_bytes: int) -> bool:
        is_too_long = size > self._most_record_bytes or body_bytes > self.config.max_message_size
        return is_too_long or size + BLANK_BYTES > self._log.file_size

    def clean_unused_topics(self, retained: Collection[str]) -> None:
        """Delete the queues of every topic that has no configuration (``#cleanUnusedTopic``); the log stays."""
        self.dispatch()
        self._queues.delete_all_but({*retained, *topics_that_are_never_deleted(self.switches)})
        self._routes.clear()

    def dispatch(self) -> None:
        """Enter each record that is still missing into its queue (``DefaultMessageStore.ReputMessageService#doReput``).

        Where a queue needs another file and there is no room for it, what is left stays waiting, and the store refuses
        every message from then on (``RunningFlags#makeLogicsQueueError``).
        """
        try:
            self._reput.do_reput()
        except NoSpaceLeftError:
            self.is_writeable = False
        finally:
            self._log.release()

    def flush(self) -> None:
        """Flush log, queues and checkpoint, as ``CommitLog.FlushRealTimeService`` and others do in time."""
        if self.dispatches_at_once:
            self.dispatch()
        self._log.files.flush()
        self.flushed_where = self.max_phy_offset
        self._queues.flush()
        if self._last_store_timestamp:
            self.checkpoint.physic_msg_timestamp = self.checkpoint.logics_msg_timestamp = self._last_store_timestamp
        with suppress(NoSpaceLeftError):
            self.checkpoint.flush()

    def shutdown(self) -> None:
        """Shut down in order (``DefaultMessageStore#shutdown``): dispatch, flush, and take the abort file away."""
        self.dispatch()
        self.flush()
        self.disk.delete(ABORT)
        self.close()

    def close(self) -> None:
        """Unmap the files; what was not flushed is in the page cache."""
        self._log.files.close()
        self._queues.close()

    def abandon(self) -> None:
        """The process is gone without having stopped; what waits to be dispatched is forgotten."""
        self._reput.backlog.clear()
        self._longest_backlog = 0

    def reopen(self) -> Self:
        """The store as the next process finds it: opened anew from the disk, with the same habits."""
        following = type(self)(self.switches, self.clock, self.disk, self.config)
        following.is_writeable = self.is_writeable
        following.dispatches_at_once = self.dispatches_at_once
        following.flushed_where = self.flushed_where
        return following

    # --- what may befall it -------------------------------------------------------------------------------------------

    def cut_to(self, end: CommitLogOffset) -> None:
        """Lose what the commit log holds from a record on, as a power loss does; what is left is on the disk.

        The process must be gone then. The entries of what is lost are lost with it.

        Raises
        ------
        ValueError
            That part of the log was flushed.
        """
        if end < self.flushed_where:
            message = f"the log is on the disk up to {self.flushed_where}, a power loss can't take it from {end} on"
            raise ValueError(message)
        self._queues.lose_from(end)
        self._log.lose_from(end)
        self.flushed_where = min(end, self.max_phy_offset)

    def damage(self, commit_log_offset: CommitLogOffset) -> None:
        """Let the bytes of a record rot so that no recovery finds it: its producer gets a port that there is not.

        ``MessageDecoder#decode`` gives null for it from now on.
        """
        place = self._log.place_of(commit_log_offset)
        if place is not None:
            file, at = place
            file.write(port_at(file.buffer, at), b"\xff")

    def miss_next_read(self, answer: GetMessageResult | ThrownInCheckError) -> None:
        """Let the next read of a queue be answered so, or throw, whatever is there."""
        self._missed_reads.append(answer)

    # --- reading ------------------------------------------------------------------------------------------------------

    def get_message(self, topic: str, queue_id: int, offset: QueueOffset, max_msg_nums: int) -> GetMessageResult:
        """Read some messages of a queue (``DefaultMessageStore#getMessage``).

        An offset is counted in messages; a read ends at the end of a consume queue file, too.
        """
        if self.is_closed:
            return GetMessageResult(GetMessageStatus.NO_ANSWER, QueueOffset(0), QueueOffset(0))
        if self._missed_reads:
            answer = self._missed_reads.pop()
            if isinstance(answer, GetMessageResult):
                return answer
            raise answer
        return read_queue(
            self._log,
            self._queue_to_read(topic, queue_id),
            offset,
            max_msg_nums,
            limits=self.config,
            corrects_offsets=not self.is_slave or self.switches.corrects_offsets_on_slave,
            rewinds_beyond_end=self.switches.rewinds_beyond_end,
        )

    def look_message_by_offset(self, commit_log_offset: CommitLogOffset) -> LogRecord | None:
        """The record that begins at a commit log offset (``DefaultMessageStore#lookMessageByOffset``).

        None where none begins, or where it cannot be decoded.
        """
        return record_at(self._log, commit_log_offset)

    def get_data(self, start: CommitLogOffset, end: CommitLogOffset) -> bytes:
        """The bytes of the commit log from one place to another."""
        found = bytearray()
        while start < end and (place := self._log.place_of(start)) is not None:
            file, at = place
            stop = min(at + end - start, self._log.file_size)
            found += bytes(file.buffer[at:stop]).ljust(stop - at, b"\0")
            start = CommitLogOffset(start + stop - at)
        return bytes(found)

    def get_max_offset_in_queue(self, topic: str, queue_id: int) -> QueueOffset:
        """The end of a queue, counted in messages."""
        queue = self._queue_to_read(topic, queue_id)
        return QueueOffset(0 if queue is None else queue.end)

    def get_commit_log_offset_in_queue(self, topic: str, queue_id: int, offset: QueueOffset) -> CommitLogOffset:
        """Where in the log the message of a queue entry begins, kept or not; 0 without an entry."""
        queue = self._queue_to_read(topic, queue_id)
        has_entry = queue is not None and 0 <= offset < queue.end
        return CommitLogOffset(queue.entry(offset)[0] if queue is not None and has_entry else 0)

    def _queue_to_read(self, topic: str, queue_id: int) -> WritableConsumeQueue | None:
        if self._reput.backlog and self.dispatches_at_once:
            self.dispatch()
        return self._queues.find(topic, queue_id)

    # --- opening ------------------------------------------------------------------------------------------------------

    def _load(self) -> None:
        """Open what is on the disk, and recover it (``#load`` and ``#recover``)."""
        config = self.config
        was_aborted = self.disk.read(ABORT) is not None
        self._log = WritableCommitLog(
            self.disk, config.mapped_file_size_commit_log, copies_stale_bytes=self.switches.copies_stale_bytes
        )
        self._queues = ConsumeQueueStore(self.disk, config.mapped_file_size_consume_queue)
        self._reput = ReputMessageService(self._queues, config, self.switches)
        self._next_light_offset = self._reput.next_light_offset if config.enable_lmq else None
        self._routes: dict[tuple[str, int], tuple[WritableConsumeQueue, tuple[bytes, int]]] = {}
        self.checkpoint = StoreCheckpoint(self.disk)
        self._last_store_timestamp = recover(
            self._log,
            self._queues,
            self.checkpoint,
            self._reput.light_queues,
            was_aborted=was_aborted,
            trusts_what_is_dispatched=self.switches.trusts_what_is_dispatched,
            reads_few_files=self.switches.recovers_few_files,
            erases_what_it_takes_out=self.switches.erases_truncated_entries,
        )
        self.cleaning = CleaningService(self._log, self._queues, passes_all=self.switches.lower_end_passes_all)
        self.cleaning.correct_min_offsets()
        if not was_aborted:
            self.disk.write(ABORT, self.switches.abort_file_content)


_NOT_AVAILABLE = PutMessageResult(PutMessageStatus.SERVICE_NOT_AVAILABLE)
