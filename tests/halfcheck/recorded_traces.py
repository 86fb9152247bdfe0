"""Recorded traces in files: the reference broker under a real store's schedule, and walks of the specification."""

from __future__ import annotations

import json
from functools import cache
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.parquet as pq

from conformance.broker_schedule import read_schedule
from conformance.golden import schedule_path
from conformance.golden_stores import golden_store
from conformance.scheduled_run import ScheduledRun
from model_check.walks.walk import Walker
from model_check.world import World
from spark_trace_analysis.traces.schema import EVENT_SCHEMA
from spec.events import FIELDS

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from pathlib import Path

Rows = list[dict[str, Any]]


@cache
def _recorded(name: str) -> tuple[tuple[tuple[str, Any], ...], ...]:
    schedule = read_schedule(schedule_path(golden_store(*name.split("/"))))
    rows = ScheduledRun(schedule, records=True).run().recorder.rows
    return tuple(tuple(row.items()) for row in rows)


def recorded(name: str) -> Rows:
    """What the reference broker did under the schedule of a golden store."""
    return [dict(row) for row in _recorded(name)]


def walked(profile: str, faults: tuple[str, ...], instance: str, count: int = 2, steps: int = 60) -> Rows:
    """Walks of the specification."""
    walker = Walker(World.of(profile, faults, instance))
    columns = walker.walk(7, 0, count, steps)
    words = {"event": walker.events, "action": walker.actions}
    return [
        {
            field.name: words[field.name][columns[field.name][row]]
            if field.name in words
            else int(columns[field.name][row])
            for field in FIELDS
        }
        for row in range(len(columns["trace"]))
    ]


def write_json_lines(path: Path, rows: Iterable[Mapping[str, Any]]) -> Path:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


def write_parquet(path: Path, rows: Rows) -> Path:
    pq.write_table(pa.Table.from_pylist(rows, schema=EVENT_SCHEMA), path)
    return path
