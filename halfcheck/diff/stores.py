"""Two stores byte by byte, one or both of them perhaps written by the reference broker."""

from __future__ import annotations

from typing import TYPE_CHECKING

from conformance.compare_stores import StoreComparison, StoreDifference, StoreSide, compare_stores
from conformance.fit_schedule import fit_schedule
from conformance.recorded_run import RecordedRun
from halfcheck.diff.sides import DiffAnswer, Side, SideKind, shortened
from halfcheck.printing.progress import live_line, telling_bytes

if TYPE_CHECKING:
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
        told = f"{left.name} and {right.name}: {found.records} records, {found.bytes} bytes, identical"
        return DiffAnswer(records=found.records, bytes=found.bytes, identical=True, lines=(told,))
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
