"""S3, no wrong commit: the message that is delivered is one whose producer decided to commit it."""

from __future__ import annotations

from spec.constants import Constants
from spec.language import always, each, sometimes
from spec.state import Local, State


@always(
    "S3",
    clause="not_decided",
    resembles=("A36", "B10"),
    needs=("wrong_end or power_loss or retention",),
    t=each("transactions"),
)
def what_is_delivered_was_committed(s: State, c: Constants, t: int) -> bool:
    """No message is delivered whose local transaction is not committed."""
    return s.transaction[t].deliveries == 0 or s.transaction[t].local == Local.COMMIT


@sometimes("S3", t=each("transactions"))
def a_committed_transaction_is_delivered(s: State, c: Constants, t: int) -> bool:
    """Some transaction is committed and delivered once."""
    return s.transaction[t].deliveries == 1 and s.transaction[t].local == Local.COMMIT
