"""The end of a commit log that a broker may be writing: its last whole record, and the bytes behind it.

Two looks at a log that nobody writes are the same. Where they differ, the bytes behind the end at the first look were
being written, and are no damage.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

from reference.format.frame import is_plausible_start, read_frame
from reference.format.record import MAGIC_V1, MAGIC_V2, MalformedRecordError, decode_record

if TYPE_CHECKING:
    from reference.format.commit_log import CommitLog
    from reference.format.commit_log_file import CommitLogFile

_MAGIC_BYTES: Final = tuple(magic.to_bytes(4) for magic in (MAGIC_V1, MAGIC_V2))
_MOST_REST: Final = 1 << 16


class LogTail(NamedTuple):
    """One look at the end of a log.

    Attributes
    ----------
    file
        The path of the last file.
    end
        The offset behind the last whole record.
    rest
        The bytes behind it, as far as something is written there.
    """

    file: str
    end: int
    rest: bytes


def tail_of(log: CommitLog) -> LogTail:
    """Look at the end of a log; records before the last one that says where it stands are not looked at."""
    for file in reversed(log.files):
        end = _whole_end(file)
        if end is not None:
            rest = bytes(file.data[end - file.start : end - file.start + _MOST_REST]).rstrip(b"\0")
            return LogTail(str(log.files[-1].path), end, rest)
    return LogTail(str(log.files[-1].path), log.start, b"")


def _whole_end(file: CommitLogFile) -> int | None:
    """The offset behind the last whole record of a file, or before the one that is not whole; None if there is none."""
    before = len(file.data)
    while (magic := max(file.data.rfind(one, 0, before) for one in _MAGIC_BYTES)) >= 0:
        start = magic - 4
        if is_plausible_start(file.data, start, file.start):
            return file.start + _behind_whole_records(file, start)
        before = magic + 3
    return None


def _behind_whole_records(file: CommitLogFile, position: int) -> int:
    """Where records end that follow each other as a whole; a position in the file."""
    end = position - file.header_bytes
    while True:
        try:
            frame = read_frame(file.data, position, file.start)
            record = decode_record(file.data, position, limit=len(file.data))
        except MalformedRecordError:
            return end
        if not frame.is_body_sound or record.properties_text.endswith("\0"):
            return end
        end = position + frame.total_size
        position = end + file.header_bytes
