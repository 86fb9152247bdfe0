"""The network between producer and broker: what may happen to an END_TRANSACTION or a check request under way.

Both are one-way requests: nobody learns of a loss, and nobody compares an END_TRANSACTION with an earlier one.
"""

from __future__ import annotations

from spec.bounds import room_for_a_stray_end, within_reach
from spec.chapters.end_transaction import forget_end, may_be_late
from spec.constants import Constants
from spec.ghosts import remember_refusal
from spec.language import action, assume, each, require
from spec.observation import ANSWERED, OF_A_HALF
from spec.state import Direct, End, Settled, State


@action(event="message_lost", place=600, shows=OF_A_HALF, h=each("half_slots"))
def lose_end(s: State, c: Constants, h: int) -> None:
    """An END_TRANSACTION never arrives."""
    require(
        s.half[h].end == End.COMMIT or s.half[h].end == End.ROLLBACK, "an END_TRANSACTION for this half is under way"
    )
    assume(c.lose_end, "each END_TRANSACTION arrives")
    remember_refusal(s, c, h, Direct.LOST)
    forget_end(s, h)


@action(event="message_lost", place=610, shows=OF_A_HALF, h=each("half_slots"))
def lose_check(s: State, c: Constants, h: int) -> None:
    """A check request never arrives, or no producer of the group answers it."""
    require(s.half[h].check_in_flight, "a check request for this copy is under way")
    assume(c.lose_check, "each check request arrives")
    s.half[h].check_in_flight = False


@action(event="end_sent", place=620, shows=ANSWERED, h=each("half_slots"))
def duplicate_end(s: State, c: Constants, h: int) -> None:
    """An END_TRANSACTION that was handled arrives a second time (A13)."""
    require(s.half[h].settled != Settled.NO, "an END_TRANSACTION for this half was handled")
    require(s.half[h].end == End.NONE, "none is under way")
    assume(c.duplicate_end, "each END_TRANSACTION arrives once")
    within_reach(c, h, s.offsets.half)
    room_for_a_stray_end(s, c)
    s.stray_ends += 1
    s.half[h].end = End.COMMIT if s.half[h].settled == Settled.COMMITTED else End.ROLLBACK


@action(event="end_sent", place=630, shows=ANSWERED, h=each("half_slots"))
def double_end(s: State, c: Constants, h: int) -> None:
    """An END_TRANSACTION is sent again before the first is handled, or while a thread handles it."""
    require(s.half[h].end != End.NONE, "an END_TRANSACTION for this half is under way or being handled")
    require(s.half[h].other_end == End.NONE, "no other one is")
    assume(c.reorder, "END_TRANSACTIONs for one half come one after the other")
    room_for_a_stray_end(s, c)
    s.stray_ends += 1
    s.half[h].other_end = End.ROLLBACK if s.half[h].end == End.ROLLBACK else End.COMMIT


@action(event="end_sent", place=640, shows=OF_A_HALF, h=each("half_slots"))
def overtake(s: State, c: Constants, h: int) -> None:
    """Of two END_TRANSACTIONs for one half the other one goes on first: threads, or the network, swap them.

    RocketMQ: BrokerController's endTransactionExecutor has at least eight threads.
    """
    require(s.half[h].other_end != End.NONE, "two END_TRANSACTIONs name this half")
    require(s.half[h].other_end != s.half[h].end, "they are not at the same")
    assume(c.reorder, "END_TRANSACTIONs for one half come one after the other")
    first = s.half[h].end
    s.half[h].end = s.half[h].other_end
    s.half[h].other_end = first


@action(event="end_sent", place=650, shows=ANSWERED, h=each("half_slots"))
def send_wrong_commit(s: State, c: Constants, h: int) -> None:
    """A commit arrives for a half, whatever its producer decided and whether or not it was asked (A12, A36).

    RocketMQ: EndTransactionProcessor#processRequest compares group and offsets only.
    """
    may_be_ended_by_mistake(s, c, h)
    s.stray_ends += 1
    s.half[h].end = End.COMMIT


@action(event="end_sent", place=660, shows=ANSWERED, h=each("half_slots"))
def send_wrong_rollback(s: State, c: Constants, h: int) -> None:
    """A rollback arrives for a half, whatever its producer decided and whether or not it was asked (A12, A36).

    RocketMQ: EndTransactionProcessor#processRequest compares group and offsets only.
    """
    may_be_ended_by_mistake(s, c, h)
    s.stray_ends += 1
    s.half[h].end = End.ROLLBACK


@action(event="end_sent", place=670, shows=ANSWERED, h=each("half_slots"))
def answer_with_wrong_commit(s: State, c: Constants, h: int) -> None:
    """The same, and the commit says that it answers a check: it is never late.

    RocketMQ: EndTransactionRequestHeader.fromTransactionCheck.
    """
    may_be_ended_by_mistake(s, c, h)
    require(may_be_late(s, c, h), "the broker would look at its age otherwise")
    s.stray_ends += 1
    s.half[h].end = End.COMMIT
    s.half[h].claims_check = True


@action(event="end_sent", place=680, shows=ANSWERED, h=each("half_slots"))
def answer_with_wrong_rollback(s: State, c: Constants, h: int) -> None:
    """The same, and the rollback says that it answers a check: it is never late.

    RocketMQ: EndTransactionRequestHeader.fromTransactionCheck.
    """
    may_be_ended_by_mistake(s, c, h)
    require(may_be_late(s, c, h), "the broker would look at its age otherwise")
    s.stray_ends += 1
    s.half[h].end = End.ROLLBACK
    s.half[h].claims_check = True


def may_be_ended_by_mistake(s: State, c: Constants, h: int) -> None:
    """What a wrong END_TRANSACTION needs: a half to name."""
    require(h < s.half_length, "the half is stored")
    require(s.half[h].end == End.NONE, "none is under way")
    assume(c.wrong_end, "each END_TRANSACTION says what its producer decided")
    within_reach(c, h, s.offsets.half)
    room_for_a_stray_end(s, c)
