"""Recovery: the files as a starting store takes them (``CommitLog#recoverNormally`` and ``#recoverAbnormally``)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from reference.format.record import TRANSACTION_BITS, TRANSACTION_COMMIT
from reference.format.stored_message import decode_message
from reference.store.delay_levels import queue_tags_code

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from reference.store.consume_queue_store import ConsumeQueueStore
    from reference.store.store_checkpoint import StoreCheckpoint
    from reference.store.writable_commit_log import WritableCommitLog
    from reference.store.writable_consume_queue import WritableConsumeQueue

_BLANK_MAGIC_BYTES: Final = b"\xcb\xd4\x31\x94"


_MOST_FILES: Final = 10
"""``commitLogRecoverMaxNum``"""


def recover(
    log: WritableCommitLog,
    queues: ConsumeQueueStore,
    checkpoint: StoreCheckpoint,
    light_queues: Callable[[str, str], Iterable[WritableConsumeQueue]],
    *,
    was_aborted: bool,
    trusts_what_is_dispatched: bool,
    reads_few_files: bool,
    erases_what_it_takes_out: bool,
) -> int:
    """Find the log's end, enter missing messages into the queues, and remove entries that point behind that end.

    Parameters
    ----------
    light_queues
        Gives, for the topic and the properties of a record, the queues that it is entered in beside its own.
    was_aborted
        The last process did not shut down in order: all that was stored before the checkpoint is trusted. Otherwise
        all but the last three files are.
    trusts_what_is_dispatched
        From 5.3.2 on: what is trusted otherwise is all that was dispatched, but for the last file of it.
    reads_few_files
        From 5.4.0 on: after a start that was not orderly, the last ten files are read at most, whatever they hold
        (``commitLogRecoverMaxNum``).
    erases_what_it_takes_out
        Whether entries behind the log's end are overwritten. RocketMQ only sets the queue's end before them, where the
        next start looks at the bytes again (B58).

    Returns
    -------
    int
        The store timestamp of the last record that was entered, in ms; 0 if none was.
    """
    if not log.files.files:
        queues.destroy()
        return 0
    dispatched = queues.max_phy_offset
    if was_aborted:
        start = log.file_start_stored_before(checkpoint.min_timestamp, _MOST_FILES if reads_few_files else None)
    else:
        start = max(log.min_offset, dispatched // log.file_size * log.file_size)
        start = min(start, log.last_file_starts()[-1 if trusts_what_is_dispatched else 0])
    end = start
    last_store_timestamp = 0
    for offset, size, file, at in log.walk(start):
        end = offset + size
        if was_aborted or offset >= dispatched:
            record = decode_message(file.buffer, at)
            last_store_timestamp = record.store_timestamp
            bits = record.sys_flag & TRANSACTION_BITS
            if not bits or bits == TRANSACTION_COMMIT:
                queue = queues.find_or_create(record.topic, record.queue_id)
                tags = queue_tags_code(record.topic, record.properties_text, record.store_timestamp)
                for entered in (queue, *light_queues(record.topic, record.properties_text)):
                    entered.put(offset, size, tags)
    log.set_end(_end_of_walk(log, end))
    queues.truncate(end, erases=erases_what_it_takes_out)
    return last_store_timestamp


def _end_of_walk(log: WritableCommitLog, end: int) -> int:
    """Behind an end-of-file record that nothing follows yet, the log goes on in a new file."""
    place = log.files.file_of(end)
    if place is None:
        return end
    at = (end - log.files.start) % log.file_size
    following = end - at + log.file_size
    head = bytes(place.buffer[at : at + 8])
    return following if head[4:] == _BLANK_MAGIC_BYTES and log.files.file_of(following) is not None else end
