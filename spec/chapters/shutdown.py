"""A shutdown: a sequence, which requests that have arrived and a round that runs come between.

| up to 5.3.3 | from 5.4.0 on |
|---|---|
| the remoting servers close: no connection is left, what has arrived waits in its pool | the same |
| `TransactionalMessageServiceImpl#close`: the op batch thread writes what is due, and ends (from 5.1.4 on) | the same |
| the store closes: it gives and takes nothing any more, and flushes its log | the pool for checks is closed |
| offsets are saved (4.x) | the check thread is woken and joined: a round runs to its end |
| the check thread is woken and joined: a round that runs, or begins, finds a closed store | `endTransactionExecutor` |
| `endTransactionExecutor` is shut down, and not awaited | is shut down, and not awaited |
| offsets are saved (5.x) | offsets are saved, and the store closes |

`begin_stop` stands for all up to the batch thread's end, `stop` for all from the closing of the store on: what is
handled then is not stored, and nobody hears its answer. RocketMQ: BrokerController#shutdown, #shutdownBasicService,
ServiceThread#shutdown, AbstractTransactionalMessageCheckListener#shutdown.
"""

from __future__ import annotations

from spec.chapters.broker import save_offsets, start_again
from spec.chapters.check_round import read_offsets
from spec.chapters.op_batch import append_op, batch_is_ready, empty_batch
from spec.commit_log import flush
from spec.constants import Constants
from spec.language import action, assume, require, within
from spec.op_pull import op_offset, pull_throws
from spec.rounds import abort_round, is_within_limit
from spec.state import End, Role, State, Stuck


@action(event="stop_began", place=855)
def begin_stop(s: State, c: Constants) -> None:
    """The broker is told to stop: connections are closed, and the op batch thread ends.

    The batch thread writes what is due and nothing else (B03), and nobody writes what joins the batch from now on. From
    5.4.0 on the check thread is woken for one more round, whose checks a closed pool drops.

    RocketMQ: TransactionalMessageServiceImpl#close; ServiceThread#shutdown wakes the thread, and #waitForRunning runs
    once more; a pool that was shut down drops what it gets.
    """
    may_stop(s, c)
    begins_to_stop(s, c)
    if c.joins_round_first and not s.round.running and not pull_throws(s, c, op_offset(s)):
        read_offsets(s, c)


def may_stop(s: State, c: Constants) -> None:
    """What the beginning of a shutdown needs."""
    require(s.role == Role.MASTER, "the broker is the master")
    assume(c.graceful_stop, "nobody stops the broker")
    require(s.batch.names.is_empty() or not batch_is_ready(s, c), "the batch thread has written what is due")
    require(
        not c.awaits_ends_on_stop or all(s.half[h].end != End.COMMIT_STORED for h in range(c.half_slots)),
        "no END_TRANSACTION is being handled, or nobody awaits it",
    )
    within(
        not c.flushes_on_stop or s.batch.names.is_empty() or s.op_length < c.op_slots,
        "the op queue of the instance has room",
    )


def begins_to_stop(s: State, c: Constants) -> None:
    """What waits in the op batch is written by a repaired broker; the broker is no master to its clients any more."""
    if c.flushes_on_stop and not s.batch.names.is_empty():
        append_op(s, c, s.batch.names)
        empty_batch(s)
    s.role = Role.STOPPING


@action(event="stopped", place=860)
def stop(s: State, c: Constants) -> None:
    """The process comes to its end and starts again: offsets are saved, what waits in the op batch is not.

    The log is flushed to its end (CommitLog.FlushRealTimeService#run, "Normal shutdown"). Up to 5.3.3 the store closes
    before the check thread is joined: a round that still runs gets no message from it and ends with a
    NullPointerException, so that what it has put back stays and its offsets are not committed.

    RocketMQ: DefaultMessageStore#shutdown, ConfigManager#persist.
    """
    require(s.role == Role.STOPPING, "the broker is being shut down")
    require(not c.joins_round_first or not s.round.running, "the last round is over, or nobody awaits it")
    require(not s.round.running or is_within_limit(s, c), "a round beyond its time limit has ended")
    within(not s.round.null_met, "a round that the store fails has not jumped before: it would not throw then")
    within(not s.round.running or s.mishaps < c.mishaps, "the instance has mishaps left for a round that fails")
    if s.round.running:
        s.mishaps += 1
        abort_round(s, c, Stuck.NO)
    flush(s, c)
    save_offsets(s)
    start_again(s, c)
