"""The settings of the store (``MessageStoreConfig``)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Self

if TYPE_CHECKING:
    from pathlib import Path

    from reference.versions.switches import VersionSwitches

_GIB = 1 << 30
_ENTRY_BYTES = 20
_OLD = {"mappedFileSizeCommitLog": "mapedFileSizeCommitLog", "mappedFileSizeConsumeQueue": "mapedFileSizeConsumeQueue"}


@dataclass(frozen=True, slots=True)
class MessageStoreConfig:
    """File sizes and limits, with RocketMQ's defaults.

    Attributes
    ----------
    mapped_file_size_commit_log, mapped_file_size_consume_queue
        ``mappedFileSizeCommitLog``; ``mappedFileSizeConsumeQueue``, rounded up to whole entries.
    max_message_size
        ``maxMessageSize``: the longest body in bytes; in 4.5 the longest record.
    max_topic_length
        ``maxTopicLength`` in bytes, 5.x.
    enable_lmq, enable_multi_dispatch
        ``enableLmq`` and ``enableMultiDispatch``: messages may be entered in light queues.
    """

    mapped_file_size_commit_log: int = _GIB
    mapped_file_size_consume_queue: int = 300_000 * _ENTRY_BYTES
    max_message_size: int = 4 << 20
    max_topic_length: int = 1_000
    enable_lmq: bool = False
    enable_multi_dispatch: bool = False

    @classmethod
    def read(cls, broker_conf: Path | None, switches: VersionSwitches) -> Self:
        """The settings of a ``broker.conf``; 4.5.1 knows the file sizes by a name with one ``p`` only.

        Raises
        ------
        BrokenConfigError
            The file can't be read, or one of these settings is no positive number.
        """
        from reference.format.broker_conf import settings
        from reference.format.errors import BrokenConfigError

        values: dict[str, Any] = {}
        for setting in () if broker_conf is None else settings(broker_conf):
            names = {_OLD.get(name, name) if switches.spells_maped else name: field for name, field in _FIELDS.items()}
            field = names.get(setting.key)
            if field is None:
                continue
            if not setting.value.isdecimal() or not int(setting.value):
                message = (
                    f"{broker_conf}, line {setting.line}: {setting.key} is {setting.value!r}, "
                    "expected a positive whole number of bytes"
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
}
