"""S2, decision agreement: no transaction is both delivered and rolled back, with an acknowledgement, or discarded."""

from __future__ import annotations

from spec.constants import Constants
from spec.language import always, each, sometimes
from spec.state import RolledBack, State


@always(
    "S2",
    clause="commit_after_rollback",
    resembles=("A12", "B59"),
    needs=("slow_local or wrong_end or power_loss or retention or shared_topic",),
    t=each("transactions"),
)
def a_rolled_back_transaction_is_never_delivered(s: State, c: Constants, t: int) -> bool:
    """A transaction whose rollback was acknowledged before any delivery is never delivered."""
    return not (s.transaction[t].rolled_back == RolledBack.UNDELIVERED and s.transaction[t].deliveries > 0)


@always(
    "S2",
    clause="rollback_after_commit",
    resembles=("A12", "B59"),
    needs=("slow_local or wrong_end or power_loss or retention or shared_topic",),
    t=each("transactions"),
)
def a_delivered_transaction_is_never_rolled_back(s: State, c: Constants, t: int) -> bool:
    """No rollback is acknowledged for a transaction that was delivered."""
    return s.transaction[t].rolled_back != RolledBack.DELIVERED


@always("S2", clause="commit_after_discard", resembles=("A14",), needs=("+keeps_discarded",), t=each("transactions"))
def a_discarded_transaction_is_not_delivered(s: State, c: Constants, t: int) -> bool:
    """A transaction that lay in the discard topic before any delivery is never delivered."""
    return not s.transaction[t].committed_aside


@sometimes("S2", t=each("transactions"))
def a_rollback_is_acknowledged(s: State, c: Constants, t: int) -> bool:
    """Some rollback is acknowledged."""
    return s.transaction[t].rolled_back != RolledBack.NO
