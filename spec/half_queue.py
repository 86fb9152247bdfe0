"""Writing to the half queue: a first half, or a put-back copy of an earlier one."""

from __future__ import annotations

from spec.constants import Constants
from spec.language import within
from spec.state import State


def room_for_a_half(s: State, c: Constants) -> None:
    """The instance ends where its half queue is full."""
    within(s.half_length < c.half_slots, "the half queue of the instance has room")


def is_empty(s: State) -> bool:
    """No half was ever stored, as far as no power loss has taken it."""
    return s.half_length == 0 and not s.had_halves


def append_half(s: State, transaction: int, born_at: int) -> None:
    """RocketMQ: TransactionalMessageBridge#putHalfMessage, #putMessageReturnResult."""
    s.half[s.half_length].transaction = transaction
    s.half[s.half_length].born_at = born_at
    s.half[s.half_length].stored_at = s.now
    s.half_length += 1


def append_copy(s: State, c: Constants, h: int, checks: int) -> None:
    """A copy of half h at the end of the queue: the first birth, the properties that h carries, and `checks` more.

    RocketMQ: TransactionalMessageBridge#renewHalfMessageInner; TransactionalMessageServiceImpl#needDiscard has
    counted the check up before.
    """
    s.half[s.half_length].check_times = s.half[h].check_times + checks
    s.half[s.half_length].original = s.half[h].original
    s.half[s.half_length].burnt = s.half[h].burnt
    append_half(s, s.half[h].transaction, s.now if c.ages_from_storing else s.half[h].born_at)


def its_copy_is_there(s: State, c: Constants, h: int) -> bool:
    """A later half is a copy of half h, or of one that stands for it."""
    return s.half[h].copied_for_good or any(
        k > h and k < s.half_length and s.half[k].transaction == s.half[h].transaction for k in range(c.half_slots)
    )


def stored_halves(s: State, c: Constants, t: int) -> int:
    """The halves of the transaction, as far as no power loss has taken them: the first, copies, and twins."""
    return s.transaction[t].halves_gone + sum(
        h < s.half_length and s.half[h].transaction == t for h in range(c.half_slots)
    )
