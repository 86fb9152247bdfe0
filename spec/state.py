"""The state: what the broker has written, what it holds in memory, what its producers know, and what is under way.

Some fields are ghosts: no action of the broker reads them; they remember what the properties speak of.
"""

from __future__ import annotations

from collections.abc import Sequence
from enum import IntEnum

from spec.language import (
    Bits,
    MachineState,
    Record,
    array_of,
    bits,
    clock,
    count,
    flag,
    index,
    instant,
    maybe_count,
    maybe_index,
    number,
    one_of,
    position,
    record,
    records,
)


class Local(IntEnum):
    """What a producer knows of a local transaction."""

    NOT_SENT = 0
    EXECUTING = 1
    COMMIT = 2
    ROLLBACK = 3
    UNKNOWN = 4
    NEVER_RUN = 5  # the send was not answered SEND_OK


class Kind(IntEnum):
    """What is the matter with the message of a transaction, if anything."""

    PLAIN = 0
    POISON = 1  # a copy of it is too long to be stored
    UNDECODABLE = 2


class Producer(IntEnum):
    """What the broker can reach of the producer group."""

    ONLINE = 0
    OFFLINE = 1
    UNREGISTERED = 2  # started again; the broker hears of it with its next send


class Role(IntEnum):
    """What the broker is to its group."""

    MASTER = 0
    SLAVE = 1
    ACTING_MASTER = 2  # a slave that acts for a dead master
    STOPPING = 3  # a master that is being shut down


class End(IntEnum):
    """An END_TRANSACTION for a half: under way, or half handled (the real message is stored, the op is not)."""

    NONE = 0
    COMMIT = 1
    ROLLBACK = 2
    COMMIT_STORED = 3


class Pull(IntEnum):
    """What the last pull of op messages gave."""

    FOUND = 0
    END = 1  # nothing: the end of the op queue
    UNREADABLE = 2  # only op messages that cannot be decoded


class Settled(IntEnum):
    """Ghost: what the broker did for an END_TRANSACTION that named this half."""

    NO = 0
    COMMITTED = 1
    ROLLED_BACK = 2


class Left(IntEnum):
    """Ghost: how the check service left a half behind that no op message had named."""

    NO = 0
    FOR_CHECK = 1
    FOR_IMMUNITY = 2
    KEPT_ASIDE = 3
    DROPPED = 4  # discarded without a record
    SETTLED_ASIDE = 5  # discarded although an END_TRANSACTION had settled it
    COPY_LOST = 6  # put back, but the copy did not survive a power loss
    ESCAPED = 7  # sent to another broker
    GIVEN_UP = 8  # it could not escape
    PASSED_OVER = 9  # the round jumped over it
    RESUMED = 10  # discarded, and put back by an operator
    SETTLED_ELSEWHERE = 11  # another half of its transaction was settled
    SKIPPED_BY_EXCEPTION = 12  # a round jumped over it, failed, and committed its offset all the same


class Quiet(IntEnum):
    """Ghost: whether an END_TRANSACTION was acknowledged in time and before any check, and whether one came later."""

    NO = 0
    ENDED = 1
    CHECKED = 2


class Burnt(IntEnum):
    """Ghost: why a check that TRANSACTION_CHECK_TIMES counts was not sent, the first time."""

    NO = 0
    IMMUNITY = 1  # the half was put back for its immunity
    NOBODY_TO_ASK = 2  # no producer of the group was connected
    PRESET = 3  # the producer had sent the message so


class Budget(IntEnum):
    """Ghost: whether a half was discarded, and whether all its checks had been sent by then."""

    NO = 0
    SPENT = 1
    BURNT_BY_IMMUNITY = 2
    NOBODY_TO_ASK = 3
    PRESET = 4
    OVER_AGE = 5  # older than fileReservedTime
    OLD_ON_ARRIVAL = 6  # the same, in the tick in which the producer's send stored it


class Cause(IntEnum):
    """Ghost: why a settled transaction is asked for or delivered again (the clauses of S1 and S9)."""

    NONE = 0
    IMMUNE_HALF = 1
    AFTER_A_CHECK = 2
    LOST_OP = 3
    LATE_OP = 4  # not written yet
    OVERSLEPT_OP = 5  # not written yet, for more than an interval
    STALE_OP_END = 6  # written after the round had seen the end of the op queue
    UNREAD_OP = 7  # in the queue, further on than the round had read
    FORKED_COPY = 8
    PASSED_OP = 9
    UNREADABLE_OP = 10
    TWIN_HALF = 11
    RESUMED_HALF = 12
    ESCAPED_SETTLED = 13  # sent to another broker although an END_TRANSACTION had settled it
    ESCAPED_TWICE = 14
    ESCAPED_AND_KEPT = 15  # checked again by the master when it was back
    SHORT_IMMUNITY = 16  # checked when its immunity was over, and before the timeout was
    ENDED_AFTER_ESCAPE = 17  # an END_TRANSACTION named it when the master was back
    READ_FOR_ANOTHER = 18  # it was read for an earlier half, which retention has deleted


class RolledBack(IntEnum):
    """Ghost: whether a rollback of the transaction was acknowledged, and whether it was delivered by then."""

    NO = 0
    UNDELIVERED = 1
    DELIVERED = 2


class Direct(IntEnum):
    """Ghost: what kept the commit that the producer sent of its own accord from being carried out."""

    NOTHING = 0
    LOST = 1
    LATE = 2  # refused as late
    REFUSED = 3  # by a slave or a proxy, or as nothing can be stored or read


class Stuck(IntEnum):
    """Ghost: what the last rounds were stuck at, if they left the half offset where it was."""

    NO = 0
    EXCEPTION = 1
    UNDECODABLE_HALF = 2
    UNDECODABLE_OP = 3
    FAILED_PUT = 4
    POISON = 5
    TIME_LIMIT = 6
    CLOCK = 7  # the half seems to be stored in the future


class Transaction(Record):
    """One transaction, as its producer and the consumers see it."""

    local: Local = one_of(Local)
    kind: Kind = one_of(Kind)
    immunity: int = maybe_count("most_immunity")  # CHECK_IMMUNITY_TIME_IN_SECONDS, on every copy of the half
    first_half: int = maybe_index("half_slots")  # the offsets in the SendResult, which a direct END names
    deliveries: int = number(0, 2)  # real messages stored; two stands for more
    parked: bool = flag()  # a copy lies in TRANS_CHECK_MAX_TIME_TOPIC
    escaped: int = number(0, 2)  # halves of it that wait on another broker
    delivered_twice_for_one: bool = flag()  # ghost: one half was committed twice
    shown_unasked: bool = flag()  # ghost: delivered without a commit
    committed_aside: bool = flag()  # ghost: delivered for the first time when it was parked
    rolled_back: RolledBack = one_of(RolledBack)
    cause: Cause = one_of(Cause)
    quiet: Quiet = one_of(Quiet)
    discarded: Budget = one_of(Budget)
    direct: Direct = one_of(Direct)
    halves_gone: int = count("most_gone")  # halves that were forgotten; the most stands for more
    checked_before: bool = flag("forgets")  # a half that was forgotten had been left for a check
    resumed_before: bool = flag("forgets")  # one had been resumed
    dropped_before: bool = flag("forgets")  # one that no END_TRANSACTION settled had been left in this way; so the rest
    unseen_before: bool = flag("forgets")
    copy_lost_before: bool = flag("forgets")
    given_up_before: bool = flag("forgets")


class Half(Record):
    """One message of RMQ_SYS_TRANS_HALF_TOPIC, queue 0; its queue offset is its place in the array."""

    transaction: int = index("transactions")
    check_times: int = count("check_max")  # TRANSACTION_CHECK_TIMES
    original: int = maybe_index("half_slots")  # TRAN_PREPARED_QUEUE_OFFSET: of an immunity put-back, or sent
    born_at: int = instant("birth_cut", ahead="birth_lead", slack="clock_step")
    stored_at: int = instant("stored_cut", ahead="clock_steps", slack="clock_step")
    check_in_flight: bool = flag()  # a check request that names this copy is under way to the producer
    known_to: int = count("proxies")  # the proxy that has an entry of it, counted from 1
    end: End = one_of(End)  # an END_TRANSACTION that names this half
    other_end: End = one_of(End)  # another one, when they may overtake each other
    claims_check: bool = flag()  # it says fromTransactionCheck, as a wrong one does, and the answer through a proxy
    settled: Settled = one_of(Settled)
    acknowledged: bool = flag()  # ghost: SUCCESS was answered to an END_TRANSACTION that named it
    op_write_failed: bool = flag()  # ghost: the op message that named it was not stored
    foreign: bool = flag()  # ghost: an END_TRANSACTION of another transaction named it
    burnt: Burnt = one_of(Burnt)
    left: Left = one_of(Left)
    copied_for_good: bool = flag("forgets")  # a later half of its transaction was flushed and forgotten


class Op(Record):
    """One message of RMQ_SYS_TRANS_OP_HALF_TOPIC, queue 0; its queue offset is its place in the array."""

    names: Bits = bits("half_slots")  # the half offsets in its body
    born_at: int = instant("op_cut", ahead="clock_steps", slack="clock_step")
    undecodable: bool = flag()
    halves_before: int = position("half_slots")  # how many halves stand before it in the commit log


class Batch(Record):
    """The op buffer of 5.1 and later (MessageQueueOpContext); it lives in memory and dies with the broker."""

    names: Bits = bits("half_slots")
    others: bool = flag("crowded")  # half offsets of other transactions wait, too
    is_open: bool = flag()  # the context exists: it is made by the first END after a start
    waiting_since: int = instant("waiting_cut", ahead="clock_steps", slack="clock_step")
    written_at: int = instant("batch_cut", ahead="clock_steps", slack="clock_step")  # lastWriteTimestamp


class Round(Record):
    """One pass of the check service; it lives in memory and dies with the broker."""

    running: bool = flag()
    started_at: int = instant("round_cut", ahead="clock_steps", slack="clock_step")
    cursor: int = position("half_slots")  # i, and newOffset
    null_met: bool = flag()  # getMessageNullCount: one jump over what is not there is allowed
    first_op: int = position("op_slots")  # opOffset: where the first op pull began
    next_op: int = position("op_slots")  # where the next op pull begins
    last_pull: Pull = one_of(Pull)
    pulls_nothing: bool = flag()  # ghost: it pulled nothing once more, and nothing had changed
    removed_by: list[int] = array_of(maybe_index("op_slots"), "half_slots")  # removeMap: half offset → op offset
    done: Bits = bits("op_slots")  # doneOpOffset
    done_twice: Bits = bits("op_slots")  # those that it lists twice
    met: int = position("half_slots", most="most_met")  # one more than the cursor, if it stands on no half of another
    held: int = position("op_slots", most="most_held")  # one more than the op message behind an open one of another


class PulledOp(Record):
    """opMsgMap of the running round, for one op message (5.1 and later)."""

    unresolved: Bits = bits("half_slots")  # the halves that it names and that the round has yet to meet


class Offsets(Record):
    """Consumer offsets of the group CID_RMQ_SYS_TRANS."""

    half: int = position("half_slots")
    op: int = position("op_slots")


class Flushed(Record):
    """How much of the commit log a power loss would leave, at least; kept where there may be one."""

    halves: int = position("half_slots")
    ops: int = position("op_slots")


class Counted(Record):
    """So many messages of each queue, from its first on."""

    halves: int = position("half_slots", most="most_halves_deleted")
    ops: int = position("op_slots", most="most_ops_deleted")


class State(MachineState):
    """Everything that the actions read and write."""

    now: int = clock()
    clock_steps: int = count("clock_steps")  # how often the clock has stepped back
    mishaps: int = count("mishaps")  # how often something has gone wrong in the broker
    stray_ends: int = count("stray_ends")  # how many END_TRANSACTIONs were repeated or wrong
    crashes: int = count("most_crashes")  # how often the broker's process has died, where that is counted
    role: Role = one_of(Role)
    producer: Producer = one_of(Producer)
    transaction: Sequence[Transaction] = records("transactions", Transaction)
    half: Sequence[Half] = records("half_slots", Half)
    half_length: int = position("half_slots")
    op: Sequence[Op] = records("op_slots", Op)
    op_length: int = position("op_slots")
    batch: Batch = record(Batch)
    round: Round = record(Round)
    pulled_op: Sequence[PulledOp] = records("op_slots", PulledOp)
    round_ended_at: int = instant("check_interval", ahead="clock_steps", slack="clock_step")
    offsets: Offsets = record(Offsets)  # in memory
    saved: Offsets = record(Offsets)  # in config/consumerOffset.json
    unsaved: int = count("most_unsaved")  # for how many ticks an offset has not been as in the file
    flushed: Flushed = record(Flushed)
    gone: Counted = record(Counted)  # what retention has deleted from the commit log
    lower_end: Counted = record(Counted)  # minLogicOffset: below it, a queue says that nothing is there
    stuck: Stuck = one_of(Stuck)
    stuck_rounds: int = number(0, 2)  # ghost: rounds on end that were stuck at the same; two stands for more
    op_left_behind: bool = (
        flag()
    )  # ghost: a round read all op messages, passed all halves, and left the op offset behind
    had_halves: bool = flag("forgets")  # a half was forgotten, so that the queue is not empty
    had_ops: bool = flag("forgets")  # the same of op messages, or one was written and no power loss can take it
