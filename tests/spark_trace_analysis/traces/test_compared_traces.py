"""Traces are compared by their transactions: order counts within one, not between two."""

from __future__ import annotations

from dataclasses import replace

from spark_trace_analysis.traces.compared_traces import compare_traces
from spark_trace_analysis.traces.recorded_trace import RecordedTrace, Row
from spec.language import NONE


def row(step: int, event: str, transaction: int, half: int = NONE) -> Row:
    return Row(0, step, 100 + step, event, "", transaction, half, NONE, NONE, NONE, 0)


def trace(*rows: Row, number: int = 0) -> RecordedTrace:
    return RecordedTrace(number, rows)


SENT = row(0, "half_stored", 0, 0)
OTHER = row(1, "half_stored", 1, 1)
DELIVERED = row(2, "message_delivered", 0, 0)
BEGAN = row(3, "round_began", NONE)
WHOLE = trace(SENT, OTHER, DELIVERED, BEGAN)


def test_the_order_between_transactions_is_of_no_matter() -> None:
    compared = compare_traces([WHOLE], [trace(BEGAN, OTHER, SENT, DELIVERED)])
    assert (compared.events, compared.parting) == (4, None)


def test_the_order_within_a_transaction_matters() -> None:
    parting = compare_traces([WHOLE], [trace(DELIVERED, OTHER, SENT, BEGAN)]).parting
    assert parting is not None
    assert (parting.transaction, parting.place, parting.field) == (0, 0, "event")
    assert (parting.left, parting.right) == (SENT, DELIVERED)


def test_of_several_differences_the_first_in_the_left_trace_counts() -> None:
    changed = trace(SENT, replace(OTHER, half=5), replace(DELIVERED, half=7), replace(BEGAN, op=1))
    parting = compare_traces([WHOLE], [changed]).parting
    assert parting is not None
    assert (parting.transaction, parting.field, parting.step) == (1, "half", 1)


def test_an_event_that_one_side_lacks_is_a_difference_on_either_side() -> None:
    for sides in ((WHOLE, trace(SENT, OTHER, BEGAN)), (trace(SENT, OTHER, BEGAN), WHOLE)):
        compared = compare_traces([sides[0]], [sides[1]])
        assert compared.parting is not None
        assert (compared.parting.field, compared.parting.place) == ("event", 1)
        assert {compared.parting.left, compared.parting.right} == {DELIVERED, None}
        assert compared.events == 3


def test_a_trace_that_one_side_lacks_is_a_difference() -> None:
    for numbers in ((0, 1), (1, 0)):
        traces = [trace(SENT, number=0), trace(SENT, number=1)]
        left, right = traces, [traces[numbers[0]]]
        for sides in ((left, right), (right, left)):
            parting = compare_traces(*sides).parting
            assert parting is not None
            assert (parting.trace, parting.field) == (numbers[1], "event")
            assert None in (parting.left, parting.right)


def test_the_action_counts_only_where_both_sides_name_one() -> None:
    named, other = (trace(replace(SENT, action=action)) for action in ("send_half", "send_half_again"))
    assert compare_traces([named], [trace(SENT)]).parting is None
    parting = compare_traces([named], [other]).parting
    assert parting is not None
    assert parting.field == "action"


def test_time_counts_only_where_nothing_else_differs_in_any_trace() -> None:
    late = trace(replace(SENT, time=1))
    apart = trace(replace(SENT, half=4), number=1)
    parting = compare_traces([trace(SENT), trace(SENT, number=1)], [late, apart]).parting
    assert parting is not None
    assert (parting.trace, parting.field) == (1, "half")
    parting = compare_traces([trace(SENT)], [late]).parting
    assert parting is not None
    assert parting.field == "time"
    assert compare_traces([trace(SENT)], [late], with_times=False).parting is None
