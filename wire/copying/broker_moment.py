"""Reads the topics of transactions of a running broker as they were at one moment, into a partial copy of its store.

A broker dispatches its log in order (``DefaultMessageStore.ReputMessageService``): once a queue lists a message, all
queues list what stands before it in the log. So the queues are read twice. The end of what the first reading found is
the moment; the second reads each queue up to there, and what stands behind it is left out. The check service's offsets
are asked for first, so that the log holds all that they speak of.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from files.writing import write_whole
from reference.format import consumer_offsets
from reference.format.partial_copy import NAME, PartialCopy, RoleForHalves
from reference.format.properties import NAME_VALUE_SEPARATOR, PROPERTY_SEPARATOR, REAL_TOPIC
from reference.format.system_topics import CHECK_GROUP, DISCARD_TOPIC, HALF_TOPIC, OP_TOPIC
from spec.releases.broker_defaults import release_numbers
from wire.client.broker_facts import runtime_info, topic_queues
from wire.client.entries import LogStretch
from wire.client.queries import broker_answers, check_offset, end_of_queue
from wire.client.queue_reader import QueueReader
from wire.client.stored_messages import QueueStretch
from wire.copying.copy_writer import CopyWriter

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from reference.format.java_properties import Setting
    from wire.client.byte_rate import ByteRate
    from wire.client.channel import BrokerChannel

    Queue = tuple[str, int]

DEFAULT_FILE_BYTES: Final = 1 << 30
"""``mappedFileSizeCommitLog`` where the broker does not tell its settings."""

_GENERATION_OF_LITE_PULLS: Final = 5
_REAL_TOPIC: Final = f"{REAL_TOPIC}{NAME_VALUE_SEPARATOR}".encode()
_END: Final = PROPERTY_SEPARATOR.encode()
_OF_PATHS: Final = ("storePath", "readOnlyCommitLogStorePaths", "enableDLegerCommitLog", "storeType", "configManager")
"""How settings begin that say where a whole store has its files, and of what kind they are."""


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
    """

    channel: BrokerChannel
    rate: ByteRate | None = None
    on_progress: Callable[[int], None] | None = None
    _ends: dict[Queue, int] = field(default_factory=dict)
    _queues: dict[str, int] = field(default_factory=dict)
    _topics: set[str] = field(default_factory=set)
    _bytes: int = 0

    def copy(self, folder: Path) -> PartialCopy:
        """Write the copy into a folder that is there and empty.

        Raises
        ------
        NoAnswerError
            The broker does not answer, or does not tell what is needed.
        UnwritableCopyError, UnwritableFileError
            The copy can't be written.
        """
        answers = broker_answers(self.channel)
        self._queues = topic_queues(self.channel)
        self._queues[OP_TOPIC] = max(self._queues.get(OP_TOPIC, 1), self._queues.get(HALF_TOPIC, 1))
        offsets = {topic: self._saved(topic) for topic in (HALF_TOPIC, OP_TOPIC)}
        info = runtime_info(self.channel)
        self._topics = {HALF_TOPIC, OP_TOPIC, DISCARD_TOPIC}
        file_bytes = _file_bytes(answers.settings)
        is_before_5 = answers.release is not None and release_numbers(answers.release)[0] < _GENERATION_OF_LITE_PULLS
        log = LogStretch(info.log_begin, file_bytes)
        role, lets_pull = _role(answers.settings or (), is_active=info.is_active)
        reader = QueueReader(self.channel, self.rate, log=log, lets_pull=lets_pull, is_before_5=is_before_5)
        with CopyWriter(folder, info.log_begin, file_bytes) as writer:
            self._read(reader, writer, None)
            end = writer.end
            moment = runtime_info(self.channel)
            self._read(reader, writer, end)
            starts = writer.finish(end)
        _write_settings(folder, answers.settings or ())
        table = {f"{topic}@{CHECK_GROUP}": of_queues for topic, of_queues in offsets.items() if of_queues}
        _write_json(folder / consumer_offsets.NAME, {"offsetTable": table})
        copied = PartialCopy(
            broker=str(self.channel.address),
            release=answers.release,
            begin=info.log_begin,
            end=end,
            booted_at_ms=moment.booted_at_ms,
            read_at_ms=moment.now_ms,
            topics=tuple(sorted(self._topics)),
            starts=starts,
            role=role,
        )
        _write_json(folder / NAME, copied.to_json())
        return copied

    def _saved(self, topic: str) -> dict[int, int]:
        """By half queue, whose op queue has the same id (``TransactionalMessageServiceImpl#getOpQueue``)."""
        queues = range(self._queues.get(HALF_TOPIC, 1))
        found = ((queue_id, check_offset(self.channel, topic, queue_id)) for queue_id in queues)
        return {queue_id: offset for queue_id, offset in found if offset is not None}

    def _read(self, reader: QueueReader, writer: CopyWriter, end: int | None) -> None:
        """Read all queues from where they were read to; topics that halves name meanwhile, too."""
        done: set[str] = set()
        while left := sorted(self._topics - done):
            for topic in left:
                for queue_id in range(self._queues.get(topic, 1)):
                    self._read_queue(reader, writer, (topic, queue_id), end)
            done.update(left)

    def _read_queue(self, reader: QueueReader, writer: CopyWriter, queue: Queue, end: int | None) -> None:
        topic, queue_id = queue
        begin = self._ends.get(queue, 0)
        self._ends[queue] = behind = max(begin, end_of_queue(self.channel, topic, queue_id))
        for messages in reader.read([QueueStretch(topic, queue_id, begin, behind)]):
            for at, raw in messages.records():
                if end is not None and at >= end:
                    return
                writer.put(at, raw)
                if topic == HALF_TOPIC:
                    self._topics.add(real_topic(raw))
            self._count(len(messages.body))

    def _count(self, size: int) -> None:
        before, self._bytes = self._bytes, self._bytes + size
        if self.on_progress is not None and before >> 20 != self._bytes >> 20:
            self.on_progress(self._bytes)


def real_topic(half: bytes) -> str:
    """The topic that a half's message is for, of its stored bytes; empty where it names none."""
    at = half.rfind(_REAL_TOPIC)
    if at < 0:
        return ""
    begin = at + len(_REAL_TOPIC)
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


def _write_settings(folder: Path, settings: tuple[Setting, ...]) -> None:
    lines = [f"{one.key}={one.value}" for one in settings if not one.key.startswith(_OF_PATHS)]
    if lines:
        write_whole(folder / "broker.conf", "\n".join([*lines, ""]))


def _write_json(path: Path, content: object) -> None:
    path.parent.mkdir(exist_ok=True)
    write_whole(path, json.dumps(content))
