"""Where a row says nothing of a half's born time and immunity, the least is assumed that what was done takes."""

from __future__ import annotations

from model_check.trace_validation.observed import EventKind
from spark_trace_analysis.ingest.observed_rows import observed
from spark_trace_analysis.traces.recorded_trace import RecordedTrace, Row
from spec.language import NONE

TIMEOUT = 6_000


def row(event: str, time: int, half: int, copy: int = NONE, op: int = NONE, transaction: int = 0) -> Row:
    return Row(0, 0, time, event, "", transaction, half, copy, op, 1 if copy != NONE else NONE, 0)


def first_half(*rows: Row) -> tuple[int, int]:
    """Its born time and its immunity."""
    recording = observed(RecordedTrace(0, (row("half_stored", 10_000, 0), *rows)), TIMEOUT, with_discards=True)
    stored = recording.trace.events[0]
    return stored.born, stored.immunity


def test_a_half_that_is_checked_late_enough_was_born_when_it_was_stored() -> None:
    assert first_half() == (10_000, NONE)
    assert first_half(row("put_back_for_check", 16_001, 0, 1)) == (10_000, NONE)


def test_a_half_that_is_checked_a_little_early_was_born_earlier() -> None:
    born, immunity = first_half(row("put_back_for_check", 15_990, 0, 1))
    assert (16_001 - born > TIMEOUT, 15_990 - born > TIMEOUT, immunity) == (True, True, NONE)
    assert 15_989 - born <= TIMEOUT


def test_a_half_that_is_checked_much_too_early_has_a_short_immunity() -> None:
    assert first_half(row("put_back_for_check", 12_500, 0, 1)) == (10_000, 2_000)
    assert first_half(row("put_back_for_check", 10_001, 0, 1)) == (10_000, 0)


def test_a_half_that_is_put_back_for_its_immunity_has_the_shortest_that_lasts_so_long() -> None:
    immune = row("put_back_for_immunity", 17_000, 0, 1)
    assert first_half(immune) == (10_000, 8_000)
    born, immunity = first_half(immune, row("put_back_for_check", 17_500, 1, 2))
    assert immunity == 8_000
    assert 17_000 - born < immunity < 17_500 - born


def test_copies_know_their_original_only_after_an_immunity_put_back() -> None:
    rows = (
        row("half_stored", 10_000, 0),
        row("put_back_for_check", 20_000, 0, 1),
        row("put_back_for_immunity", 21_000, 1, 2),
        row("put_back_for_check", 22_000, 2, 3),
    )
    recording = observed(RecordedTrace(0, rows), TIMEOUT, with_discards=True)
    assert [event.original for event in recording.trace.events] == [NONE, NONE, 1, 1]
    assert recording.trace.checked == {1, 3}


def test_a_half_that_is_put_back_while_nobody_can_be_asked_is_put_back_and_not_checked() -> None:
    rows = (
        row("half_stored", 10_000, 0),
        row("put_back_unasked", 20_000, 0, 1),
        row("put_back_for_check", 30_000, 1, 2),
    )
    recording = observed(RecordedTrace(0, rows), TIMEOUT, with_discards=True)
    found = [(event.kind, event.half, event.original, event.check_times) for event in recording.trace.events[1:]]
    assert found == [(EventKind.PUT_BACK, 1, NONE, 1), (EventKind.PUT_BACK, 2, NONE, 1)]
    assert recording.trace.checked == {2}


def test_entries_of_an_op_message_are_gathered_whether_each_has_a_row_or_all_have_one() -> None:
    halves = (row("half_stored", 1, 0), row("half_stored", 1, 1, transaction=1))
    buffered = (row("op_buffered", 2, 0), row("op_buffered", 2, 1, transaction=1))
    each = (row("op_stored", 3, 0, op=0), row("op_stored", 3, 1, op=0, transaction=1))
    for stored in (each, (row("op_stored", 3, NONE, op=0, transaction=NONE),)):
        recording = observed(RecordedTrace(0, (*halves, *buffered, *stored)), TIMEOUT, with_discards=True)
        op = recording.trace.events[-1]
        assert (op.kind, op.op, op.names, op.is_batched, op.body_size) == (EventKind.OP_STORED, 0, (0, 1), True, 4)
    alone = observed(RecordedTrace(0, (*halves, each[0])), TIMEOUT, with_discards=True).trace.events[-1]
    assert (alone.names, alone.is_batched) == ((0,), False)


def test_a_crash_stands_before_the_next_record_and_none_behind_the_last() -> None:
    rows = (row("half_stored", 1, 0), row("crashed", 2, NONE), row("half_stored", 3, 1, transaction=1))
    assert observed(RecordedTrace(0, rows), TIMEOUT, with_discards=True).trace.crashes == (1,)
    assert observed(RecordedTrace(0, rows[:2]), TIMEOUT, with_discards=True).trace.crashes == ()


def test_a_version_that_leaves_no_record_of_a_discard_shows_none() -> None:
    rows = (row("half_stored", 1, 0), row("half_discarded", 90_000, 0))
    for with_discards in (True, False):
        events = observed(RecordedTrace(0, rows), TIMEOUT, with_discards=with_discards).trace.events
        assert (events[-1].kind is EventKind.DISCARDED) is with_discards
