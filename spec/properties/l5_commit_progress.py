"""L5, commit progress: a commit that the producer sends of its own accord becomes visible without a check.

As a safety property: nothing keeps it from being carried out. One clause a reason.
"""

from __future__ import annotations

from spec.constants import Constants
from spec.language import always, each, sometimes
from spec.state import Direct, Local, State


@always("L5", clause="end_lost", resembles=("A05",), needs=("lose_end",), t=each("transactions"))
def no_commit_is_lost(s: State, c: Constants, t: int) -> bool:
    """No commit that a producer sends is lost: it is one-way, and nobody is told."""
    return s.transaction[t].direct != Direct.LOST


@always(
    "L5",
    clause="refused_late",
    resembles=("A58",),
    needs=("+refuses_late_end", "immunity", "slow_local or wrong_end or late_end or clock_skew or twin_send"),
    t=each("transactions"),
)
def no_commit_is_refused_as_late(s: State, c: Constants, t: int) -> bool:
    """No commit that a producer sends is refused as late, which the producer never learns."""
    return s.transaction[t].direct != Direct.LATE


@always(
    "L5",
    clause="refused",
    resembles=("A48", "A49", "B41"),
    needs=("put_failure or undecodable_half or power_loss or role_change or acting_slave or retention or proxy",),
    t=each("transactions"),
)
def no_commit_is_refused(s: State, c: Constants, t: int) -> bool:
    """No commit that a producer sends is refused: by a slave, by a proxy, or as nothing can be read or stored."""
    return s.transaction[t].direct != Direct.REFUSED


@always("L5", clause="never_run", resembles=("A37",), needs=("bad_store_status",), t=each("transactions"))
def a_stored_half_has_its_local_transaction_run(s: State, c: Constants, t: int) -> bool:
    """No half is stored whose producer rolls it back without having run the local transaction."""
    return s.transaction[t].local != Local.NEVER_RUN


@sometimes("L5", t=each("transactions"))
def a_commit_is_delivered_without_a_check(s: State, c: Constants, t: int) -> bool:
    """Some transaction is delivered, and its half was never put back."""
    return s.transaction[t].deliveries == 1 and s.transaction[t].first_half == s.half_length - 1
