"""The producers, the network and the broker of the small check service."""

from __future__ import annotations

from benchmarks.machines.small_check_service.check_round import forget_round
from benchmarks.machines.small_check_service.state import Constants, End, Phase, State
from spec.language import Bits, action, among, each, require

# --- the producer and the network -------------------------------------------------------------------------------------


@action(t=each("transactions"), immunity=among("immunities"))
def send_half(s: State, c: Constants, t: int, immunity: int) -> None:
    """The producer sends its half message; transactions begin in order."""
    require(s.transaction[t].phase == Phase.NEW, "the transaction has not begun")
    require(t == 0 or s.transaction[t - 1].phase != Phase.NEW, "the one before it has begun")
    require(s.half_length < c.half_slots, "the half queue has room")
    s.transaction[t].phase = Phase.SENT
    s.transaction[t].immunity = immunity
    s.transaction[t].first_half = s.half_length
    s.half[s.half_length].transaction = t
    s.half_length += 1


@action(t=each("transactions"))
def stay_unknown(s: State, c: Constants, t: int) -> None:
    """The local transaction returns without an outcome."""
    require(s.transaction[t].phase == Phase.SENT, "the local transaction runs")
    s.transaction[t].phase = Phase.UNKNOWN


@action(t=each("transactions"))
def commit(s: State, c: Constants, t: int) -> None:
    """The local transaction commits, and the broker is told."""
    require(s.transaction[t].phase == Phase.SENT, "the local transaction runs")
    s.transaction[t].phase = Phase.COMMITTED
    s.transaction[t].end = End.COMMIT


@action(t=each("transactions"))
def roll_back(s: State, c: Constants, t: int) -> None:
    """The local transaction rolls back, and the broker is told."""
    require(s.transaction[t].phase == Phase.SENT, "the local transaction runs")
    s.transaction[t].phase = Phase.ROLLED_BACK
    s.transaction[t].end = End.ROLLBACK


@action(t=each("transactions"))
def commit_late(s: State, c: Constants, t: int) -> None:
    """A local transaction that was unknown commits; nobody is told until the next check."""
    require(s.transaction[t].phase == Phase.UNKNOWN, "the outcome is unknown")
    s.transaction[t].phase = Phase.COMMITTED


@action(t=each("transactions"))
def roll_back_late(s: State, c: Constants, t: int) -> None:
    """A local transaction that was unknown rolls back; nobody is told until the next check."""
    require(s.transaction[t].phase == Phase.UNKNOWN, "the outcome is unknown")
    s.transaction[t].phase = Phase.ROLLED_BACK


@action(t=each("transactions"))
def receive_end(s: State, c: Constants, t: int) -> None:
    """The producer's END_TRANSACTION arrives; it is refused when the immunity of the message is over."""
    require(s.transaction[t].end != End.NONE, "it is under way")
    if s.transaction[t].immunity == 0 or s.transaction[t].age <= s.transaction[t].immunity:
        end_half(s, s.transaction[t].first_half, s.transaction[t].end)
    s.transaction[t].end = End.NONE


@action(t=each("transactions"))
def lose_end(s: State, c: Constants, t: int) -> None:
    """The producer's END_TRANSACTION is lost."""
    require(s.transaction[t].end != End.NONE, "it is under way")
    s.transaction[t].end = End.NONE


@action(h=each("half_slots"))
def receive_check(s: State, c: Constants, h: int) -> None:
    """The producer is asked, and answers when it knows."""
    require(s.half[h].check_in_flight, "a check is under way")
    s.half[h].check_in_flight = False
    if s.transaction[s.half[h].transaction].phase == Phase.COMMITTED:
        s.half[h].end = End.COMMIT
    elif s.transaction[s.half[h].transaction].phase == Phase.ROLLED_BACK:
        s.half[h].end = End.ROLLBACK


@action(h=each("half_slots"))
def lose_check(s: State, c: Constants, h: int) -> None:
    """A check is lost."""
    require(s.half[h].check_in_flight, "a check is under way")
    s.half[h].check_in_flight = False


@action(h=each("half_slots"))
def receive_answer(s: State, c: Constants, h: int) -> None:
    """The answer to a check arrives."""
    require(s.half[h].end != End.NONE, "an answer is under way")
    end_half(s, h, s.half[h].end)
    s.half[h].end = End.NONE


def end_half(s: State, h: int, end: End) -> None:
    """The broker delivers what is committed, and half h waits for an op message."""
    if end == End.COMMIT and s.transaction[s.half[h].transaction].delivered < 2:
        s.transaction[s.half[h].transaction].delivered += 1
    s.batch.add(h)


# --- the broker -------------------------------------------------------------------------------------------------------


@action()
def write_op_batch(s: State, c: Constants) -> None:
    """All halves that wait are named in one op message."""
    require(not s.batch.is_empty(), "a half waits")
    require(s.op_length < c.op_slots, "the op queue has room")
    s.op[s.op_length].names = s.batch
    s.op_length += 1
    s.batch = Bits()


def something_grows_older(s: State, c: Constants) -> bool:
    """Some age is still counted."""
    transactions_do = any(
        s.transaction[t].phase != Phase.NEW and s.transaction[t].age < c.oldest for t in range(c.transactions)
    )
    halves_do = any(h < s.half_length and s.half[h].age < c.oldest for h in range(c.half_slots))
    ops_do = any(o < s.op_length and s.op[o].age < c.oldest for o in range(c.op_slots))
    return transactions_do or halves_do or ops_do or (s.round.running and s.round.age <= c.round_limit)


@action()
def tick(s: State, c: Constants) -> None:
    """Everything becomes a tick older, up to the age from which it makes no difference."""
    require(something_grows_older(s, c), "some age is still counted")
    for t in range(c.transactions):
        if s.transaction[t].phase != Phase.NEW and s.transaction[t].age < c.oldest:
            s.transaction[t].age += 1
    for h in range(c.half_slots):
        if h < s.half_length and s.half[h].age < c.oldest:
            s.half[h].age += 1
    for o in range(c.op_slots):
        if o < s.op_length and s.op[o].age < c.oldest:
            s.op[o].age += 1
    if s.round.running and s.round.age <= c.round_limit:
        s.round.age += 1


@action()
def save_offsets(s: State, c: Constants) -> None:
    """Both offsets are written to the disk."""
    require(s.saved.half != s.offsets.half or s.saved.op != s.offsets.op, "they have moved")
    s.saved.half = s.offsets.half
    s.saved.op = s.offsets.op


@action()
def crash(s: State, c: Constants) -> None:
    """The process dies and starts again; the queues are on the disk."""
    require(
        not s.batch.is_empty() or s.round.running or s.saved.half != s.offsets.half or s.saved.op != s.offsets.op,
        "something is lost by it",
    )
    s.offsets.half = s.saved.half
    s.offsets.op = s.saved.op
    s.batch = Bits()
    forget_round(s, c)
