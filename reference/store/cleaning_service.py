"""Retention: old files of the commit log are deleted, then the queue entries for them (``DefaultMessageStore``)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from reference.format.record import CommitLogOffset, QueueOffset

if TYPE_CHECKING:
    from collections.abc import Callable

    from reference.store.consume_queue_store import ConsumeQueueStore
    from reference.store.writable_commit_log import WritableCommitLog


class CleaningService:
    """``DefaultMessageStore.CleanCommitLogService`` and its sister for queues; what is too old is said from outside.

    With `passes_all`, a queue of which nothing is left begins at its end.
    """

    def __init__(self, log: WritableCommitLog, queues: ConsumeQueueStore, *, passes_all: bool) -> None:
        self._log = log
        self._queues = queues
        self._passes_all = passes_all
        self.keeps_from: Callable[[], CommitLogOffset] | None = None
        """Says from where on nothing is deleted, where a repair asks for that."""
        self._last_physical_min_offset = 0

    @property
    def min_phy_offset(self) -> CommitLogOffset:
        """The first byte of the commit log that is kept (``CommitLog#getMinOffset``)."""
        return CommitLogOffset(self._log.min_offset)

    def get_min_offset_in_queue(self, topic: str, queue_id: int) -> QueueOffset:
        """The lower end of a queue, counted in messages."""
        queue = self._queues.find(topic, queue_id)
        return QueueOffset(0 if queue is None else queue.min_offset)

    def begins_file(self, offset: CommitLogOffset) -> bool:
        """Whether a file of the log begins at a place."""
        return not (offset - self._log.min_offset) % self._log.file_size

    def clean_commit_log(self, end: CommitLogOffset) -> None:
        """Delete the files of the log that end at a place or before, but the last.

        ``DefaultMessageStore.CleanCommitLogService#deleteExpiredFiles``: for their age, for want of space or by hand.
        """
        files = self._log.files
        if self.keeps_from is not None:
            end = min(end, self.keeps_from())
        while len(files.files) > 1 and files.start + files.file_size <= end:
            files.delete_first_file()

    @property
    def has_cleaned_queues(self) -> bool:
        """Whether the queues were cleaned since the log lost a file; one that had nothing left then stays."""
        return self._log.min_offset <= self._last_physical_min_offset

    def clean_consume_queues(self) -> None:
        """Let the queues follow what the log has lost since (``DefaultMessageStore.CleanConsumeQueueService``)."""
        if self.has_cleaned_queues:
            return
        self._last_physical_min_offset = self._log.min_offset
        self._queues.delete_expired_files(self._log.min_offset)
        self.correct_min_offsets()

    def correct_min_offsets(self) -> None:
        """Let each queue begin with what the log has (``ConsumeQueue#correctMinOffset``); a starting store does so."""
        self._queues.correct_min_offset(self._log.min_offset, passes_all=self._passes_all)

    def roll_commit_log(self) -> None:
        """Go on in a new file of the log, as where the last one is full; nothing in an empty one."""
        if self._log.wrote:
            self._log.roll()
