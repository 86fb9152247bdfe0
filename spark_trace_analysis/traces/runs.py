"""Finding runs on disk and checking them: every file is there, whole, and of the one schema.

The settings of the broker are in the parameters of a simulated run, and in ``world.json`` beside recorded traces.
"""

import json
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from typing import Any, Final, NamedTuple

from files.content import read_json
from files.errors import BadContentError
from files.parquet import parquet_file
from files.reading import size_of
from files.remote_path import Location, RemotePath
from files.writing import write_whole
from spark_trace_analysis.errors import BadTracesError
from spark_trace_analysis.traces.manifest import ManifestFile, TraceRun, read_manifest
from spark_trace_analysis.traces.run_layout import MANIFEST, run_folders
from spark_trace_analysis.traces.schema import difference

BESIDE_RECORDED = "world.json"
_AT_A_TIME: Final = 8


def find_runs(folder: Location) -> list[TraceRun]:
    """Give the run in a folder, or those in its sub-folders and partitions by their names; raises `BadTracesError`."""
    if not folder.exists():
        message = f"{folder}: there is no such folder"
        raise BadTracesError(message)
    if not folder.is_dir():
        message = f"{folder}: not a folder; expected what `halfcheck simulate --out` wrote"
        raise BadTracesError(message)
    if not any(folder.iterdir()):
        message = f"{folder}: the folder is empty; expected what `halfcheck simulate --out` wrote"
        raise BadTracesError(message)
    found = list(run_folders(folder))
    if not found:
        message = f"{folder}: no {MANIFEST} in it or in a folder of it; expected what `halfcheck simulate --out` wrote"
        raise BadTracesError(message)
    return [open_run(path) for path in found]


def open_run(folder: Location) -> TraceRun:
    """Read one run's manifest and check each file's size, end and schema (not yet its checksum: judging reads it all).

    Raises `BadTracesError` for the first thing that is wrong.
    """
    manifest = read_manifest(folder)
    if isinstance(folder, RemotePath):
        with ThreadPoolExecutor(_AT_A_TIME, "open") as threads:
            for _ in threads.map(lambda file: _require_whole(folder, file), manifest.files):
                pass
    else:
        for file in manifest.files:
            _require_whole(folder, file)
    strangers = sorted(
        path.name for path in folder.glob("*.parquet") if path.name not in {f.name for f in manifest.files}
    )
    if strangers:
        message = f"{folder / strangers[0]}: not in the manifest; mixed runs can't be judged together"
        raise BadTracesError(message)
    return TraceRun(folder, manifest)


def _require_whole(folder: Location, file: ManifestFile) -> None:
    path = folder / file.name
    size = size_of(path)
    if size is None:
        message = f"{path}: the manifest names it, but it is missing"
        raise BadTracesError(message)
    if size != file.size_bytes:
        message = f"{path}: {size} bytes, the manifest says {file.size_bytes}; the file was cut or changed"
        raise BadTracesError(message)
    try:
        with parquet_file(path) as opened:
            rows, schema = opened.metadata.num_rows, opened.schema_arrow
    except BadContentError as failure:
        raise BadTracesError(str(failure)) from None
    wrong = difference(schema)
    if wrong is None and rows != file.events:
        wrong = f"has {rows} rows, the manifest says {file.events}"
    if wrong:
        message = f"{path}: {wrong}"
        raise BadTracesError(message)


class RunSettings(NamedTuple):
    """The settings of a broker for judging: sizes of its instance, and switches as 0 or 1.

    Times are in the unit of the traces' clock: ticks when simulated, milliseconds when real.
    """

    check_max: int
    timeout: int
    keeps_discarded: int
    keeps_flag: int
    flushes_on_stop: int
    ends_at_failed_put: int
    parks_poison: int

    @classmethod
    def of(cls, constants: Any) -> "RunSettings":
        """Those of some constants of the specification."""
        return cls(*(int(getattr(constants, name)) for name in cls._fields))


def settings_of(run: TraceRun) -> RunSettings:
    """The sizes and switches of a run; raises `BadTracesError` where the file beside recorded traces is damaged."""
    recorded = _recorded_settings(run)
    if recorded is None:
        return RunSettings.of(run.parameters.world.constants)
    return recorded[0]


def write_settings(folder: Location, settings: RunSettings, events: Iterable[str]) -> None:
    """Write the settings of recorded traces, and the kinds of events in them."""
    content = json.dumps({"world": settings._asdict(), "events": list(events)}, indent=2)
    write_whole(folder / BESIDE_RECORDED, content + "\n")


def can_show(run: TraceRun, event: str) -> bool:
    """Whether the run's traces have a kind of event, if one is named: a broker's own lack those of producers."""
    recorded = _recorded_settings(run)
    return recorded is None or not event or event in recorded[1]


def _recorded_settings(run: TraceRun) -> tuple[RunSettings, list[str]] | None:
    path = run.folder / BESIDE_RECORDED
    if not path.exists():
        return None
    try:
        content = read_json(path)
        return RunSettings(**content["world"]), list(content["events"])
    except (OSError, BadContentError) as failure:
        raise BadTracesError(str(failure)) from None
    except (KeyError, TypeError, ValueError):
        message = f"{path}: not what halfcheck writes beside recorded traces; record them anew"
        raise BadTracesError(message) from None
