"""A proxy between producers and the broker: clients that speak gRPC name a transaction, and the proxy its half.

It knows where a half lies from the send on, and from each check on that it relays, for `data_life` each time. The
first END_TRANSACTION takes the newest entry out, whatever becomes of it then; one that finds none is refused, and the
broker never hears of it. What the broker answers to the others nobody asks. The producer group is the topic's name, so
that any producer of the topic is asked. Proxies share nothing.

RocketMQ: TransactionDataManager, AbstractTransactionService, ProducerProcessor#fillTransactionData,
AbstractProxyRelayService#processCheckTransactionState, EndTransactionActivity#endTransaction.
"""

from __future__ import annotations

from spec.chapters.producer import is_decided, room_for_an_end
from spec.constants import Constants
from spec.language import action, assume, each, require
from spec.observation import ANSWERED, DECIDED, OF_A_HALF
from spec.state import Direct, End, Local, Producer, State


def is_newest_entry(s: State, c: Constants, h: int, p: int) -> bool:
    """Of what proxy p knows of the transaction, half h is the newest: the one that an END_TRANSACTION takes.

    RocketMQ: TransactionDataManager#pollNoExpireTransactionData.
    """
    return s.half[h].known_to == p + 1 and not any(
        k > h and s.half[k].known_to == p + 1 and s.half[k].transaction == s.half[h].transaction
        for k in range(c.half_slots)
    )


def knows_nothing_of(s: State, c: Constants, t: int, p: int) -> bool:
    """Proxy p has no entry of the transaction."""
    return not any(s.half[h].known_to == p + 1 and s.half[h].transaction == t for h in range(c.half_slots))


def is_reached(c: Constants, p: int) -> None:
    """A producer speaks to the first proxy, unless its connection was made anew or something balances requests."""
    assume(p == 0 or c.other_proxy, "requests of one producer come to one proxy")


def take_entry(s: State, h: int, says: End) -> None:
    """The proxy sends an END_TRANSACTION for half h to the broker, and forgets the half."""
    s.half[h].known_to = 0
    s.half[h].end = says


# --- the producer ends a transaction ----------------------------------------------------------------------------------


def ends_through_proxy(s: State, c: Constants, h: int, p: int) -> None:
    """What an END_TRANSACTION of a running local transaction needs to be passed on."""
    require(s.transaction[s.half[h].transaction].local == Local.EXECUTING, "the local transaction runs")
    require(is_newest_entry(s, c, h, p), "half h is the newest that the proxy knows of it")
    is_reached(c, p)
    room_for_an_end(s, h)


@action(event="local_outcome", place=141, shows=ANSWERED, h=each("half_slots"), p=each("proxies"))
def commit_through_proxy(s: State, c: Constants, h: int, p: int) -> None:
    """The local transaction commits, and proxy p sends END_TRANSACTION(commit) for the half that it knows.

    OK is answered before the broker knows of it (A48, B41).

    RocketMQ: EndTransactionActivity#endTransaction, MessageService#endTransactionOneway.
    """
    ends_through_proxy(s, c, h, p)
    s.transaction[s.half[h].transaction].local = Local.COMMIT
    take_entry(s, h, End.COMMIT)


@action(event="local_outcome", place=142, shows=ANSWERED, h=each("half_slots"), p=each("proxies"))
def roll_back_through_proxy(s: State, c: Constants, h: int, p: int) -> None:
    """The local transaction rolls back, and proxy p sends END_TRANSACTION(rollback) for the half that it knows.

    RocketMQ: EndTransactionActivity#endTransaction, MessageService#endTransactionOneway.
    """
    ends_through_proxy(s, c, h, p)
    s.transaction[s.half[h].transaction].local = Local.ROLLBACK
    take_entry(s, h, End.ROLLBACK)


def ends_unknown_to_proxy(s: State, c: Constants, t: int, p: int) -> None:
    """What it needs to be refused."""
    require(s.transaction[t].local == Local.EXECUTING, "the local transaction runs")
    require(knows_nothing_of(s, c, t, p), "the proxy has no entry of the transaction")
    is_reached(c, p)


@action(event="local_outcome", place=143, shows=DECIDED, t=each("transactions"), p=each("proxies"))
def commit_unknown_to_proxy(s: State, c: Constants, t: int, p: int) -> None:
    """The local transaction commits, and proxy p has no entry of it: "cannot found transaction data" (A49, B41).

    RocketMQ: TransactionProcessor#endTransaction, TRANSACTION_DATA_NOT_FOUND.
    """
    ends_unknown_to_proxy(s, c, t, p)
    s.transaction[t].local = Local.COMMIT
    s.transaction[t].direct = Direct.REFUSED


@action(event="local_outcome", place=144, shows=DECIDED, t=each("transactions"), p=each("proxies"))
def roll_back_unknown_to_proxy(s: State, c: Constants, t: int, p: int) -> None:
    """The same with a rollback.

    RocketMQ: TransactionProcessor#endTransaction, TRANSACTION_DATA_NOT_FOUND.
    """
    ends_unknown_to_proxy(s, c, t, p)
    s.transaction[t].local = Local.ROLLBACK


@action(event="local_outcome", place=145, shows=DECIDED, t=each("transactions"), p=each("proxies"))
def fail_a_stored_send(s: State, c: Constants, t: int, p: int) -> None:
    """The broker's status is not SEND_OK: the proxy notes nothing, the client throws, and the half stays (A37).

    RocketMQ: ProducerProcessor#sendMessage; FLUSH_DISK_TIMEOUT becomes MASTER_PERSISTENCE_TIMEOUT.
    """
    require(p == 0, "the first proxy took the send")
    require(s.transaction[t].local == Local.EXECUTING, "the local transaction was to run")
    require(s.half[s.transaction[t].first_half].known_to == p + 1, "the send has just been answered")
    assume(c.bad_store_status, "a half that is stored is answered SEND_OK")
    s.transaction[t].local = Local.NEVER_RUN
    s.half[s.transaction[t].first_half].known_to = 0


# --- checks -----------------------------------------------------------------------------------------------------------


def is_answered_through(s: State, c: Constants, k: int, h: int, p: int) -> None:
    """What an answer to the check of half h needs to be passed on: proxy p knows a half k of the transaction."""
    require(s.half[h].check_in_flight, "a check request for half h arrives")
    require(s.half[k].transaction == s.half[h].transaction, "half k is of the same transaction")
    require(is_newest_entry(s, c, k, p), "half k is the newest that the proxy knows of it")
    is_reached(c, p)
    room_for_an_end(s, k)


def answer(s: State, k: int, h: int, says: End) -> None:
    """The check of half h is answered, and the END_TRANSACTION names half k."""
    s.half[h].check_in_flight = False
    s.half[k].claims_check = True
    take_entry(s, k, says)


@action(
    event="check_answered",
    place=161,
    shows=ANSWERED,
    k=each("half_slots"),
    h=each("half_slots"),
    p=each("proxies"),
)
def answer_check_through_proxy(s: State, c: Constants, k: int, h: int, p: int) -> None:
    """The producer answers the check of half h, and proxy p sends an END_TRANSACTION for the newest half that it knows.

    RocketMQ: EndTransactionActivity#endTransaction with SOURCE_SERVER_CHECK. A client that has nothing to say sends
    nothing.
    """
    is_answered_through(s, c, k, h, p)
    require(is_decided(s, s.half[h].transaction), "its producer knows what became of it")
    answer(s, k, h, End.COMMIT if s.transaction[s.half[h].transaction].local == Local.COMMIT else End.ROLLBACK)


@action(
    event="check_answered",
    place=162,
    shows=ANSWERED,
    k=each("half_slots"),
    h=each("half_slots"),
    p=each("proxies"),
)
def answer_too_early_through_proxy(s: State, c: Constants, k: int, h: int, p: int) -> None:
    """A checker that finds no trace of a local transaction that still runs answers rollback (A12).

    RocketMQ: the user's TransactionChecker#check.
    """
    is_answered_through(s, c, k, h, p)
    require(s.transaction[s.half[h].transaction].local == Local.EXECUTING, "the local transaction still runs")
    assume(c.slow_local, "a local transaction is over before its first check")
    answer(s, k, h, End.ROLLBACK)


@action(
    event="check_answered",
    place=163,
    shows=ANSWERED,
    k=each("half_slots"),
    h=each("half_slots"),
    p=each("proxies"),
)
def roll_back_for_another_service(s: State, c: Constants, k: int, h: int, p: int) -> None:
    """Another service that sends to the topic is asked, finds no trace of the transaction, and answers rollback.

    RocketMQ: ClientActivity#registerProducer takes the topic for the producer group; ProducerManager
    #getAvailableChannel asks its producers in turn.
    """
    is_answered_through(s, c, k, h, p)
    assume(c.shared_topic, "one service sends to the topic")
    answer(s, k, h, End.ROLLBACK)


@action(event="message_lost", place=164, shows=OF_A_HALF, h=each("half_slots"), p=each("proxies"))
def ask_another_service(s: State, c: Constants, h: int, p: int) -> None:
    """Another service that sends to the topic is asked, and does not answer: it has no checker, or does not know.

    RocketMQ: the same; a client without a TransactionChecker drops the command.
    """
    require(p == 0, "one of the proxies passes it on")
    require(s.half[h].check_in_flight, "a check request for this copy is under way")
    assume(c.shared_topic, "one service sends to the topic")
    s.half[h].check_in_flight = False


@action(event="message_lost", place=165, shows=OF_A_HALF, h=each("half_slots"), p=each("proxies"))
def answer_unknown_to_proxy(s: State, c: Constants, h: int, p: int) -> None:
    """The producer answers a check, and proxy p has no entry of the transaction: its answer is refused (B41).

    RocketMQ: TransactionProcessor#endTransaction, TRANSACTION_DATA_NOT_FOUND.
    """
    require(s.half[h].check_in_flight, "a check request for half h arrives")
    require(is_decided(s, s.half[h].transaction), "its producer knows what became of it")
    require(knows_nothing_of(s, c, s.half[h].transaction, p), "the proxy has no entry of the transaction")
    is_reached(c, p)
    s.half[h].check_in_flight = False


@action(event="check_sent", place=166, shows=OF_A_HALF, h=each("half_slots"), p=each("proxies"))
def relay_through_other_proxy(s: State, c: Constants, h: int, p: int) -> None:
    """The broker sends the check through proxy p, not the first one, and p notes where the copy lies.

    RocketMQ: ProducerManager#getAvailableChannel; each proxy is a client of the group (rmq-proxy-producer-client).
    """
    require(p > 0, "the first proxy is the one that is reached otherwise")
    require(s.half[h].check_in_flight, "a check request for this copy is under way")
    require(s.half[h].known_to == 1, "nothing was taken out since")
    require(s.half[h].stored_at == s.now, "it has just been sent")
    assume(c.other_proxy, "requests of one producer come to one proxy")
    s.half[h].known_to = p + 1


# --- the proxy itself -------------------------------------------------------------------------------------------------


@action(event="producer_gone", place=701, p=each("proxies"))
def restart_proxy(s: State, c: Constants, p: int) -> None:
    """A proxy starts again: what it knew is gone, and so are the checks on their way through it (A49).

    The broker knows no producer of the group until one has connected again. In local mode the broker starts again, too.

    RocketMQ: TransactionDataManager lives in memory; ProducerManager#doChannelCloseEvent.
    """
    require(
        (p == 0 and s.producer == Producer.ONLINE) or any(s.half[h].known_to == p + 1 for h in range(c.half_slots)),
        "it has something to lose",
    )
    assume(c.restart_proxy, "proxies run on")
    for h in range(c.half_slots):
        if s.half[h].known_to == p + 1:
            s.half[h].known_to = 0
            s.half[h].check_in_flight = False
    if p == 0 and s.producer == Producer.ONLINE:
        s.producer = Producer.OFFLINE
