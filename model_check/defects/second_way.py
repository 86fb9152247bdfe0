"""A depth is believed when a second reading of the specification finds it, too."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from model_check.check import check
from model_check.defects.search import clause_of, find, without_repair
from model_check.errors import EvaluationError

if TYPE_CHECKING:
    from model_check.defects.catalogue import Search

CPYTHON_STATES: Final = 150_000
"""Up to so many states on the way to the violation the CPython reading searches them all again; it takes a minute."""


@dataclass(frozen=True, slots=True)
class Agreement:
    """The depth that the readings gave."""

    depth: int
    readings: tuple[str, ...]


def agreed_depth(search: Search, depth: int, states: int) -> Agreement:
    """Ask a second reading for the depth at which a search violates its clause.

    Parameters
    ----------
    depth, states
        What the compiled search found: steps of the shortest schedule, and states up to there.

    Raises
    ------
    EvaluationError
        The second reading finds another depth, or no violation.
    """
    second = second_reading(states)
    if second == "cpython":
        found = find(without_repair(search), reading=second).depth
    else:
        result = check(
            search.profile,
            search.faults,
            search.instance,
            properties=(search.clause,),
            reading=second,
            most_steps=depth,
        )
        found = clause_of(result, search.clause).depth or 0
    if found != depth:
        msg = f"{search.clause} on {search.instance}: numba finds depth {depth}, {second} finds {found or 'none'}"
        raise EvaluationError(msg)
    return Agreement(depth, ("numba", second))


def second_reading(states: int) -> str:
    """The reading that is asked again: CPython where the states on the way are few, else Z3.

    Examples
    --------
    >>> second_reading(20_000), second_reading(2_000_000)
    ('cpython', 'z3')
    """
    return "cpython" if states <= CPYTHON_STATES else "z3"
