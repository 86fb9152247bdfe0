"""A half that stays open goes to the end of the half queue as a copy: for its immunity, or to be checked.

RocketMQ: TransactionalMessageServiceImpl#check, #putBackHalfMsgQueue, #putImmunityMsgBackToHalfQueue.
"""

from __future__ import annotations

from spec.check_loop import stands_on_a_half_to_check, stands_on_an_earlier_half
from spec.constants import Constants
from spec.ghosts import remember_burnt_check, remember_put_back
from spec.half import awaits_its_producer, can_be_copied, has_no_checks_left, is_immune, is_too_immune
from spec.half_queue import append_copy, half_read, room_for_a_half
from spec.language import NONE, action, assume, require
from spec.observation import PUT_BACK
from spec.op_pull import original_is_settled
from spec.state import Burnt, Left, Local, Producer, Role, State


@action(event="put_back_for_immunity", place=380, shows=PUT_BACK)
def put_back_immune_half(s: State, c: Constants) -> None:
    """An immune half goes to the end of the queue as a copy that knows its original; that costs it a check (A09).

    RocketMQ: TransactionalMessageServiceImpl#putImmunityMsgBackToHalfQueue, TransactionalMessageBridge
    #renewImmunityHalfMessageInner.
    """
    stands_on_an_earlier_half(s, c)
    require(is_immune(s, c, half_read(s)), "its immunity is not over")
    require(not original_is_settled(s, half_read(s)), "no op message that was pulled names its original")
    require(not is_too_immune(s, c, half_read(s)), "its immunity is not longer than all its checks take")
    require(can_be_copied(s, half_read(s)), "a copy of it can be stored")
    room_for_a_half(s, c)
    remember_put_back(s, c, half_read(s), Left.FOR_IMMUNITY)
    if c.counts_sent_checks or c.discards_instead_of_checking:
        append_copy(s, c, half_read(s), 0)
    else:
        append_copy(s, c, half_read(s), 1)
        remember_burnt_check(s, Burnt.IMMUNITY)
    link_to_original(s, half_read(s))
    s.round.cursor += 1


@action(event="put_back_for_check", place=390, shows=PUT_BACK)
def put_back_and_check(s: State, c: Constants) -> None:
    """An old unsettled half goes to the end of the queue as a copy; then its producer is asked about the copy.

    RocketMQ: TransactionalMessageServiceImpl#putBackHalfMsgQueue, then AbstractTransactionalMessageCheckListener
    #resolveHalfMsg. The copy is stored before the check is sent and has no link to the half that the producer knows
    (A11).
    """
    may_put_back_for_check(s, c)
    require(not nobody_can_be_asked(s), "a producer of its group is connected")
    assume(
        c.slow_local or s.transaction[s.half[half_read(s)].transaction].local != Local.EXECUTING,
        "a local transaction is over before its first check",
    )
    assume(
        c.late_end or not awaits_its_producer(s, c, s.half[half_read(s)].transaction),
        "nothing is under way for a transaction when it is checked",
    )
    room_for_a_half(s, c)
    remember_put_back(s, c, half_read(s), Left.FOR_CHECK)
    append_copy(s, c, half_read(s), 1)
    if c.links_every_copy:
        link_to_original(s, half_read(s))
    s.half[s.half_length - 1].check_in_flight = True
    if c.proxies > 0:
        s.half[s.half_length - 1].known_to = 1
    s.round.cursor += 1


@action(event="put_back_unasked", place=400, shows=PUT_BACK)
def put_back_unasked(s: State, c: Constants) -> None:
    """The same where no producer of the group is connected: no check is sent, and it counts as one (A35, B19, B52).

    RocketMQ: AbstractTransactionalMessageCheckListener#sendCheckMessage, "Check transaction failed, channel is null".
    """
    may_put_back_for_check(s, c)
    require(nobody_can_be_asked(s), "no producer of its group is connected")
    assume(
        s.producer != Producer.ONLINE
        or c.slow_local
        or s.transaction[s.half[s.round.cursor].transaction].local != Local.EXECUTING,
        "a local transaction is over before its first check",
    )
    assume(
        s.producer != Producer.ONLINE
        or c.late_end
        or not awaits_its_producer(s, c, s.half[s.round.cursor].transaction),
        "nothing is under way for a transaction when it is checked",
    )
    room_for_a_half(s, c)
    remember_put_back(s, c, half_read(s), Left.FOR_CHECK)
    if c.counts_sent_checks:
        append_copy(s, c, half_read(s), 0)
    else:
        append_copy(s, c, half_read(s), 1)
        remember_burnt_check(s, Burnt.NOBODY_TO_ASK)
    if c.links_every_copy:
        link_to_original(s, half_read(s))
    s.round.cursor += 1


def nobody_can_be_asked(s: State) -> bool:
    """No producer of the group is connected; a broker that stops has closed its connections, and its pool for checks.

    RocketMQ: BrokerController#shutdownBasicService closes the remoting servers first; from 5.4.0 on
    AbstractTransactionalMessageCheckListener#shutdown closes the pool before the check thread is joined.
    """
    return s.producer != Producer.ONLINE or s.role == Role.STOPPING


def may_put_back_for_check(s: State, c: Constants) -> None:
    """What both need: the time for a check has come, and the copy can be stored."""
    stands_on_a_half_to_check(s, c)
    require(not has_no_checks_left(s, c, half_read(s)), "it has checks left")
    require(can_be_copied(s, half_read(s)), "a copy of it can be stored")


def link_to_original(s: State, h: int) -> None:
    """The copy of half h that was stored last knows its first original."""
    if s.half[h].original == NONE:
        s.half[s.half_length - 1].original = h
