"""Two stores byte by byte; two traces, or a trace and a store, event by event."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from conformance.compare_stores import StoreComparison, StoreDifference, StoreSide, compare_stores
from conformance.fit_schedule import fit_schedule
from conformance.recorded_run import RecordedRun
from conformance.scheduled_run import ScheduledRun
from halfcheck.diff.sides import DiffAnswer, Side, SideKind, shortened
from halfcheck.printing.progress import live_line, telling_bytes
from spark_trace_analysis.errors import BadTracesError
from spark_trace_analysis.ingest.store_trace import read_store_trace
from spark_trace_analysis.ingest.stored_rows import as_a_store_shows_it, rows_of_store
from spark_trace_analysis.traces.compared_traces import Parting, compare_traces
from spark_trace_analysis.traces.recorded_trace import RecordedTrace, Row, read_recorded_traces
from spec.language import NONE

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path


def compare_bytes(left: Side, right: Side, broker_conf: Path | None) -> DiffAnswer:
    """Hold two stores against each other."""
    sides: list[StoreSide] = []
    masks, departure = False, None
    for side in (left, right):
        if side.kind is SideKind.REFERENCE:
            fit = fit_schedule(RecordedRun(side.path, broker_conf))
            sides.append(StoreSide.of_memory(fit.disk))
            masks, departure = masks or fit.masks_stale_bytes, departure or fit.replay.departure
        else:
            sides.append(StoreSide.of_directory(side.paths))
    what = f"comparing {left.name} and {right.name}"
    with live_line(what) as tell:
        found = compare_stores(
            sides[0], sides[1], masks_stale_bytes=masks, on_progress=tell and telling_bytes(tell, what)
        )
    if found.difference is None and departure is not None:
        found = StoreComparison(
            found.records, found.bytes, StoreDifference(f"act {departure.act}", "schedule", departure.reason, None)
        )
    first = found.difference
    if first is None:
        sentence = f"{left.name} and {right.name}: {found.records} records, {found.bytes} bytes, identical"
        return DiffAnswer(records=found.records, bytes=found.bytes, identical=True, lines=(sentence,))
    return DiffAnswer(
        records=found.records,
        bytes=found.bytes,
        identical=False,
        first_difference={"record": first.record, "field": first.field, "left": first.left, "right": first.right},
        lines=(
            f"{left.name} and {right.name}: {found.records} records are identical, "
            f"then {first.record} differs in {first.field}:",
            f"  {left.name}: {shortened(first.left)}",
            f"  {right.name}: {shortened(first.right)}",
        ),
    )


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
        sentence = f"{left.name} and {right.name}: {found.events} events, no difference"
        return DiffAnswer(records=found.events, identical=True, lines=(sentence,))
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
            f"  {left.name}: {_in_words(parting.left)}",
            f"  {right.name}: {_in_words(parting.right)}",
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


def _in_words(row: Row | None) -> str:
    return "nothing" if row is None else f"{row}, step {row.step} at {row.time}"
