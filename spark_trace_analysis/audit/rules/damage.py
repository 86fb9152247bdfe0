"""Damage of a store: each piece with the rank of the rule that found it, gathered from all tasks of an audit.

In one process damage is found in an order, and the first of two pieces in one place counts. The ranks are that order.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum
from typing import TYPE_CHECKING

from reference.format.errors import CorruptRegion

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from reference.format.commit_log import CommitLog

_MOST_DAMAGE = 100_000
"""So many pieces of damage are held and listed; more are counted."""

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
    FORM = 40
    SIBLINGS = 41
    LINKS = 42
    GROUPS = 43
    KEYS = 44
    UNORDERED = 45
    HOST = 46
    FOREIGN_QUEUE = 50
    OFFSET_AHEAD = 60
    SAVED_OFFSETS = 70


@dataclass(frozen=True, slots=True, order=True)
class DamageFinding:
    """One piece of damage; its order within a rank is that of a commit log offset, or 0."""

    rank: int
    order: int
    file: str
    offset: int
    reason: str

    @property
    def region(self) -> CorruptRegion:
        """Where it is, and what."""
        return CorruptRegion(self.file, self.offset, self.reason)


def found(rank: Rank, order: int, region: CorruptRegion) -> DamageFinding:
    """A finding of a region."""
    return DamageFinding(rank, order, region.file, region.offset, region.reason)


def at_record(log: CommitLog, rank: Rank, at: int, reason: str, rule: int = 0) -> DamageFinding:
    """The finding of a rule at a commit log offset; findings of one record have the order of the rules."""
    return found(rank, order_of(at, rule), CorruptRegion(*log.place(at), reason))


def order_of(at: int, rule: int = 0) -> int:
    """The order of a finding of the record at a commit log offset."""
    return at * _RULES + min(rule, _RULES - 1)


class Damage:
    """All damage, of two pieces in one place the first; beyond a number it is only counted, `of_log` the log's."""

    def __init__(self) -> None:
        self.of_log = 0
        self._held: dict[object, DamageFinding] = {}
        self._more = 0

    def take(self, findings: Iterable[DamageFinding]) -> None:
        """Add the findings of a stage."""
        for one in findings:
            self.of_log += one.rank == Rank.LOG
            place: object = (one.file, one.offset)
            if one.rank == Rank.LOG:
                place = one
            known = self._held.get(place)
            if known is None and len(self._held) >= _MOST_DAMAGE:
                self._more += 1
            elif known is None or one < known:
                self._held[place] = one

    @property
    def count(self) -> int:
        """How many pieces there are, those that are not held included."""
        return sum(1 for _ in self._findings()) + self._more

    def hidden(self) -> set[int]:
        """The commit log offsets of damage in which a record may have stood; of what is held."""
        return {one.order // _RULES for one in self._held.values() if one.rank in (Rank.LOG, Rank.OP)}

    def _findings(self) -> Iterator[DamageFinding]:
        of_log = {(one.file, one.offset) for one in self._held.values() if one.rank == Rank.LOG}
        for one in sorted(self._held.values()):
            if one.rank == Rank.LOG or (one.file, one.offset) not in of_log:
                yield one

    def broken_links(self) -> Iterator[CorruptRegion]:
        """Where records are whose half, or whose copy before them, was not found."""
        return (one.region for one in self._findings() if one.rank == Rank.LINKS)

    def regions(self) -> Iterator[CorruptRegion]:
        """Their places, in the order in which they are listed."""
        return (one.region for one in self._findings())

    @property
    def first_of_log(self) -> str:
        """The first damage of the commit log; raises `ValueError` if there is none."""
        return min(one for one in self._held.values() if one.rank == Rank.LOG).reason
