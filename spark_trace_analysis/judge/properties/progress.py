"""L1 to L5 and R1: what gets no further, and work for nothing; each as a kernel, as expressions and property."""

import numpy as np
import polars as pl
from polars import col, lit, when

from spark_trace_analysis.judge.properties import so_far
from spark_trace_analysis.judge.properties.invariant import Codes, Invariant, RunSettings, Until, WholeTraces
from spark_trace_analysis.judge.properties.kernel_room import (
    ACKNOWLEDGEMENTS,
    ENDS_OF_A_PROCESS,
    PASSES,
    PUT_BACKS,
    forget,
    is_among,
    room_for,
)
from spark_trace_analysis.judge.running_aggregates import (
    COMMIT,
    ROLLBACK,
    Broken,
    Rows,
    count,
    is_action,
    is_event,
    last,
    mark,
    most,
    total,
)
from spark_trace_analysis.traces import events
from spec.chapters import broken_round, check_round, discarding, end_transaction, network, producer


def find_lost(  # noqa: C901 (one branch an event)
    rows: WholeTraces, actions: Codes, settings: RunSettings, at: Until
) -> None:
    """Find a round that ends when it has left the last half of an open transaction behind for good.

    The half is discarded without a record, or jumped over, while nothing of the transaction is under way; and the round
    ends, so that the half offset passes the half.
    """
    unrecorded, too_immune, resolved_commit, resolved_rollback, gone = actions[:5]
    committing = actions[5:]
    size = room_for(rows.transaction)
    is_over = np.zeros(size, np.bool_)
    is_decided = np.zeros(size, np.bool_)
    under_way = np.zeros(size, np.int32)
    last_half = np.zeros(size, np.int32)
    for n in range(len(at)):
        forget(is_over, rows.transaction, rows.starts[n], rows.starts[n + 1], False)
        forget(is_decided, rows.transaction, rows.starts[n], rows.starts[n + 1], False)
        forget(under_way, rows.transaction, rows.starts[n], rows.starts[n + 1], 0)
        forget(last_half, rows.transaction, rows.starts[n], rows.starts[n + 1], -1)
        is_lost = False
        for row in range(rows.starts[n], rows.starts[n + 1]):
            event, action, t, half = rows.event[row], rows.action[row], rows.transaction[row], rows.half[row]
            if event in (events.power_lost, events.half_escaped):
                break
            is_jump = event == events.half_missed and half < 0
            if event == events.round_ended:
                if is_lost and is_among(action, committing):
                    at[n] = row - rows.starts[n] + 1
                    break
                is_lost = False
            elif event in ENDS_OF_A_PROCESS or event in (events.round_began, events.end_sent) or is_jump:
                is_lost = False
            if t < 0:
                continue
            if rows.copy[row] >= 0:
                last_half[t] = max(last_half[t], rows.copy[row])
            elif event == events.half_stored:
                last_half[t] = max(last_half[t], half)
            if event == events.local_outcome:
                is_decided[t] = True
                is_sent = rows.outcome[row] == 1 or rows.outcome[row] == 2
                if is_sent and action != resolved_commit and action != resolved_rollback and action != gone:
                    under_way[t] += 1
            elif event in (events.end_sent, events.put_back_for_check):
                under_way[t] += 1
            elif event == events.check_answered:
                if rows.outcome[row] != 1 and rows.outcome[row] != 2:
                    under_way[t] -= 1
            elif event in (events.end_refused, events.message_lost):
                under_way[t] -= 1
            elif event in (events.message_delivered, events.half_rolled_back) or (
                event in ACKNOWLEDGEMENTS and half >= 0
            ):
                is_over[t] = True
            is_dropped = event == events.half_discarded and (action == unrecorded or not settings.keeps_discarded)
            if event == events.half_discarded and not is_dropped:
                is_over[t] = True
            is_skipped = event == events.half_missed or (event == events.half_passed and action == too_immune)
            if (is_dropped or is_skipped) and half >= 0 and half == last_half[t]:
                is_lost = is_lost or (is_decided[t] and not is_over[t] and under_way[t] == 0)


_COMMITTING = (
    check_round.end_round_at_queue_end,
    check_round.end_round_at_fresh_half,
    check_round.end_round_before_dispatch,
    check_round.end_round_at_young_half,
    check_round.end_round_at_time_limit,
    broken_round.end_round_at_missed_half,
    broken_round.spin_at_failed_check,
    broken_round.spin_at_failed_immunity,
)
"""The ends of a round that commit the half offset."""


def from_the_round_that_passes(settings: RunSettings) -> Broken:
    """The end of a round that has left the last half of an open transaction behind."""
    decides = col("outcome").is_in([COMMIT, ROLLBACK])
    stores = when(col("copy") >= 0).then("copy").when(is_event(events.half_stored)).then("half")
    asks = is_event(events.local_outcome) & decides
    asks &= ~is_action(producer.resolve_to_commit, producer.resolve_to_rollback, producer.commit_what_is_gone)
    asks |= is_event(events.end_sent, events.put_back_for_check)
    is_answered = (is_event(events.check_answered) & ~decides) | is_event(events.end_refused, events.message_lost)
    is_dropped = is_event(events.half_discarded) & (
        is_action(discarding.discard_half_unrecorded) | lit(not settings.keeps_discarded)
    )
    is_skipped = is_event(events.half_missed) | (
        is_event(events.half_passed) & is_action(check_round.pass_over_long_immunity)
    )
    is_last = (col("half") >= 0) & (col("half") == col("last_half"))
    settled = pl.sum_horizontal("delivered", "acknowledged", "parked", "elsewhere")
    is_open = (col("decided") > 0) & (col("under_way") == 0) & (settled == 0)
    saves = is_event(
        events.round_began,
        events.round_ended,
        events.crashed,
        events.stopped,
        events.role_changed,
        events.offsets_regressed,
        events.end_sent,
    ) | (is_event(events.half_missed) & (col("half") < 0))
    passes = is_event(events.round_ended) & is_action(*_COMMITTING) & (col("lost") == 1)
    return Broken(
        {Rows.TRACE: passes & (col("power_lost") == 0) & (col("escaped") == 0)},
        (
            so_far.DELIVERED,
            so_far.ACKNOWLEDGED,
            so_far.parked(settings),
            so_far.POWER_LOST,
            so_far.ESCAPED,
            count("elsewhere", Rows.TRANSACTION, is_event(events.half_rolled_back)),
            count("decided", Rows.TRANSACTION, is_event(events.local_outcome)),
            most("last_half", Rows.TRANSACTION, stores),
            total("under_way", Rows.TRANSACTION, when(asks).then(lit(1)).when(is_answered).then(lit(-1))),
            mark("left_behind", Rows.TRANSACTION, (is_dropped | is_skipped) & is_last & is_open),
            last("lost", Rows.TRACE, when(saves).then(lit(0)).when("left_behind").then(lit(1)), is_before=True),
        ),
    )


NO_ORPHAN = Invariant(
    property_id="L1",
    sentence="no transaction is lost: none is left behind for good, neither settled nor kept aside",
    shows=(
        "the last half of an open transaction is discarded without a record, or jumped over, while nothing of it is "
        "under way, and the round ends; not, once the power went, or a half was sent to another broker"
    ),
    actions=(
        discarding.discard_half_unrecorded,
        check_round.pass_over_long_immunity,
        producer.resolve_to_commit,
        producer.resolve_to_rollback,
        producer.commit_what_is_gone,
        *_COMMITTING,
    ),
    needs="local_outcome",
    kernel=find_lost,
    broken=from_the_round_that_passes,
)


def find_early_discards(rows: WholeTraces, actions: Codes, settings: RunSettings, at: Until) -> None:
    """Find a discarded half of which more checks are counted than were sent, or that had checks left."""
    cannot_be_copied, unknown = actions[0], -1
    checks = np.zeros(room_for(rows.transaction), np.int32)
    for n in range(len(at)):
        forget(checks, rows.transaction, rows.starts[n], rows.starts[n + 1], 0)
        for row in range(rows.starts[n], rows.starts[n + 1]):
            t = rows.transaction[row]
            if t < 0:
                continue
            if rows.event[row] == events.put_back_for_check:
                checks[t] += 1
            elif rows.event[row] == events.half_discarded:
                is_spent = rows.check_times[row] >= settings.check_max
                is_old = rows.action[row] != cannot_be_copied
                if settings.parks_poison and rows.action[row] == unknown:
                    is_old = False
                if (is_spent and checks[t] < rows.check_times[row]) or (not is_spent and is_old):
                    at[n] = row - rows.starts[n] + 1
                    break


def from_the_early_discard(settings: RunSettings) -> Broken:
    """A discard with checks left, or after fewer checks than it counts."""
    is_old = ~is_action(discarding.discard_what_cannot_be_copied)
    if settings.parks_poison:
        is_old &= col("action") >= 0
    is_early = when(col("check_times") >= settings.check_max).then(col("asked") < col("check_times")).otherwise(is_old)
    return Broken(
        {Rows.TRANSACTION: is_event(events.half_discarded) & is_early},
        (count("asked", Rows.TRANSACTION, is_event(events.put_back_for_check)),),
    )


FULL_BUDGET = Invariant(
    property_id="L2",
    sentence="a half is discarded only after as many checks as it may have were really sent",
    shows=(
        "a half is discarded with checks left, or with more of them counted than were sent for its transaction; not, "
        "where checks for another half of it make up for that"
    ),
    actions=(discarding.discard_what_cannot_be_copied,),
    kernel=find_early_discards,
    broken=from_the_early_discard,
)


def find_stuck(rows: WholeTraces, actions: Codes, _settings: RunSettings, at: Until) -> None:
    """Find the second of two rounds that end for the same reason, and leave no half behind."""
    reasons = np.array([1, 1, 2, 3, 3, 3, 4, 4])
    for n in range(len(at)):
        last, moved = 0, False
        for row in range(rows.starts[n], rows.starts[n + 1]):
            event = rows.event[row]
            if event == events.round_ended:
                reason = 0
                for place in range(len(actions)):
                    if rows.action[row] == actions[place] and not moved:
                        reason = reasons[place]
                if reason > 0 and reason == last:
                    at[n] = row - rows.starts[n] + 1
                    break
                last, moved = reason, False
            elif event in ENDS_OF_A_PROCESS:
                last, moved = 0, False
            elif event in PASSES or event in PUT_BACKS:
                last, moved = 0, True


_REASONS = (
    (broken_round.abort_at_null_result, broken_round.end_round_at_missed_half),
    (broken_round.abort_at_undecodable_half,),
    (broken_round.fail_to_begin_round, broken_round.abort_at_next_ops, broken_round.abort_at_unreadable_pull),
    (broken_round.spin_at_failed_check, broken_round.spin_at_failed_immunity),
)


def from_the_second_round(_settings: RunSettings) -> Broken:
    """A round that ends for the reason for which the one before it ended."""
    reason = lit(0)
    for number, actions in enumerate(_REASONS, start=1):
        reason = when(is_action(*actions)).then(lit(number)).otherwise(reason)
    reason = when(is_event(events.round_ended) & (col("moved").fill_null(0) == 0)).then(reason).otherwise(lit(0))
    is_of_a_round = so_far.LEFT_BEHIND | so_far.END_OF_A_PROCESS | is_event(events.round_ended)
    return Broken(
        {Rows.TRACE: (reason > 0) & (reason == col("stuck_before"))},
        (so_far.MOVED, last("stuck_before", Rows.TRACE, when(is_of_a_round).then(reason), is_before=True)),
    )


HEAD_OF_LINE = Invariant(
    property_id="L3",
    sentence="no two rounds on end leave the half offset where it was for the same reason",
    shows=(
        "two rounds on end fail for the same reason, and leave no half behind; not, where a round's time limit or a "
        "step of the clock is the reason"
    ),
    actions=tuple(action for actions in _REASONS for action in actions),
    kernel=find_stuck,
    broken=from_the_second_round,
)


def find_hindered(rows: WholeTraces, actions: Codes, _settings: RunSettings, at: Until) -> None:
    """Find a producer's own commit that is lost or refused, or a local transaction that is never run."""
    commits, gone, unrun, lose_end, repeated = actions
    unknown, commit = -1, 1
    size = room_for(rows.transaction)
    first_half = np.zeros(size, np.int32)
    is_sent = np.zeros(size, np.bool_)
    has_committed = np.zeros(size, np.bool_)
    is_not_judged = np.zeros(size, np.bool_)
    for n in range(len(at)):
        forget(first_half, rows.transaction, rows.starts[n], rows.starts[n + 1], -1)
        forget(is_sent, rows.transaction, rows.starts[n], rows.starts[n + 1], False)
        forget(has_committed, rows.transaction, rows.starts[n], rows.starts[n + 1], False)
        forget(is_not_judged, rows.transaction, rows.starts[n], rows.starts[n + 1], False)
        power_is_lost = False
        for row in range(rows.starts[n], rows.starts[n + 1]):
            event, action, t = rows.event[row], rows.action[row], rows.transaction[row]
            power_is_lost = power_is_lost or event == events.power_lost
            if t < 0:
                continue
            is_broken = False
            if event == events.half_stored:
                is_not_judged[t] = is_not_judged[t] or is_sent[t]
                is_sent[t] = True
                first_half[t] = rows.half[row]
            elif event in (events.message_delivered, events.end_sent):
                is_not_judged[t] = True
            elif event == events.local_outcome:
                is_broken = action in (gone, unrun)
                has_committed[t] = has_committed[t] or (action == commits and rows.outcome[row] == commit)
            elif (event == events.message_lost and action == lose_end) or (
                event == events.end_refused and action != repeated and action != unknown
            ):
                is_own = has_committed[t] and rows.half[row] == first_half[t] and first_half[t] >= 0
                is_broken = is_own and not is_not_judged[t] and not power_is_lost
            if is_broken:
                at[n] = row - rows.starts[n] + 1
                break


def from_the_hindrance(_settings: RunSettings) -> Broken:
    """An own commit that is lost or refused, or a local transaction that is not run."""
    is_unrun = is_event(events.local_outcome) & is_action(producer.commit_what_is_gone, producer.roll_back_unrun)
    commits = is_event(events.local_outcome) & is_action(producer.commit_locally) & (col("outcome") == COMMIT)
    is_lost = is_event(events.message_lost) & is_action(network.lose_end)
    is_refused = is_event(events.end_refused) & (col("action") >= 0) & ~is_action(end_transaction.ignore_repeated_end)
    is_own = (col("own_commits") > 0) & (col("half") == col("first_half")) & (col("half") >= 0)
    is_judged = (col("sent") == 1) & (col("delivered") == 0) & (col("strayed") == 0) & (col("power_lost") == 0)
    return Broken(
        {Rows.TRANSACTION: is_unrun | ((is_lost | is_refused) & is_own & is_judged)},
        (
            so_far.DELIVERED,
            so_far.SENT,
            so_far.FIRST_HALF,
            so_far.POWER_LOST,
            count("strayed", Rows.TRANSACTION, is_event(events.end_sent)),
            count("own_commits", Rows.TRANSACTION, commits),
        ),
    )


COMMIT_PROGRESS = Invariant(
    property_id="L5",
    sentence="a commit that the producer sends of its own accord is neither lost nor refused",
    shows=(
        "the commit is lost or refused, or the local transaction is never run; not, once an END_TRANSACTION or the "
        "message was repeated, or the power went"
    ),
    actions=(
        producer.commit_locally,
        producer.commit_what_is_gone,
        producer.roll_back_unrun,
        network.lose_end,
        end_transaction.ignore_repeated_end,
    ),
    needs="local_outcome",
    kernel=find_hindered,
    broken=from_the_hindrance,
)


def find_wasted_work(  # noqa: C901 (one branch an event)
    rows: WholeTraces, actions: Codes, settings: RunSettings, at: Until
) -> None:
    """Find a pull for more of nothing, a round that ends at a failed write, a second copy, and a copy too many."""
    size = room_for(rows.transaction)
    halves = np.zeros(size, np.int32)
    sent = np.zeros(size, np.int32)
    furthest = np.zeros(size, np.int32)
    is_settled = np.zeros(size, np.bool_)
    for n in range(len(at)):
        forget(halves, rows.transaction, rows.starts[n], rows.starts[n + 1], 0)
        forget(sent, rows.transaction, rows.starts[n], rows.starts[n + 1], 0)
        forget(furthest, rows.transaction, rows.starts[n], rows.starts[n + 1], -1)
        forget(is_settled, rows.transaction, rows.starts[n], rows.starts[n + 1], False)
        moved, has_ops, power_is_lost, has_escaped = False, False, False, False
        for row in range(rows.starts[n], rows.starts[n + 1]):
            event, t = rows.event[row], rows.transaction[row]
            is_broken = False
            is_put_back = event in PUT_BACKS
            if event == events.power_lost:
                power_is_lost, moved = True, False
            elif event == events.ops_pulled:
                is_broken = not has_ops and not power_is_lost
            elif event in (events.op_stored, events.stop_began):
                has_ops = has_ops or event == events.op_stored or settings.flushes_on_stop > 0
            has_escaped = has_escaped or event == events.half_escaped
            if event == events.round_ended:
                is_broken = is_among(rows.action[row], actions) and not moved and not settings.ends_at_failed_put
                moved = False
            elif event in ENDS_OF_A_PROCESS:
                moved = False
            elif is_put_back or event in PASSES:
                moved = True
            if t >= 0:
                is_acknowledged = event in ACKNOWLEDGEMENTS and rows.half[row] >= 0
                if event in (events.message_delivered, events.half_resumed) or is_acknowledged:
                    is_settled[t] = True
                if event == events.half_stored:
                    sent[t] += 1
                if event in (events.half_stored, events.half_resumed) or is_put_back:
                    halves[t] += 1
                    is_broken = is_broken or (halves[t] > settings.check_max + 1 and not power_is_lost)
                if is_put_back:
                    is_again = 0 <= rows.half[row] <= furthest[t] and not is_settled[t] and sent[t] == 1
                    is_broken = is_broken or (is_again and not power_is_lost and not has_escaped)
                    furthest[t] = max(furthest[t], rows.half[row])
            if is_broken:
                at[n] = row - rows.starts[n] + 1
                break


def from_the_wasted_work(settings: RunSettings) -> Broken:
    """A pull of nothing, an end at a failed write, a copy too many and a second copy."""
    brings_ops = is_event(events.op_stored)
    if settings.flushes_on_stop:
        brings_ops |= is_event(events.stop_began)
    is_idle_pull = is_event(events.ops_pulled) & (col("ops") == 0) & (col("power_lost") == 0)
    is_idle_end = is_event(events.round_ended) & is_action(
        broken_round.spin_at_failed_check, broken_round.spin_at_failed_immunity
    )
    is_idle_end &= (col("moved").fill_null(0) == 0) & lit(not settings.ends_at_failed_put)
    adds = so_far.PUT_BACK | is_event(events.half_stored, events.half_resumed)
    is_again = so_far.PUT_BACK & (col("half") >= 0) & (col("half") <= col("furthest")) & (col("sent") == 1)
    is_again &= pl.sum_horizontal("delivered", "acknowledged", "resumed", "escaped") == 0
    is_too_many = adds & (col("halves") > settings.check_max + 1)
    return Broken(
        {
            Rows.TRACE: is_idle_pull | is_idle_end,
            Rows.TRANSACTION: (is_too_many | is_again) & (col("power_lost") == 0),
        },
        (
            so_far.MOVED,
            so_far.DELIVERED,
            so_far.ACKNOWLEDGED,
            so_far.SENT,
            so_far.POWER_LOST,
            so_far.ESCAPED,
            count("resumed", Rows.TRANSACTION, is_event(events.half_resumed)),
            count("ops", Rows.TRACE, brings_ops),
            count("halves", Rows.TRANSACTION, adds),
            most("furthest", Rows.TRANSACTION, when(so_far.PUT_BACK).then("half"), is_before=True),
        ),
    )


BOUNDED_WORK = Invariant(
    property_id="R1",
    sentence="a round writes no more than it has to, and does not spin",
    shows=(
        "more op messages are asked for when there are none, a round ends where a write fails, a half that is open is "
        "put back again, or a transaction has more copies than checks; not, what comes after a power loss, nor a pull "
        "for more where there are op messages"
    ),
    actions=(broken_round.spin_at_failed_check, broken_round.spin_at_failed_immunity),
    kernel=find_wasted_work,
    broken=from_the_wasted_work,
)

PROPERTIES = (NO_ORPHAN, FULL_BUDGET, HEAD_OF_LINE, COMMIT_PROGRESS, BOUNDED_WORK)
