"""What the rules must know beside a history: of the whole log, of the broker, and where its next round begins."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from spark_trace_analysis.records.version import RECORDED_DISCARDS, VersionMarks, is_before

if TYPE_CHECKING:
    from collections.abc import Mapping


@dataclass(slots=True)
class LogFacts:
    """What the records of a log say together; gathered record by record, or split by split.

    Attributes
    ----------
    records, events
        How many there are, and how many of them are part of a transaction.
    discard_checks, copy_checks
        The highest check counts of discards, and of halves and their copies; 0 if there is none.
    half_end
        Half queue id to the offset behind its last record.
    """

    records: int = 0
    events: int = 0
    marks: VersionMarks = field(default_factory=VersionMarks)
    discard_checks: int = 0
    copy_checks: int = 0
    half_end: dict[int, int] = field(default_factory=dict)


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
