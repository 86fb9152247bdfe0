"""The network between producer and broker: what may happen to an END_TRANSACTION or a check request under way.

Both are one-way requests: nobody learns of a loss.
"""

from __future__ import annotations

from spec.constants import Constants
from spec.language import action, assume, each, require
from spec.state import End, Settled, State


@action(event="message_lost", h=each("half_slots"))
def lose_end(s: State, c: Constants, h: int) -> None:
    """An END_TRANSACTION never arrives."""
    require(
        s.half[h].end == End.COMMIT or s.half[h].end == End.ROLLBACK, "an END_TRANSACTION for this half is under way"
    )
    assume(c.lose_end, "each END_TRANSACTION arrives")
    s.half[h].end = End.NONE


@action(event="message_lost", h=each("half_slots"))
def lose_check(s: State, c: Constants, h: int) -> None:
    """A check request never arrives, or no producer of the group answers it."""
    require(s.half[h].check_in_flight, "a check request for this copy is under way")
    assume(c.lose_check, "each check request arrives")
    s.half[h].check_in_flight = False


@action(event="end_sent", h=each("half_slots"))
def duplicate_end(s: State, c: Constants, h: int) -> None:
    """An END_TRANSACTION that was handled arrives a second time (A13)."""
    require(s.half[h].settled != Settled.NO, "an END_TRANSACTION for this half was handled")
    require(s.half[h].end == End.NONE, "none is under way")
    assume(c.duplicate_end, "each END_TRANSACTION arrives once")
    s.half[h].end = End.COMMIT if s.half[h].settled == Settled.COMMITTED else End.ROLLBACK
