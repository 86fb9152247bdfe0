"""L2, full budget: a half is discarded only after as many checks as `transactionCheckMax` says were really sent."""

from __future__ import annotations

from spec.chapters.end_transaction import was_checked
from spec.constants import Constants
from spec.language import always, each, sometimes
from spec.state import Budget, State


@always("L2", clause="immunity_burns_checks", resembles=("A09",), needs=("immunity",), t=each("transactions"))
def a_half_is_discarded_after_all_its_checks(s: State, c: Constants, t: int) -> bool:
    """No half is discarded whose checks were counted for put-backs that sent none."""
    return s.transaction[t].discarded != Budget.BURNT_BY_IMMUNITY


@always("L2", clause="never_asked", resembles=("A09",), needs=("immunity",), t=each("transactions"))
def a_half_is_discarded_after_some_check(s: State, c: Constants, t: int) -> bool:
    """No half is discarded whose checks were all counted for put-backs that sent none."""
    return s.transaction[t].discarded != Budget.BURNT_BY_IMMUNITY or was_checked(s, c, t)


@always(
    "L2",
    clause="nobody_to_ask",
    resembles=("A35", "B19", "B52"),
    needs=("offline_producer or restarted_producer or graceful_stop or restart_proxy",),
    t=each("transactions"),
)
def a_half_is_discarded_after_its_producer_was_asked(s: State, c: Constants, t: int) -> bool:
    """No half is discarded whose checks were counted while no producer was connected."""
    return s.transaction[t].discarded != Budget.NOBODY_TO_ASK


@always("L2", clause="preset_checks", resembles=("B26",), needs=("preset_checks",), t=each("transactions"))
def a_half_is_discarded_after_checks_of_its_own(s: State, c: Constants, t: int) -> bool:
    """No half is discarded for checks that its producer claimed when it sent it."""
    return s.transaction[t].discarded != Budget.PRESET


@always("L2", clause="over_age", resembles=("A21", "B45"), needs=("reserved_time",), t=each("transactions"))
def a_half_is_not_discarded_for_its_age(s: State, c: Constants, t: int) -> bool:
    """No half is discarded with checks left as it seems older than `fileReservedTime`."""
    return s.transaction[t].discarded != Budget.OVER_AGE


@always(
    "L2", clause="old_on_arrival", resembles=("A21",), needs=("clock_skew", "reserved_time"), t=each("transactions")
)
def a_half_is_not_discarded_as_it_arrives(s: State, c: Constants, t: int) -> bool:
    """No half is discarded as older than `fileReservedTime` the moment that its producer's send has stored it."""
    return s.transaction[t].discarded != Budget.OLD_ON_ARRIVAL


@sometimes("L2", t=each("transactions"))
def a_half_is_discarded_with_its_budget_spent(s: State, c: Constants, t: int) -> bool:
    """Some half is discarded after all its checks were sent."""
    return s.transaction[t].discarded == Budget.SPENT
