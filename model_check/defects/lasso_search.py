"""A defect is a run for ever where it is, and none where it is repaired; or it is none anywhere, for a reason."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Final

from model_check.check import Verdict
from model_check.defects.resemblance import first_step_missing
from model_check.errors import EvaluationError
from model_check.instances import constants_for, load_instance
from model_check.liveness.by_networkx import has_a_fair_run
from model_check.liveness.check import check_responses, chosen_responses
from model_check.liveness.graph import compiled_graph
from spec.transactional_messages import TRANSACTIONAL_MESSAGES

if TYPE_CHECKING:
    from model_check.defects.question import LassoQuestion
    from model_check.explicit.exploration import Report
    from model_check.liveness.check import LivenessResult, ToldLasso
    from spec.constants import Instance

NETWORKX_STATES: Final = 70_000
"""Up to so many states networkx decides them again; it takes a quarter of a minute."""


@dataclass(frozen=True, slots=True)
class FoundLasso:
    """What was found in the affected profile, and in the repaired one if there is one.

    Attributes
    ----------
    lasso : ToldLasso or None
        None where the defect vanishes.
    """

    affected: LivenessResult
    lasso: ToldLasso | None
    repaired: LivenessResult | None

    @property
    def lengths(self) -> tuple[int, int]:
        """Steps of the stem, and of the cycle; none where the response holds."""
        return (0, 0) if self.lasso is None else (len(self.lasso.stem), len(self.lasso.cycle))


def find_lasso(question: LassoQuestion, report: Report | None = None) -> FoundLasso:
    """Search for a lasso in the affected profile, and see that the repaired one has none.

    Raises
    ------
    EvaluationError
        There is none where one should be, its cycle lacks a step that makes it this defect, or there is one where none
        should be.
    """
    affected = _asked(question, question.profile, report)
    lasso = affected.rows[0].lasso
    _require(question, question.profile, affected, Verdict.HOLDS if question.vanishes else Verdict.VIOLATED)
    if lasso is None:
        return FoundLasso(affected, None, None)
    round_it = [event.step for event in lasso.cycle]
    missing = first_step_missing(round_it * 2, question.shows)
    if missing is not None:
        msg = (
            f"the cycle in which {question.response} never comes in {question.world(question.profile)} has no step "
            f"{missing!r} where it is expected; in order it should show {', '.join(question.shows)}"
        )
        raise EvaluationError(msg)
    repaired = _asked(question, question.repaired_in, report)
    _require(question, question.repaired_in, repaired, Verdict.HOLDS)
    return FoundLasso(affected, lasso, repaired)


def engines_that_agree(question: LassoQuestion, found: FoundLasso) -> tuple[str, ...]:
    """The engines that agree on the verdicts; networkx is asked of each profile that has few states.

    Raises
    ------
    EvaluationError
        It says something else.
    """
    results = [(found.affected, Verdict.HOLDS if found.lasso is None else Verdict.VIOLATED)]
    if found.repaired is not None:
        results.append((found.repaired, Verdict.HOLDS))
    if any(result.distinct > NETWORKX_STATES for result, _ in results):
        return ("numba",)
    (response,) = chosen_responses(TRANSACTIONAL_MESSAGES, [question.response])
    promises = [TRANSACTIONAL_MESSAGES.fairness[name] for name in response.under]
    for result, verdict in results:
        constants = constants_for(result.profile, result.faults, result.instance)
        graph, _ = compiled_graph(TRANSACTIONAL_MESSAGES, constants, [response])
        if has_a_fair_run(graph, response, promises) != (verdict is Verdict.VIOLATED):
            msg = f"{question.response} in {question.world(result.profile)}: networkx disagrees with {verdict.value}"
            raise EvaluationError(msg)
    return ("numba", "networkx")


def _asked(question: LassoQuestion, profile: str, report: Report | None) -> LivenessResult:
    asked = (question.response,)
    return check_responses(profile, question.faults, instance_of(question), properties=asked, report=report)


def instance_of(question: LassoQuestion) -> Instance:
    """The instance by its name, or from a file that is told as in the repository's folder."""
    if not question.instance.endswith(".toml"):
        return load_instance(question.instance)
    return replace(load_instance(str(Path(__file__).parents[2] / question.instance)), name=question.instance)


def _require(question: LassoQuestion, profile: str, result: LivenessResult, wanted: Verdict) -> None:
    (row,) = result.rows
    if row.verdict is not wanted:
        because = f": {row.reason}" if row.reason else ""
        msg = f"{question.response} is {row.verdict.value} in {question.world(profile)}, not {wanted.value}{because}"
        raise EvaluationError(msg)
