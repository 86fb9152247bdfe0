"""Two traces, or a trace and a store, event by event."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from conformance.fit_schedule import fit_schedule
from conformance.recorded_run import RecordedRun
from conformance.scheduled_run import ScheduledRun
from halfcheck.diff.sides import DiffAnswer, Side, SideKind
from halfcheck.printing.progress import live_line, telling_bytes
from spark_trace_analysis.errors import BadTracesError
from spark_trace_analysis.ingest.store_trace import read_store_trace
from spark_trace_analysis.ingest.stored_rows import as_a_store_shows_it, rows_of_store
from spark_trace_analysis.traces.compared_traces import compare_traces
from spark_trace_analysis.traces.recorded_trace import RecordedTrace, Row, read_recorded_traces
from spec.language import NONE

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from spark_trace_analysis.traces.compared_traces import Parting


def compare_events(left: Side, right: Side, broker_conf: Path | None, *, with_times: bool) -> DiffAnswer:
    """Hold two traces against each other; with a store on one side, as far as a store shows them."""
    store = next((side for side in (left, right) if side.kind is SideKind.STORE), None)
    if store is None:
        sides = [_recorded(side, broker_conf) for side in (left, right)]
    else:
        what = f"reading {store.name}"
        with live_line(what) as tell:
            trace, with_discards = read_store_trace(store.paths, tell and telling_bytes(tell, what))
        sides = [
            [rows_of_store(trace.events)]
            if side is store
            else [as_a_store_shows_it(_only_one(side, _recorded(side, broker_conf)), with_discards=with_discards)]
            for side in (left, right)
        ]
    found = compare_traces(sides[0], sides[1], with_times=with_times)
    parting = found.parting
    if parting is None:
        told = f"{left.name} and {right.name}: {found.events} events, no difference"
        return DiffAnswer(records=found.events, identical=True, lines=(told,))
    where = _place(parting)
    return DiffAnswer(
        records=found.events,
        identical=False,
        first_difference={
            "record": where,
            "field": parting.field,
            "left": _value(parting.left, parting),
            "right": _value(parting.right, parting),
            "left_event": _event(parting.left),
            "right_event": _event(parting.right),
        },
        lines=(
            f"{left.name} and {right.name}: {found.events} events are the same; {where} differs in {parting.field}:",
            f"  {left.name}: {_told(parting.left)}",
            f"  {right.name}: {_told(parting.right)}",
        ),
    )


def _recorded(side: Side, broker_conf: Path | None) -> Iterable[RecordedTrace]:
    if side.kind is SideKind.TRACE:
        return read_recorded_traces(side.path)
    fit = fit_schedule(RecordedRun(side.path, broker_conf))
    rows = ScheduledRun(fit.schedule, records=True).run().recorder.rows
    return [RecordedTrace(0, tuple(Row(**row) for row in rows))]  # type: ignore[arg-type]


def _only_one(side: Side, traces: Iterable[RecordedTrace]) -> RecordedTrace:
    """A store holds what one broker left."""
    first, *others = traces
    if others:
        message = f"{side.name}: holds {len(others) + 1} traces; expected one to hold against a store"
        raise BadTracesError(message)
    return first


def _place(parting: Parting) -> str:
    whose = "no transaction" if parting.transaction == NONE else f"transaction {parting.transaction}"
    return f"event {parting.place} of {whose} in trace {parting.trace}"


def _value(row: Row | None, parting: Parting) -> str | None:
    return None if row is None else str(getattr(row, parting.field))


def _event(row: Row | None) -> dict[str, Any] | None:
    return None if row is None else {**asdict(row), "text": str(row)}


def _told(row: Row | None) -> str:
    return "nothing" if row is None else f"{row}, step {row.step} at {row.time}"
