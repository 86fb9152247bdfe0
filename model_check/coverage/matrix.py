"""Coverage joined over many worlds of one instance: which rules no version needs in any environment."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from model_check.coverage.by_engine import cover_by_numba
from model_check.coverage.counts import Coverage, Uncovered, coverage_of
from model_check.explicit.search import explore

if TYPE_CHECKING:
    from collections.abc import Callable

    from model_check.coverage.expected import Accepted, CoverageWorld, Expected
    from spec.language import Machine


@dataclass(frozen=True, slots=True)
class SearchedWorld:
    """One search: its states, whether they are all that can be reached, and how many gaps were left behind it."""

    world: CoverageWorld
    distinct: int
    complete: bool
    uncovered: int


@dataclass(frozen=True, slots=True)
class CoverageMatrix:
    """What all worlds together have put to use.

    Attributes
    ----------
    searches : tuple of SearchedWorld
        In their order.
    coverage : Coverage
        The sum of their counts.
    accepted : tuple of Accepted
        Gaps with a reason.
    unexplained : tuple of Uncovered
        Gaps without one.
    outdated : tuple of Accepted
        What is accepted to be a gap and is none, or is no rule of the specification.
    """

    instance: str
    searches: tuple[SearchedWorld, ...]
    coverage: Coverage
    accepted: tuple[Accepted, ...]
    unexplained: tuple[Uncovered, ...]
    outdated: tuple[Accepted, ...]

    @property
    def is_explained(self) -> bool:
        """Whether the gaps are exactly those that are accepted."""
        return not self.unexplained and not self.outdated

    def to_json(self) -> dict[str, Any]:
        """The result as plain data."""
        return {
            "instance": self.instance,
            "worlds": [
                {
                    "profile": search.world.profile,
                    "switches": list(search.world.switches),
                    "environment": list(search.world.faults),
                    "instance": search.world.instance or self.instance,
                    "distinct": search.distinct,
                    "complete": search.complete,
                }
                for search in self.searches
            ],
            "coverage": self.coverage.to_json(),
            "accepted": [{**asdict(a.what), "reason": a.reason} for a in self.accepted],
            "unexplained": [asdict(gap) for gap in self.unexplained],
            "outdated": [{**asdict(a.what), "reason": a.reason} for a in self.outdated],
        }


def cover_matrix(
    machine: Machine,
    instance: str,
    expected: Expected,
    *,
    threads: int = 1,
    most_states: int | None = None,
    report: Callable[[SearchedWorld], None] | None = None,
) -> CoverageMatrix:
    """Search all worlds of an instance and join what they cover.

    Parameters
    ----------
    most_states
        A search that has stored so many is left: what it has covered by then is covered. The counts are the same on
        each run with one thread only.
    report
        Called after each search.

    Raises
    ------
    EvaluationError
        When a value leaves its declared range.
    """
    empty = [0] * (len(machine.clauses) + len(machine.witnesses))
    total = coverage_of(machine, 0, {}, {}, empty)
    searches: list[SearchedWorld] = []
    for world in expected.all_worlds():
        found = explore(machine, world.constants(instance), threads=threads, most_states=most_states)
        total += cover_by_numba(found)
        searches.append(SearchedWorld(world, found.distinct, found.complete, len(total.uncovered())))
        if report is not None:
            report(searches[-1])
    gaps = total.uncovered()
    listed = tuple(accepted for accepted in expected.accepted if accepted.counts_in(instance))
    explained = {accepted.what for accepted in listed}
    return CoverageMatrix(
        instance,
        tuple(searches),
        total,
        tuple(accepted for accepted in listed if accepted.what in gaps),
        tuple(gap for gap in gaps if gap not in explained),
        tuple(accepted for accepted in listed if accepted.what not in gaps),
    )
