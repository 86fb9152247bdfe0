"""What became of a transaction, as far as anybody can know."""

from __future__ import annotations

from spec.state import Local, RolledBack, State


def is_settled(s: State, t: int) -> bool:
    """It was delivered, rolled back, put aside or sent to another broker."""
    return (
        s.transaction[t].deliveries > 0
        or s.transaction[t].rolled_back != RolledBack.NO
        or s.transaction[t].parked
        or s.transaction[t].escaped > 0
    )


def has_an_outcome(s: State, t: int) -> bool:
    """It is settled, and a rollback of what its producer has committed does not count."""
    return (
        s.transaction[t].deliveries > 0
        or s.transaction[t].parked
        or s.transaction[t].escaped > 0
        or (s.transaction[t].rolled_back != RolledBack.NO and s.transaction[t].local != Local.COMMIT)
    )
