"""The two kinds of offset in a store, kept apart by type because every other bug report mixes them up."""

from __future__ import annotations

from typing import NewType

QueueOffset = NewType("QueueOffset", int)
"""The index of a message in its queue, counted in messages from 0."""

CommitLogOffset = NewType("CommitLogOffset", int)
"""The place of a record in the commit log, counted in bytes from the log's birth, over all its files."""
