"""L2, full budget: a half is discarded only after as many checks as `transactionCheckMax` says were really sent."""

from __future__ import annotations

from spec.constants import Constants
from spec.language import always, each, sometimes
from spec.state import Budget, State


@always("L2", clause="immunity_burns_checks", resembles=("A09",), t=each("transactions"))
def a_half_is_discarded_after_all_its_checks(s: State, c: Constants, t: int) -> bool:
    """No half is discarded whose checks were counted for put-backs that sent none."""
    return s.transaction[t].discarded != Budget.BURNT


@sometimes("L2", t=each("transactions"))
def a_half_is_discarded_with_its_budget_spent(s: State, c: Constants, t: int) -> bool:
    """Some half is discarded after all its checks were sent."""
    return s.transaction[t].discarded == Budget.SPENT
