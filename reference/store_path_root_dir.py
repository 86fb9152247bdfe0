"""What outlives the broker's process: the store, and the consumer offsets as they were last saved."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from reference.store.consumer_offsets import ConsumerOffsets

if TYPE_CHECKING:
    from reference.message_store import MessageStore


@dataclass(slots=True)
class StorePathRootDir:
    """The directory that ``storePathRootDir`` names.

    Attributes
    ----------
    message_store
        ``commitlog/`` and ``consumequeue/``.
    consumer_offsets
        ``config/consumerOffset.json``.
    """

    message_store: MessageStore
    consumer_offsets: ConsumerOffsets = field(default_factory=lambda: ConsumerOffsets({}))
