"""Reading the op queue in a round: which halves are settled, and which op messages are done.

RocketMQ: TransactionalMessageServiceImpl#fillOpRemoveMap, #calculateOpOffset.
"""

from __future__ import annotations

from spec.constants import Constants
from spec.half_queue import half_offset
from spec.language import NONE, Bits
from spec.roles import is_master
from spec.state import Pull, State


def op_offset(s: State) -> int:
    """Where a round begins to read: at the op offset, or at the lower end of the queue if none was ever committed.

    RocketMQ: TransactionalMessageBridge#fetchConsumeOffset.
    """
    return s.lower_end.ops if s.offsets.op == 0 and not s.had_ops else s.offsets.op


def is_settled_by_an_op(s: State, h: int) -> bool:
    """removeMap has the half: an op message that was pulled in this round names it."""
    return s.round.removed_by[h] != NONE


def original_is_settled(s: State, h: int) -> bool:
    """removeMap has the offset that an immunity put-back wrote down (TRAN_PREPARED_QUEUE_OFFSET)."""
    return s.half[h].original != NONE and s.round.removed_by[s.half[h].original] != NONE


def pull_throws(s: State, c: Constants, first: int) -> bool:
    """An op message that such a pull would read cannot be decoded, and that ends the round.

    RocketMQ 4.5.1: TransactionalMessageBridge#decodeMsgList leaves a null in the list. Later versions leave it out.
    """
    return (
        c.undecodable_throws
        and not c.skips_undecodable_ops
        and first >= s.lower_end.ops
        and any(is_read_from(s, c, o, first) and s.op[o].undecodable for o in range(c.op_slots))
    )


def is_read_from(s: State, c: Constants, o: int, first: int) -> bool:
    """Such a pull reads op message o. What retention has deleted is left out, and more is read for it.

    RocketMQ: DefaultMessageStore#getMessage.
    """
    begin = max(first, s.gone.ops)
    return o >= begin and o < begin + c.op_pull_size and o < s.op_length


def has_nothing_for(s: State, offset: int) -> bool:
    """The offset lies below the lower end of the op queue, or retention has deleted all that stands from it on."""
    return offset < s.lower_end.ops or (offset < s.op_length and s.gone.ops == s.op_length)


def pull_op_messages(s: State, c: Constants) -> None:
    """Read up to `op_pull_size` op messages from `next_op` on, and enter the halves that they name into removeMap.

    A name below the half offset at which the round began counts as settled long ago, whatever became of the copies made
    since (A11, B01). An op message with no other name is done at once. 4.5.1 takes a pull exactly at the end of the
    queue for an illegal offset and commits the op offset to the end (A02). An offset beyond the end is illegal in every
    version, and corrected to the end or, up to 4.9.3, to the beginning (B15). So is one of which retention has left
    nothing, to what is left: that pull looks like the end of the op queue (B44).
    """
    s.round.last_pull = what_a_pull_gives(s, c, s.round.next_op)
    if has_nothing_for(s, s.round.next_op) and not is_empty_op_queue(s):
        follow_op_queue(s, c)
    elif s.round.next_op > s.op_length:
        correct_op_offset(s, c)
    else:
        if c.op_end_commits_offset and s.round.next_op == s.op_length:
            s.offsets.op = s.op_length
        read_op_messages(s, c, s.round.next_op, c.op_pull_size)


def read_op_messages(s: State, c: Constants, first: int, most: int) -> None:
    """Enter the names of the op messages from `first` on that are there, so many at most, if they can be decoded."""
    begin = max(first, s.gone.ops)
    for o in range(c.op_slots):
        if begin <= o and o < begin + most and o < s.op_length:
            if not s.op[o].undecodable:
                for h in range(c.half_slots):
                    if s.op[o].names.has(h) and is_of_interest(s, c, h):
                        s.round.removed_by[h] = o
                        s.pulled_op[o].unresolved.add(h)
                if s.pulled_op[o].unresolved.is_empty():
                    mark_done(s, o)
            elif c.skips_undecodable_ops:
                mark_done(s, o)
            s.round.next_op = o + 1


def what_a_pull_gives(s: State, c: Constants, first: int) -> Pull:
    """Messages, none as the queue is at its end, or only such as cannot be decoded."""
    if first >= s.op_length or has_nothing_for(s, first):
        return Pull.END
    if c.skips_undecodable_ops or any(
        is_read_from(s, c, o, first) and not s.op[o].undecodable for o in range(c.op_slots)
    ):
        return Pull.FOUND
    return Pull.UNREADABLE


def correct_op_offset(s: State, c: Constants) -> None:
    """The op offset lies beyond the end of its queue: nothing is read, and the store says where to go on.

    RocketMQ: DefaultMessageStore#getMessage, OFFSET_OVERFLOW_BADLY: the offset is committed there, while the round goes
    on counting from the old one (B44). An empty queue has no new message, and commits nothing.
    """
    goes_back = c.rewinds_beyond_end and s.lower_end.ops == 0
    if not is_empty_op_queue(s):
        s.offsets.op = 0 if goes_back else s.op_length
    s.round.next_op = 0 if goes_back else s.op_length


def is_empty_op_queue(s: State) -> bool:
    """No op message was ever stored, as far as no power loss has taken it."""
    return s.op_length == 0 and not s.had_ops


def follow_op_queue(s: State, c: Constants) -> None:
    """The store says where to go on: at the lower end, or behind all entries. That offset is committed at once.

    RocketMQ: TransactionalMessageServiceImpl#fillOpRemoveMap, OFFSET_TOO_SMALL and MESSAGE_WAS_REMOVING. The store of a
    slave leaves an offset below the lower end as it is (DefaultMessageStore#nextOffsetCorrection).
    """
    if s.round.next_op >= s.lower_end.ops:
        s.round.next_op = s.op_length
    elif is_master(s) or c.corrects_offsets_on_slave:
        s.round.next_op = s.lower_end.ops
    s.offsets.op = s.round.next_op


def is_of_interest(s: State, c: Constants, h: int) -> bool:
    """The round may still meet the half, or a copy that remembers it where that counts (the repair of B01)."""
    return is_to_be_met(s, c, h) or (
        c.heeds_settled_originals
        and any(is_to_be_met(s, c, k) and k < s.half_length and s.half[k].original == h for k in range(c.half_slots))
    )


def is_to_be_met(s: State, c: Constants, h: int) -> bool:
    """The round began at half h or before it; one that knows settled transactions has not passed it yet, either."""
    return h >= half_offset(s) and (not c.settles_once or h >= s.round.cursor)


def last_op_pulled_came_late(s: State, c: Constants) -> bool:
    """The last op message of the last pull was born so long after the round's start that ops may lag behind."""
    return any(o + 1 == s.round.next_op and s.op[o].born_at - s.round.started_at > c.timeout for o in range(c.op_slots))


def settle_by_op(s: State, c: Constants, h: int) -> None:
    """Half h leaves removeMap. Its op is done: at once in 4.9, with its last half from 5.1 on, never in 4.5.1 (A03)."""
    o = s.round.removed_by[h]
    s.pulled_op[o].unresolved.discard(h)
    if c.marks_op_done_on_hit and (not c.batches_ops or s.pulled_op[o].unresolved.is_empty()):
        mark_done(s, o)
    s.round.removed_by[h] = NONE


def mark_done(s: State, o: int) -> None:
    """The op message joins the list of those that are done, be it for the second time."""
    if s.round.done.has(o):
        s.round.done_twice.add(o)
    else:
        s.round.done.add(o)


def is_done(s: State, c: Constants, o: int) -> bool:
    """The list has the op message; one that cannot be decoded may name any half that stands before it in the log."""
    may_name_a_half_ahead = c.skips_undecodable_ops and s.op[o].undecodable and s.op[o].halves_before > s.round.cursor
    return s.round.done.has(o) and not may_name_a_half_ahead


def op_offset_after_round(s: State, c: Constants) -> int:
    """The first op offset, from where the round began to read, that is not done, or that follows one listed twice.

    RocketMQ: TransactionalMessageServiceImpl#calculateOpOffset walks the sorted list and stops at a repeated entry, and
    at one below its start.
    """
    return s.round.first_op + sum(
        o >= s.round.first_op
        and all(
            is_done(s, c, i) == (i >= s.round.first_op) and (i == o or not s.round.done_twice.has(i))
            for i in range(o + 1)
        )
        for o in range(c.op_slots)
    )


def op_offset_to_commit(s: State, c: Constants) -> int:
    """The same, or before an op message of another transaction that is not done (`spec.chapters.others`)."""
    after = op_offset_after_round(s, c)
    return min(after, s.round.held - 1) if c.crowded == 1 and s.round.held != 0 else after


def forget_ops(s: State, c: Constants) -> None:
    """The round is over: its memory of op messages is gone."""
    s.round.first_op = 0
    s.round.next_op = 0
    s.round.last_pull = Pull.FOUND
    s.round.pulls_nothing = False
    s.round.done = Bits()
    s.round.done_twice = Bits()
    s.round.held = 0
    for h in range(c.half_slots):
        s.round.removed_by[h] = NONE
    for o in range(c.op_slots):
        s.pulled_op[o].unresolved = Bits()


def names_it_from(s: State, c: Constants, h: int, first: int) -> bool:
    """Some op message at offset `first` or later names half h."""
    return any(o >= first and o < s.op_length and s.op[o].names.has(h) for o in range(c.op_slots))
