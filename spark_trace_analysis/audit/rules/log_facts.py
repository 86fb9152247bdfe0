"""What the records of a log say together, beside what each transaction's say."""

from __future__ import annotations

from dataclasses import dataclass, field

from spark_trace_analysis.records.version import VersionMarks


@dataclass(slots=True)
class LogFacts:
    """Gathered record by record, or split by split.

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
