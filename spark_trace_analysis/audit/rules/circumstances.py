"""Circumstances of a history for the rules: facts of the whole log, of the broker, and of its next round."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from spark_trace_analysis.records.version import RECORDED_DISCARDS, VersionMarks, is_before

if TYPE_CHECKING:
    from collections.abc import Mapping

    from spark_trace_analysis.audit.rules.history import HalfCopy, OpEntry
    from spark_trace_analysis.audit.rules.state import UnknownCause


@dataclass(slots=True)
class LogFacts:
    """Aggregates over the records of a log, gathered record by record, or split by split.

    Attributes
    ----------
    records, events
        How many there are, and how many of them are part of a transaction.
    discard_checks, copy_checks
        The highest check counts of discards, and of halves and their copies; 0 if there is none.
    half_end, op_end
        Queue id to the offset behind its last record, in the half queue and in its op queue.
    last_offset, last_timestamp
        The commit log offset and the store timestamp of the last record.
    unseen
        Commit log offsets of halves and op messages that no round sees.
    """

    records: int = 0
    events: int = 0
    marks: VersionMarks = field(default_factory=VersionMarks)
    discard_checks: int = 0
    copy_checks: int = 0
    half_end: dict[int, int] = field(default_factory=dict)
    op_end: dict[int, int] = field(default_factory=dict)
    last_offset: int = -1
    last_timestamp: int = 0
    unseen: set[int] = field(default_factory=set)


@dataclass(frozen=True, slots=True)
class Circumstances:
    """The circumstances of a history that a rule needs.

    Attributes
    ----------
    version
        The store's version, or range of versions, or None.
    half_end, op_end
        Half queue id to the end of the queue, and of its op queue; no op queue has an end in a log without op messages
        whose beginning is gone.
    half_saved, op_saved
        Half queue id to the saved offsets: in the half queue, and in its op queue.
    log_is_complete
        Whether the log is kept from its first byte and nothing in it is damaged.
    hidden
        Commit log offsets of damage in which a record may have stood, in order.
    is_skewed
        Whether files show that they are of different moments.
    op_was_due_before
        A message that was delivered before this time has its op message in the log, or never gets one: later ones may
        still wait for it in the memory of a broker that runs. In milliseconds since the epoch.
    passed
        Half queue id to the last half that a round surely passed, by the sources of put-backs in the log.
    unknown_queues, unknown_halves
        The cause for which the saved offsets of a half queue, or the queue offset of the half or the op message at a
        commit log offset, decide nothing.
    hands_on
        Whether it is a slave's that may act for its master.
    earlier
        The version that wrote the log before another one did, and where that one began; None if one wrote all.
    """

    version: str | None
    check_max: int
    check_interval_ms: int
    half_end: Mapping[int, int]
    op_end: Mapping[int, int]
    half_saved: Mapping[int, int]
    op_saved: Mapping[int, int]
    has_offsets: bool
    log_is_complete: bool
    hidden: tuple[int, ...]
    is_skewed: bool
    op_was_due_before: int
    passed: Mapping[int, int] = field(default_factory=dict)
    unknown_queues: Mapping[int, UnknownCause] = field(default_factory=dict)
    unknown_halves: Mapping[int, UnknownCause] = field(default_factory=dict)
    hands_on: bool = False
    earlier: tuple[str, int] | None = None

    def of(self, first_offset: int) -> Circumstances:
        """Those of a history whose first record stands at an offset of the log: it is of the version of that time."""
        if self.earlier is None or first_offset >= self.earlier[1]:
            return self
        return replace(self, version=self.earlier[0])

    @property
    def all(self) -> tuple[Circumstances, ...]:
        """Those of each version."""
        return (self,) if self.earlier is None else (self, self.of(-1))

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

    def is_half_offset_ahead(self, queue_id: int) -> bool:
        """Whether the saved half offset lies beyond the end of the queue."""
        return self.half_of(queue_id) > self.half_end.get(queue_id, 0)

    def is_op_offset_ahead(self, queue_id: int) -> bool:
        """Whether the saved op offset lies beyond the end of the op queue, as far as that is known."""
        return queue_id in self.op_end and self.op_of(queue_id) > self.op_end[queue_id]

    def has_passed(self, copy: HalfCopy) -> bool:
        """Whether the log itself shows that a round has passed a copy."""
        return copy.queue_offset < self.passed.get(copy.queue_id, -1)

    def unknown_cause_of(self, copy: HalfCopy) -> UnknownCause | None:
        """Why the saved offsets say nothing of a copy, if something was found that makes it so."""
        records = (copy.commit_log_offset, *(op.commit_log_offset for op in copy.ops))
        of_record = (self.unknown_halves.get(at) for at in records)
        return self.unknown_queues.get(copy.queue_id) or next(filter(None, of_record), None)

    def may_hide(self, after: int, before: int | None) -> bool:
        """Whether a record may have stood in damage behind a commit log offset, and before another one if given."""
        end = len(self.hidden) if before is None else bisect_left(self.hidden, before)
        return bisect_right(self.hidden, after) < end

    def is_op_seen(self, op: OpEntry) -> bool:
        """Whether the next round reads an op message, if the saved op offset does not pass over it."""
        return op.commit_log_offset not in self.unknown_halves
