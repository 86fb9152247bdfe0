"""``broker.conf``: the settings of a broker that bear on its transactions.

The file is a Java properties file (``BrokerStartup`` loads it with ``Properties#load``). A key that the broker does not
know is ignored, as the broker does; a value of ours that is no number is an error here, where the broker would silently
keep its default. The defaults stand in `spec.releases.broker_defaults`.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field, fields
from typing import TYPE_CHECKING, Any

from reference.format.errors import BrokenConfigError
from spec.releases.broker_defaults import defaults_of, release_numbers

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path

NAME = "broker.conf"
_KEY_VALUE = re.compile(r"\s*((?:[^\s=:\\]|\\.)+)\s*(?:[=:]|(?<=\s))\s*(.*)", re.DOTALL)
_ALIASES = {"mapedFileSizeCommitLog": "mappedFileSizeCommitLog"}
"""4.5.1 spells it with one p (and ignores the other spelling)."""

ROCKSDB_SINCE = (5, 4, 0)
"""The first release that can keep halves in RocksDB."""


_INT = 2**31 - 1
_LONG = 2**63 - 1


@dataclass(frozen=True, slots=True)
class _Key:
    """What a key's value may be: a number up to `most`, one of `words`, or true or false."""

    name: str
    unit: str = ""
    most: int = 0
    words: tuple[str, ...] = ("true", "false")


def _key(name: str, *numbers: Any, **words: Any) -> Any:
    return field(default=None, metadata={"key": _Key(name, *numbers, **words)})


@dataclass(frozen=True, slots=True)
class BrokerConf:
    """Settings by their RocketMQ meaning; None where the file does not set one."""

    transaction_timeout_ms: int | None = _key("transactionTimeOut", " of milliseconds", _LONG)
    """The age below which a half is not checked."""
    transaction_check_max: int | None = _key("transactionCheckMax", "", _INT)
    """The check count at which a half is discarded."""
    transaction_check_interval_ms: int | None = _key("transactionCheckInterval", " of milliseconds", _LONG)
    op_batch_interval_ms: int | None = _key("transactionOpBatchInterval", " of milliseconds", _INT)
    """5.1 and later."""
    op_message_max_size: int | None = _key("transactionOpMsgMaxSize", " of characters", _INT)
    """5.1 and later."""
    file_reserved_hours: int | None = _key("fileReservedTime", " of hours", _INT)
    """Older halves are discarded."""
    mapped_file_size: int | None = _key("mappedFileSizeCommitLog", " of bytes", _INT)
    flush_consumer_offset_interval_ms: int | None = _key("flushConsumerOffsetInterval", " of milliseconds", _INT)
    """How often the consumer offsets are saved."""
    flush_disk_type: str | None = _key("flushDiskType", words=("ASYNC_FLUSH", "SYNC_FLUSH"))
    """The first is the default."""
    broker_role: str | None = _key("brokerRole", words=("ASYNC_MASTER", "SYNC_MASTER", "SLAVE"))
    """The first is the default."""
    enable_slave_acting_master: bool | None = _key("enableSlaveActingMaster")
    """5.0 and later. Default false."""
    reject_transaction_message: bool | None = _key("rejectTransactionMessage")
    """Halves are refused. Default false."""
    trans_rocksdb_enable: bool | None = _key("transRocksDBEnable")
    """5.4 and later: where halves are kept."""
    trans_write_origin_half: bool | None = _key("transWriteOriginTransHalfEnable")
    """5.4 and later: where halves are kept."""

    def or_default(self, key: str, release: str | None) -> int:
        """The number that a key sets, in the unit of the file; where it sets none, the default of a release."""
        given: int | None = getattr(self, _FIELDS[key][0])
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
class Setting:
    """One setting of a file: the line on which it ends, its key, and its value with any blanks behind it."""

    line: int
    key: str
    value: str


_FIELDS: dict[str, tuple[str, _Key]] = {
    each.metadata["key"].name: (each.name, each.metadata["key"]) for each in fields(BrokerConf)
}
"""Field and values of each key."""


def find_broker_conf(store: Path) -> Path | None:
    """The ``broker.conf`` in a store directory, or else the one beside it; None if there is neither."""
    for folder in (store, store.resolve().parent):
        if (folder / NAME).exists():
            return folder / NAME
    return None


def read_broker_conf(path: Path) -> BrokerConf:
    """Read a broker's settings; of two with the same key the later counts.

    Raises
    ------
    BrokenConfigError
        The path is no file, a line of it is not ``key=value``, or a setting named in :class:`BrokerConf` has a value
        that the broker cannot read, or no broker can mean: a number that is zero, negative, too large, has a unit or a
        blank behind it; a word that is none of those expected.
    """
    return broker_conf_of(path, settings(path))


def broker_conf_of(source: Path | str, given: Iterable[Setting]) -> BrokerConf:
    """The same of settings that were read already; `source` says where, should one be wrong."""
    values: dict[str, Any] = {}
    for setting in given:
        key = _ALIASES.get(setting.key, setting.key)
        if key in _FIELDS:
            field_name, expected = _FIELDS[key]
            values[field_name] = _value(source, setting, expected)
    return BrokerConf(**values)


def _value(source: Path | str, setting: Setting, key: _Key) -> int | str | bool:
    if key.most:
        if re.fullmatch(r"[1-9]\d{0,18}", setting.value) and int(setting.value) <= key.most:
            return int(setting.value)
        expected = f"a positive whole number{key.unit} up to {key.most}, without a unit or a blank behind it"
    else:
        is_boolean = key.words == ("true", "false")
        word = setting.value.lower() if is_boolean else setting.value.strip()
        if word in key.words:
            return word == "true" if is_boolean else word
        expected = " or ".join(key.words)
    message = f"{source}, line {setting.line}: {setting.key} is {setting.value!r}, expected {expected}"
    raise BrokenConfigError(message)


def repeated(path: Path) -> tuple[tuple[Setting, Setting], ...]:
    """The settings of a file whose key was given before, each behind the one that it replaces (``Properties#load``).

    Raises
    ------
    BrokenConfigError
        The path is no file, or a line of it is not ``key=value``.
    """
    last: dict[str, Setting] = {}
    found = []
    for setting in settings(path):
        if setting.key in last:
            found.append((last[setting.key], setting))
        last[setting.key] = setting
    return tuple(found)


def settings(path: Path) -> Iterator[Setting]:
    """Each setting of a file, in order; a line that ends in a backslash goes on in the next.

    Raises
    ------
    BrokenConfigError
        The path is no file, the file is no text, or a line of it is not ``key=value``.
    """
    if not path.is_file():
        message = f"{path} is not a file"
        raise BrokenConfigError(message)
    text = path.read_bytes().decode("latin-1")
    if "\0" in text:
        message = f"{path} is not a text file: it holds zero bytes"
        raise BrokenConfigError(message)
    pending = ""
    for number, line in enumerate(text.splitlines(), start=1):
        stripped = line.lstrip()
        if not pending and (not stripped or stripped[0] in "#!"):
            continue
        pending += stripped
        if pending.endswith("\\"):
            pending = pending[:-1]
            continue
        match = _KEY_VALUE.fullmatch(pending)
        if match is None:
            message = f"{path}, line {number}: {pending[:60]!r} is not a setting of the form key=value"
            raise BrokenConfigError(message)
        yield Setting(number, match[1], match[2])
        pending = ""
