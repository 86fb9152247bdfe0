"""Recorded traces as runs: files of other tools become the same Parquet and manifest as those of simulate.

JSON lines (plain or compressed), Parquet with the fields of events, and counterexamples in the Informal Trace Format.
Each file becomes a run of its own, named by the file. A line that is no event is left out and counted, not passed over
in silence.
"""

import hashlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from files.content import read_json
from files.reading import read_bytes
from files.remote_path import Location
from model_check.counterexample.steps import TICKS
from model_check.counterexample.trace_file import read_itf
from model_check.errors import ModelCheckError
from model_check.instances import load_instance
from model_check.world import Profile, World
from spark_trace_analysis.errors import BadTracesError
from spark_trace_analysis.traces.manifest import (
    ManifestFile,
    Parameters,
    TraceRun,
    make_manifest,
    read_manifest,
    write_manifest,
)
from spark_trace_analysis.traces.recorded_trace import NAMES, RecordedTrace, Row, UnreadableLines, read_recorded_traces
from spark_trace_analysis.traces.run_layout import has_manifest
from spark_trace_analysis.traces.runs import RunSettings, open_run, settings_of, write_settings
from spark_trace_analysis.traces.schema import ACTIONS, EVENT_SCHEMA, to_batch
from spec.events import EVENTS
from spec.language import NONE, take
from spec.transactional_messages import TRANSACTIONAL_MESSAGES

TRACE_SUFFIXES = (".jsonl", ".jsonl.gz", ".json", ".parquet", ".itf.json")
"""The files of a folder that are taken for recorded traces."""

_ROWS_A_PIECE = 1 << 16
_WORDS = {"event": EVENTS, "action": ("", *ACTIONS)}
_CODES = {name: {word: code for code, word in enumerate(words)} for name, words in _WORDS.items()}


@dataclass(frozen=True)
class Recording:
    """A file of traces as a run, and its unreadable lines.

    The run's manifest says where the traces came from: the profile, and the file's name as the environment.
    """

    run: TraceRun
    damage: UnreadableLines = field(default_factory=UnreadableLines)


def recorded_files(folder: Location) -> list[Location]:
    """The files of a folder that may hold traces, by name."""
    return sorted(path for path in folder.iterdir() if path.is_file() and path.name.endswith(TRACE_SUFFIXES))


def record_run(file: Path, folder: Path, profile: Profile, settings: RunSettings) -> Recording:
    """Write a file of traces, JSON lines, Parquet or ITF, as a run into a new folder.

    A counterexample names its own world in place of the profile and the settings, and so does the manifest beside a
    simulated file.

    Raises
    ------
    BadTracesError
        There is no event in the file, or what is in it can't be read.
    """
    damage = UnreadableLines()
    path, known = _counterexample(file), _simulated(file)
    if path is not None:
        profile, settings, rows = path
        traces: Iterator[RecordedTrace] = iter((RecordedTrace(0, rows),))
    else:
        if known is not None:
            profile, settings = known
        traces = read_recorded_traces(file, damage)
    folder.mkdir(parents=True)
    target = folder / "traces.parquet"
    seen: set[str] = set()
    count = events = 0
    first: int | None = None
    with pq.ParquetWriter(target, EVENT_SCHEMA, compression="zstd", compression_level=1) as writer:
        for some in _pieces(traces):
            rows_of_some = [(trace.number, step, row) for trace in some for step, row in enumerate(trace.rows)]
            writer.write_batch(_batch(rows_of_some))
            seen |= {row.event for _, _, row in rows_of_some}
            first = some[0].number if first is None else first
            count += len(some)
            events += len(rows_of_some)
    content = read_bytes(target)
    written = ManifestFile(target.name, first or 0, count, events, len(content), hashlib.sha256(content).hexdigest())
    parameters = Parameters.of_recorded(file.name, profile, count)
    write_settings(folder, settings, sorted(seen))
    write_manifest(folder, make_manifest(parameters, (written,)))
    return Recording(open_run(folder), damage)


def _pieces(traces: Iterator[RecordedTrace]) -> Iterator[list[RecordedTrace]]:
    held: list[RecordedTrace] = []
    rows = 0
    for trace in traces:
        held.append(trace)
        rows += len(trace.rows)
        if rows >= _ROWS_A_PIECE:
            yield held
            held, rows = [], 0
    if held:
        yield held


def _batch(rows: Sequence[tuple[int, int, Row]]) -> pa.RecordBatch:
    columns: dict[str, Any] = {name: [getattr(row, name) for _, _, row in rows] for name in NAMES}
    columns["trace"] = [number for number, _, _ in rows]
    columns["step"] = [step for _, step, _ in rows]
    for name, codes in _CODES.items():
        columns[name] = [codes.get(word, 0) for word in columns[name]]
    return to_batch({name: np.array(values) for name, values in columns.items()}, _WORDS)


def _simulated(file: Path) -> tuple[Profile, RunSettings] | None:
    """The parameters in the manifest beside a simulated file."""
    if not has_manifest(file.parent):
        return None
    manifest = read_manifest(file.parent)
    return manifest.parameters.profile, settings_of(TraceRun(file.parent, manifest))


def _counterexample(file: Path) -> tuple[Profile, RunSettings, tuple[Row, ...]] | None:
    """The events of a counterexample in the Informal Trace Format, if the file is one."""
    if not file.name.endswith(".json"):
        return None
    try:
        content = read_json(file)
        if not isinstance(content, dict) or "states" not in content:
            return None
        origin, picked = read_itf(file, content)
        if not all(isinstance(fault, str) for fault in origin["faults"]):
            message = "its faults by their names"
            raise TypeError(message)
        world = World.of(Profile.of(origin["profile"]), origin["faults"], load_instance(origin["instance"]))
    except (OSError, ValueError):
        return None
    except (KeyError, TypeError) as failure:
        message = f"{file}: its #meta does not say {failure}; expected a counterexample that halfcheck wrote"
        raise BadTracesError(message) from None
    except ModelCheckError as failure:
        raise BadTracesError(str(failure)) from None
    return world.profile, RunSettings.of(world.constants), tuple(_rows_of(file, world.constants, picked))


def _rows_of(file: Path, constants: Any, picked: Sequence[tuple[str, dict[str, int]]]) -> Iterator[Row]:
    machine = TRANSACTIONAL_MESSAGES
    steps = {(step.action.name, *step.arguments): step for step in machine.steps(constants)}
    state = machine.initial(constants)
    time = 0
    for place, (action, picks) in enumerate(picked):
        step = steps.get((action, *picks.values()))
        refused = "there is no such step" if step is None else take(state, constants, step)
        if step is None or refused is not None:
            message = f"{file}: step {place + 1}, {action}, is not allowed by this specification ({refused})"
            raise BadTracesError(message)
        time += TICKS.get(step.action.event, 0)
        values = {
            name: int(function(state, constants, *step.arguments[:1])) for name, function in step.action.shows.items()
        }
        absent: dict[str, Any] = dict.fromkeys(("transaction", "half", "copy", "op", "check_times"), NONE)
        absent |= {"trace": 0, "step": place, "time": time, "event": step.action.event, "action": action, "outcome": 0}
        yield Row(**absent | values)
