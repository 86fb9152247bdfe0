"""The broker's process: offsets go to their file now and then, and the process may die and start again.

RocketMQ: ConsumerOffsetManager#persist, BrokerController#initialize.
"""

from __future__ import annotations

from spec.check_round import awaits_its_producer, forget_round
from spec.constants import Constants
from spec.end_transaction import forget_end
from spec.half_queue import age, immunity
from spec.language import NONE, action, assume, require
from spec.op_batch import batch_is_overdue, drop_batch
from spec.state import End, Local, State


@action(event="offsets_persisted")
def persist_offsets(s: State, c: Constants) -> None:
    """config/consumerOffset.json is written.

    RocketMQ: ConsumerOffsetManager#persist, every flushConsumerOffsetInterval; any moment will do here.
    """
    require(
        s.saved.half != s.offsets.half or s.saved.op != s.offsets.op, "an offset has moved since the file was written"
    )
    s.saved.half = s.offsets.half
    s.saved.op = s.offsets.op


@action(event="crashed")
def crash(s: State, c: Constants) -> None:
    """The broker's process is killed and started again. What was written to the page cache stays; memory is lost.

    Requests under way die with their connections, and those that were being handled with their threads. The op batch
    dies with its entries (B02).
    """
    assume(c.crash, "the broker's process does not die")
    drop_batch(s)
    forget_round(s, c)
    s.round_ended_at = s.now
    s.offsets.half = s.saved.half
    s.offsets.op = s.saved.op
    for h in range(c.half_slots):
        s.half[h].check_in_flight = False
        forget_end(s, h)


# --- time -------------------------------------------------------------------------------------------------------------


def must_hear_from_its_producer(s: State, c: Constants, t: int) -> bool:
    """The transaction's half is as old as a half may be before its first check."""
    return s.transaction[t].first_half != NONE and (
        age(s, s.transaction[t].first_half) >= c.timeout
        and age(s, s.transaction[t].first_half) >= immunity(s, c, s.transaction[t].first_half)
    )


@action(event="time_passed")
def tick(s: State, c: Constants) -> None:
    """The clock goes on. Without faults, nothing that is due is overdue."""
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
    assume(c.slow_round or not s.round.running, "a round takes no time")
    assume(not batch_is_overdue(s, c), "the op batch thread wakes up once an interval")
    s.now += 1
