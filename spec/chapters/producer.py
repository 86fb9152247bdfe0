"""The producer: sends the half, runs the local transaction, sends END_TRANSACTION, answers checks.

RocketMQ: DefaultMQProducerImpl#sendMessageInTransaction, #endTransaction, #checkTransactionState.
"""

from __future__ import annotations

from spec.commit_log import flush_before_answer
from spec.constants import Constants
from spec.half_queue import append_half, room_for_a_half, stored_halves
from spec.language import action, among, assume, each, require, within
from spec.observation import ANSWERED, DECIDED, SENT
from spec.state import Burnt, Cause, Direct, End, Kind, Local, Producer, Role, State


@action(event="half_stored", place=10, shows=SENT, t=each("transactions"), immunity=among("immunities"))
def send_half(s: State, c: Constants, t: int, immunity: int) -> None:
    """The producer sends a transactional message, the broker stores it as a half, and the local transaction begins.

    RocketMQ: SendMessageProcessor → TransactionalMessageBridge#putHalfMessage.
    """
    may_send(s, c, t)
    begin_transaction(s, t, immunity)
    store_half(s, c, t, s.now)


@action(
    event="half_stored", place=20, shows=SENT, t=each("transactions"), immunity=among("immunities"), skew=among("skews")
)
def send_half_by_another_clock(s: State, c: Constants, t: int, immunity: int, skew: int) -> None:
    """The same by a producer whose clock differs: the broker takes the birth from the message (A21, B27).

    RocketMQ: SendMessageRequestHeader.bornTimestamp.
    """
    may_send(s, c, t)
    require(skew != 0, "the producer's clock differs from the broker's")
    assume(c.clock_skew, "all clocks agree")
    begin_transaction(s, t, immunity)
    store_half(s, c, t, s.now if c.ages_from_arrival else s.now + skew)


@action(
    event="half_stored",
    place=30,
    shows=SENT,
    t=each("transactions"),
    immunity=among("immunities"),
    checks=among("first_checks"),
)
def send_half_with_checks(s: State, c: Constants, t: int, immunity: int, checks: int) -> None:
    """The same with a message that carries TRANSACTION_CHECK_TIMES, as a copy of a consumed one does (B26).

    RocketMQ: MessageConst.STRING_HASH_SET does not have the property.
    """
    may_send(s, c, t)
    require(checks > 0, "the message carries a number of checks")
    begin_transaction(s, t, immunity)
    if not c.owns_check_times:
        s.half[s.half_length].check_times = checks
        s.half[s.half_length].burnt = Burnt.PRESET
    store_half(s, c, t, s.now)


@action(event="half_stored", place=35, shows=SENT, t=each("transactions"), original=each("half_slots"))
def send_half_with_original(s: State, c: Constants, t: int, original: int) -> None:
    """The same with a message that carries TRAN_PREPARED_QUEUE_OFFSET, as a copy that was delivered does (B56).

    It carries the immunity for which it was put back, too, here one as long as the timeout. It may name any offset, as
    it was written for another queue, or long ago; one below the half offset leads to nothing.

    RocketMQ: EndTransactionProcessor#endMessageTransaction leaves both in what it delivers, and a message that was
    consumed can be sent as it is.
    """
    may_send(s, c, t)
    assume(c.preset_original, "no message carries TRAN_PREPARED_QUEUE_OFFSET when it is sent")
    within(
        original >= s.offsets.half and original <= s.half_length + 1,
        "it names a half from the half offset on, itself or the next one",
    )
    begin_transaction(s, t, c.timeout)
    if not c.owns_prepared_offset:
        s.half[s.half_length].original = original
    store_half(s, c, t, s.now)


@action(event="half_stored", place=40, shows=SENT, t=each("transactions"), immunity=among("immunities"))
def send_poison_half(s: State, c: Constants, t: int, immunity: int) -> None:
    """The same with properties so long that a copy, which has more of them, cannot be stored (B07).

    RocketMQ: CommitLog, PROPERTIES_SIZE_EXCEEDED.
    """
    may_send(s, c, t)
    assume(c.put_failure, "what is put back is stored")
    s.transaction[t].kind = Kind.POISON
    begin_transaction(s, t, immunity)
    store_half(s, c, t, s.now)


@action(event="half_stored", place=50, shows=SENT, t=each("transactions"), immunity=among("immunities"))
def send_undecodable_half(s: State, c: Constants, t: int, immunity: int) -> None:
    """The same, but what is stored cannot be read again (A07).

    RocketMQ: MessageDecoder#decode returns null.
    """
    may_send(s, c, t)
    assume(c.undecodable_half, "what is stored can be decoded")
    s.transaction[t].kind = Kind.UNDECODABLE
    begin_transaction(s, t, immunity)
    store_half(s, c, t, s.now)


@action(event="half_stored", place=60, shows=SENT, t=each("transactions"))
def send_half_again(s: State, c: Constants, t: int) -> None:
    """The answer to a send is lost, and the client sends the message once more: the first half will get no END (A39).

    A client of a proxy does so where the answer takes longer than its patience; the proxy knows both halves.

    RocketMQ: DefaultMQProducerImpl#sendDefaultImpl; the message and its unique key are the same, its offsets are not.
    """
    require(s.transaction[t].local == Local.EXECUTING, "the transaction was sent")
    require(s.role == Role.MASTER, "the broker is the master")
    assume(c.twin_send or (c.proxies > 0 and c.slow_proxy), "the answer to a send arrives")
    within(stored_halves(s, c, t) < 2, "no copy and no twin of its half is stored")
    room_for_a_half(s, c)
    if c.proxies > 0:
        s.producer = Producer.ONLINE
    s.transaction[t].first_half = s.half_length
    s.transaction[t].cause = Cause.TWIN_HALF
    store_half(s, c, t, s.now)


def may_send(s: State, c: Constants, t: int) -> None:
    """What every send needs."""
    require(s.transaction[t].local == Local.NOT_SENT, "the transaction was not sent yet")
    require(s.producer != Producer.OFFLINE, "a producer is connected")
    require(s.role == Role.MASTER, "the broker is the master")
    within(
        not c.orders_sends or t == 0 or s.transaction[t - 1].local != Local.NOT_SENT,
        "transactions are numbered in the order of their sends",
    )
    within(c.crowded == 0 or not s.had_halves, "the transaction that stands among others is sent once")
    room_for_a_half(s, c)


def store_half(s: State, c: Constants, t: int, born_at: int) -> None:
    """The half is stored, and its send is answered; a proxy notes where it lies."""
    if c.proxies > 0:
        s.half[s.half_length].known_to = 1
    append_half(s, t, born_at)
    flush_before_answer(s, c)


def begin_transaction(s: State, t: int, immunity: int) -> None:
    """The local transaction begins; the broker knows the producer from now on (ProducerManager#registerProducer)."""
    s.transaction[t].local = Local.EXECUTING
    s.transaction[t].immunity = immunity
    s.transaction[t].first_half = s.half_length
    s.producer = Producer.ONLINE


# --- the local transaction --------------------------------------------------------------------------------------------


def room_for_an_end(s: State, h: int) -> None:
    """The instance holds one END_TRANSACTION for a half at a time."""
    within(s.half[h].end == End.NONE, "no other END_TRANSACTION for the half is under way or being handled")


def ends_its_half(s: State, c: Constants, t: int) -> None:
    """What a direct END_TRANSACTION needs: a running local transaction, whose producer is connected, and its half."""
    require(c.proxies == 0, "producers speak to the broker itself")
    require(s.transaction[t].local == Local.EXECUTING, "the local transaction runs")
    require(its_half_is_there(s, t), "the half that the send stored is there")
    room_for_an_end(s, s.transaction[t].first_half)


def its_half_is_there(s: State, t: int) -> bool:
    """No power loss has taken the half of the transaction."""
    first = s.transaction[t].first_half
    return first < s.half_length and s.half[first].transaction == t


@action(event="local_outcome", place=70, shows=DECIDED, t=each("transactions"))
def commit_locally(s: State, c: Constants, t: int) -> None:
    """The local transaction commits, and END_TRANSACTION(commit) is sent for the half that the send stored.

    RocketMQ: DefaultMQProducerImpl#endTransaction.
    """
    ends_its_half(s, c, t)
    s.transaction[t].local = Local.COMMIT
    s.half[s.transaction[t].first_half].end = End.COMMIT


@action(event="local_outcome", place=80, shows=DECIDED, t=each("transactions"))
def roll_back_locally(s: State, c: Constants, t: int) -> None:
    """The local transaction rolls back, and END_TRANSACTION(rollback) is sent for the half that the send stored.

    RocketMQ: DefaultMQProducerImpl#endTransaction.
    """
    ends_its_half(s, c, t)
    s.transaction[t].local = Local.ROLLBACK
    s.half[s.transaction[t].first_half].end = End.ROLLBACK


@action(event="local_outcome", place=90, shows=DECIDED, t=each("transactions"))
def roll_back_unrun(s: State, c: Constants, t: int) -> None:
    """The send is answered with a status other than SEND_OK: the client rolls back what it never ran (A37).

    RocketMQ: DefaultMQProducerImpl#sendMessageInTransaction, FLUSH_DISK_TIMEOUT and the like.
    """
    ends_its_half(s, c, t)
    assume(c.bad_store_status, "a half that is stored is answered SEND_OK")
    s.transaction[t].local = Local.NEVER_RUN
    s.half[s.transaction[t].first_half].end = End.ROLLBACK


@action(event="local_outcome", place=100, shows=DECIDED, t=each("transactions"))
def leave_it_unknown(s: State, c: Constants, t: int) -> None:
    """The listener returns UNKNOW; the broker drops the END_TRANSACTION that says so, and leaves it to the checks.

    RocketMQ: EndTransactionProcessor#processRequest, TRANSACTION_NOT_TYPE.
    """
    require(s.transaction[t].local == Local.EXECUTING, "the local transaction runs")
    s.transaction[t].local = Local.UNKNOWN


@action(event="local_outcome", place=110, shows=DECIDED, t=each("transactions"))
def resolve_to_commit(s: State, c: Constants, t: int) -> None:
    """An unknown local transaction turns out to be committed; only a later check will hear of it."""
    require(s.transaction[t].local == Local.UNKNOWN, "the local transaction's outcome is unknown")
    s.transaction[t].local = Local.COMMIT


@action(event="local_outcome", place=120, shows=DECIDED, t=each("transactions"))
def resolve_to_rollback(s: State, c: Constants, t: int) -> None:
    """An unknown local transaction turns out to be rolled back; only a later check will hear of it."""
    require(s.transaction[t].local == Local.UNKNOWN, "the local transaction's outcome is unknown")
    s.transaction[t].local = Local.ROLLBACK


@action(event="local_outcome", place=130, shows=DECIDED, t=each("transactions"))
def commit_what_is_gone(s: State, c: Constants, t: int) -> None:
    """The local transaction commits, and its half is gone with a power loss: END_TRANSACTION finds nothing to commit.

    RocketMQ: EndTransactionProcessor#processRequest, "Find prepared transaction message failed".
    """
    require(s.transaction[t].local == Local.EXECUTING, "the local transaction runs")
    require(not its_half_is_there(s, t), "a power loss has taken its half")
    s.transaction[t].local = Local.COMMIT
    s.transaction[t].direct = Direct.REFUSED


@action(event="local_outcome", place=140, shows=DECIDED, t=each("transactions"))
def commit_another_half(s: State, c: Constants, t: int) -> None:
    """The same, and a half of the same group and size now stands at those offsets: it is committed in its place (B10).

    RocketMQ: EndTransactionProcessor#checkPrepareMessage compares group and offsets, not the transaction's id.
    """
    require(s.transaction[t].local == Local.EXECUTING, "the local transaction runs")
    require(not its_half_is_there(s, t), "a power loss has taken its half")
    require(s.transaction[t].first_half < s.half_length, "another half stands in its place")
    require(not c.settles_once, "the broker does not compare the transaction's id")
    room_for_an_end(s, s.transaction[t].first_half)
    s.transaction[t].local = Local.COMMIT
    s.half[s.transaction[t].first_half].end = End.COMMIT
    s.half[s.transaction[t].first_half].foreign = True


# --- checks -----------------------------------------------------------------------------------------------------------


@action(event="check_answered", place=150, shows=ANSWERED, h=each("half_slots"))
def answer_check(s: State, c: Constants, h: int) -> None:
    """The producer answers a check by what it knows; unknown is an answer that the broker drops.

    RocketMQ: ClientRemotingProcessor#checkTransactionState → DefaultMQProducerImpl#checkTransactionState. The answer
    names the copy that the check named. A transaction that was never run was rolled back.
    """
    require(s.half[h].check_in_flight, "a check request for this copy arrives")
    require(
        c.proxies == 0 or not is_decided(s, s.half[h].transaction),
        "producers speak to the broker itself, or have nothing to say",
    )
    room_for_an_end(s, h)
    s.half[h].check_in_flight = False
    if s.transaction[s.half[h].transaction].local == Local.COMMIT:
        s.half[h].end = End.COMMIT
    elif (
        s.transaction[s.half[h].transaction].local == Local.ROLLBACK
        or s.transaction[s.half[h].transaction].local == Local.NEVER_RUN
    ):
        s.half[h].end = End.ROLLBACK


@action(event="check_answered", place=160, shows=ANSWERED, h=each("half_slots"))
def answer_check_too_early(s: State, c: Constants, h: int) -> None:
    """A checker that finds no trace of a local transaction that still runs answers rollback (A12).

    RocketMQ: the user's TransactionListener#checkLocalTransaction.
    """
    require(c.proxies == 0, "producers speak to the broker itself")
    require(s.half[h].check_in_flight, "a check request for this copy arrives")
    require(s.transaction[s.half[h].transaction].local == Local.EXECUTING, "the local transaction still runs")
    assume(c.slow_local, "a local transaction is over before its first check")
    room_for_an_end(s, h)
    s.half[h].check_in_flight = False
    s.half[h].end = End.ROLLBACK


def is_decided(s: State, t: int) -> bool:
    """The producer knows that the transaction is committed, or that it is not."""
    return (
        s.transaction[t].local == Local.COMMIT
        or s.transaction[t].local == Local.ROLLBACK
        or s.transaction[t].local == Local.NEVER_RUN
    )


# --- connections ------------------------------------------------------------------------------------------------------


@action(event="producer_gone", place=690)
def lose_all_producers(s: State, c: Constants) -> None:
    """No producer of the group is connected any more: nobody answers checks (B19).

    RocketMQ: ProducerManager#doChannelCloseEvent. What they were running is left to a later check.
    """
    require(s.producer != Producer.OFFLINE, "a producer is connected")
    assume(c.offline_producer, "producers are online")
    producers_end(s, c)
    s.producer = Producer.OFFLINE


@action(event="producer_gone", place=700)
def restart_producers(s: State, c: Constants) -> None:
    """The producers of the group start again, and the broker hears of them with their next send (A35).

    RocketMQ: MQClientInstance#sendHeartbeatToAllBroker knows only brokers of topics that the producer has a route for.
    """
    require(s.producer == Producer.ONLINE, "the broker knows a producer of the group")
    assume(c.restarted_producer, "producers do not start again")
    producers_end(s, c)
    s.producer = Producer.UNREGISTERED


@action(event="producer_back", place=710)
def connect_again(s: State, c: Constants) -> None:
    """A producer of the group is connected again."""
    require(s.producer == Producer.OFFLINE, "no producer is connected")
    s.producer = Producer.ONLINE


def producers_end(s: State, c: Constants) -> None:
    """Running local transactions are cut off, and checks under way are not answered."""
    for t in range(c.transactions):
        if s.transaction[t].local == Local.EXECUTING:
            s.transaction[t].local = Local.UNKNOWN
    for h in range(c.half_slots):
        s.half[h].check_in_flight = False
