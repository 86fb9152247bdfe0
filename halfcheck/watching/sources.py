"""What a watch reads: a running broker, or a store that grows; both give only what came since a place of the log."""

from __future__ import annotations

import time
import zlib
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Protocol

import numpy as np

from files.errors import BadContentError
from reference.format.broker_conf import settings
from reference.format.commit_log import CommitLog
from reference.format.consumer_offsets import saved_offsets
from reference.format.record import MalformedRecordError
from reference.format.system_topics import HALF_TOPIC, OP_TOPIC
from spark_trace_analysis.audit.moving_store import tail_of
from spark_trace_analysis.records.record_kernels import Outline, TopicKind
from spark_trace_analysis.records.split_records import read_split
from spark_trace_analysis.records.store_splits import SPLIT_BYTES, Split
from wire.client.byte_rate import ByteRate
from wire.client.channel import BrokerChannel
from wire.client.queries import connected_producers
from wire.copying.broker_moment import DEFAULT_FILE_BYTES, BrokerMoment
from wire.copying.moment import ReadSoFar, StoreMoment
from wire.remoting.codes import RequestCode, ResponseCode

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from contextlib import AbstractContextManager

    from reference.format.store_paths import StorePaths
    from wire.client.channel import Address
    from wire.copying.moment import Put

_OF_ROUNDS = {TopicKind.HALF: HALF_TOPIC, TopicKind.OP: OP_TOPIC}


class Reading(Protocol):
    """One look into a source."""

    def moment(self, since: ReadSoFar, put: Put) -> StoreMoment:
        """Give the messages since then, of transactions and maybe others."""

    def record_at(self, at: int) -> bytes | None:
        """The record that begins at a commit log offset; None if none does any more."""

    def producers(self, group: str) -> tuple[str, ...] | None:
        """The clients of a producer group that are connected; None where nothing says it."""


class WatchedSource(Protocol):
    """A broker or a store."""

    @property
    def name(self) -> str:
        """The address or the directory."""

    def look(self) -> AbstractContextManager[Reading]:
        """Begin to look."""


@dataclass(frozen=True, slots=True)
class BrokerSource:
    """A running broker; each look raises as :class:`wire.copying.broker_moment.BrokerMoment` does."""

    address: Address
    bytes_per_s: float

    @property
    def name(self) -> str:
        """Its address."""
        return str(self.address)

    @contextmanager
    def look(self) -> Iterator[Reading]:
        """Connect to it."""
        with BrokerChannel(self.address) as channel:
            yield _BrokerReading(channel, ByteRate(self.bytes_per_s))


@dataclass(frozen=True, slots=True)
class _BrokerReading:
    channel: BrokerChannel
    rate: ByteRate

    def moment(self, since: ReadSoFar, put: Put) -> StoreMoment:
        return BrokerMoment(self.channel, self.rate, since=since).read(put)

    def record_at(self, at: int) -> bytes | None:
        answer = self.channel.ask(RequestCode.VIEW_MESSAGE_BY_ID, {"offset": at})
        return answer.body if answer.code == ResponseCode.SUCCESS else None

    def producers(self, group: str) -> tuple[str, ...] | None:
        return connected_producers(self.channel, group)


@dataclass(frozen=True, slots=True)
class GrowingStore:
    """A store that a broker writes to; each look raises `StoreError` as an audit does."""

    paths: StorePaths

    @property
    def name(self) -> str:
        """Its directory."""
        return str(self.paths.root)

    @contextmanager
    def look(self) -> Iterator[Reading]:
        """Open its files."""
        yield _StoreReading(self.paths)


@dataclass(frozen=True, slots=True)
class _StoreReading:
    paths: StorePaths

    def moment(self, since: ReadSoFar, put: Put) -> StoreMoment:
        saved = saved_offsets(self.paths)  # before the log, which then holds all that they speak of
        if saved.unknown:
            message = f"{self.paths.root}: {saved.unknown}: a watch needs them; ask the broker itself by --broker"
            raise BadContentError(message)
        end = tail_of(CommitLog.open(self.paths)).end
        log = CommitLog.open(replace(self.paths, end=end))
        ends: dict[str, dict[int, int]] = {HALF_TOPIC: {}, OP_TOPIC: {}}
        for (topic, queue_id), behind in since.queues.items():
            ends[topic][queue_id] = behind
        for split in _splits_since(log, since.end):
            records = read_split(log, split)
            outlines = records.outlines
            file = records.reader.file
            for number in np.flatnonzero(outlines[Outline.TOPIC_KIND] != TopicKind.ORDINARY).tolist():
                position, size, kind = (
                    int(outlines[one, number]) for one in (Outline.POSITION, Outline.SIZE, Outline.TOPIC_KIND)
                )
                put(file.start + position, bytes(file.data[position : position + size]))
                if kind in _OF_ROUNDS:
                    of_queues = ends[_OF_ROUNDS[TopicKind(kind)]]
                    queue_id = int(outlines[Outline.QUEUE_ID, number])
                    behind = int(outlines[Outline.QUEUE_OFFSET, number]) + 1
                    of_queues[queue_id] = max(of_queues.get(queue_id, 0), behind)
        queues = {(topic, queue_id): behind for topic, table in ends.items() for queue_id, behind in table.items()}
        offsets = {
            topic: {queue_id: saved.get(topic, queue_id) or 0 for queue_id in table} for topic, table in ends.items()
        }
        now = time.time_ns() // 1_000_000
        return StoreMoment(
            broker=str(self.paths.root),
            release=None,
            settings=() if self.paths.conf is None else settings(self.paths.conf),
            file_bytes=self.paths.file_bytes or DEFAULT_FILE_BYTES,
            begin=log.start,
            offsets=offsets,
            ends=ends,
            booted_at_ms=None,
            read_at_ms=now,
            read_so_far=ReadSoFar(queues, frozenset(), max(end, since.end), now),
        )

    def record_at(self, at: int) -> bytes | None:
        log = CommitLog.open(self.paths)
        try:
            record = log.record_at(at)
        except MalformedRecordError:
            return None
        file = next(file for file in log.files if file.start <= at < file.end)
        return bytes(file.data[at - file.start : at - file.start + record.total_size])

    def producers(self, group: str) -> tuple[str, ...] | None:
        del group
        return None


def _splits_since(log: CommitLog, end: int) -> Iterable[Split]:
    """The splits of a log from a record's offset on."""
    number = 0
    for index, file in enumerate(log.files):
        size = len(file.data)
        for start in range(max(end - file.start, 0), size, SPLIT_BYTES):
            yield Split(number, index, start, min(start + SPLIT_BYTES, size))
            number += 1


def mark_of(raw: bytes) -> int:
    """A checksum by which a record is known again."""
    return zlib.crc32(raw)
