"""Transactions that ended without a message and without a rollback, so that somebody must decide about them.

The store never says whether a local transaction was committed: each of these is to be sent again only if the producer's
database says so. None of them will be checked by the broker again, was delivered or was rolled back.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from spark_trace_analysis.audit.rules.state import TransactionState

if TYPE_CHECKING:
    from spark_trace_analysis.audit.rules.transaction_row import TransactionRow

DECIDED_BY_THE_DATABASE: Final = "the producer's database: send it again if the local transaction was committed"
"""The authority that decides; no record of a store can."""

_OVER: Final = {TransactionState.LOST, TransactionState.PARKED}

_ELSEWHERE_DECIDED: Final = {
    TransactionState.DOUBLED, TransactionState.DELIVERED, TransactionState.ROLLED_BACK,
    TransactionState.UNKNOWN, TransactionState.PENDING,
}  # fmt: skip
"""States with an outcome, or that may still get one by a check: an unknown one may be pending."""


def needs_a_decision(row: TransactionRow) -> bool:
    """Whether nobody will deliver or roll it back any more: lost, or parked and nothing besides.

    A parked one that is pending, too, or may be, has a copy that will be checked again (B16); one that was delivered
    before or after, or rolled back, has its outcome.
    """
    states = {row.state, *row.also}
    return bool(states & _OVER) and not states & _ELSEWHERE_DECIDED
