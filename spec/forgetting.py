"""What nothing can ever ask about again is forgotten, so that runs of any length have finitely many states.

Mark and sweep. What can act is alive, and so is what it refers to; the rest goes, what stands behind it moves up, and
the place of a transaction that is over is free for a new one. What may still be asked of the dead is noted before they
go. Properties are judged before anything is forgotten. RocketMQ knows nothing of this: its queues only grow.
"""

from __future__ import annotations

from spec.constants import Constants
from spec.ghosts import has_an_outcome
from spec.language import NONE, Bits, remove
from spec.state import End, Left, Local, Settled, State


def forget(s: State, c: Constants) -> None:
    """Mark what is dead before anything is taken out: nothing that is dead keeps anything else alive."""
    if c.forgets == 1:
        halves = Bits.of(h for h in range(c.half_slots) if is_dead_half(s, c, h))
        ops = Bits.of(o for o in range(c.op_slots) if is_dead_op(s, c, o, halves))
        transactions = Bits.of(t for t in range(c.transactions) if is_dead_transaction(s, c, t, halves))
        if not (halves.is_empty() and ops.is_empty() and transactions.is_empty()):
            note_all(s, c, halves, ops)
            take_out(s, c, halves, ops, transactions)


def note_all(s: State, c: Constants, halves: Bits, ops: Bits) -> None:
    """What may still be asked of all that is to go."""
    s.had_halves = s.had_halves or not halves.is_empty()
    s.had_ops = s.had_ops or not ops.is_empty()
    for h in range(c.half_slots):
        if halves.has(h):
            note_what_was(s, c, h)


def take_out(s: State, c: Constants, halves: Bits, ops: Bits, transactions: Bits) -> None:
    """Take these places out, each kind from the last on, so that those before it stay where they are."""
    for i in range(c.half_slots):
        if halves.has(c.half_slots - 1 - i):
            remove(s.half, c.half_slots - 1 - i)
    for i in range(c.op_slots):
        if ops.has(c.op_slots - 1 - i):
            remove(s.op, c.op_slots - 1 - i)
    for i in range(c.transactions):
        if transactions.has(c.transactions - 1 - i):
            remove(s.transaction, c.transactions - 1 - i)


# --- halves -----------------------------------------------------------------------------------------------------------


def is_dead_half(s: State, c: Constants, h: int) -> bool:
    """The half is stored, nothing can act on it, and nothing that can act refers to it."""
    return h < s.half_length and not acts(s, c, h) and not is_referred_to(s, c, h)


def acts(s: State, c: Constants, h: int) -> bool:
    """A round may come to the half, something that names it is on its way, or a proxy knows it."""
    return (
        may_be_read(s, c, h)
        or s.half[h].end != End.NONE
        or s.half[h].check_in_flight
        or s.batch.names.has(h)
        or (c.proxies > 0 and s.half[h].known_to > 0)
    )


def may_be_read(s: State, c: Constants, h: int) -> bool:
    """A round may come to the half, now or when something has gone wrong."""
    return is_ahead(s, c, h) or may_be_named_again(s, c, h) or may_be_lost(s, c, h)


def is_ahead(s: State, c: Constants, h: int) -> bool:
    """Not below the half offset, in memory and in the file, nor behind the cursor of a round that went back."""
    return h >= s.offsets.half or h >= s.saved.half or (s.round.running and h >= s.round.cursor)


def may_be_named_again(s: State, c: Constants, h: int) -> bool:
    """A fault can make something of a half that all rounds have passed."""
    has_mishaps = s.mishaps < c.mishaps
    has_stray_ends = s.stray_ends < c.stray_ends
    lies_aside = (
        s.half[h].left == Left.KEPT_ASIDE or s.half[h].left == Left.SETTLED_ASIDE or s.half[h].left == Left.RESUMED
    )
    lowest = min(s.offsets.half, s.saved.half)
    names_halves = c.resume_discarded or ((c.duplicate_end or c.wrong_end) and has_stray_ends)
    if c.reach != NONE:  # all that stand so near, or others would come nearer
        return (c.offset_regression and has_mishaps and h + c.farthest_reach >= lowest) or (
            names_halves and h + c.reach >= lowest
        )
    return (
        (c.offset_regression and has_mishaps)
        or (c.resume_discarded and lies_aside)
        or (c.duplicate_end and has_stray_ends and s.half[h].settled != Settled.NO)
        or (c.wrong_end and has_stray_ends)
    )


def may_be_lost(s: State, c: Constants, h: int) -> bool:
    """A power loss can take the half, the copy for which it was passed or its op, or set an offset to the beginning."""
    was_copied = s.half[h].left == Left.FOR_CHECK or s.half[h].left == Left.FOR_IMMUNITY
    return c.power_loss and (
        c.rewinds_beyond_end
        or (
            s.mishaps < c.mishaps
            and (
                h >= s.flushed.halves
                or (was_copied and not has_a_lasting_copy(s, c, h))
                or any(o >= s.flushed.ops and s.op[o].names.has(h) for o in range(c.op_slots))
            )
        )
    )


def has_a_lasting_copy(s: State, c: Constants, h: int) -> bool:
    """A later half of the transaction was flushed."""
    return s.half[h].copied_for_good or any(
        k > h and k < s.flushed.halves and s.half[k].transaction == s.half[h].transaction for k in range(c.half_slots)
    )


def is_referred_to(s: State, c: Constants, h: int) -> bool:
    """It is the first half of a transaction that goes on, or a round may ask whether it is settled, for another one."""
    return any(s.transaction[t].first_half == h and goes_on(s, c, t) for t in range(c.transactions)) or any(
        s.half[k].original == h and k < s.half_length and may_be_read(s, c, k) for k in range(c.half_slots)
    )


def goes_on(s: State, c: Constants, t: int) -> bool:
    """Its local transaction runs, a half of it waits elsewhere, or something can act on a half of it."""
    return (
        s.transaction[t].local == Local.EXECUTING
        or s.transaction[t].escaped > 0
        or any(s.half[h].transaction == t and h < s.half_length and acts(s, c, h) for h in range(c.half_slots))
    )


def note_what_was(s: State, c: Constants, h: int) -> None:
    """What may be asked of a half that is to be forgotten, for its transaction and for its earlier halves."""
    t = s.half[h].transaction
    if s.transaction[t].halves_gone < c.most_gone:
        s.transaction[t].halves_gone += 1
    if s.half[h].left == Left.FOR_CHECK:
        s.transaction[t].checked_before = True
    if s.half[h].left == Left.RESUMED:
        s.transaction[t].resumed_before = True
    if s.half[h].settled == Settled.NO:
        if s.half[h].left == Left.DROPPED:
            s.transaction[t].dropped_before = True
        elif s.half[h].left in (Left.NO, Left.PASSED_OVER, Left.SKIPPED_BY_EXCEPTION):
            s.transaction[t].unseen_before = True
        elif s.half[h].left == Left.COPY_LOST:
            s.transaction[t].copy_lost_before = True
        elif s.half[h].left == Left.GIVEN_UP:
            s.transaction[t].given_up_before = True
    for k in range(c.half_slots):
        if k < h and s.half[k].transaction == t:
            s.half[k].copied_for_good = True


# --- op messages ------------------------------------------------------------------------------------------------------


def is_dead_op(s: State, c: Constants, o: int, halves: Bits) -> bool:
    """All offsets have passed the op message, it names dead halves only, and no fault brings it back."""
    is_ahead_of_the_round = s.round.running and (o >= s.round.first_op or o >= s.round.next_op)
    is_within_reach = c.reach == NONE or o + c.farthest_reach >= min(s.offsets.op, s.saved.op)
    comes_back = (c.offset_regression and s.mishaps < c.mishaps and is_within_reach) or (
        c.power_loss and (c.rewinds_beyond_end or (s.mishaps < c.mishaps and o >= s.flushed.ops))
    )
    return (
        o < s.op_length
        and o < s.offsets.op
        and o < s.saved.op
        and not is_ahead_of_the_round
        and not comes_back
        and (s.op[o].names - halves).is_empty()
    )


# --- transactions -----------------------------------------------------------------------------------------------------


def is_dead_transaction(s: State, c: Constants, t: int, halves: Bits) -> bool:
    """It was sent, does not run and waits nowhere, and all halves of it are dead."""
    return (
        s.transaction[t].local != Local.NOT_SENT
        and s.transaction[t].local != Local.EXECUTING
        and s.transaction[t].escaped == 0
        and (c.endless == 0 or has_an_outcome(s, t))
        and not any(s.half[h].transaction == t and h < s.half_length and not halves.has(h) for h in range(c.half_slots))
    )
