"""The producer: sends the half, runs the local transaction, sends END_TRANSACTION, answers checks.

RocketMQ: DefaultMQProducerImpl#sendMessageInTransaction, #endTransaction, #checkTransactionState.
"""

from __future__ import annotations

from spec.constants import Constants
from spec.half_queue import append_half, room_for_a_half
from spec.language import action, among, assume, each, require, within
from spec.state import End, Local, State


@action(event="half_stored", t=each("transactions"), immunity=among("immunities"))
def send_half(s: State, c: Constants, t: int, immunity: int) -> None:
    """The producer sends a transactional message, the broker stores it as a half, and the local transaction begins.

    RocketMQ: SendMessageProcessor → TransactionalMessageBridge#putHalfMessage.
    """
    require(s.transaction[t].local == Local.NOT_SENT, "the transaction was not sent yet")
    within(
        t == 0 or s.transaction[t - 1].local != Local.NOT_SENT, "transactions are numbered in the order of their sends"
    )
    room_for_a_half(s, c)
    s.transaction[t].local = Local.EXECUTING
    s.transaction[t].immunity = immunity
    s.transaction[t].first_half = s.half_length
    append_half(s, t, s.now)


def room_for_an_end(s: State, h: int) -> None:
    """The instance holds one END_TRANSACTION for a half at a time."""
    within(s.half[h].end == End.NONE, "no other END_TRANSACTION for the half is under way or being handled")


@action(event="local_outcome", t=each("transactions"))
def commit_locally(s: State, c: Constants, t: int) -> None:
    """The local transaction commits, and END_TRANSACTION(commit) is sent for the half that the send stored.

    RocketMQ: DefaultMQProducerImpl#endTransaction.
    """
    require(s.transaction[t].local == Local.EXECUTING, "the local transaction runs")
    room_for_an_end(s, s.transaction[t].first_half)
    s.transaction[t].local = Local.COMMIT
    s.half[s.transaction[t].first_half].end = End.COMMIT


@action(event="local_outcome", t=each("transactions"))
def roll_back_locally(s: State, c: Constants, t: int) -> None:
    """The local transaction rolls back, and END_TRANSACTION(rollback) is sent for the half that the send stored.

    RocketMQ: DefaultMQProducerImpl#endTransaction.
    """
    require(s.transaction[t].local == Local.EXECUTING, "the local transaction runs")
    room_for_an_end(s, s.transaction[t].first_half)
    s.transaction[t].local = Local.ROLLBACK
    s.half[s.transaction[t].first_half].end = End.ROLLBACK


@action(event="local_outcome", t=each("transactions"))
def leave_it_unknown(s: State, c: Constants, t: int) -> None:
    """The listener returns UNKNOW; the broker drops the END_TRANSACTION that says so, and leaves it to the checks.

    RocketMQ: EndTransactionProcessor#processRequest, TRANSACTION_NOT_TYPE.
    """
    require(s.transaction[t].local == Local.EXECUTING, "the local transaction runs")
    s.transaction[t].local = Local.UNKNOWN


@action(event="local_outcome", t=each("transactions"))
def resolve_to_commit(s: State, c: Constants, t: int) -> None:
    """An unknown local transaction turns out to be committed; only a later check will hear of it."""
    require(s.transaction[t].local == Local.UNKNOWN, "the local transaction's outcome is unknown")
    s.transaction[t].local = Local.COMMIT


@action(event="local_outcome", t=each("transactions"))
def resolve_to_rollback(s: State, c: Constants, t: int) -> None:
    """An unknown local transaction turns out to be rolled back; only a later check will hear of it."""
    require(s.transaction[t].local == Local.UNKNOWN, "the local transaction's outcome is unknown")
    s.transaction[t].local = Local.ROLLBACK


@action(event="check_answered", h=each("half_slots"))
def answer_check(s: State, c: Constants, h: int) -> None:
    """The producer answers a check by what it knows; unknown is an answer that the broker drops.

    RocketMQ: ClientRemotingProcessor#checkTransactionState → DefaultMQProducerImpl#checkTransactionState. The answer
    names the copy that the check named.
    """
    require(s.half[h].check_in_flight, "a check request for this copy arrives")
    room_for_an_end(s, h)
    s.half[h].check_in_flight = False
    if s.transaction[s.half[h].transaction].local == Local.COMMIT:
        s.half[h].end = End.COMMIT
    elif s.transaction[s.half[h].transaction].local == Local.ROLLBACK:
        s.half[h].end = End.ROLLBACK


@action(event="check_answered", h=each("half_slots"))
def answer_check_too_early(s: State, c: Constants, h: int) -> None:
    """A checker that finds no trace of a local transaction that still runs answers rollback (A12).

    RocketMQ: the user's TransactionListener#checkLocalTransaction.
    """
    require(s.half[h].check_in_flight, "a check request for this copy arrives")
    require(s.transaction[s.half[h].transaction].local == Local.EXECUTING, "the local transaction still runs")
    assume(c.slow_local, "a local transaction is over before its first check")
    room_for_an_end(s, h)
    s.half[h].check_in_flight = False
    s.half[h].end = End.ROLLBACK
