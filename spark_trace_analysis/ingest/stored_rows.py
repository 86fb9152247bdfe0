"""The part of a trace that a store shows: halves, copies, deliveries, op messages and discards, as rows of one form.

A store does not say why a copy was put back, of which half, or which half was discarded; a recorded trace has more
events, and one for each entry of an op message or one for all of them.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Final

from model_check.trace_validation.observed import EventKind, ObservedEvent
from spark_trace_analysis.traces import events
from spark_trace_analysis.traces.recorded_trace import RecordedTrace, Row
from spec.events import EVENTS, OUTCOMES
from spec.language import NONE

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

PUT_BACK: Final = "put_back"
"""A put-back for an unknown reason."""

_COMMIT = OUTCOMES.index("commit")
PUT_BACKS: Final = frozenset(
    EVENTS[place] for place in (events.put_back_for_check, events.put_back_for_immunity, events.put_back_unasked)
)
_SHOWN = PUT_BACKS | {"half_stored", "message_delivered", "op_stored", "half_discarded"}
ENDS_OF_A_PROCESS: Final = frozenset({"crashed", "power_lost", "stopped"})


def rows_of_store(events: Iterable[ObservedEvent]) -> RecordedTrace:
    """The rows of a store's trace."""
    rows: list[Row] = []
    transaction_of: dict[int, int] = {}
    for event in events:
        if event.kind in (EventKind.HALF_STORED, EventKind.PUT_BACK):
            transaction_of[event.half] = event.transaction
        for row in _rows_of(event, transaction_of):
            rows.append(replace(row, step=len(rows)))
    return RecordedTrace(0, tuple(rows))


def _rows_of(event: ObservedEvent, transaction_of: dict[int, int]) -> Iterator[Row]:
    blank = Row(0, 0, event.time, event.kind.value, "", event.transaction, NONE, NONE, NONE, NONE, 0)
    match event.kind:
        case EventKind.HALF_STORED:
            yield replace(blank, half=event.half)
        case EventKind.PUT_BACK:
            yield replace(blank, event=PUT_BACK, copy=event.half, check_times=event.check_times)
        case EventKind.DELIVERED:
            yield replace(blank, half=event.half, outcome=_COMMIT)
        case EventKind.DISCARDED:
            yield replace(blank, check_times=event.check_times)
        case EventKind.OP_STORED:
            for half in dict.fromkeys(event.names):
                yield replace(blank, transaction=transaction_of.get(half, NONE), half=half, op=event.op)
        case EventKind.OFFSETS_SAVED:
            return


def as_a_store_shows_it(trace: RecordedTrace, *, with_discards: bool) -> RecordedTrace:
    """The rows of a recorded trace that a store shows, with the fields that a store shows; discards from 4.6 on."""
    rows: list[Row] = []
    transaction_of: dict[int, int] = {}
    for row in name_entries(trace.rows):
        if row.event == "half_stored":
            transaction_of[row.half] = row.transaction
        elif row.event in PUT_BACKS:
            transaction_of[row.copy] = row.transaction
        if row.event in _SHOWN and (with_discards or row.event != "half_discarded"):
            rows.append(replace(_without_what_is_not_shown(row, transaction_of), trace=0, action=""))
    return RecordedTrace(0, tuple(rows))


def _without_what_is_not_shown(row: Row, transaction_of: dict[int, int]) -> Row:
    if row.event == "op_stored":
        return replace(row, transaction=transaction_of.get(row.half, row.transaction), check_times=NONE, outcome=0)
    if row.event == "half_discarded":
        return replace(row, half=NONE, op=NONE)
    if row.event in PUT_BACKS:
        return replace(row, event=PUT_BACK, half=NONE, op=NONE)
    return replace(row, check_times=NONE)


def name_entries(rows: Iterable[Row]) -> Iterator[Row]:
    """Give an op message that was written for a whole batch a row for each entry that had joined the batch."""
    buffered: dict[int, int] = {}
    for row in rows:
        if row.event == "op_buffered":
            buffered.setdefault(row.half, row.transaction)
        elif row.event in ENDS_OF_A_PROCESS:
            buffered.clear()
        if row.event == "op_stored":
            if row.half == NONE and buffered:
                for half, transaction in buffered.items():
                    yield replace(row, half=half, transaction=transaction)
                buffered.clear()
                continue
            buffered.pop(row.half, None)
        yield row
