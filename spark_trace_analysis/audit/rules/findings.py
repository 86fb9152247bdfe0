"""Damage as it is gathered by many tasks: each piece with the rank of the rule that found it.

In one process damage is found in an order, and of two pieces in one place the first is kept. The ranks say that order.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from enum import IntEnum
from typing import TYPE_CHECKING

from reference.format.errors import CorruptRegion

if TYPE_CHECKING:
    from collections.abc import Iterable

    from reference.format.commit_log import CommitLog


_RULES = 1000


class Rank(IntEnum):
    """The rules, in the order in which :mod:`spark_trace_analysis.audit.audit_store` asks them."""

    LOG = 0
    RECORD = 10
    TIMES = 11
    LAST_TIME = 12
    MISSING_ENTRY = 13
    QUEUE = 14
    OP = 20
    SAVED_OFFSETS = 30
    FORM = 40
    SIBLINGS = 41
    LINKS = 42
    GROUPS = 43
    KEYS = 44
    UNORDERED = 45
    HOST = 46
    FOREIGN_QUEUE = 50
    OFFSET_AHEAD = 60


@dataclass(frozen=True, slots=True, order=True)
class Finding:
    """One piece of damage.

    Attributes
    ----------
    order
        What puts the findings of a rank into their order: a commit log offset, or 0.
    """

    rank: int
    order: int
    file: str
    offset: int
    reason: str

    @property
    def region(self) -> CorruptRegion:
        """Where it is, and what."""
        return CorruptRegion(self.file, self.offset, self.reason)


def found(rank: Rank, order: int, region: CorruptRegion) -> Finding:
    """A finding of a region."""
    return Finding(rank, order, region.file, region.offset, region.reason)


def at_record(log: CommitLog, rank: Rank, at: int, reason: str, rule: int = 0) -> Finding:
    """What a rule says of the record at a commit log offset; findings of one record keep the order of the rules."""
    return found(rank, order_of(at, rule), CorruptRegion(*log.place(at), reason))


def order_of(at: int, rule: int = 0) -> int:
    """The order of a finding of the record at a commit log offset."""
    return at * _RULES + min(rule, _RULES - 1)


def to_lines(findings: Iterable[Finding]) -> str:
    """One JSON array a line."""
    return "".join(
        json.dumps([one.rank, one.order, one.file, one.offset, one.reason], ensure_ascii=False) + "\n"
        for one in findings
    )


def from_line(line: str) -> Finding:
    """The finding of a line.

    Examples
    --------
    >>> from_line(to_lines([Finding(0, 7, "commitlog/0", 7, "torn")])).region
    CorruptRegion(file='commitlog/0', offset=7, reason='torn')
    """
    return Finding(*json.loads(line))
