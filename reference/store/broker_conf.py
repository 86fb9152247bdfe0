"""``broker.conf``: the settings of a broker that bear on its transactions, with the defaults of each line of versions.

The file is a Java properties file (``BrokerStartup`` loads it with ``Properties#load``). A key that the broker does not
know is ignored, as the broker does; a value of ours that is no number is an error here, where the broker would silently
keep its default.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING

from reference.store.errors import BrokenConfigError

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

NAME = "broker.conf"
_KEY_VALUE = re.compile(r"\s*((?:[^\s=:\\]|\\.)+)\s*(?:[=:]|(?<=\s))\s*(.*)", re.DOTALL)
_ALIASES = {"mapedFileSizeCommitLog": "mappedFileSizeCommitLog"}
"""4.5.1 spells it with one p (and ignores the other spelling)."""


@dataclass(frozen=True, slots=True)
class BrokerConf:
    """Settings by their RocketMQ meaning; None where the file does not set one.

    Attributes
    ----------
    transaction_timeout_ms
        ``transactionTimeOut``: the age below which a half is not checked. Default 6000.
    transaction_check_max
        ``transactionCheckMax``: the check count at which a half is discarded. Default 15.
    transaction_check_interval_ms
        ``transactionCheckInterval``. Default 60000, from 5.1.1 on 30000.
    op_batch_interval_ms
        ``transactionOpBatchInterval``, 5.1 and later. Default 3000.
    op_message_max_size
        ``transactionOpMsgMaxSize`` in characters, 5.1 and later. Default 4096.
    file_reserved_hours
        ``fileReservedTime``: older halves are discarded. Default 72.
    mapped_file_size
        ``mappedFileSizeCommitLog`` in bytes. Default 1 GiB.
    """

    transaction_timeout_ms: int | None = None
    transaction_check_max: int | None = None
    transaction_check_interval_ms: int | None = None
    op_batch_interval_ms: int | None = None
    op_message_max_size: int | None = None
    file_reserved_hours: int | None = None
    mapped_file_size: int | None = None

    @property
    def check_max(self) -> int:
        """The check count at which a half is discarded, the default of every version filled in."""
        return 15 if self.transaction_check_max is None else self.transaction_check_max


_FIELD_OF_KEY = {
    "transactionTimeOut": "transaction_timeout_ms",
    "transactionCheckMax": "transaction_check_max",
    "transactionCheckInterval": "transaction_check_interval_ms",
    "transactionOpBatchInterval": "op_batch_interval_ms",
    "transactionOpMsgMaxSize": "op_message_max_size",
    "fileReservedTime": "file_reserved_hours",
    "mappedFileSizeCommitLog": "mapped_file_size",
}


def find_broker_conf(store: Path) -> Path | None:
    """The ``broker.conf`` in a store directory, or else the one beside it; None if there is neither."""
    for folder in (store, store.resolve().parent):
        if (folder / NAME).exists():
            return folder / NAME
    return None


def read_broker_conf(path: Path) -> BrokerConf:
    """Read a broker's settings.

    Raises
    ------
    BrokenConfigError
        The path is no file, a line of it is not ``key=value``, or a setting named in :class:`BrokerConf` has a value
        that is not a positive whole number.
    """
    if not path.is_file():
        message = f"{path} is not a file"
        raise BrokenConfigError(message)
    values: dict[str, int] = {}
    for number, key, value in _settings(path):
        name = _FIELD_OF_KEY.get(_ALIASES.get(key, key))
        if name is None:
            continue
        if not re.fullmatch(r"[1-9]\d{0,18}", value):
            message = f"{path}, line {number}: {key} is {value!r}, expected a positive whole number"
            raise BrokenConfigError(message)
        values[name] = int(value)
    known = {field.name for field in fields(BrokerConf)}
    return BrokerConf(**{name: value for name, value in values.items() if name in known})


def _settings(path: Path) -> Iterator[tuple[int, str, str]]:
    """Line number, key and value of each setting; a line that ends in a backslash goes on in the next."""
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
        yield number, match[1], match[2].strip()
        pending = ""
