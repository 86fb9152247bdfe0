"""The broker's own files beside the wire: saved offsets, other bytes than were sent, damage, an audit.

They are read while the broker writes them. Whatever looks like damage is looked at again: a record that was being
written is whole then, and so is a configuration file that was being replaced (``ConfigManager#persist``).
"""

from __future__ import annotations

import time
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Final

from halfcheck.whole_store import audited
from reference.format.commit_log import CommitLog
from reference.format.consumer_offsets import NAME, ConsumerOffsets, read_consumer_offsets
from reference.format.errors import BrokenConfigError
from reference.format.properties import UNIQUE_KEY
from reference.format.record import LogRecord, MalformedRecordError
from reference.format.store_paths import COMMIT_LOG as FOLDER
from reference.format.system_topics import DISCARD_TOPIC, HALF_TOPIC, OP_TOPIC
from reference.store.message_store import ABORT
from spark_trace_analysis.records.transaction_record import concerns_a_transaction
from wire.errors import WireError

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator
    from pathlib import Path

    from spark_trace_analysis.audit.audit import Audit
    from wire.probe.view import BrokerSnapshot

_LOOKS: Final = 4
"""So often in a row the same damage is seen before it is believed."""
_BETWEEN_LOOKS_S: Final = 0.3
_OF_ALL: Final = (HALF_TOPIC, OP_TOPIC, DISCARD_TOPIC)


class OtherStoreError(WireError):
    """The folder is a store, but not that of the broker that is probed."""


@dataclass(frozen=True, slots=True)
class SavedOffsets:
    """Where the check service stood when its offsets were last saved; None where the file has none."""

    half: int | None
    op: int | None


class StoreFiles:
    """The store folder of the broker that is probed; one that has stored nothing has no commit log yet.

    Raises `reference.format.errors.StoreError` for a path that is no store.
    """

    def __init__(self, path: Path) -> None:
        is_fresh = (path / ABORT).is_file() and not any((path / FOLDER).glob("*"))
        if not is_fresh:
            CommitLog.open(path)
        self.path = path

    def saved(self) -> SavedOffsets:
        """The offsets of the check service in ``config/consumerOffset.json`` or its backup; `BrokenConfigError`."""
        offsets = self._steady_offsets()
        return SavedOffsets(offsets.get(HALF_TOPIC, 0), offsets.get(OP_TOPIC, 0))

    def _steady_offsets(self) -> ConsumerOffsets:
        """A backup is read for want of the file itself: perhaps that is just being replaced."""
        for _ in range(_LOOKS - 1):
            try:
                offsets = read_consumer_offsets(self.path)
            except BrokenConfigError:
                pass
            else:
                if offsets.source in (None, NAME):
                    return offsets
            time.sleep(_BETWEEN_LOOKS_S)
        return read_consumer_offsets(self.path)

    def differences(self, snapshot: BrokerSnapshot, keys: Collection[str]) -> tuple[str, ...]:
        """Where the files hold other records than were read over the wire, from the first of these to the last.

        Of records that were not read, those of transactions with these unique keys count. Raises `OtherStoreError`
        where none of the records is in the files.
        """
        found: tuple[str, ...] = ()
        for look in range(_LOOKS):
            if look:
                time.sleep(_BETWEEN_LOOKS_S)
            found, missing = self._compared(snapshot, keys)
            if not found:
                return ()
        if snapshot.records and missing == len(snapshot.records):
            message = (
                f"--store {self.path}: none of the {missing} records that the broker gave is in it: is it another's?"
            )
            raise OtherStoreError(message)
        return found

    def _compared(self, snapshot: BrokerSnapshot, keys: Collection[str]) -> tuple[tuple[str, ...], int]:
        """The differences, and how many records are not in the files."""
        log, sentences, missing = CommitLog.open(self.path), [], 0
        given = {record.physical_offset for record in snapshot.records}
        for record in snapshot.records:
            try:
                stored = log.record_at(record.physical_offset)
            except MalformedRecordError as error:
                missing += 1
                sentences.append(f"{_name(record)} was given, and is not in the files: {error}")
                continue
            if stored != record:
                names = [each.name for each in fields(LogRecord) if each.compare]
                other = [name for name in names if getattr(stored, name) != getattr(record, name)]
                sentences.append(f"{_name(record)} was given with another {', '.join(other)} than the files have")
        if given:
            sentences += [
                f"{_name(stored)} is in the files, and was not given"
                for stored in _between(log, min(given), max(given))
                if stored.physical_offset not in given
                and (stored.topic in _OF_ALL or stored.properties.get(UNIQUE_KEY) in keys)
            ]
        return tuple(sentences), missing

    def audit(self, version: str | None) -> Audit:
        """The audit of the store, by the broker's release; of damage what stays at several looks; `StoreError`."""
        audit = audited(self.path, version)
        for _ in range(_LOOKS - 1):
            if not audit.damage:
                break
            time.sleep(_BETWEEN_LOOKS_S)
            audit = audited(self.path, version)
        return audit


def _between(log: CommitLog, first: int, last: int) -> Iterator[LogRecord]:
    """The records of transactions from one place of the log to another; what can't be read is left out."""
    at = first
    while at <= last:
        frame = log.frame_at(at)
        if frame is None:
            following = [file.start for file in log.files if file.start > at]
            at = following[0] if following else last + 1
            continue
        if concerns_a_transaction(frame):
            yield log.record_at(at)
        at += frame.total_size


def _name(record: LogRecord) -> str:
    return f"{record.topic}/{record.queue_id} at {record.queue_offset} (commit log {record.physical_offset})"
