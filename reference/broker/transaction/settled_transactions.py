"""An index of the transactions that are over, by UNIQ_KEY, in memory and in a file. No release has one (A12, A13, B16).

Each entry is on the disk before anybody is answered. What was delivered or discarded and did not come into the file any
more is found in the log when the next process starts.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Final

from files.content import parse_json
from reference.broker.config_files import load_or_backup, string_to_file
from reference.format.properties import UNIQUE_KEY
from reference.format.record import TRANSACTION_BITS, TRANSACTION_COMMIT
from reference.format.system_topics import DISCARD_TOPIC, HALF_TOPIC

if TYPE_CHECKING:
    from collections.abc import Iterable

    from reference.broker.broker_controller import BrokerController
    from reference.format.record import CommitLogOffset, LogRecord

FILE: Final = "config/settledTransactions.json"

_KINDS: Final = ("settled", "put_aside", "resumed", "escaped")


class SettledTransactions:
    """The index, and the question whether a transaction is over for this broker.

    Attributes
    ----------
    is_kept
        Whether a repair asks for it; otherwise it knows nothing.
    """

    def __init__(self, broker: BrokerController) -> None:
        self._broker = broker
        self._switches = broker.switches
        self.is_kept = self._switches.settles_once or self._switches.leaves_escaped
        self._keys: dict[str, set[str]] = {kind: set() for kind in _KINDS}
        if self.is_kept:
            self._load()

    def knows(self, half: LogRecord) -> bool:
        """Whether the transaction of a half is over: settled or put aside here, or left to another broker."""
        if not self.is_kept:
            return False
        key = _key(half)
        if self._switches.settles_once:
            is_put_aside = key in self._keys["put_aside"] and key not in self._keys["resumed"]
            if is_put_aside or key in self._keys["settled"]:
                return True
        return self._switches.leaves_escaped and key in self._keys["escaped"] and self._has_left(key)

    def knows_place(self, half: CommitLogOffset) -> bool:
        """Whether a half that cannot be decoded was put aside; it has no key but its place in the log."""
        return self._switches.settles_once and _key_of_place(half) in self._keys["put_aside"]

    def settled(self, half: LogRecord) -> None:
        """An END_TRANSACTION of it was carried out."""
        if self.is_kept:
            self._enter("settled", _key(half))

    def put_aside(self, half: LogRecord) -> None:
        """A half of it was discarded, and its record is kept."""
        self._enter("put_aside", _key(half))

    def put_place_aside(self, half: CommitLogOffset) -> None:
        """The same of one that cannot be decoded."""
        self._enter("put_aside", _key_of_place(half))

    def resumed(self, half: LogRecord) -> None:
        """An operator has put a discarded half of it back: it is open again, for good."""
        self._enter("resumed", _key(half))

    def escaped(self, half: LogRecord) -> None:
        """A half of it was sent to another master, by a slave that acts for this one and shares its index."""
        self._enter("escaped", _key(half))

    def _has_left(self, key: str) -> bool:
        """Whether no half of it stands at the half offset or above, and this broker is the master again."""
        index = self._broker.transactional_message_bridge.half_index
        if index is None or self._broker.role.is_slave:
            return False
        half_offset = self._broker.transactional_message_bridge.fetch_consume_offset(HALF_TOPIC)
        index.cover(half_offset)
        return index.last_half_of(key) < half_offset

    def _enter(self, kind: str, key: str) -> None:
        if self.is_kept and key not in self._keys[kind]:
            self._keys[kind].add(key)
            self._save()

    def _save(self) -> None:
        disk = self._broker.message_store.disk
        table = {kind: sorted(keys) for kind, keys in self._keys.items()}
        content = table | {"logEnd": self._broker.message_store.max_phy_offset}
        string_to_file(disk, FILE, json.dumps(content).encode(), self._switches)
        disk.force(FILE)

    def _load(self) -> None:
        table = load_or_backup(self._broker.message_store.disk, FILE, parse_json) or {}
        for kind in _KINDS:
            self._keys[kind].update(table.get(kind, ()))
        self._read_behind(table.get("logEnd", 0))

    def _read_behind(self, log_end: int) -> None:
        """Take up what the log has and the file lacks, as the process died between the two."""
        found: Iterable[LogRecord] = self._broker.message_store.records()
        for record in found:
            if record.physical_offset >= log_end:
                key = _key(record)
                if record.sys_flag & TRANSACTION_BITS == TRANSACTION_COMMIT:
                    self._keys["settled"].add(key)
                elif record.topic == DISCARD_TOPIC:
                    self._keys["put_aside"].add(key)


def _key(record: LogRecord) -> str:
    return record.properties.get(UNIQUE_KEY, "")


def _key_of_place(half: CommitLogOffset) -> str:
    return f"@{half}"
