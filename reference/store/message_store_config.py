"""The settings of the store (``MessageStoreConfig``)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Self

from reference.format.errors import BrokenConfigError
from spec.releases.broker_defaults import defaults_of

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from reference.format.broker_conf import Setting
    from reference.versions.switches import VersionSwitches

_ENTRY_BYTES = 20
_OLD = {"mappedFileSizeCommitLog": "mapedFileSizeCommitLog", "mappedFileSizeConsumeQueue": "mapedFileSizeConsumeQueue"}


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
    def of_broker_conf(cls, source: Path | str, given: Iterable[Setting], switches: VersionSwitches) -> Self:
        """The settings of a ``broker.conf``; 4.5.1 knows the file sizes by a name with one ``p`` only.

        Raises
        ------
        BrokenConfigError
            One of them is no positive number.
        """
        names = {_OLD.get(name, name) if switches.spells_maped else name: field for name, field in _FIELDS.items()}
        values: dict[str, Any] = {}
        for setting in given:
            field = names.get(setting.key)
            if field is None:
                continue
            if not setting.value.isdecimal() or not int(setting.value):
                message = (
                    f"{source}, line {setting.line}: {setting.key} is {setting.value!r}, "
                    "expected a positive whole number"
                )
                raise BrokenConfigError(message)
            values[field] = int(setting.value)
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
