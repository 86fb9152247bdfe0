"""A stretch of a file that does not hold what it should."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class CorruptRegion:
    """Damage that was found, and where."""

    file: str
    """The file's path below the store, with forward slashes, for example ``commitlog/00000000000000000000``."""
    offset: int
    """Where the damage begins, in bytes from the start of that file."""
    reason: str
    """One line: what was read and what was expected."""

    def __str__(self) -> str:
        return f"{self.file}, byte {self.offset}: {self.reason}"
