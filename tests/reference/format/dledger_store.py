"""Turns a store into what a broker with ``enableDLegerCommitLog`` would have left, with code of its own.

Every record becomes the body of an entry, so that each place in the log is another one: those that records name, and
those of the consume queues, move along.
"""

from __future__ import annotations

import shutil
import struct
from typing import TYPE_CHECKING

from reference.format.commit_log import CommitLog
from reference.format.record import BORN_HOST_V6_FLAG, STORE_HOST_V6_FLAG

if TYPE_CHECKING:
    from pathlib import Path

HEADER = 48
CONF = "enableDLegerCommitLog=true\ndLegerGroup=RaftNode00\ndLegerSelfId=n0\n"


def dledger_store(store: Path, out: Path, file_bytes: int = 1 << 20, first: int = 0) -> Path:
    """Write the store; the records from one of them on are in DLedger's log, those before it in an earlier one.

    Parameters
    ----------
    file_bytes
        The size of a file of the log.
    first
        So many records are in the earlier log, one file.
    """
    (out / "dledger-n0" / "data").mkdir(parents=True)
    shutil.copytree(store / "config", out / "config")
    log = CommitLog.open(store)
    records = list(log.records())
    begin = file_bytes if first else 0
    files = {begin: bytearray()}
    moved: dict[int, int] = {}
    raws = []
    index, start = 0, begin
    for number, record in enumerate(records):
        file = next(file for file in reversed(log.files) if file.start <= record.physical_offset)
        at = record.physical_offset - file.start
        raw = bytearray(file.data[at : at + record.total_size])
        if number < first:
            moved[record.physical_offset] = record.physical_offset
            raws.append((record, raw, -1, 0, 0))
            continue
        used = len(files[start])
        if used + HEADER + len(raw) + 8 > file_bytes:
            files[start] += struct.pack(">iI", -1, file_bytes - used) + bytes(file_bytes - used - 8)
            start, used = start + file_bytes, 0
            files[start] = bytearray()
        moved[record.physical_offset] = start + used + HEADER
        raws.append((record, raw, start, used, index))
        files[start] += bytes(HEADER + len(raw))
        index += 1
    earlier = bytearray()
    for record, raw, start, used, index in raws:
        prepared_at = (
            76 + 12 * bool(record.sys_flag & BORN_HOST_V6_FLAG) + 12 * bool(record.sys_flag & STORE_HOST_V6_FLAG)
        )
        half = record.prepared_transaction_offset
        raw[28:36] = struct.pack(">q", moved[record.physical_offset])
        raw[prepared_at : prepared_at + 8] = struct.pack(">q", moved.get(half, half) if record.sys_flag & 8 else 0)
        if start < 0:
            earlier += raw
            continue
        header = struct.pack(">IIqqqiiiI", 1, HEADER + len(raw), index, 1, start + used, 0, 0, 0, len(raw))
        files[start][used : used + HEADER + len(raw)] = header + raw
    for start, content in files.items():
        (out / "dledger-n0" / "data" / f"{start:020d}").write_bytes(content)
    if first:
        (out / "commitlog").mkdir()
        blank = struct.pack(">Ii", file_bytes - len(earlier), -875286124)
        (out / "commitlog" / f"{0:020d}").write_bytes((earlier + blank).ljust(file_bytes, b"\0"))
    for queue in (store / "consumequeue").rglob("0*"):
        if queue.is_file():
            entries = bytearray(queue.read_bytes())
            for at in range(0, len(entries) - 19, 20):
                place, size = struct.unpack_from(">qi", entries, at)
                if size:
                    struct.pack_into(">q", entries, at, moved[place])
            target = out / queue.relative_to(store)
            target.parent.mkdir(parents=True)
            target.write_bytes(entries)
    (out / "broker.conf").write_text((store / "broker.conf").read_text() + CONF)
    return out
