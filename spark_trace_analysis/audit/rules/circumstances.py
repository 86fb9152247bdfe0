"""What the rules must know beside a history: of the broker, of its queues, and where its next round begins."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from spark_trace_analysis.records.version import RECORDED_DISCARDS, is_before

if TYPE_CHECKING:
    from collections.abc import Mapping


@dataclass(frozen=True, slots=True)
class Circumstances:
    """What a rule must know beside the history.

    Attributes
    ----------
    version
        The store's version, or range of versions, or None.
    check_max, check_interval_ms
        Of the broker that wrote it.
    half_end
        Half queue id to the end of the queue.
    half_saved, op_saved
        Half queue id to the saved offsets: in the half queue, and in its op queue.
    log_is_complete
        Whether the log is kept from its first byte and nothing in it is damaged.
    """

    version: str | None
    check_max: int
    check_interval_ms: int
    half_end: Mapping[int, int]
    half_saved: Mapping[int, int]
    op_saved: Mapping[int, int]
    log_is_complete: bool

    @property
    def discards_silently(self) -> bool:
        """Whether a discard leaves a line in the broker's log and no record (until 4.5.1, A31)."""
        return is_before(self.version, RECORDED_DISCARDS)

    def half_of(self, queue_id: int) -> int:
        """The half offset at which the next round begins."""
        return self.half_saved.get(queue_id, 0)

    def op_of(self, queue_id: int) -> int:
        """The op offset at which the next round begins."""
        return self.op_saved.get(queue_id, 0)
