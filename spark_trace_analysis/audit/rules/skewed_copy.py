"""Signs that files of a store are of different moments, as in a copy of a broker that ran."""

from __future__ import annotations

import struct
from typing import TYPE_CHECKING

from files.reading import read_bytes
from reference.format.consume_queue import open_consume_queues
from reference.format.system_topics import HALF_TOPIC, OP_TOPIC

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from reference.format.consumer_offsets import ConsumerOffsets
    from spark_trace_analysis.audit.rules.circumstances import LogFacts

_CHECKPOINT = "checkpoint"
_TIMESTAMPS = struct.Struct(">qq")


def signs_of_skew(store: Path, saved: ConsumerOffsets, facts: LogFacts) -> Iterator[str]:
    """Contents of one file of a store that another lacks, a sentence each; nothing if all may be of one moment.

    The check service's own offsets are held against the log where they are asked for.

    Parameters
    ----------
    saved
        The consumer offsets of all groups.
    facts
        Of the whole log.
    """
    checkpoint = store / _CHECKPOINT
    if checkpoint.is_file() and len(raw := read_bytes(checkpoint)) >= _TIMESTAMPS.size:
        latest = max(_TIMESTAMPS.unpack_from(raw))
        if facts.records and latest > facts.last_timestamp:
            yield f"checkpoint is of {latest}, the last record of {facts.last_timestamp}"
    queues = open_consume_queues(store)
    for queue in queues.values():
        last = queue.entry(queue.end - 1)
        if last is not None and last.commit_log_offset > facts.last_offset:
            yield f"{queue.name} points to {last.commit_log_offset}, the last record is at {facts.last_offset}"
    for key, offsets in saved.table.items():
        topic = key.partition("@")[0]
        for queue_id, offset in () if topic in (HALF_TOPIC, OP_TOPIC) else offsets.items():
            if (topic, queue_id) in queues and offset > (end := queues[topic, queue_id].end):
                yield f"{saved.source} has the offset {offset} for {key}, queue {queue_id} ends at {end}"
