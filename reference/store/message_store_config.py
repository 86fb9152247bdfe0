"""The settings of the store (``MessageStoreConfig``)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Self

from reference.format.broker_conf import taken_settings
from reference.format.errors import BrokenConfigError
from spec.releases.broker_defaults import defaults_of

if TYPE_CHECKING:
    from collections.abc import Iterable

    from reference.format.java_properties import Setting

_ENTRY_BYTES = 20
_NEW = {"mapedFileSizeCommitLog": "mappedFileSizeCommitLog", "mapedFileSizeConsumeQueue": "mappedFileSizeConsumeQueue"}


@dataclass(frozen=True, slots=True)
class MessageStoreConfig:
    """File sizes and limits, with RocketMQ's defaults."""

    mapped_file_size_commit_log: int = defaults_of(None)["mappedFileSizeCommitLog"]
    mapped_file_size_consume_queue: int = 300_000 * _ENTRY_BYTES
    """``mappedFileSizeCommitLog``; ``mappedFileSizeConsumeQueue``, rounded up to whole entries."""
    max_message_size: int = 4 << 20
    """``maxMessageSize``: the longest body in bytes; in 4.5 the longest record."""
    max_topic_length: int = 1_000
    """``maxTopicLength`` in bytes, 5.x."""
    max_transfer_bytes_on_message_in_memory: int = 256 << 10
    max_transfer_count_on_message_in_memory: int = 32
    max_transfer_bytes_on_message_in_disk: int = 64 << 10
    max_transfer_count_on_message_in_disk: int = 8
    """``maxTransferBytesOnMessageInMemory`` and so on: what one read gives at most."""
    access_message_in_memory_max_ratio: int = 40
    """``accessMessageInMemoryMaxRatio``: what lies further behind the log's end than so many hundredths of the memory
    counts as being on the disk."""
    physical_memory: int = 1 << 62
    """The machine's memory in bytes (``StoreUtil#TOTAL_PHYSICAL_MEMORY_SIZE``)."""
    enable_lmq: bool = False
    enable_multi_dispatch: bool = False
    """``enableLmq`` and ``enableMultiDispatch``: messages may be entered in light queues."""

    @classmethod
    def of_broker_conf(cls, given: Iterable[Setting], release: str) -> Self:
        """The settings of a ``broker.conf``; up to 4.5.1 the file sizes are known by a name with one ``p`` only.

        Raises
        ------
        BrokenConfigError
            One of them is below 1, with which a broker starts and stores nothing.
        """
        values: dict[str, Any] = {}
        for name, taken in taken_settings(given, release).items():
            field = _FIELDS.get(_NEW.get(name, name))
            if field is None or taken.value is None:
                continue
            if not isinstance(taken.value, int) or taken.value < 1:
                message = (
                    f"line {taken.setting.line}: {name} is {taken.setting.value!r}, and no message could be stored; "
                    "give a whole number above 0"
                )
                raise BrokenConfigError(message)
            values[field] = taken.value
        if "mapped_file_size_consume_queue" in values:
            size = values["mapped_file_size_consume_queue"]
            values["mapped_file_size_consume_queue"] = -(-size // _ENTRY_BYTES) * _ENTRY_BYTES
        return cls(**values)


_FIELDS = {
    "mappedFileSizeCommitLog": "mapped_file_size_commit_log",
    "mappedFileSizeConsumeQueue": "mapped_file_size_consume_queue",
    "maxMessageSize": "max_message_size",
    "maxTopicLength": "max_topic_length",
    "maxTransferBytesOnMessageInMemory": "max_transfer_bytes_on_message_in_memory",
    "maxTransferCountOnMessageInMemory": "max_transfer_count_on_message_in_memory",
    "maxTransferBytesOnMessageInDisk": "max_transfer_bytes_on_message_in_disk",
    "maxTransferCountOnMessageInDisk": "max_transfer_count_on_message_in_disk",
    "accessMessageInMemoryMaxRatio": "access_message_in_memory_max_ratio",
}
