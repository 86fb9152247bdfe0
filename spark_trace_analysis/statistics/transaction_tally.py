"""The tally of each transaction of some traces, by one pass of a compiled kernel.

A transaction counts from the moment when its half is stored; one that never got that far is left out.
"""

from functools import cache
from typing import Any, Final, NamedTuple

import numpy as np
import numpy.typing as npt

from model_check.explicit.code_generation.compile_lock import cached_njit
from spark_trace_analysis.traces import events
from spark_trace_analysis.traces.whole_traces import WholeTraces
from spec.events import OUTCOMES

_COMMIT: Final = OUTCOMES.index("commit")
_ROLLBACK: Final = OUTCOMES.index("rollback")

# The columns of the kernel's table: how often, or whether, ...
_HALVES, _REAL, _CHECKS, _PUT_BACKS, _COPIES, _OPS, _RECORDED, _LATE, _IS_COMMIT, _IS_PARKED, _IS_GONE = range(11)
# ... and when first; -1 for never.
_SENT, _REACHED, _SETTLED, _SHOWN, _PARTED = range(11, 16)
_COLUMNS: Final = 16
_NEVER: Final = np.iinfo(np.int64).min


class Fates(NamedTuple):
    """How many transactions came to a bad end, as far as their traces go; one can be several of these.

    Doubled ones were delivered more than once. Lost ones were decided as a commit by their producer and not delivered,
    and their half was passed without a record of it or discarded without one: no check will ask for it again. The half
    of a parked one lies in the discard topic at the end. Late refused are those of which some END_TRANSACTION was
    refused so.
    """

    doubled: int
    lost: int
    parked: int
    late_refused: int


class Records(NamedTuple):
    """Records that the broker wrote for transactions.

    Halves as sent, copies of them (put back, or resumed), op messages (one that several halves share counts once),
    messages in their real topics, and records in the discard topic.
    """

    halves: int
    copies: int
    ops: int
    real: int
    discarded: int


class Tally(NamedTuple):
    """One number a transaction; those about a moment only of the transactions that came to it.

    Attributes
    ----------
    checks
        Checks that were sent, each of which begins with a put-back.
    put_backs
        All copies of its half that the check service wrote, also those for an immunity, and those of which no producer
        could be asked.
    half_offsets
        Offsets of the half queue that it used up, those of a repeated send and of a resumed half included.
    deliveries
        Messages that consumers got.
    records
        Records that were written for it alone: halves, copies, ops, real messages, records of a discard.
    time_to_delivery
        From its first half to its first delivery, in the units of the traces' clock.
    settled_lag
        From its first delivery, or its rollback, to the first op message that says so.
    age_at_discard
        From its first half to the first discard of it.
    op_lag
        From the moment when an op entry began to wait in memory to the op message that it was written in; one number an
        entry. What a crash, a stop or a change of roles came between is left out.
    fates, written
        Sums over all transactions.
    """

    checks: npt.NDArray[np.int64]
    put_backs: npt.NDArray[np.int64]
    half_offsets: npt.NDArray[np.int64]
    deliveries: npt.NDArray[np.int64]
    records: npt.NDArray[np.int64]
    time_to_delivery: npt.NDArray[np.int64]
    settled_lag: npt.NDArray[np.int64]
    age_at_discard: npt.NDArray[np.int64]
    op_lag: npt.NDArray[np.int64]
    fates: Fates
    written: Records


QUANTITIES: Final = tuple(name for name in Tally._fields if name not in {"fates", "written"})


def tally(traces: WholeTraces, recorded: npt.NDArray[np.bool_], late: npt.NDArray[np.bool_]) -> Tally:
    """Tally the transactions of some whole traces, in no particular order.

    Of each row is known whether a discard leaves a record, and whether it is a refusal of a late END_TRANSACTION.
    """
    most = int(np.count_nonzero(traces.event == events.half_stored))
    table = np.zeros((most, _COLUMNS), np.int64)
    lags = np.zeros(int(np.count_nonzero(traces.event == events.op_buffered)), np.int64)
    count, lagged, shared = _kernel()(
        traces.starts, traces.event, traces.transaction, traces.outcome, traces.time, recorded, late, table, lags
    )
    table = table[:count]
    halves, real, copies, ops, discarded = (table[:, n] for n in (_HALVES, _REAL, _COPIES, _OPS, _RECORDED))
    is_undelivered_commit = (table[:, _IS_COMMIT] > 0) & (real == 0)
    return Tally(
        checks=table[:, _CHECKS],
        put_backs=table[:, _PUT_BACKS],
        half_offsets=halves + copies,
        deliveries=real,
        records=halves + copies + ops + real + discarded,
        time_to_delivery=_between(table, _SENT, _REACHED),
        settled_lag=_between(table, _SETTLED, _SHOWN),
        age_at_discard=_between(table, _SENT, _PARTED),
        op_lag=lags[:lagged],
        fates=Fates(
            doubled=int(np.count_nonzero(real > 1)),
            lost=int(np.count_nonzero(is_undelivered_commit & (table[:, _IS_GONE] > 0))),
            parked=int(np.count_nonzero(table[:, _IS_PARKED])),
            late_refused=int(np.count_nonzero(table[:, _LATE])),
        ),
        written=Records(
            halves=int(halves.sum()),
            copies=int(copies.sum()),
            ops=int(ops.sum()) + shared,
            real=int(real.sum()),
            discarded=int(discarded.sum()),
        ),
    )


def _between(table: npt.NDArray[np.int64], start: int, end: int) -> npt.NDArray[np.int64]:
    came = (table[:, start] != _NEVER) & (table[:, end] != _NEVER)
    lasted: npt.NDArray[np.int64] = table[came, end] - table[came, start]
    return lasted


def count_events(  # noqa: C901 (one branch an event)
    starts: npt.NDArray[np.int64],
    event: npt.NDArray[np.int16],
    transaction: npt.NDArray[np.int32],
    outcome: npt.NDArray[np.int8],
    time: npt.NDArray[np.int64],
    recorded: npt.NDArray[np.bool_],
    late: npt.NDArray[np.bool_],
    table: npt.NDArray[np.int64],
    lags: npt.NDArray[np.int64],
) -> tuple[int, int, int]:
    """Fill a row of ``table`` for each transaction with a half, and ``lags`` for each op entry that was written.

    Gives the rows of ``table`` and of ``lags`` that are filled, and the op messages that belong to no transaction.
    """
    largest = -1
    for row in range(len(transaction)):
        largest = max(largest, transaction[row])
    seen = np.zeros((largest + 1, _COLUMNS), np.int64)
    waiting_of = np.zeros(len(lags) + 1, np.int64)
    waiting_since = np.zeros(len(lags) + 1, np.int64)
    count = lagged = shared = 0
    for n in range(len(starts) - 1):
        seen[:, :_SENT] = 0
        seen[:, _SENT:] = _NEVER
        waiting = 0
        for row in range(starts[n], starts[n + 1]):
            e, t, now = event[row], transaction[row], time[row]
            if t < 0:
                if e == events.op_stored:
                    shared += 1
                    for w in range(waiting):
                        lags[lagged] = now - waiting_since[w]
                        lagged += 1
                        of = waiting_of[w]
                        if seen[of, _SHOWN] == _NEVER:
                            seen[of, _SHOWN] = now
                    waiting = 0
                elif e in (events.op_lost, events.crashed, events.power_lost, events.stopped, events.role_changed):
                    waiting = 0
                continue
            if e == events.half_stored:
                if seen[t, _HALVES] == 0 or now < seen[t, _SENT]:
                    seen[t, _SENT] = now
                seen[t, _HALVES] += 1
            elif e == events.message_delivered:
                if seen[t, _REAL] == 0 or now < seen[t, _REACHED]:
                    seen[t, _REACHED] = now
                if seen[t, _SETTLED] == _NEVER:
                    seen[t, _SETTLED] = now
                seen[t, _REAL] += 1
            elif e in (events.put_back_for_check, events.put_back_for_immunity, events.put_back_unasked):
                seen[t, _CHECKS] += e == events.put_back_for_check
                seen[t, _PUT_BACKS] += 1
                seen[t, _COPIES] += 1
                seen[t, _IS_GONE] = 0
            elif e == events.half_resumed:
                seen[t, _COPIES] += 1
                seen[t, _IS_PARKED] = seen[t, _IS_GONE] = 0
            elif e == events.op_stored:
                seen[t, _OPS] += 1
                if outcome[row] == _ROLLBACK and seen[t, _SETTLED] == _NEVER:
                    seen[t, _SETTLED] = now
                if seen[t, _SHOWN] == _NEVER:
                    seen[t, _SHOWN] = now
            elif e == events.op_buffered:
                if outcome[row] == _ROLLBACK and seen[t, _SETTLED] == _NEVER:
                    seen[t, _SETTLED] = now
                waiting_of[waiting] = t
                waiting_since[waiting] = now
                waiting += 1
            elif e == events.half_discarded:
                if seen[t, _PARTED] == _NEVER:
                    seen[t, _PARTED] = now
                seen[t, _RECORDED] += recorded[row]
                seen[t, _IS_PARKED] = recorded[row]
                seen[t, _IS_GONE] = not recorded[row]
            elif e == events.half_missed:
                seen[t, _IS_GONE] = 1
            elif e == events.local_outcome:
                seen[t, _IS_COMMIT] = outcome[row] == _COMMIT
            elif late[row]:
                seen[t, _LATE] += 1
        for t in range(largest + 1):
            if seen[t, _HALVES] > 0:
                table[count] = seen[t]
                count += 1
    return count, lagged, shared


@cache
def _kernel() -> Any:
    return cached_njit(count_events)
