"""Errors of a store: damage in one of its files, or to the whole, so that nothing of it can be read.

A damaged record is no error but a :class:`CorruptRegion`, and the records behind it are read.
"""

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


class StoreError(Exception):
    """The root of everything that makes a store unreadable; the message is one line that names the path."""

    exit_code: int = 150


class NotAStoreError(StoreError):
    """The path does not hold a commit log."""


class BrokenConfigError(StoreError):
    """A configuration file of the store (``consumerOffset.json``, ``broker.conf``) can't be understood."""


class NoSpaceLeftError(StoreError):
    """A file could not be made or written."""


class DiskHasStoppedError(StoreError):
    """The process died at this write; nothing that its memory held is left (a disk in memory with a limit)."""
