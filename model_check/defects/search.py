"""A defect is found where it is, and gone where it is repaired: two searches and what they must say, by two engines.

A defect that stops something for ever is a run without end where it is, and none where it is repaired; or it is none
anywhere, for a reason.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any, Final

from model_check.check import check
from model_check.defects.resemblance import first_step_missing
from model_check.engines import COMPILED, CPYTHON, Z3, Engine
from model_check.errors import EvaluationError
from model_check.finding import Finding, Holds, Verdict, Violated
from model_check.liveness.by_networkx import has_a_fair_run
from model_check.liveness.check import LivenessFinding, UnfoldedLasso, check_responses
from model_check.liveness.graph import compiled_graph
from model_check.question import Question
from spec.transactional_messages import TRANSACTIONAL_MESSAGES

if TYPE_CHECKING:
    from model_check.defects.catalogue import DefectSearch, LassoSearch
    from model_check.explicit.exploration import Report
    from model_check.world import World

CPYTHON_STATES: Final = 300_000
"""Up to so many states the CPython engine searches them all again; it takes some minutes."""

ABSENT_STATES: Final = 90_000
"""The same where the defect is gone."""

Z3_STATES: Final = 10_000_000
"""With more states than this on the way, bounded model checking does not come to an end either."""

NETWORKX_STATES: Final = 70_000
"""Up to so many states networkx decides them again; it takes a quarter of a minute."""


@dataclass(frozen=True, slots=True)
class FoundDefect:
    """The findings of the two searches of a defect."""

    affected: Finding
    """The search in the profile that has the defect, up to the depth at which it shows."""
    violated: Violated
    """The clause in it, with the first shortest schedule."""
    repaired: Finding | None
    """The search in the profile that is rid of it, or on the instance that shows it later, if there is one."""

    @property
    def depth(self) -> int:
        """Steps of the shortest schedule."""
        return self.violated.depth

    @property
    def absence(self) -> str:
        """The verdict of the second search: `holds`, the depth up to which it found nothing, or the later violation.

        `holds` of a search of all reachable states; of one that was cut short, the depth up to which all were seen: its
        deepest level is not complete, those before it are. Of one that found a violation, its steps.
        """
        if self.repaired is None:
            return ""
        violated, numbers = self.repaired.violated.values(), self.repaired.numbers
        if violated:
            return f"{min(row.depth for row in violated)} steps on {self.repaired.world.instance.name}"
        return "holds" if numbers.complete else f"no violation in {numbers.depth - 1} steps"


def find(
    search: DefectSearch, *, engine: Engine = COMPILED, threads: int = 1, report: Report | None = None
) -> FoundDefect:
    """Search for a defect in the affected profile and, if there is one, in the repaired profile or on `later_on`.

    Raises `EvaluationError` if it is not found where it should be, its schedule lacks a step that makes it this defect,
    it is found where it should be gone, or no later where it should be found later, and `KeyboardInterrupt` if Ctrl-C
    ended a search.
    """
    ask = partial(_ask_about, search, engine=engine, threads=threads, report=report)
    affected = ask(search.world, until=(search.clause,))
    if not affected.numbers.complete and not affected.violated:
        raise KeyboardInterrupt  # nothing else ends such a search
    violated = _violated_as_expected(search, affected)
    other = search.other_world
    if other is None:
        return FoundDefect(affected, violated, None)
    if search.repaired_in is not None:
        repaired = ask(other, most_states=search.most_states)
        states = repaired.numbers.distinct
        if not repaired.numbers.complete and (search.most_states is None or states < search.most_states):
            raise KeyboardInterrupt
        _require_repaired(search, repaired, violated.depth)
    else:
        repaired = ask(other, until=(search.clause,))
        if not repaired.numbers.complete and not repaired.violated:
            raise KeyboardInterrupt
        _require_later(search, repaired, violated.depth)
    return FoundDefect(affected, violated, repaired)


def engines_that_agree_on_its_depth(
    search: DefectSearch, found: FoundDefect, most_states: int = CPYTHON_STATES
) -> tuple[str, ...]:
    """The engines that agree on the depth of a defect: CPython where the states on the way are few, else Z3.

    CPython also has to find as many states up to that depth. Where the states are too many for both, CPython has only
    taken the schedule step by step (`replay`): that it is one is known in two ways, that none is shorter in one. Raises
    `EvaluationError` if the second engine finds another depth, another number of states, or no violation.
    """
    states = found.affected.numbers.distinct
    if states <= most_states:
        slow = find(without_repair(search), engine=CPYTHON)
        theirs, ours = (_numbers(one.depth, one.affected) for one in (slow, found))
        _require_agreement(search, search.world, CPYTHON, theirs, ours)
        return COMPILED.name, CPYTHON.name
    if states > Z3_STATES:
        return COMPILED.name, "replay"
    depth = _ask_about(search, search.world, engine=Z3, most_steps=found.depth)[search.clause].depth
    _require_agreement(search, search.world, Z3, f"depth {depth}", f"depth {found.depth}")
    return COMPILED.name, Z3.name


def engines_that_agree_on_its_absence(
    search: DefectSearch, found: FoundDefect, most_states: int = ABSENT_STATES
) -> tuple[str, ...]:
    """The engines that agree that a defect is gone; CPython is asked where the repaired profile has few states.

    Raises `EvaluationError` if CPython finds a violation, or another number of states.
    """
    repaired = found.repaired
    if repaired is None:
        return ()
    if repaired.numbers.distinct > most_states or not (repaired.numbers.complete or repaired.violated):
        return (COMPILED.name,)
    slow = _ask_about(search, repaired.world, engine=CPYTHON, until=(search.clause,))
    theirs, ours = (_numbers(one[search.clause].depth, one) for one in (slow, repaired))
    _require_agreement(search, repaired.world, CPYTHON, theirs, ours)
    return COMPILED.name, CPYTHON.name


def without_repair(search: DefectSearch) -> DefectSearch:
    """The same question about the affected profile only."""
    return replace(search, repaired_in=None, later_on=None)


def _ask_about(
    search: DefectSearch, world: World, *, engine: Engine, threads: int = 1, report: Report | None = None, **limits: Any
) -> Finding:
    """Ask for the clause of a search in a world; the limits are those of `Question`."""
    question = Question(world=world, clauses=(search.clause,), **limits)
    return check(question, engine, threads=threads, report=report)


def _violated_as_expected(search: DefectSearch, finding: Finding) -> Violated:
    """The violated clause in a search of the affected profile; its schedule has the steps that make it this defect."""
    row = finding[search.clause]
    if not isinstance(row, Violated):
        extent = "all reachable states were seen" if finding.numbers.complete else row.why
        verdict = "holds" if isinstance(row, Holds) else "is unknown"
        msg = f"{row.name} {verdict} in {search.world.title}, where it should be violated: {extent}"
        raise EvaluationError(msg)
    missing = first_step_missing(row.path, search.shows)
    if missing is not None:
        msg = (
            f"the shortest schedule that breaks {row.name} in {search.world.title} has no step {missing!r} where it is "
            f"expected; in order it should show {', '.join(search.shows)}"
        )
        raise EvaluationError(msg)
    return row


def _require_repaired(search: DefectSearch, finding: Finding, depth: int) -> None:
    """See that a search of the repaired profile finds nothing, at least up to the depth of the defect."""
    row, numbers = finding[search.clause], finding.numbers
    if isinstance(row, Violated):
        msg = f"{row.name} is violated in {finding.world.title} at depth {row.depth}, where it should hold"
        raise EvaluationError(msg)
    if not numbers.complete and numbers.depth <= depth:
        msg = (
            f"the search in {finding.world.title} was cut short among {numbers.distinct:,} states, before the {depth} "
            f"steps of the defect: raise most_states"
        )
        raise EvaluationError(msg)


def _require_later(search: DefectSearch, finding: Finding, depth: int) -> None:
    """See that the instance which should show the defect later does so, with more steps."""
    row = finding[search.clause]
    if row.depth is None or row.depth <= depth:
        shown = "not violated" if row.depth is None else f"violated at depth {row.depth}"
        msg = f"{row.name} is {shown} in {finding.world.title}, where it should be violated behind depth {depth}"
        raise EvaluationError(msg)


def _numbers(depth: int | None, finding: Finding) -> str:
    return f"depth {depth} among {finding.numbers.distinct:,} states"


def _require_agreement(search: DefectSearch, world: World, engine: Engine, theirs: str, ours: str) -> None:
    if theirs != ours:
        where = f"{search.subject} in {world.profile} on {search.world.instance.name}"
        msg = f"{where}: {COMPILED.name} finds {ours}, {engine.name} finds {theirs}"
        raise EvaluationError(msg)


@dataclass(frozen=True, slots=True)
class FoundLasso:
    """The findings in the affected profile, and in the repaired one if there is one."""

    affected: LivenessFinding
    lasso: UnfoldedLasso | None
    """None where the defect vanishes."""
    repaired: LivenessFinding | None

    @property
    def lengths(self) -> tuple[int, int]:
        """Steps of the stem, and of the cycle; none where the response holds."""
        return (0, 0) if self.lasso is None else (len(self.lasso.stem), len(self.lasso.cycle))


def find_lasso(search: LassoSearch, report: Report | None = None) -> FoundLasso:
    """Search for a lasso in the affected profile, and see that the repaired one has none.

    Raises `EvaluationError` if there is none where one should be, its cycle lacks a step that makes it this defect, or
    there is one where none should be.
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


def engines_that_agree_on_the_lasso(search: LassoSearch, found: FoundLasso) -> tuple[str, ...]:
    """The engines that agree on the verdicts; networkx is asked of each profile that has few states.

    Raises `EvaluationError` if it says something else.
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
    """The finding in a world, where the verdict is the one that is wanted."""
    result = check_responses([world], [search.response], report=report)
    (row,) = result.rows
    if row.verdict is not wanted:
        because = f": {row.why}" if row.why else ""
        msg = f"{search.subject} is {row.verdict.value} in {world.title}, not {wanted.value}{because}"
        raise EvaluationError(msg)
    return result
