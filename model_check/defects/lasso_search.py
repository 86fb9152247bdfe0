"""A defect is a run for ever where it is, and none where it is repaired; or it is none anywhere, for a reason."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from model_check.defects.resemblance import first_step_missing
from model_check.errors import EvaluationError
from model_check.finding import Verdict
from model_check.liveness.by_networkx import has_a_fair_run
from model_check.liveness.check import check_responses
from model_check.liveness.graph import compiled_graph
from spec.transactional_messages import TRANSACTIONAL_MESSAGES

if TYPE_CHECKING:
    from model_check.defects.question import LassoSearch
    from model_check.explicit.exploration import Report
    from model_check.liveness.check import LivenessFinding, UnfoldedLasso
    from model_check.world import World

NETWORKX_STATES: Final = 70_000
"""Up to so many states networkx decides them again; it takes a quarter of a minute."""


@dataclass(frozen=True, slots=True)
class FoundLasso:
    """What was found in the affected profile, and in the repaired one if there is one.

    Attributes
    ----------
    lasso : UnfoldedLasso or None
        None where the defect vanishes.
    """

    affected: LivenessFinding
    lasso: UnfoldedLasso | None
    repaired: LivenessFinding | None

    @property
    def lengths(self) -> tuple[int, int]:
        """Steps of the stem, and of the cycle; none where the response holds."""
        return (0, 0) if self.lasso is None else (len(self.lasso.stem), len(self.lasso.cycle))


def find_lasso(search: LassoSearch, report: Report | None = None) -> FoundLasso:
    """Search for a lasso in the affected profile, and see that the repaired one has none.

    Raises
    ------
    EvaluationError
        There is none where one should be, its cycle lacks a step that makes it this defect, or there is one where none
        should be.
    """
    affected = _asked(search, search.world, Verdict.HOLDS if search.vanishes else Verdict.VIOLATED, report)
    lasso = affected.rows[0].lasso
    if lasso is None:
        return FoundLasso(affected, None, None)
    round_it = [event.step for event in lasso.cycle]
    missing = first_step_missing(round_it * 2, search.shows)
    if missing is not None:
        msg = (
            f"the cycle in which {search.subject} never comes in {search.world.title} has no step {missing!r} where it "
            f"is expected; in order it should show {', '.join(search.shows)}"
        )
        raise EvaluationError(msg)
    other = search.other_world
    return FoundLasso(affected, lasso, None if other is None else _asked(search, other, Verdict.HOLDS, report))


def engines_that_agree(search: LassoSearch, found: FoundLasso) -> tuple[str, ...]:
    """The engines that agree on the verdicts; networkx is asked of each profile that has few states.

    Raises
    ------
    EvaluationError
        It says something else.
    """
    results = [one for one in (found.affected, found.repaired) if one is not None]
    if any(one.numbers.distinct > NETWORKX_STATES for one in results):
        return ("numba",)
    promises = [TRANSACTIONAL_MESSAGES.fairness[name] for name in search.response.under]
    for one in results:
        graph, _ = compiled_graph(TRANSACTIONAL_MESSAGES, one.world.constants, [search.response])
        verdict = one.rows[0].verdict
        if has_a_fair_run(graph, search.response, promises) != (verdict is Verdict.VIOLATED):
            msg = f"{search.subject} in {one.world.title}: networkx disagrees with {verdict.value}"
            raise EvaluationError(msg)
    return ("numba", "networkx")


def _asked(search: LassoSearch, world: World, wanted: Verdict, report: Report | None) -> LivenessFinding:
    """What is found in a world, where the verdict is the one that is wanted."""
    result = check_responses([world], [search.response], report=report)
    (row,) = result.rows
    if row.verdict is not wanted:
        because = f": {row.why}" if row.why else ""
        msg = f"{search.subject} is {row.verdict.value} in {world.title}, not {wanted.value}{because}"
        raise EvaluationError(msg)
    return result
