"""The half queue: what is written to it, a first half or a put-back copy, and what a read at an offset gives."""

from __future__ import annotations

from spec.constants import Constants
from spec.language import within
from spec.state import Left, State


def room_for_a_half(s: State, c: Constants) -> None:
    """The instance ends where its half queue is full."""
    within(s.half_length < c.half_slots, "the half queue of the instance has room")


def is_empty(s: State) -> bool:
    """No half was ever stored, as far as no power loss has taken it."""
    return s.half_length == 0 and not s.had_halves


def half_offset(s: State) -> int:
    """Where a round begins: at the half offset, or at the lower end of the queue as long as none was ever committed.

    RocketMQ: TransactionalMessageBridge#fetchConsumeOffset. No round commits the offset 0.
    """
    return s.lower_end.halves if s.offsets.half == 0 and not s.had_halves else s.offsets.half


def pass_over(s: State, c: Constants, first: int, end: int) -> None:
    """Ghost: a round leaves out halves that are there, from `first` on to `end`."""
    for h in range(c.half_slots):
        is_there = h >= s.gone.halves and h < s.half_length
        if is_there and h >= first and h < end and s.half[h].left == Left.NO:
            s.half[h].left = Left.PASSED_OVER


def is_half_given(s: State) -> bool:
    """The store gives a half for the cursor: the one that stands there, or a later one that retention has left.

    RocketMQ: DefaultMessageStore#getMessage goes on behind an entry whose record is gone, up to one whose record is
    there, and answers FOUND. It looks at 16,000 bytes of entries at most (maxFilterMessageSize): 800 halves.
    """
    return s.round.cursor >= s.lower_end.halves and s.gone.halves < s.half_length


def half_read(s: State) -> int:
    """The half that the store gives for the cursor, where it gives one."""
    return max(s.round.cursor, s.gone.halves)


def find_lower_ends(s: State, c: Constants) -> None:
    """A broker that starts looks for the lower ends; where nothing is left of a queue, it stays at 0 (#8753).

    RocketMQ: DefaultMessageStore#recoverTopicQueueTable.
    """
    s.lower_end.halves = s.gone.halves if s.gone.halves < s.half_length or c.lower_end_passes_all else 0
    s.lower_end.ops = s.gone.ops if s.gone.ops < s.op_length or c.lower_end_passes_all else 0


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
