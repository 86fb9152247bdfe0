"""R1: a round writes no more than it has to, and does not spin."""

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
from spark_trace_analysis.judge.running_aggregates import Broken, Rows, count, is_action, is_event, most
from spark_trace_analysis.traces import events
from spec.chapters import broken_round


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
