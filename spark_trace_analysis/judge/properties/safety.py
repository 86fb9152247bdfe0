"""S1 to S10: what must never happen to a transaction, each as a kernel, as expressions, and as the property of both."""

import numpy as np
from polars import col, lit, when

from spark_trace_analysis.judge.properties import so_far
from spark_trace_analysis.judge.properties.invariant import Codes, Invariant, RunSettings, Until, WholeTraces
from spark_trace_analysis.judge.properties.kernel_room import ACKNOWLEDGEMENTS, forget, room_for
from spark_trace_analysis.judge.running_aggregates import (
    COMMIT,
    ROLLBACK,
    Broken,
    Rows,
    count,
    first,
    is_action,
    is_event,
    last,
    least,
    mark,
)
from spark_trace_analysis.traces import events
from spec.chapters import discarding, escape, producer


def find_doubled(rows: WholeTraces, _actions: Codes, _settings: RunSettings, at: Until) -> None:
    """Find the second delivery of a transaction."""
    is_delivered = np.zeros(room_for(rows.transaction), np.bool_)
    for n in range(len(at)):
        forget(is_delivered, rows.transaction, rows.starts[n], rows.starts[n + 1], False)
        for row in range(rows.starts[n], rows.starts[n + 1]):
            t = rows.transaction[row]
            if rows.event[row] == events.message_delivered and t >= 0:
                if is_delivered[t]:
                    at[n] = row - rows.starts[n] + 1
                    break
                is_delivered[t] = True


def from_the_second_delivery(_settings: RunSettings) -> Broken:
    """A transaction's second delivery, and its later ones."""
    return Broken({Rows.TRANSACTION: is_event(events.message_delivered) & (col("delivered") >= 2)}, (so_far.DELIVERED,))


AT_MOST_ONE_DELIVERY = Invariant(
    property_id="S1",
    sentence="a transaction is delivered at most once",
    shows="two real messages of one transaction are stored",
    is_exact=True,
    kernel=find_doubled,
    broken=from_the_second_delivery,
)


def find_contradicted(rows: WholeTraces, actions: Codes, settings: RunSettings, at: Until) -> None:
    """Find the event by which the broker has both delivered one transaction and decided against it.

    A rollback is acknowledged when its op message is stored or lost at that, or joins a batch in memory; a broker's own
    trace may say so in one event, ``half_rolled_back``, as does that of a half which was rolled back on another broker.
    """
    unrecorded = actions[0]
    rollback = 2
    is_delivered, is_rolled_back, is_parked = 1, 2, 4
    seen = np.zeros(room_for(rows.transaction), np.int8)
    for n in range(len(at)):
        forget(seen, rows.transaction, rows.starts[n], rows.starts[n + 1], 0)
        for row in range(rows.starts[n], rows.starts[n + 1]):
            t, event = rows.transaction[row], rows.event[row]
            if t < 0:
                continue
            names_op = event in ACKNOWLEDGEMENTS
            if event == events.message_delivered:
                if seen[t] & is_delivered == 0 and seen[t] & is_parked and rows.half[row] >= 0:
                    at[n] = row - rows.starts[n] + 1
                    break
                seen[t] |= is_delivered
            elif event == events.half_rolled_back or (names_op and rows.outcome[row] == rollback):
                seen[t] |= is_rolled_back
            elif event == events.half_discarded and settings.keeps_discarded and rows.action[row] != unrecorded:
                seen[t] |= is_parked
            if seen[t] & is_delivered and seen[t] & is_rolled_back:
                at[n] = row - rows.starts[n] + 1
                break


def from_the_contradiction(settings: RunSettings) -> Broken:
    """A transaction that is both, and the first delivery of one that lies aside."""
    rolled_back = is_event(events.half_rolled_back) | (
        is_event(events.op_stored, events.op_buffered, events.op_lost) & (col("outcome") == ROLLBACK)
    )
    is_first_delivery = is_event(events.message_delivered) & (col("half") >= 0) & (col("delivered") == 1)
    return Broken(
        {
            Rows.TRANSACTION: ((col("delivered") > 0) & (col("rolled_back") > 0))
            | (is_first_delivery & (col("parked") > 0))
        },
        (so_far.DELIVERED, so_far.parked(settings), count("rolled_back", Rows.TRANSACTION, rolled_back)),
    )


DECISION_AGREEMENT = Invariant(
    property_id="S2",
    sentence="no transaction is both rolled back and delivered, or delivered when it was parked",
    shows="a rollback is acknowledged and a real message stored, or a real message when the half lies aside",
    is_exact=True,
    actions=(discarding.discard_half_unrecorded,),
    kernel=find_contradicted,
    broken=from_the_contradiction,
)


def find_undecided(rows: WholeTraces, _actions: Codes, _settings: RunSettings, at: Until) -> None:
    """Find a delivery before which no producer has committed."""
    commit = 1
    has_committed = np.zeros(room_for(rows.transaction), np.bool_)
    for n in range(len(at)):
        forget(has_committed, rows.transaction, rows.starts[n], rows.starts[n + 1], False)
        for row in range(rows.starts[n], rows.starts[n + 1]):
            t = rows.transaction[row]
            if t >= 0 and rows.event[row] == events.local_outcome and rows.outcome[row] == commit:
                has_committed[t] = True
            elif t >= 0 and rows.event[row] == events.message_delivered and not has_committed[t]:
                at[n] = row - rows.starts[n] + 1
                break


def from_the_undecided_delivery(_settings: RunSettings) -> Broken:
    """A delivery before which no local transaction has committed."""
    commits = is_event(events.local_outcome) & (col("outcome") == COMMIT)
    return Broken(
        {Rows.TRANSACTION: is_event(events.message_delivered) & (col("committed") == 0)},
        (count("committed", Rows.TRANSACTION, commits),),
    )


NO_WRONG_COMMIT = Invariant(
    property_id="S3",
    sentence="no message is delivered whose local transaction is not committed",
    shows="a real message is stored, and no local transaction has committed before",
    is_exact=True,
    needs="local_outcome",
    kernel=find_undecided,
    broken=from_the_undecided_delivery,
)


def find_foreign(rows: WholeTraces, actions: Codes, _settings: RunSettings, at: Until) -> None:
    """Find a half that was settled and that another transaction's END_TRANSACTION has named."""
    of_another = actions[0]
    is_foreign, is_settled = 1, 2
    marks = np.zeros(max(room_for(rows.half), room_for(rows.copy)), np.int8)
    for n in range(len(at)):
        forget(marks, rows.half, rows.starts[n], rows.starts[n + 1], 0)
        forget(marks, rows.copy, rows.starts[n], rows.starts[n + 1], 0)
        for row in range(rows.starts[n], rows.starts[n + 1]):
            event, half = rows.event[row], rows.half[row]
            if rows.copy[row] >= 0:
                marks[rows.copy[row]] = 0
            if half < 0:
                continue
            if event == events.half_stored:
                marks[half] = 0
            elif event == events.local_outcome and rows.action[row] == of_another:
                marks[half] |= is_foreign
            elif event in ACKNOWLEDGEMENTS:
                marks[half] |= is_settled
            if marks[half] == is_foreign | is_settled:
                at[n] = row - rows.starts[n] + 1
                break


def from_the_foreign_settlement(_settings: RunSettings) -> Broken:
    """The half at an offset is settled, and another transaction has asked for that."""
    asks = is_event(events.local_outcome) & is_action(producer.commit_another_half)
    is_foreign = col("foreign_at") >= col("filled_at").fill_null(-1)
    return Broken(
        {Rows.HALF: is_foreign & so_far.IS_SETTLED},
        (so_far.FILLED_AT, so_far.SETTLED_AT, last("foreign_at", Rows.HALF, when(asks).then("step"))),
    )


NO_FOREIGN_RESOLUTION = Invariant(
    property_id="S4",
    sentence="no half is settled by another transaction's END_TRANSACTION",
    shows="an END_TRANSACTION of another transaction is sent for a half, and the half is settled",
    is_exact=True,
    actions=(producer.commit_another_half,),
    needs="local_outcome",
    kernel=find_foreign,
    broken=from_the_foreign_settlement,
)


def find_unasked(rows: WholeTraces, _actions: Codes, _settings: RunSettings, at: Until) -> None:
    """Find a delivery from a half for which no commit was sent before."""
    commit = 1
    is_asked_for = np.zeros(room_for(rows.half), np.bool_)
    for n in range(len(at)):
        forget(is_asked_for, rows.half, rows.starts[n], rows.starts[n + 1], False)
        for row in range(rows.starts[n], rows.starts[n + 1]):
            event, half = rows.event[row], rows.half[row]
            if half < 0:
                continue
            if event in (events.local_outcome, events.check_answered, events.end_sent):
                is_asked_for[half] = is_asked_for[half] or rows.outcome[row] == commit
            elif event == events.message_delivered and not is_asked_for[half]:
                at[n] = row - rows.starts[n] + 1
                break


def from_the_unasked_delivery(_settings: RunSettings) -> Broken:
    """A delivery from a half that no commit has named."""
    asks = is_event(events.local_outcome, events.check_answered, events.end_sent) & (col("outcome") == COMMIT)
    return Broken(
        {Rows.HALF: is_event(events.message_delivered) & (col("asked_for") == 0)},
        (count("asked_for", Rows.HALF, asks),),
    )


HALF_INVISIBILITY = Invariant(
    property_id="S5",
    sentence="no message is delivered but for a commit that named a half of it",
    shows="a real message is stored from a half for which no commit was sent; one that was sent may have been lost",
    needs="local_outcome",
    kernel=find_unasked,
    broken=from_the_unasked_delivery,
)


def find_committed_copies(rows: WholeTraces, _actions: Codes, settings: RunSettings, at: Until) -> None:
    """Find a delivery from a copy, which has lost the flag of its message."""
    if settings.keeps_flag:
        return
    nowhere = -1
    first_half = np.full(room_for(rows.transaction), nowhere, np.int32)
    for n in range(len(at)):
        forget(first_half, rows.transaction, rows.starts[n], rows.starts[n + 1], nowhere)
        for row in range(rows.starts[n], rows.starts[n + 1]):
            t, half = rows.transaction[row], rows.half[row]
            if t < 0:
                continue
            if rows.event[row] == events.half_stored:
                first_half[t] = half
            elif (
                rows.event[row] == events.message_delivered
                and half >= 0
                and first_half[t] >= 0
                and half != first_half[t]
            ):
                at[n] = row - rows.starts[n] + 1
                break


def from_the_committed_copy(settings: RunSettings) -> Broken:
    """A delivery from another half than the send's, where copies lose the flag."""
    is_of_a_copy = (col("half") >= 0) & (col("first_half") >= 0) & (col("half") != col("first_half"))
    loses_flag = lit(not settings.keeps_flag)
    return Broken(
        {Rows.TRANSACTION: is_event(events.message_delivered) & is_of_a_copy & loses_flag}, (so_far.FIRST_HALF,)
    )


CONTENT_FIDELITY = Invariant(
    property_id="S6",
    sentence="no copy is committed that has lost the flag of its message",
    shows="a real message is stored from a half that no send stored; not, if the same message is sent again later",
    kernel=find_committed_copies,
    broken=from_the_committed_copy,
)


def find_parked_although_settled(rows: WholeTraces, actions: Codes, settings: RunSettings, at: Until) -> None:
    """Find a half that is discarded after an END_TRANSACTION for it was acknowledged."""
    if not settings.keeps_discarded:
        return
    unrecorded = actions[0]
    is_settled = np.zeros(max(room_for(rows.half), room_for(rows.copy)), np.bool_)
    for n in range(len(at)):
        forget(is_settled, rows.half, rows.starts[n], rows.starts[n + 1], False)
        forget(is_settled, rows.copy, rows.starts[n], rows.starts[n + 1], False)
        for row in range(rows.starts[n], rows.starts[n + 1]):
            event, half = rows.event[row], rows.half[row]
            if rows.copy[row] >= 0:
                is_settled[rows.copy[row]] = False
            if half < 0:
                continue
            if event == events.half_stored:
                is_settled[half] = False
            elif event in ACKNOWLEDGEMENTS:
                is_settled[half] = True
            elif event == events.half_discarded and is_settled[half] and rows.action[row] != unrecorded:
                at[n] = row - rows.starts[n] + 1
                break


def from_the_parked_half(settings: RunSettings) -> Broken:
    """A settled half that is put aside, where that leaves a record."""
    is_recorded = (
        is_event(events.half_discarded)
        & ~is_action(discarding.discard_half_unrecorded)
        & lit(bool(settings.keeps_discarded))
    )
    return Broken({Rows.HALF: is_recorded & so_far.IS_SETTLED}, (so_far.FILLED_AT, so_far.SETTLED_AT))


HALF_OFFSET_SAFETY = Invariant(
    property_id="S8",
    sentence="no half is discarded for which an END_TRANSACTION was acknowledged before",
    shows="a settled half goes to the discard topic; what the saved half offset passes is in no event",
    actions=(discarding.discard_half_unrecorded,),
    kernel=find_parked_although_settled,
    broken=from_the_parked_half,
)


def find_needless_checks(  # noqa: C901 (one branch an event)
    rows: WholeTraces, actions: Codes, settings: RunSettings, at: Until
) -> None:
    """Find the first check of a transaction, where an END_TRANSACTION of it was acknowledged before, in time.

    In time is here: within the timeout of the first half's being stored. A trace does not say whether a message carries
    a longer immunity of its own, nor when it was born by another clock.
    """
    by_another_clock = actions[0]
    unsent, open_, quiet, not_judged = 0, 1, 2, 3
    size = room_for(rows.transaction)
    state = np.zeros(size, np.int8)
    since = np.zeros(size, np.int64)
    for n in range(len(at)):
        forget(state, rows.transaction, rows.starts[n], rows.starts[n + 1], unsent)
        for row in range(rows.starts[n], rows.starts[n + 1]):
            t, event = rows.transaction[row], rows.event[row]
            if t < 0:
                continue
            if event == events.half_stored:
                if rows.action[row] == by_another_clock:
                    state[t] = not_judged
                elif state[t] == unsent:
                    state[t] = open_
                    since[t] = rows.time[row]
                elif state[t] == open_:
                    since[t] = min(since[t], rows.time[row])
            elif (event in ACKNOWLEDGEMENTS) and rows.half[row] >= 0:
                if state[t] == open_:
                    state[t] = quiet if rows.time[row] - since[t] <= settings.timeout else not_judged
                elif state[t] == unsent:
                    state[t] = not_judged
            elif event in (events.put_back_for_check, events.put_back_unasked):
                if state[t] == quiet:
                    at[n] = row - rows.starts[n] + 1
                    break
                state[t] = not_judged


def from_the_needless_check(settings: RunSettings) -> Broken:
    """The first check of what was acknowledged in time after its oldest half was born."""
    skewed = is_event(events.half_stored) & is_action(producer.send_half_by_another_clock)
    is_still_open = is_event(events.half_stored) & col("settled_first_at").is_null()
    is_in_time = col("settled_first_at") - col("born") <= settings.timeout
    is_check = is_event(events.put_back_for_check, events.put_back_unasked)
    is_first_check = is_check & (col("checked") == 1)
    return Broken(
        {Rows.TRANSACTION: is_first_check & (col("skewed") == 0) & is_in_time},
        (
            count("checked", Rows.TRANSACTION, is_check),
            count("skewed", Rows.TRANSACTION, skewed),
            first("settled_first_at", Rows.TRANSACTION, when(so_far.ACKNOWLEDGEMENT).then("time")),
            least("born", Rows.TRANSACTION, when(is_still_open).then("time")),
        ),
    )


QUIET_COMMIT = Invariant(
    property_id="S9",
    sentence="a half whose END_TRANSACTION was acknowledged in time and before any check is never checked",
    shows=(
        "a transaction is put back for a check although its END_TRANSACTION was acknowledged within the timeout and "
        "before; not, where only a longer immunity of its own makes that in time"
    ),
    actions=(producer.send_half_by_another_clock,),
    kernel=find_needless_checks,
    broken=from_the_needless_check,
)


def find_lost_entries(rows: WholeTraces, actions: Codes, settings: RunSettings, at: Until) -> None:
    """Find an op entry that was not stored, or that died in the op batch with the process."""
    acts = actions[0]
    is_named = np.zeros(room_for(rows.half), np.bool_)
    for n in range(len(at)):
        forget(is_named, rows.half, rows.starts[n], rows.starts[n + 1], False)
        waiting = False
        for row in range(rows.starts[n], rows.starts[n + 1]):
            event, half = rows.event[row], rows.half[row]
            is_lost = False
            is_end_of_batch = event == events.role_changed and rows.action[row] == acts
            if event == events.op_buffered and half >= 0:
                waiting = waiting or not is_named[half]
                is_named[half] = True
            elif event == events.op_stored:
                waiting = False
                if half >= 0:
                    is_named[half] = True
            elif event == events.op_lost and half >= 0:
                is_lost = not is_named[half]
            elif event in (events.op_lost, events.crashed, events.stopped) or is_end_of_batch:
                is_lost, waiting = waiting, False
            elif event == events.power_lost or (event == events.stop_began and settings.flushes_on_stop > 0):
                waiting = False
            if is_lost:
                at[n] = row - rows.starts[n] + 1
                break


def from_the_lost_entry(settings: RunSettings) -> Broken:
    """An entry that is not stored; an end of the process that finds one in the op batch."""
    names_half = col("half") >= 0
    ends = (is_event(events.op_lost) & ~names_half) | is_event(events.crashed, events.stopped)
    ends |= is_event(events.role_changed) & is_action(escape.act_for_dead_master)
    empties = is_event(events.op_stored, events.power_lost) | ends
    if settings.flushes_on_stop:
        empties |= is_event(events.stop_began)
    joins = mark("joins", Rows.HALF, is_event(events.op_buffered) & (col("named") == 1))
    return Broken(
        {Rows.HALF: is_event(events.op_lost) & (col("named") == 0), Rows.TRACE: ends & (col("waiting") == 1)},
        (
            count("named", Rows.HALF, is_event(events.op_stored, events.op_buffered)),
            joins,
            last("waiting", Rows.TRACE, when(col("joins")).then(lit(1)).when(empties).then(lit(0)), is_before=True),
        ),
    )


HONEST_ACKNOWLEDGEMENT = Invariant(
    property_id="S10",
    sentence="the op entry of an acknowledged END_TRANSACTION survives",
    shows=(
        "an op entry is not stored, or a process dies while one waits in the op batch; what a power loss takes of the "
        "op queue is in no event"
    ),
    actions=(escape.act_for_dead_master,),
    kernel=find_lost_entries,
    broken=from_the_lost_entry,
)

PROPERTIES = (
    AT_MOST_ONE_DELIVERY, DECISION_AGREEMENT, NO_WRONG_COMMIT, NO_FOREIGN_RESOLUTION, HALF_INVISIBILITY,
    CONTENT_FIDELITY, HALF_OFFSET_SAFETY, QUIET_COMMIT, HONEST_ACKNOWLEDGEMENT,
)  # fmt: skip
