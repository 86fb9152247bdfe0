"""A defect is found where it is, and gone where it is repaired: two searches and what they must say."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any

from model_check.check import CheckResult, ClauseResult, Verdict, check
from model_check.errors import EvaluationError

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from model_check.counterexample.steps import Event
    from model_check.defects.catalogue import Search
    from model_check.explicit.exploration import Report


@dataclass(frozen=True, slots=True)
class Found:
    """What the two searches of a defect have found.

    Attributes
    ----------
    affected : CheckResult
        The search in the profile that has the defect, up to the depth at which it shows.
    violated : ClauseResult
        The clause in it, with the first shortest schedule.
    repaired : CheckResult or None
        The search in the profile that is rid of it, or on the instance that shows it later, if there is one.
    """

    affected: CheckResult
    violated: ClauseResult
    repaired: CheckResult | None

    @property
    def depth(self) -> int:
        """Steps of the shortest schedule."""
        return len(self.violated.path or ())

    @property
    def absence(self) -> str:
        """What the second search says: `holds`, the depth up to which it found nothing, or the later violation."""
        if self.repaired is None:
            return ""
        return absence(self.repaired)


def absence(repaired: CheckResult) -> str:
    """`holds` of a search of all reachable states; of one that was cut short, the depth up to which all were seen.

    The deepest level of such a search is not complete, those before it are. Of one that found a violation, its steps.
    """
    violated = [row.depth for row in repaired.clauses if row.depth is not None]
    if violated:
        return f"{min(violated)} steps on {repaired.instance.name}"
    return "holds" if repaired.complete else f"no violation in {repaired.depth - 1} steps"


def find(search: Search, *, engine: str = "numba", threads: int = 1, report: Report | None = None) -> Found:
    """Search for a defect in the affected profile and, if there is one, in the repaired profile or on `later_on`.

    Raises
    ------
    EvaluationError
        It is not found where it should be, its schedule lacks a step that makes it this defect, it is found where it
        should be gone, or no later where it should be found later.
    KeyboardInterrupt
        Ctrl-C ended a search.
    """
    ask = partial(ask_about, search, engine=engine, threads=threads, report=report)
    affected = ask(search.profile, search.instance, until_violated=True)
    if not affected.complete and not affected.is_violated:
        raise KeyboardInterrupt  # nothing else ends such a search
    violated = judge_affected(search, affected)
    repaired = None
    if search.repaired_in:
        repaired = ask(search.repaired_in, search.instance, most_states=search.most_states)
        if not repaired.complete and (search.most_states is None or repaired.distinct < search.most_states):
            raise KeyboardInterrupt
        judge_repaired(search, repaired, len(violated.path or ()))
    elif search.later_on:
        repaired = ask(search.profile, search.later_on, until_violated=True)
        if not repaired.complete and not repaired.is_violated:
            raise KeyboardInterrupt
        judge_later(search, repaired, len(violated.path or ()))
    return Found(affected, violated, repaired)


def ask_about(search: Search, profile: str, instance: str, **options: Any) -> CheckResult:
    """Ask for the clause of a search, with its faults, in a profile and an instance; options are those of `check`."""
    return check(profile, search.faults, instance, properties=(search.clause,), **options)


def judge_affected(search: Search, result: CheckResult) -> ClauseResult:
    """The violated clause in a search of the affected profile.

    Raises
    ------
    EvaluationError
        The clause is not violated, or the schedule lacks a step that makes it this defect.
    """
    found = clause_of(result, search.clause)
    if found.verdict is not Verdict.VIOLATED or found.replayed is None:
        extent = "all reachable states were seen" if result.complete else found.reason
        verdict = "holds" if found.verdict is Verdict.HOLDS else "is unknown"
        msg = f"{search.clause} {verdict} in {_world(search, search.profile)}, where it should be violated: {extent}"
        raise EvaluationError(msg)
    missing = first_step_missing(found.replayed.events, search.shows)
    if missing is not None:
        msg = (
            f"the shortest schedule that breaks {search.clause} in {_world(search, search.profile)} has no step "
            f"{missing!r} where it is expected; in order it should show {', '.join(search.shows)}"
        )
        raise EvaluationError(msg)
    return found


def judge_repaired(search: Search, result: CheckResult, depth: int) -> None:
    """See that a search of the repaired profile finds nothing, at least up to the depth of the defect.

    Raises
    ------
    EvaluationError
        It finds something, or it was cut short before that depth.
    """
    found = clause_of(result, search.clause)
    world = _world(search, search.repaired_in)
    if found.verdict is Verdict.VIOLATED:
        msg = f"{search.clause} is violated in {world} at depth {found.depth}, where it should hold"
        raise EvaluationError(msg)
    if not result.complete and result.depth <= depth:
        msg = (
            f"the search in {world} was cut short among {result.distinct:,} states, before the {depth} steps of the "
            f"defect: raise most_states"
        )
        raise EvaluationError(msg)


def judge_later(search: Search, result: CheckResult, depth: int) -> None:
    """See that the instance which should show the defect later does so, with more steps.

    Raises
    ------
    EvaluationError
        It does not show it, or with no more steps.
    """
    found = clause_of(result, search.clause)
    if found.depth is None or found.depth <= depth:
        shown = "not violated" if found.depth is None else f"violated at depth {found.depth}"
        msg = (
            f"{search.clause} is {shown} in {_world(search, search.profile, search.later_on)}, "
            f"where it should be violated behind depth {depth}"
        )
        raise EvaluationError(msg)


def clause_of(result: CheckResult, name: str) -> ClauseResult:
    """The result on one clause, by a name such as `S1.immune_half`."""
    return next(row for row in result.clauses if row.name == name)


def first_step_missing(events: Iterable[Event], shows: Sequence[str]) -> str | None:
    """The first of some steps that a schedule does not take behind those before it; none if it takes them all."""
    taken = iter(events)
    for wanted in shows:
        if not any(wanted in (event.step.action.name, str(event.step)) for event in taken):
            return wanted
    return None


def without_repair(search: Search) -> Search:
    """The same question about the affected profile only."""
    return replace(search, repaired_in="", later_on="")


def _world(search: Search, profile: str, instance: str = "") -> str:
    environment = f"with {', '.join(search.faults)}" if search.faults else "in the quiet world"
    return f"{profile} {environment} on {instance or search.instance}"
