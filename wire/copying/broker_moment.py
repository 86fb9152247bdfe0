"""Reads the topics of transactions of a running broker as they were at one moment, into a partial copy of its store.

A broker dispatches its log in order (``DefaultMessageStore.ReputMessageService``): once a queue lists a message, all
queues list what stands before it in the log. So the queues are read twice. The end of what the first reading found is
the moment; the second reads each queue up to there, and what stands behind it is left out. The check service's offsets
are asked for first, so that the log holds all that they speak of.
"""

from __future__ import annotations

import json
import shutil
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from files.content import parse_json
from files.reading import TABLE_BYTES, read_bytes
from files.writing import write_whole
from reference.format.partial_copy import RoleForHalves
from reference.format.properties import NAME_VALUE_SEPARATOR, PROPERTY_SEPARATOR, REAL_QUEUE_ID, REAL_TOPIC
from reference.format.system_topics import DISCARD_TOPIC, HALF_TOPIC, OP_TOPIC
from spec.releases.broker_defaults import release_numbers
from wire.client.broker_facts import runtime_info, topic_queues
from wire.client.entries import LogStretch
from wire.client.queries import broker_answers, check_offset, end_of_queue, offset_at
from wire.client.queue_reader import QUEUE_OFFSET, QueueReader
from wire.client.stored_messages import QueueStretch
from wire.copying.copy_writer import CopyWriter, UnwritableCopyError
from wire.copying.moment import ReadSoFar, StoreMoment, write_facts_of
from wire.errors import WireError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence
    from pathlib import Path

    from reference.format.java_properties import Setting
    from reference.format.partial_copy import PartialCopy
    from wire.client.byte_rate import ByteRate
    from wire.client.channel import BrokerChannel
    from wire.copying.moment import Put, Queue

DEFAULT_FILE_BYTES: Final = 1 << 30
"""``mappedFileSizeCommitLog`` where the broker does not tell its settings."""

_GENERATION_OF_LITE_PULLS: Final = 5
_REAL_TOPIC: Final = f"{REAL_TOPIC}{NAME_VALUE_SEPARATOR}".encode()
_REAL_QUEUE: Final = f"{REAL_QUEUE_ID}{NAME_VALUE_SEPARATOR}".encode()
_DIGITS_OF_A_QUEUE: Final = 5
"""No broker is given a topic of 100,000 queues; of what a producer may have written here, no more is asked for."""
_END: Final = PROPERTY_SEPARATOR.encode()
_READING: Final = "reading.json"
"""Beside what was read so far where a reading was cut short."""

_BEFORE_MS: Final = 60_000
"""A topic that a half names for the first time is read from so long before the last reading on: clocks differ."""


@dataclass(slots=True)
class BrokerMoment:
    """One reading.

    Parameters
    ----------
    channel
        To the broker.
    rate
        What it takes from the broker at most.
    on_progress
        Is called now and then with the bytes that were read.
    since
        Where the last reading ended; all is read without it.
    """

    channel: BrokerChannel
    rate: ByteRate | None = None
    on_progress: Callable[[int], None] | None = None
    since: ReadSoFar = field(default_factory=ReadSoFar)
    _next: dict[Queue, int] = field(default_factory=dict)
    _done: dict[Queue, int] = field(default_factory=dict)
    _queues: dict[str, int] = field(default_factory=dict)
    _topics: set[str] = field(default_factory=set)
    _named: set[Queue] = field(default_factory=set)
    _bytes: int = 0
    _end: int = 0

    def copy(self, folder: Path) -> PartialCopy:
        """Write the copy into a folder that is there: empty, or one in which this was cut short, to go on from there.

        Raises
        ------
        NoAnswerError
            The broker does not answer, or does not tell what is needed.
        UnwritableCopyError, UnwritableFileError
            The copy can't be written.
        """
        self.since = self._paused(folder)
        file_bytes = _file_bytes(broker_answers(self.channel).settings)
        with CopyWriter(folder, runtime_info(self.channel).log_begin, file_bytes) as writer:
            try:
                moment = self.read(writer.put)
            except UnwritableCopyError:
                raise
            except (WireError, KeyboardInterrupt):
                writer.pause()
                so_far = ReadSoFar(dict.fromkeys(self._named, 0) | self._done, frozenset(self._topics), self._end)
                write_whole(folder / _READING, json.dumps([str(self.channel.address), so_far.to_json()]))
                raise
            starts = writer.finish(moment.end)
        (folder / _READING).unlink(missing_ok=True)
        return write_facts_of(moment, folder, starts)

    def _paused(self, folder: Path) -> ReadSoFar:
        """Where a reading of the same broker into this folder was cut short; its beginning otherwise."""
        path = folder / _READING
        if path.is_file():
            address, values = parse_json(read_bytes(path, TABLE_BYTES))
            so_far = ReadSoFar.of(values)
            if address == str(self.channel.address) and runtime_info(self.channel).log_end >= so_far.end:
                return so_far
        for left in folder.iterdir():
            shutil.rmtree(left) if left.is_dir() else left.unlink()
        return ReadSoFar()

    def read(self, put: Put) -> StoreMoment:
        """Give the messages of all queues up to the moment, in no order, one twice now and then; errors as above."""
        answers = broker_answers(self.channel)
        self._queues = topic_queues(self.channel)
        self._queues[OP_TOPIC] = max(self._queues.get(OP_TOPIC, 1), self._queues.get(HALF_TOPIC, 1))
        offsets = {topic: self._saved(topic) for topic in (HALF_TOPIC, OP_TOPIC)}
        info = runtime_info(self.channel)
        self._next = dict(self.since.queues)
        self._done = dict(self.since.queues)
        self._topics = {HALF_TOPIC, OP_TOPIC, DISCARD_TOPIC, *self.since.topics}
        self._end = self.since.end
        file_bytes = _file_bytes(answers.settings)
        is_before_5 = answers.release is not None and release_numbers(answers.release)[0] < _GENERATION_OF_LITE_PULLS
        log = LogStretch(max(info.log_begin, self._end), file_bytes)
        role, lets_pull = _role(answers.settings or (), is_active=info.is_active)
        reader = QueueReader(self.channel, self.rate, log=log, lets_pull=lets_pull, is_before_5=is_before_5)
        self._read(reader, put, None)
        end = self._end
        now = runtime_info(self.channel)
        self._read(reader, put, end)
        ends = {topic: self._ends_of(topic) for topic in (HALF_TOPIC, OP_TOPIC)}
        return StoreMoment(
            broker=str(self.channel.address),
            release=answers.release,
            settings=answers.settings or (),
            file_bytes=file_bytes,
            begin=info.log_begin,
            offsets=offsets,
            ends=ends,
            booted_at_ms=now.booted_at_ms,
            read_at_ms=now.now_ms,
            read_so_far=ReadSoFar(self._next, frozenset(self._topics), end, now.now_ms),
            role=role,
        )

    def _saved(self, topic: str) -> dict[int, int]:
        """By half queue, whose op queue has the same id (``TransactionalMessageServiceImpl#getOpQueue``)."""
        queues = range(self._queues.get(HALF_TOPIC, 1))
        found = ((queue_id, check_offset(self.channel, topic, queue_id)) for queue_id in queues)
        return {queue_id: offset for queue_id, offset in found if offset is not None}

    def _ends_of(self, topic: str) -> dict[int, int]:
        return {queue: end for (of, queue), end in self._next.items() if of == topic}

    def _read(self, reader: QueueReader, put: Put, end: int | None) -> None:
        """Read all queues from where they were read to; those that halves name meanwhile, too."""
        done: set[Queue] = set()
        while left := sorted(self._queues_of(self._topics) - done):
            for queue in left:
                self._read_queue(reader, put, queue, end)
            done.update(left)

    def _queues_of(self, topics: Iterable[str]) -> set[Queue]:
        """The queues that the broker lists of some topics, and those that halves are for.

        A slave may not have the settings of a topic yet whose messages it has, and a topic may have lost queues.
        """
        listed = {(topic, queue_id) for topic in topics for queue_id in range(self._queues.get(topic, 1))}
        return listed | self._named | self._next.keys()

    def _read_queue(self, reader: QueueReader, put: Put, queue: Queue, end: int | None) -> None:
        topic, queue_id = queue
        begin = self._next[queue] if queue in self._next else self._first_of(queue)
        self._next[queue] = behind = max(begin, end_of_queue(self.channel, topic, queue_id))
        for messages in reader.read([QueueStretch(topic, queue_id, begin, behind)]):
            for at, raw in messages.records():
                if end is not None and at >= end:
                    self._next[queue] = int.from_bytes(raw[QUEUE_OFFSET])
                    return
                put(at, raw)
                self._end = max(self._end, at + len(raw))
                if topic == HALF_TOPIC:
                    self._topics.add(real := real_topic(raw))
                    if (number := real_queue(raw)) is not None:
                        self._named.add((real, number))
            self._done[queue] = messages.stretch.end
            self._count(len(messages.body))

    def _first_of(self, queue: Queue) -> int:
        """Where a queue is read from: of a topic that no half has named before, nothing earlier is a delivery."""
        if not self.since.end:
            return 0
        return offset_at(self.channel, *queue, self.since.read_at_ms - _BEFORE_MS)

    def _count(self, size: int) -> None:
        before, self._bytes = self._bytes, self._bytes + size
        if self.on_progress is not None and before >> 20 != self._bytes >> 20:
            self.on_progress(self._bytes)


def real_topic(half: bytes) -> str:
    """The topic that a half's message is for, of its stored bytes; empty where it names none."""
    return _property(half, _REAL_TOPIC)


def real_queue(half: bytes) -> int | None:
    """The queue of that topic; None where it names none that there can be."""
    text = _property(half, _REAL_QUEUE)
    return int(text) if text.isascii() and text.isdecimal() and len(text) <= _DIGITS_OF_A_QUEUE else None


def _property(half: bytes, name: bytes) -> str:
    at = half.rfind(name)
    if at < 0:
        return ""
    begin = at + len(name)
    end = half.find(_END, begin)
    return half[begin : end if end >= 0 else len(half)].decode("utf-8", "replace")


def _role(settings: Sequence[Setting], *, is_active: bool | None) -> tuple[RoleForHalves, bool]:
    """Its role, and whether it lets messages be pulled: a slave does not by default (``slaveReadEnable``)."""
    values = {one.key: one.value.strip() for one in settings}
    if values.get("brokerRole", "").upper() != "SLAVE":
        return RoleForHalves.MASTER, True
    lets_pull = values.get("slaveReadEnable", "").lower() == "true"
    return RoleForHalves.ACTING if is_active else RoleForHalves.SLAVE, lets_pull


def _file_bytes(settings: tuple[Setting, ...] | None) -> int:
    sizes = [one.value for one in settings or () if one.key in ("mappedFileSizeCommitLog", "mapedFileSizeCommitLog")]
    return next((int(size) for size in sizes if size.isdecimal() and int(size)), DEFAULT_FILE_BYTES)
