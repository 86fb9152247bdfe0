"""Shares the commit log of a store out into splits of about equal size."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from reference.format.commit_log import CommitLog

SPLIT_BYTES = 64 << 20


@dataclass(frozen=True, slots=True)
class Split:
    """A stretch of one commit log file, in bytes from its start; the last split of a file ends with it."""

    number: int
    file: int
    start: int
    end: int


def splits_of(log: CommitLog, split_bytes: int = SPLIT_BYTES) -> list[Split]:
    """Share a log out into splits of about equal size; a rest at the end of a file goes with the split before it.

    The files of a partial copy are mostly gaps: its splits begin where it says, with about as many bytes of records.
    """
    splits: list[Split] = []
    for index, file in enumerate(log.files):
        size = len(file.data)
        if log.partial is None:
            pieces = max(size // split_bytes, 1)
            starts = [piece * split_bytes for piece in range(pieces)]
        else:
            starts = [0, *(at - file.start for at in log.partial.starts if file.start < at < file.end)]
        for start, end in zip(starts, [*starts[1:], size], strict=True):
            splits.append(Split(len(splits), index, start, end))
    return splits
