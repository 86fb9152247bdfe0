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
