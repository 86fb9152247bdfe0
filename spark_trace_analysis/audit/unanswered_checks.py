"""Checks that a store counts and that nothing answers, by producer group."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable

    from spark_trace_analysis.audit.rules.transaction_row import TransactionRow

_NEVER_ASKED = "A09"


class UnansweredChecks(NamedTuple):
    """The checks of one group that no commit or rollback answers.

    Attributes
    ----------
    group
        The producer group.
    checks
        How many checks the last copies count; whether each reached a client, no store says.
    keys
        The unique keys of their transactions.
    received
        How many of the checks the producer's log beside the store has; None without one.
    """

    group: str
    checks: int
    keys: tuple[str, ...]
    received: int | None = None


def unanswered_checks(rows: Iterable[TransactionRow], received: frozenset[int] | None = None) -> list[UnansweredChecks]:
    """By group the checks of transactions that were neither delivered nor rolled back, in the order of the rows.

    Unknown ones are left out: their answer may be missing with the end of the log.

    Parameters
    ----------
    received
        The half queue offsets of the copies about which a client was asked, if a log beside the store says so.
    """
    found: dict[str, list[TransactionRow]] = {}
    for row in rows:
        is_answered = row.deliveries or row.op_offsets or row.unknown_cause is not None
        if row.checks and not is_answered and _NEVER_ASKED not in row.resembles:
            found.setdefault(row.group, []).append(row)
    return [
        UnansweredChecks(
            group,
            sum(row.checks for row in those),
            tuple(row.unique_key for row in those),
            None if received is None else sum(len(received & set(row.half_offsets)) for row in those),
        )
        for group, those in found.items()
    ]
