"""The broker's process and its disk: offsets go to their file now and then, processes die, power goes, operators act.

A shutdown is in `shutdown`. RocketMQ: ConsumerOffsetManager, ConfigManager#persist, BrokerController#initialize.
"""

from __future__ import annotations

from spec.bounds import room_for_a_crash, room_for_a_mishap, within_reach
from spec.chapters.end_transaction import forget_ends
from spec.chapters.op_batch import batch_is_overdue, drop_batch
from spec.commit_log import flush, ops_among
from spec.constants import Constants
from spec.half import age, awaits_its_producer, immunity
from spec.half_queue import append_half, find_lower_ends, its_copy_is_there, room_for_a_half
from spec.language import LONG_AGO, NONE, Bits, action, assume, each, require, upto, within
from spec.observation import RESUMED
from spec.roles import is_master
from spec.rounds import forget_round
from spec.state import Burnt, Cause, End, Left, Local, Role, Settled, State


@action(event="offsets_persisted", place=580)
def persist_offsets(s: State, c: Constants) -> None:
    """config/consumerOffset.json is written.

    RocketMQ: ConfigManager#persist of the ConsumerOffsetManager, every flushConsumerOffsetInterval; any moment will do
    here. Nothing ties it to the flush of the commit log (B13); a repaired broker flushes first.
    """
    require(s.role != Role.ACTING_MASTER, "the broker is not dead")
    require(differs_from_the_file(s), "an offset has moved since the file was written")
    if c.flushes_before_saving:
        flush(s, c)
    save_offsets(s)


def save_offsets(s: State) -> None:
    """The file has the offsets of this moment."""
    s.saved.half = s.offsets.half
    s.saved.op = s.offsets.op
    s.unsaved = 0


def differs_from_the_file(s: State) -> bool:
    """An offset has moved since the file was written."""
    return s.saved.half != s.offsets.half or s.saved.op != s.offsets.op


@action(event="log_flushed", place=590)
def flush_log(s: State, c: Constants) -> None:
    """The commit log is flushed to disk.

    RocketMQ: CommitLog.FlushRealTimeService, every flushIntervalCommitLog; copies and op messages do not wait for it.
    """
    require(s.flushed.halves != s.half_length or s.flushed.ops != s.op_length, "something was written since")
    assume(c.power_loss, "nobody asks what is on the disk")
    room_for_a_mishap(s, c)
    flush(s, c)


# --- the end of a process ---------------------------------------------------------------------------------------------


@action(event="crashed", place=870)
def crash(s: State, c: Constants) -> None:
    """The broker's process is killed and started again. What was written to the page cache stays; memory is lost.

    Requests under way die with their connections, and those that were being handled with their threads. The op batch
    dies with its entries (B02).
    """
    assume(c.crash, "the broker's process does not die")
    require(is_master(s), "the broker is the master")
    room_for_a_crash(s, c)
    if c.crashes != NONE:
        s.crashes += 1
    start_again(s, c)


@action(event="power_lost", place=880, records=upto("log_slots"))
def lose_power(s: State, c: Constants, records: int) -> None:
    """The machine loses power and starts again: of all halves and op messages only the first `records` are left.

    RocketMQ: ConfigManager#persist, BrokerController#initialize, #shutdown, with flushDiskType=ASYNC_FLUSH.
    What was flushed stays, and so does the file of offsets (B13, B14). Consumers have seen what was delivered. A slave
    that takes over after asynchronous replication looks the same, as far as the master had flushed no more than the
    slave has fetched.
    """
    assume(c.power_loss, "the machine keeps its power")
    require(is_master(s), "the broker is the master")
    require(
        records < s.half_length + s.op_length or (c.crowded == 1 and records == s.half_length + s.op_length),
        "something is lost",
    )
    require(records >= s.flushed.halves + s.flushed.ops, "what was flushed stays")
    room_for_a_mishap(s, c)
    s.mishaps += 1
    ops = ops_among(s, c, records)
    halves = records - ops
    for o in range(c.op_slots):
        if o >= ops and o < s.op_length:
            lose_op(s, o)
    for h in range(c.half_slots):
        if h >= halves and h < s.half_length:
            lose_half(s, c, h)
    s.half_length = halves
    s.op_length = ops
    for h in range(c.half_slots):
        if (s.half[h].left == Left.FOR_CHECK or s.half[h].left == Left.FOR_IMMUNITY) and not its_copy_is_there(s, c, h):
            s.half[h].left = Left.COPY_LOST
    s.gone.halves = min(s.gone.halves, halves)
    s.gone.ops = min(s.gone.ops, ops)
    if c.clamps_offsets:
        s.saved.half = min(s.saved.half, halves)
        s.saved.op = min(s.saved.op, ops)
    flush(s, c)
    start_again(s, c)


def lose_op(s: State, o: int) -> None:
    """The place of op message o is empty again."""
    s.op[o].names = Bits()
    s.op[o].born_at = LONG_AGO
    s.op[o].undecodable = False
    s.op[o].halves_before = 0


def lose_half(s: State, c: Constants, h: int) -> None:
    """The place of half h is empty again. Ghost: note what is forgotten with it, its op or its escape."""
    t = s.half[h].transaction
    if s.transaction[t].cause == Cause.NONE:
        if s.half[h].settled != Settled.NO:
            s.transaction[t].cause = Cause.LOST_OP
        elif s.half[h].left == Left.ESCAPED:
            s.transaction[t].cause = Cause.ENDED_AFTER_ESCAPE
    forget_ends(s, h)
    s.half[h].transaction = 0
    s.half[h].check_times = 0
    s.half[h].original = NONE
    s.half[h].born_at = LONG_AGO
    s.half[h].stored_at = LONG_AGO
    s.half[h].check_in_flight = False
    s.half[h].settled = Settled.NO
    s.half[h].acknowledged = False
    s.half[h].op_write_failed = False
    s.half[h].foreign = False
    s.half[h].burnt = Burnt.NO
    s.half[h].left = Left.NO
    if c.proxies > 0:
        s.half[h].known_to = 0


def start_again(s: State, c: Constants) -> None:
    """Memory is lost; offsets are read from their file."""
    drop_batch(s)
    forget_round(s, c)
    s.round_ended_at = s.now
    s.offsets.half = s.saved.half
    s.offsets.op = s.saved.op
    s.unsaved = 0
    s.role = Role.MASTER
    find_lower_ends(s, c)
    for h in range(c.half_slots):
        s.half[h].check_in_flight = False
        forget_ends(s, h)


# --- the file of offsets ----------------------------------------------------------------------------------------------


@action(event="offsets_regressed", place=830, h=each("half_slots"))
def set_half_offset_back(s: State, c: Constants, h: int) -> None:
    """The half offset goes back: a slave took over with an older one, or an older file was put in place (B16).

    RocketMQ: SlaveSynchronize copies the offsets every 10 s (4.x), or a minute after the last full copy (5.x).
    """
    require(not s.round.running, "no round runs")
    require(h < s.offsets.half, "it was there before")
    assume(c.offset_regression, "offsets do not go back")
    within_reach(c, h, s.offsets.half)
    room_for_a_mishap(s, c)
    s.mishaps += 1
    s.offsets.half = h


@action(event="offsets_regressed", place=840, o=each("op_slots"))
def set_op_offset_back(s: State, c: Constants, o: int) -> None:
    """The op offset goes back."""
    require(not s.round.running, "no round runs")
    require(o < s.offsets.op, "it was there before")
    assume(c.offset_regression, "offsets do not go back")
    within_reach(c, o, s.offsets.op)
    room_for_a_mishap(s, c)
    s.mishaps += 1
    s.offsets.op = o


# --- operators --------------------------------------------------------------------------------------------------------


@action(event="half_resumed", place=850, shows=RESUMED, h=each("half_slots"))
def resume_discarded(s: State, c: Constants, h: int) -> None:
    """A discarded half goes back to the half queue with no check counted; its record in the discard topic stays (B30).

    RocketMQ: AdminBrokerProcessor#resumeCheckHalfMessage (from 4.5.2 on).
    """
    require(
        s.half[h].left == Left.KEPT_ASIDE or s.half[h].left == Left.SETTLED_ASIDE or s.half[h].left == Left.RESUMED,
        "the half lies in the discard topic",
    )
    require(s.role == Role.MASTER, "the broker is the master")
    assume(c.resume_discarded, "nobody resumes a discarded half")
    within_reach(c, h, s.offsets.half)
    room_for_a_half(s, c)
    if s.half[h].left == Left.RESUMED and s.transaction[s.half[h].transaction].cause == Cause.NONE:
        s.transaction[s.half[h].transaction].cause = Cause.RESUMED_HALF
    s.half[h].left = Left.RESUMED
    s.half[s.half_length].original = s.half[h].original
    append_half(s, s.half[h].transaction, s.half[h].born_at)


# --- time -------------------------------------------------------------------------------------------------------------


def must_hear_from_its_producer(s: State, c: Constants, t: int) -> bool:
    """The transaction's half is as old as a half may be before its first check."""
    return s.transaction[t].first_half != NONE and (
        age(s, s.transaction[t].first_half) >= c.timeout
        and age(s, s.transaction[t].first_half) >= immunity(s, c, s.transaction[t].first_half)
    )


@action(event="time_passed", place=900)
def tick(s: State, c: Constants) -> None:
    """The clock goes on. Without faults, nothing that is due is overdue.

    RocketMQ: TransactionDataManager#cleanExpireTransactionData, for a proxy forgets where a half lies.
    """
    assume(
        c.slow_local
        or all(
            s.transaction[t].local != Local.EXECUTING or not must_hear_from_its_producer(s, c, t)
            for t in range(c.transactions)
        ),
        "a local transaction is over before its first check",
    )
    assume(
        c.late_end
        or all(
            not awaits_its_producer(s, c, t) or not must_hear_from_its_producer(s, c, t) for t in range(c.transactions)
        ),
        "each END_TRANSACTION arrives before the first check of its transaction is due",
    )
    assume(
        c.late_end or all(s.half[h].end != End.COMMIT_STORED for h in range(c.half_slots)),
        "an END_TRANSACTION is handled without a pause",
    )
    assume(
        c.slow_round or not s.round.running or (c.endless == 1 and s.round.pulls_nothing),
        "a round takes no time",
    )
    assume(not batch_is_overdue(s, c) or s.role == Role.STOPPING, "the op batch thread wakes up once an interval")
    assume(s.role != Role.STOPPING or s.round.running, "a shutdown waits for nothing but its last round")
    assume(
        c.late_persist
        or c.persist_interval == NONE
        or s.unsaved < c.persist_interval
        or not differs_from_the_file(s)
        or s.role == Role.ACTING_MASTER,
        "offsets are saved once an interval",
    )
    for k in range(c.half_slots):
        if c.proxies > 0 and s.half[k].known_to > 0 and s.now - s.half[k].stored_at >= c.data_life:
            s.half[k].known_to = 0
    if c.persist_interval != NONE:
        s.unsaved = min(s.unsaved + 1, c.persist_interval) if differs_from_the_file(s) else 0
    s.now += 1


@action(event="clock_stepped_back", place=890)
def step_clock_back(s: State, c: Constants) -> None:
    """The broker's clock goes back by a tick (B28)."""
    assume(c.clock_step, "the clock only goes on")
    within(s.clock_steps < c.clock_steps, "the instance has steps of the clock left")
    s.clock_steps += 1
    s.now -= 1
