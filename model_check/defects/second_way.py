"""What a search found is believed when a second engine finds it, too."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from model_check.defects.search import ask_about, clause_of, find, without_repair
from model_check.errors import EvaluationError

if TYPE_CHECKING:
    from model_check.check import CheckResult
    from model_check.defects.catalogue import Search
    from model_check.defects.search import Found

CPYTHON_STATES: Final = 300_000
"""Up to so many states the CPython engine searches them all again; it takes some minutes."""

ABSENT_STATES: Final = 90_000
"""The same where the defect is gone."""

Z3_STATES: Final = 10_000_000
"""With more states than this on the way, bounded model checking does not come to an end either."""


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
    bounded = ask_about(search, search.profile, search.instance, engine="z3", most_steps=found.depth)
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
    slow = ask_about(search, profile, instance, engine="cpython", until_violated=True)
    depths = [clause_of(result, search.clause).depth for result in (slow, found.repaired)]
    theirs, ours = (_numbers(d, r) for d, r in zip(depths, (slow, found.repaired), strict=True))
    _agree(search, profile, "cpython", theirs, ours)
    return ("numba", "cpython")


def _numbers(depth: int | None, result: CheckResult) -> str:
    return f"depth {depth} among {result.distinct:,} states"


def _agree(search: Search, profile: str, engine: str, theirs: str, ours: str) -> None:
    if theirs != ours:
        msg = f"{search.clause} in {profile} on {search.instance}: numba finds {ours}, {engine} finds {theirs}"
        raise EvaluationError(msg)
