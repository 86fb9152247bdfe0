"""The transactions of a store as of one moment: what is told beside their messages, and where a next reading begins."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final, Self

from files.writing import write_whole
from reference.format import consumer_offsets
from reference.format.partial_copy import NAME, PartialCopy, RoleForHalves
from reference.format.system_topics import CHECK_GROUP
from wire.copying.copy_writer import CopyWriter

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from pathlib import Path

    from reference.format.java_properties import Setting

    Queue = tuple[str, int]
    Put = Callable[[int, bytes], None]
    """Takes a message and its commit log offset."""

_OF_PATHS: Final = ("storePath", "readOnlyCommitLogStorePaths", "enableDLegerCommitLog", "storeType", "configManager")
"""How settings begin that say where a whole store has its files, and of what kind they are."""


@dataclass(frozen=True, slots=True)
class ReadSoFar:
    """Where a reading ended: the next message of each queue, the topics that halves name, a commit log offset, when."""

    queues: dict[Queue, int] = field(default_factory=dict)
    topics: frozenset[str] = frozenset()
    end: int = 0
    read_at_ms: int = 0

    def to_json(self) -> dict[str, Any]:
        """As JSON values."""
        queues = [[topic, queue_id, offset] for (topic, queue_id), offset in self.queues.items()]
        return {"queues": queues, "topics": sorted(self.topics), "end": self.end, "read_at_ms": self.read_at_ms}

    @classmethod
    def of(cls, values: dict[str, Any]) -> Self:
        """From the same."""
        queues = {(topic, queue_id): offset for topic, queue_id, offset in values["queues"]}
        return cls(queues, frozenset(values["topics"]), values["end"], values["read_at_ms"])


@dataclass(frozen=True, slots=True, kw_only=True)
class StoreMoment:
    """A moment of a broker or of a store.

    Attributes
    ----------
    broker
        Its address, or the directory.
    settings
        Of its ``broker.conf``, as far as they are told.
    begin
        The commit log offset from which on it has its log.
    offsets, ends
        Of the half and the op topic, by queue id: those of the check service, and the ends of the queues.
    booted_at_ms, read_at_ms, role
        As in a partial copy.
    """

    broker: str
    release: str | None
    settings: tuple[Setting, ...]
    file_bytes: int
    begin: int
    offsets: dict[str, dict[int, int]]
    ends: dict[str, dict[int, int]]
    booted_at_ms: int | None
    read_at_ms: int
    read_so_far: ReadSoFar
    role: str = RoleForHalves.MASTER

    @property
    def end(self) -> int:
        """The commit log offset up to which all is read."""
        return self.read_so_far.end

    def left(self, topic: str) -> int:
        """How many messages of the half or the op topic lie before the check service's offsets."""
        of_queues = self.offsets.get(topic, {})
        return sum(max(end - of_queues.get(queue_id, 0), 0) for queue_id, end in self.ends[topic].items())


def write_open_copy(
    moment: StoreMoment, folder: Path, messages: Iterable[tuple[int, bytes]], begin: int
) -> PartialCopy:
    """Write some messages as a copy from which those of settled transactions were left out, into an empty folder.

    The commit log offset `begin` is the one from which on messages were ever read.
    """
    with CopyWriter(folder, begin, moment.file_bytes) as writer:
        for at, raw in messages:
            writer.put(at, raw)
        starts = writer.finish(moment.end)
    return write_facts_of(moment, folder, starts, begin=begin, leaves_out_settled=True)


def write_facts_of(
    moment: StoreMoment,
    folder: Path,
    starts: tuple[int, ...],
    *,
    begin: int | None = None,
    leaves_out_settled: bool = False,
) -> PartialCopy:
    """Write the files beside the log of a partial copy."""
    lines = [f"{one.key}={one.value}" for one in moment.settings if not one.key.startswith(_OF_PATHS)]
    if lines:
        write_whole(folder / "broker.conf", "\n".join([*lines, ""]))
    table = {f"{topic}@{CHECK_GROUP}": of_queues for topic, of_queues in moment.offsets.items() if of_queues}
    _write_json(folder / consumer_offsets.NAME, {"offsetTable": table})
    ends = ((topic, queue, end) for topic, of_queues in moment.ends.items() for queue, end in of_queues.items())
    copied = PartialCopy(
        broker=moment.broker,
        release=moment.release,
        begin=moment.begin if begin is None else begin,
        end=moment.end,
        booted_at_ms=moment.booted_at_ms,
        read_at_ms=moment.read_at_ms,
        topics=tuple(sorted(moment.read_so_far.topics)),
        starts=starts,
        role=moment.role,
        ends=tuple(ends) if leaves_out_settled else (),
    )
    _write_json(folder / NAME, copied.to_json())
    return copied


def _write_json(path: Path, content: object) -> None:
    path.parent.mkdir(exist_ok=True)
    write_whole(path, json.dumps(content))
