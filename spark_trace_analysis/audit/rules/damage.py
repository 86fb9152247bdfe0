"""What is damaged in a store, gathered from all stages of an audit."""

from __future__ import annotations

from typing import TYPE_CHECKING

from spark_trace_analysis.audit.rules.findings import Finding, Rank

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from reference.format.errors import CorruptRegion

_MOST_DAMAGE = 100_000
"""So many pieces of damage are held and told; more are counted."""


class Damage:
    """All damage, of two pieces in one place the first; beyond a number it is counted only.

    Attributes
    ----------
    of_log
        How many pieces are of the commit log itself.
    """

    def __init__(self) -> None:
        self.of_log = 0
        self._kept: dict[object, Finding] = {}
        self._more = 0

    def take(self, findings: Iterable[Finding]) -> None:
        """Add what a stage has found."""
        for one in findings:
            self.of_log += one.rank == Rank.LOG
            place: object = (one.file, one.offset)
            if one.rank == Rank.LOG:
                place = one
            known = self._kept.get(place)
            if known is None and len(self._kept) >= _MOST_DAMAGE:
                self._more += 1
            elif known is None or one < known:
                self._kept[place] = one

    @property
    def count(self) -> int:
        """How many pieces there are, those that are not held included."""
        return sum(1 for _ in self._findings()) + self._more

    def _findings(self) -> Iterator[Finding]:
        of_log = {(one.file, one.offset) for one in self._kept.values() if one.rank == Rank.LOG}
        for one in sorted(self._kept.values()):
            if one.rank == Rank.LOG or (one.file, one.offset) not in of_log:
                yield one

    def broken_links(self) -> Iterator[CorruptRegion]:
        """Where records are whose half, or whose copy before them, was not found."""
        return (one.region for one in self._findings() if one.rank == Rank.LINKS)

    def regions(self) -> Iterator[CorruptRegion]:
        """Where they are, in the order in which they are told."""
        return (one.region for one in self._findings())

    @property
    def first_of_log(self) -> str:
        """What is wrong with the commit log at the first place.

        Raises
        ------
        ValueError
            Nothing is.
        """
        return min(one for one in self._kept.values() if one.rank == Rank.LOG).reason
