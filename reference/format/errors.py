"""What can be wrong with a store as a whole, so that nothing of it can be read.

A damaged record is not an error: it is a :class:`reference.format.corrupt_region.CorruptRegion`, and reading goes on.
"""

from __future__ import annotations


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
    """The process died at this write; nothing that its memory held is left (a disk in memory, told to stop)."""
