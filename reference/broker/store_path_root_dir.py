"""What outlives the broker's process: the store, and the consumer offsets as they were last saved."""

from __future__ import annotations

from typing import TYPE_CHECKING, Self

from reference.broker.consumer_offset_manager import ConsumerOffsetFile
from reference.store.disk import DirectoryDisk
from reference.store.message_store import MessageStore

if TYPE_CHECKING:
    from pathlib import Path

    from reference.format.consumer_offsets import ConsumerOffsets
    from reference.simulation.virtual_clock import VirtualClock
    from reference.versions.switches import VersionSwitches


class StorePathRootDir:
    """The directory that ``storePathRootDir`` names, on whatever disk the store is.

    Parameters
    ----------
    message_store
        ``commitlog/`` and ``consumequeue/``.
    clock
        Dates the first file; without it, the store's.
    """

    def __init__(self, message_store: MessageStore, clock: VirtualClock | None = None) -> None:
        self.message_store = message_store
        self._clock = message_store.clock if clock is None else clock
        self._offset_file = ConsumerOffsetFile(message_store.disk, message_store.switches, self._clock)

    @classmethod
    def open(cls, folder: Path, switches: VersionSwitches, clock: VirtualClock) -> Self:
        """A store directory of this machine; it is made if it is not there, and recovered if it is.

        Raises
        ------
        StoreError
            It is no store of that version and RocketMQ's file sizes.
        """
        return cls(MessageStore(switches, clock, DirectoryDisk(folder)))

    @property
    def consumer_offsets(self) -> ConsumerOffsets:
        """``config/consumerOffset.json``; setting it writes the file."""
        return self._offset_file.saved

    @consumer_offsets.setter
    def consumer_offsets(self, offsets: ConsumerOffsets) -> None:
        self._offset_file.save(offsets)

    def close(self) -> None:
        """The process is gone: what it had mapped stays as it is."""
        self.message_store.abandon()

    def reopen(self) -> Self:
        """The same directory as the next process finds it, recovered."""
        return type(self)(self.message_store.reopen(), clock=self._clock)
