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


class End(IntEnum):
    """An END_TRANSACTION for a half: under way, or half handled (the real message is stored, the op is not)."""

    NONE = 0
    COMMIT = 1
    ROLLBACK = 2
    COMMIT_STORED = 3


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
    DROPPED = 4


class Quiet(IntEnum):
    """Ghost: whether an END_TRANSACTION was acknowledged in time and before any check, and whether one came later."""

    NO = 0
    ENDED = 1
    CHECKED = 2


class Budget(IntEnum):
    """Ghost: whether a half was discarded, and whether all its checks had been sent by then."""

    NO = 0
    SPENT = 1
    BURNT = 2


class Cause(IntEnum):
    """Ghost: why a settled transaction is asked for or delivered again (the clauses of S1 and S9)."""

    NONE = 0
    DOUBLED_REQUEST = 1
    IMMUNE_HALF = 2
    AFTER_A_CHECK = 3
    LOST_OP = 4
    LATE_OP = 5
    FORKED_COPY = 6
    PASSED_OP = 7


class RolledBack(IntEnum):
    """Ghost: whether a rollback of the transaction was acknowledged, and whether it was delivered by then."""

    NO = 0
    UNDELIVERED = 1
    DELIVERED = 2


class Transaction(Record):
    """One transaction, as its producer and the consumers see it."""

    local: Local = one_of(Local)
    immunity: int = maybe_count("longest_immunity")  # CHECK_IMMUNITY_TIME_IN_SECONDS, on every copy of the half
    first_half: int = maybe_index("half_slots")  # the offsets in the SendResult, which a direct END names
    deliveries: int = number(0, 2)  # real messages stored; two stands for more
    parked: bool = flag()  # a copy lies in TRANS_CHECK_MAX_TIME_TOPIC
    rolled_back: RolledBack = one_of(RolledBack)
    cause: Cause = one_of(Cause)
    quiet: Quiet = one_of(Quiet)
    discarded: Budget = one_of(Budget)


class Half(Record):
    """One message of RMQ_SYS_TRANS_HALF_TOPIC, queue 0; its queue offset is its place in the array."""

    transaction: int = index("transactions")
    check_times: int = count("check_max")  # TRANSACTION_CHECK_TIMES
    original: int = maybe_index("half_slots")  # TRAN_PREPARED_QUEUE_OFFSET, written by an immunity put-back only
    born_at: int = instant("birth_cut")
    stored_at: int = instant("round_cut")
    check_in_flight: bool = flag()  # a check request that names this copy is under way to the producer
    end: End = one_of(End)  # an END_TRANSACTION that names this half
    claims_check: bool = flag()  # it is wrong and says fromTransactionCheck
    settled: Settled = one_of(Settled)
    acknowledged: bool = flag()  # ghost: SUCCESS was answered to an END_TRANSACTION that named it
    checks_sent: int = count("check_max")  # ghost: those of its check_times that were more than a put-back for immunity
    left: Left = one_of(Left)


class Op(Record):
    """One message of RMQ_SYS_TRANS_OP_HALF_TOPIC, queue 0; its queue offset is its place in the array."""

    names: Bits = bits("half_slots")  # the half offsets in its body
    born_at: int = instant("op_cut")


class Batch(Record):
    """The op buffer of 5.1 and later (MessageQueueOpContext); it lives in memory and dies with the broker."""

    names: Bits = bits("half_slots")
    is_open: bool = flag()  # the context exists: it is made by the first END after a start
    waiting_since: int = instant("op_batch_interval")
    written_at: int = instant("batch_cut")  # lastWriteTimestamp


class Round(Record):
    """One pass of the check service; it lives in memory and dies with the broker."""

    running: bool = flag()
    started_at: int = instant("round_cut")
    cursor: int = count("half_slots")  # i, and newOffset
    first_op: int = count("op_slots")  # opOffset: where the first op pull began
    next_op: int = count("op_slots")  # where the next op pull begins
    op_end_seen: bool = flag()  # the last pull found nothing
    removed_by: list[int] = array_of(maybe_index("op_slots"), "half_slots")  # removeMap: half offset → op offset
    done: Bits = bits("op_slots")  # doneOpOffset
    done_twice: Bits = bits("op_slots")  # those that it lists twice


class PulledOp(Record):
    """opMsgMap of the running round, for one op message (5.1 and later)."""

    unresolved: Bits = bits("half_slots")  # the halves that it names and that the round has yet to meet


class Offsets(Record):
    """Consumer offsets of the group CID_RMQ_SYS_TRANS."""

    half: int = count("half_slots")
    op: int = count("op_slots")


class State(MachineState):
    """Everything that the actions read and write."""

    now: int = clock()
    transaction: Sequence[Transaction] = records("transactions", Transaction)
    half: Sequence[Half] = records("half_slots", Half)
    half_length: int = count("half_slots")
    op: Sequence[Op] = records("op_slots", Op)
    op_length: int = count("op_slots")
    batch: Batch = record(Batch)
    round: Round = record(Round)
    pulled_op: Sequence[PulledOp] = records("op_slots", PulledOp)
    round_ended_at: int = instant("check_interval")
    offsets: Offsets = record(Offsets)  # in memory
    saved: Offsets = record(Offsets)  # in config/consumerOffset.json
