"""S6, content fidelity: the message that is delivered is the one that was sent, whichever half of it was committed."""

from __future__ import annotations

from spec.constants import Constants
from spec.half import is_first_half
from spec.language import always, each, sometimes
from spec.state import Settled, State


@always("S6", clause="flag_of_a_copy", resembles=("B32",), h=each("half_slots"))
def a_copy_keeps_the_flag(s: State, c: Constants, h: int) -> bool:
    """No copy is committed that has lost the flag of its message.

    RocketMQ: TransactionalMessageBridge#renewHalfMessageInner sets everything but the flag.
    """
    return c.keeps_flag or s.half[h].settled != Settled.COMMITTED or is_first_half(s, h)


@sometimes("S6", h=each("half_slots"))
def a_first_half_is_committed(s: State, c: Constants, h: int) -> bool:
    """Some half is committed as its producer sent it."""
    return s.half[h].settled == Settled.COMMITTED and is_first_half(s, h)
