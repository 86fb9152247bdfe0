"""``config/consumerOffset.json``: how far each consumer group has read each queue (``ConsumerOffsetManager``).

Its queue ids are keys without quotes (:mod:`reference.format.fastjson`). Its ``.bak`` is the previous
state; ``ConfigManager#load`` falls back to it when the file is missing, empty or can't be decoded.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NewType

from files.reading import TABLE_BYTES, read_bytes
from reference.format.errors import BrokenConfigError, CorruptRegion
from reference.format.fastjson import parse_fastjson
from reference.format.record import QueueOffset

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from reference.format.store_paths import StorePaths

TRANSACTION_GROUP = "CID_RMQ_SYS_TRANS"
"""``TransactionalMessageUtil.buildConsumerGroup``: the group that the check service reads half and op queue with."""

NAME = "config/consumerOffset.json"

TopicAtGroup = NewType("TopicAtGroup", str)


@dataclass(frozen=True, slots=True)
class ConsumerOffsets:
    """The saved offsets."""

    table: dict[TopicAtGroup, dict[int, QueueOffset]]
    """``topic@group`` to queue id to the offset of the next message to read."""
    source: str | None = None
    """The file that was read, below the store; None if neither the file nor its backup is there."""
    corrupt: CorruptRegion | None = None
    """The fault of the file when its backup had to be read, or neither could be."""
    unknown: str = ""
    """Why nothing is known of the offsets that a broker has, though it has some; empty where all is known."""
    data_version: dict[str, int] = field(default_factory=dict, compare=False)
    """Its ``dataVersion``, 5.x."""

    def get(self, topic: str, queue_id: int, group: str = TRANSACTION_GROUP) -> QueueOffset | None:
        """The saved offset of a group in a queue, or None if it never committed one."""
        return self.table.get(TopicAtGroup(f"{topic}@{group}"), {}).get(queue_id)


def read_consumer_offsets(store: Path) -> ConsumerOffsets:
    """Read the saved consumer offsets of a store directory, for somebody who wants to know what is wrong with it.

    Raises
    ------
    BrokenConfigError
        The file can't be understood and there is no backup that can.
    """
    return _load(lambda name: read_bytes(store / name, TABLE_BYTES) if (store / name).is_file() else None, f"{store}/")


def saved_offsets(paths: StorePaths) -> ConsumerOffsets:
    """The saved offsets of a store, for somebody who wants to know what a broker that starts here goes on with.

    Offsets that can't be known are none: those that lie in RocksDB, where a file of the other kind beside it is of
    another time; and two files that can't be understood, with which a broker does not start.
    """
    if paths.rocksdb_offsets:
        why = f"its consumer offsets lie in RocksDB ({paths.rocksdb_offsets}), which is not read"
        return ConsumerOffsets({}, unknown=why)
    try:
        return read_consumer_offsets(paths.root)
    except BrokenConfigError as error:
        problem = str(error).removeprefix(f"{paths.root}/{NAME} ")
        corrupt = CorruptRegion(NAME, 0, problem)
        backup = paths.root / f"{NAME}.bak"
        if not backup.is_file() or not backup.stat().st_size:
            return ConsumerOffsets({}, None, corrupt)
        why = (
            f"its consumer offsets can't be read, neither {NAME} nor {backup.name}: a broker does not start so "
            f"(ConfigManager#load); without both files it starts, and checks every half and copy again"
        )
        return ConsumerOffsets({}, None, corrupt, why)


def load_consumer_offsets(read: Callable[[str], bytes | None]) -> ConsumerOffsets:
    """The same for a broker that starts, on any disk: what can't be understood and has no backup counts as missing.

    Raises
    ------
    BrokenConfigError
        The backup is needed, and can't be understood either: the broker does not start (``ConfigManager#loadBak``).
    """
    try:
        return _load(read, "")
    except BrokenConfigError:
        if read(f"{NAME}.bak"):
            raise
        return ConsumerOffsets({})


def _load(read: Callable[[str], bytes | None], folder: str) -> ConsumerOffsets:
    problem: str | None = None
    for name in (NAME, f"{NAME}.bak"):
        raw = read(name)
        if not raw:
            continue
        try:
            table, data_version = parse_consumer_offsets(raw)
        except (ValueError, RecursionError) as error:
            problem = problem or f"{folder}{name} can't be understood: {error}"
            continue
        corrupt = None if problem is None else CorruptRegion(NAME, 0, f"can't be understood, {name} was read instead")
        return ConsumerOffsets(table, name, corrupt, data_version=data_version)
    if problem is not None:
        message = f"{problem}, and no backup beside it can"
        raise BrokenConfigError(message)
    return ConsumerOffsets({})


def parse_consumer_offsets(raw: bytes) -> tuple[dict[TopicAtGroup, dict[int, QueueOffset]], dict[str, int]]:
    """The offset table of the file's bytes, and its ``dataVersion``.

    Raises
    ------
    ValueError
        It is not JSON but for the unquoted keys, or not a table of offsets.

    Examples
    --------
    >>> parse_consumer_offsets(b'{"offsetTable":{"T@G":{0:16,1:2}}}')
    ({'T@G': {0: 16, 1: 2}}, {})
    """
    content: Any = parse_fastjson(raw)
    table = content.get("offsetTable") if isinstance(content, dict) else None
    if not isinstance(table, dict):
        message = "it has no offsetTable"
        raise ValueError(message)
    version = content.get("dataVersion")
    return (
        {TopicAtGroup(key): _queue_offsets(key, queues) for key, queues in table.items()},
        version if isinstance(version, dict) else {},
    )


def _queue_offsets(key: str, queues: object) -> dict[int, QueueOffset]:
    if not isinstance(queues, dict) or "@" not in key:
        message = f"the entry {key!r} is not a table of queues"
        raise ValueError(message)
    # Some clients say -1 where they have read nothing, which a broker keeps and takes for none; its own are never so.
    least = 0 if key.endswith(f"@{TRANSACTION_GROUP}") else -1
    offsets = {}
    for queue_id, offset in queues.items():
        if not isinstance(offset, int) or isinstance(offset, bool) or offset < least or not queue_id.isdecimal():
            message = f"{key} has the offset {offset!r} in queue {queue_id}"
            raise ValueError(message)
        offsets[int(queue_id)] = QueueOffset(offset)
    return offsets
