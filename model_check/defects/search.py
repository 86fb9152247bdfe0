"""A defect is found where it is, and gone where it is repaired: two searches and what they must say, by two engines."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any, Final

from model_check.check import CheckResult, ClauseResult, Verdict, check
from model_check.defects.resemblance import first_step_missing
from model_check.errors import EvaluationError

if TYPE_CHECKING:
    from model_check.defects.question import Search
    from model_check.explicit.exploration import Report

CPYTHON_STATES: Final = 300_000
"""Up to so many states the CPython engine searches them all again; it takes some minutes."""

ABSENT_STATES: Final = 90_000
"""The same where the defect is gone."""

Z3_STATES: Final = 10_000_000
"""With more states than this on the way, bounded model checking does not come to an end either."""


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
    ask = partial(_ask_about, search, engine=engine, threads=threads, report=report)
    affected = ask(search.profile, search.instance, until_violated=True)
    if not affected.complete and not affected.is_violated:
        raise KeyboardInterrupt  # nothing else ends such a search
    violated = _judge_affected(search, affected)
    repaired = None
    if search.repaired_in:
        repaired = ask(search.repaired_in, search.instance, most_states=search.most_states)
        if not repaired.complete and (search.most_states is None or repaired.distinct < search.most_states):
            raise KeyboardInterrupt
        _judge_repaired(search, repaired, len(violated.path or ()))
    elif search.later_on:
        repaired = ask(search.profile, search.later_on, until_violated=True)
        if not repaired.complete and not repaired.is_violated:
            raise KeyboardInterrupt
        _judge_later(search, repaired, len(violated.path or ()))
    return Found(affected, violated, repaired)


def readings_of_the_defect(search: Search, found: Found, most_states: int = CPYTHON_STATES) -> tuple[str, ...]:
    """The readings that agree on the depth of a defect: CPython where the states on the way are few, else Z3.

    CPython also has to find as many states up to that depth. Where the states are too many for both, CPython has only
    taken the schedule step by step (`replay`): that it is one is known in two ways, that none is shorter in one.

    Raises
    ------
    EvaluationError
        The second engine finds another depth, another number of states, or no violation.
    """
    if found.affected.distinct <= most_states:
        slow = find(without_repair(search), engine="cpython")
        theirs, ours = (_numbers(answer.depth, answer.affected) for answer in (slow, found))
        _agree(search, search.profile, "cpython", theirs, ours)
        return ("numba", "cpython")
    if found.affected.distinct > Z3_STATES:
        return ("numba", "replay")
    bounded = _ask_about(search, search.profile, search.instance, engine="z3", most_steps=found.depth)
    depth = clause_of(bounded, search.clause).depth
    _agree(search, search.profile, "z3", f"depth {depth}", f"depth {found.depth}")
    return ("numba", "z3")


def readings_of_the_absence(search: Search, found: Found, most_states: int = ABSENT_STATES) -> tuple[str, ...]:
    """The readings that agree that a defect is gone; CPython is asked where the repaired profile has few states.

    Raises
    ------
    EvaluationError
        CPython finds a violation, or another number of states.
    """
    if found.repaired is None:
        return ()
    if found.repaired.distinct > most_states or not (found.repaired.complete or found.repaired.is_violated):
        return ("numba",)
    profile, instance = search.repaired_in or search.profile, search.later_on or search.instance
    slow = _ask_about(search, profile, instance, engine="cpython", until_violated=True)
    depths = [clause_of(result, search.clause).depth for result in (slow, found.repaired)]
    theirs, ours = (_numbers(d, r) for d, r in zip(depths, (slow, found.repaired), strict=True))
    _agree(search, profile, "cpython", theirs, ours)
    return ("numba", "cpython")


def _ask_about(search: Search, profile: str, instance: str, **options: Any) -> CheckResult:
    """Ask for the clause of a search, with its faults, in a profile and an instance; options are those of `check`."""
    return check(profile, search.faults, instance, properties=(search.clause,), **options)


def _judge_affected(search: Search, result: CheckResult) -> ClauseResult:
    """The violated clause in a search of the affected profile.

    Raises
    ------
    EvaluationError
        The clause is not violated, or the schedule lacks a step that makes it this defect.
    """
    found = clause_of(result, search.clause)
    if found.verdict is not Verdict.VIOLATED:
        extent = "all reachable states were seen" if result.complete else found.reason
        verdict = "holds" if found.verdict is Verdict.HOLDS else "is unknown"
        msg = f"{search.clause} {verdict} in {search.world(search.profile)}, where it should be violated: {extent}"
        raise EvaluationError(msg)
    missing = first_step_missing(found.path or (), search.shows)
    if missing is not None:
        msg = (
            f"the shortest schedule that breaks {search.clause} in {search.world(search.profile)} has no step "
            f"{missing!r} where it is expected; in order it should show {', '.join(search.shows)}"
        )
        raise EvaluationError(msg)
    return found


def _judge_repaired(search: Search, result: CheckResult, depth: int) -> None:
    """See that a search of the repaired profile finds nothing, at least up to the depth of the defect.

    Raises
    ------
    EvaluationError
        It finds something, or it was cut short before that depth.
    """
    found = clause_of(result, search.clause)
    world = search.world(search.repaired_in)
    if found.verdict is Verdict.VIOLATED:
        msg = f"{search.clause} is violated in {world} at depth {found.depth}, where it should hold"
        raise EvaluationError(msg)
    if not result.complete and result.depth <= depth:
        msg = (
            f"the search in {world} was cut short among {result.distinct:,} states, before the {depth} steps of the "
            f"defect: raise most_states"
        )
        raise EvaluationError(msg)


def _judge_later(search: Search, result: CheckResult, depth: int) -> None:
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
            f"{search.clause} is {shown} in {search.world(search.profile, search.later_on)}, "
            f"where it should be violated behind depth {depth}"
        )
        raise EvaluationError(msg)


def clause_of(result: CheckResult, name: str) -> ClauseResult:
    """The result on one clause, by a name such as `S1.immune_half`."""
    return next(row for row in result.clauses if row.name == name)


def without_repair(search: Search) -> Search:
    """The same question about the affected profile only."""
    return replace(search, repaired_in="", later_on="")


def _numbers(depth: int | None, result: CheckResult) -> str:
    return f"depth {depth} among {result.distinct:,} states"


def _agree(search: Search, profile: str, engine: str, theirs: str, ours: str) -> None:
    if theirs != ours:
        msg = f"{search.clause} in {profile} on {search.instance}: numba finds {ours}, {engine} finds {theirs}"
        raise EvaluationError(msg)
