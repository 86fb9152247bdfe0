"""``broker.conf``: the settings of a broker that bear on its transactions.

``BrokerStartup`` loads the file with ``Properties#load``, and ``MixAll#properties2Object`` takes from it what the
release has a setter for. A value that the broker swallows leaves the default here, too; what a reader of an answer must
know of that is said by `reference.format.broker_conf_remarks`. The defaults stand in `spec.releases.broker_defaults`.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field, fields
from typing import TYPE_CHECKING, Any, Final

from files.reading import SETTINGS_BYTES, read_bytes
from reference.format.broker_keys import Key, any_key, keys_of
from reference.format.errors import BrokenConfigError
from reference.format.java_properties import Setting, read_properties
from reference.format.setting_values import Value, value_of
from spec.releases.broker_defaults import defaults_of, release_numbers

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

NAME = "broker.conf"
_ALIASES = {"mapedFileSizeCommitLog": "mappedFileSizeCommitLog"}
"""Up to 4.5.1 it is spelled with one p (and the other spelling is ignored)."""

ROCKSDB_SINCE = (5, 4, 0)
"""The first release that can keep halves in RocksDB."""

_MQADMIN_HEADING: Final = re.compile(r"=+([^=].*[^=])=+", re.DOTALL)
"""The value behind the empty key of a line such as ``============127.0.0.1:10911============``."""


def _key(name: str, least: int | None = None, *, is_needed: bool = False) -> Any:
    """A key, the least value that makes a difference, and whether nothing works with less."""
    return field(default=None, metadata={"key": name, "least": least, "is_needed": is_needed})


@dataclass(frozen=True, slots=True)
class BrokerConf:
    """Settings by their RocketMQ meaning; None where the file does not set one that the broker takes.

    A number below the least that makes a difference is that least one: a `transactionCheckMax` of 0 discards a half
    when 1 does (TransactionalMessageServiceImpl#needDiscard).
    """

    transaction_timeout_ms: int | None = _key("transactionTimeOut", 1)
    """The age below which a half is not checked."""
    transaction_check_max: int | None = _key("transactionCheckMax", 1)
    """The check count at which a half is discarded."""
    transaction_check_interval_ms: int | None = _key("transactionCheckInterval", 1)
    op_batch_interval_ms: int | None = _key("transactionOpBatchInterval", 1)
    """5.1 and later."""
    op_message_max_size: int | None = _key("transactionOpMsgMaxSize", 1)
    """5.1 and later."""
    file_reserved_hours: int | None = _key("fileReservedTime", 0)
    """Older halves are discarded."""
    mapped_file_size: int | None = _key("mappedFileSizeCommitLog", 1, is_needed=True)
    flush_consumer_offset_interval_ms: int | None = _key("flushConsumerOffsetInterval", 1, is_needed=True)
    """How often the consumer offsets are saved."""
    flush_disk_type: str | None = _key("flushDiskType")
    """The first is the default."""
    broker_role: str | None = _key("brokerRole")
    """The first is the default."""
    enable_slave_acting_master: bool | None = _key("enableSlaveActingMaster")
    """5.0 and later. Default false."""
    reject_transaction_message: bool | None = _key("rejectTransactionMessage")
    """Halves are refused. Default false."""
    trans_rocksdb_enable: bool | None = _key("transRocksDBEnable")
    """5.4 and later: where halves are kept."""
    trans_write_origin_half: bool | None = _key("transWriteOriginTransHalfEnable")
    """5.4 and later: where halves are kept."""

    def sets(self, key: str) -> bool:
        """Whether the file sets a key, to a value that the broker takes."""
        return getattr(self, _FIELDS[key].name) is not None

    def or_default(self, key: str, release: str | None) -> int:
        """The number that a key sets, in the unit of the file; where it sets none, the default of a release."""
        given: int | None = getattr(self, _FIELDS[key].name)
        return defaults_of(release)[key] if given is None else given

    def halves_in_rocksdb(self, release: str | None) -> str:
        """Why nothing can be said of this broker's halves: they lie in RocksDB; '' where they lie in the commit log.

        RocketMQ asks for both settings (5.4.0 and later; SendMessageProcessor#sendMessage, TransactionalMessageBridge,
        EndTransactionProcessor): `transRocksDBEnable` alone changes nothing in the commit log. Earlier
        releases ignore both.
        """
        is_ignored = release is not None and release_numbers(release) < ROCKSDB_SINCE
        if (
            is_ignored
            or not self.or_default("transRocksDBEnable", release)
            or self.or_default("transWriteOriginTransHalfEnable", release)
        ):
            return ""
        return (
            "transRocksDBEnable=true and transWriteOriginTransHalfEnable=false: its halves lie in RocksDB, not in the "
            "commit log, and that engine is not modelled; nothing is judged"
        )


@dataclass(frozen=True, slots=True)
class Taken:
    """A setting as the broker takes it: the key, and the parsed value; None where it swallows the value."""

    setting: Setting
    key: Key
    value: Value | None


_FIELDS: Final = {each.metadata["key"]: each for each in fields(BrokerConf)}
"""The field of each key."""


def find_broker_conf(store: Path) -> Path | None:
    """The ``broker.conf`` in a store directory, or else the one beside it; None if there is neither."""
    for folder in (store, store.resolve().parent):
        if (folder / NAME).exists():
            return folder / NAME
    return None


def read_broker_conf(path: Path, release: str | None = None) -> BrokerConf:
    """Read a broker's settings, those that its release reads, or any one; of two with the same key the later counts.

    Raises
    ------
    BrokenConfigError
        The path is no file, or one with which no broker starts.
    """
    return broker_conf_of(settings(path), release)


def broker_conf_of(given: Iterable[Setting], release: str | None = None) -> BrokerConf:
    """The same of settings that were read already."""
    values: dict[str, Any] = {}
    for name, taken in taken_settings(given, release).items():
        found = _FIELDS.get(_ALIASES.get(name, name))
        value = taken.value
        if found is None or value is None:
            continue
        least = found.metadata["least"]
        if least is not None and isinstance(value, int) and value < least:
            value = None if found.metadata["is_needed"] else least
        values[found.name] = value
    return BrokerConf(**values)


def taken_settings(given: Iterable[Setting], release: str | None = None) -> dict[str, Taken]:
    """The settings that the broker of a release reads, as it takes them, by key, in the order of the last of each key.

    Without a release, a key is as the newest release has it that reads it.
    """
    last = {setting.key: setting for setting in given}
    known = {name: any_key(name) for name in last} if release is None else keys_of(release)
    return {
        name: Taken(setting, key, value_of(key, setting.value, release))
        for name, setting in sorted(last.items(), key=lambda item: item[1].line)
        if (key := known.get(name)) is not None
    }


def settings(path: Path) -> tuple[Setting, ...]:
    """Each setting of a file, in order, without the heading of ``mqadmin getBrokerConfig``.

    Raises
    ------
    BrokenConfigError
        The path is no file, Java can't load it, or it holds the settings of several brokers.
    """
    found = _all_settings(path)
    headings = [(setting.line, heading) for setting in found if (heading := _heading(setting))]
    if len(headings) > 1:
        places = ", ".join(f"{heading} (line {line})" for line, heading in headings)
        message = f"{path}: it holds the settings of {len(headings)} brokers: {places}; leave the lines of one in it"
        raise BrokenConfigError(message)
    return tuple(setting for setting in found if not _heading(setting))


def mqadmin_broker(path: Path) -> str:
    """The broker whose settings the file holds, if ``mqadmin getBrokerConfig`` printed it; '' for any other file.

    Raises
    ------
    BrokenConfigError
        The path is no file, or Java can't load it.
    """
    return next(filter(None, map(_heading, _all_settings(path))), "")


def _all_settings(path: Path) -> tuple[Setting, ...]:
    if not path.is_file():
        message = f"{path} is not a file; a broker.conf of lines KEY=VALUE was expected: name one that is there"
        raise BrokenConfigError(message)
    return tuple(read_properties(path, read_bytes(path, SETTINGS_BYTES)))


def _heading(setting: Setting) -> str:
    """The broker that a heading of mqadmin names (its command getBrokerConfig); '' for a setting."""
    match = None if setting.key else _MQADMIN_HEADING.fullmatch(setting.value)
    return "" if match is None else match[1]
