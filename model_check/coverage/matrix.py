"""Coverage joined over many worlds of one instance: which rules no version needs in any environment."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from model_check.check import check
from model_check.guard_coverage import Coverage, Uncovered, coverage_of
from model_check.question import Question
from spec.transactional_messages import TRANSACTIONAL_MESSAGES

if TYPE_CHECKING:
    from collections.abc import Callable

    from model_check.coverage.expected import Accepted, Expected
    from model_check.finding import Finding
    from spec.constants import Instance


@dataclass(frozen=True, slots=True)
class CoverageMatrix:
    """What all worlds together have put to use.

    Attributes
    ----------
    instance : Instance
        The one that was asked about; some worlds are on others.
    searches : tuple of tuple
        Each finding, and how many gaps were left behind it.
    coverage : Coverage
        The sum of their counts.
    accepted : tuple of Accepted
        Gaps with a reason.
    unexplained : tuple of Uncovered
        Gaps without one.
    outdated : tuple of Accepted
        What is accepted to be a gap and is none, or is no rule of the specification.
    """

    instance: Instance
    searches: tuple[tuple[Finding, int], ...]
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
            "instance": self.instance.name,
            "worlds": [
                {
                    "profile": finding.world.profile.unturned,
                    "switches": [turn[1:] for turn in finding.world.profile.turned],
                    "environment": list(finding.world.environment),
                    "instance": finding.world.instance.name,
                    "distinct": finding.numbers.distinct,
                    "complete": finding.numbers.complete,
                }
                for finding, _ in self.searches
            ],
            "coverage": self.coverage.to_json(),
            "accepted": [{**asdict(a.what), "reason": a.reason} for a in self.accepted],
            "unexplained": [asdict(gap) for gap in self.unexplained],
            "outdated": [{**asdict(a.what), "reason": a.reason} for a in self.outdated],
        }


def cover_matrix(
    instance: Instance,
    expected: Expected,
    *,
    threads: int = 1,
    most_states: int | None = None,
    report: Callable[[Finding, int], None] | None = None,
) -> CoverageMatrix:
    """Search all worlds of an instance and join what they cover.

    Parameters
    ----------
    most_states
        A search that has stored so many is left: what it has covered by then is covered. The counts are the same on
        each run with one thread only.
    report
        Called after each search, with the gaps that are left.

    Raises
    ------
    EvaluationError
        When a value leaves its declared range.
    """
    machine = TRANSACTIONAL_MESSAGES
    total = empty = coverage_of(machine, 0, {}, {}, [0] * (len(machine.clauses) + len(machine.witnesses)))
    searches: list[tuple[Finding, int]] = []
    for world in expected.worlds:
        question = Question(world=world, paths=(), most_states=most_states, coverage=True)
        finding = check(question, threads=threads)
        total += finding.coverage or empty
        searches.append((finding, len(total.uncovered())))
        if report is not None:
            report(*searches[-1])
    gaps = total.uncovered()
    explained = {accepted.what for accepted in expected.accepted}
    return CoverageMatrix(
        instance,
        tuple(searches),
        total,
        tuple(accepted for accepted in expected.accepted if accepted.what in gaps),
        tuple(gap for gap in gaps if gap not in explained),
        tuple(accepted for accepted in expected.accepted if accepted.what not in gaps),
    )
