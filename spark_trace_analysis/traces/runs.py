"""Finding runs on disk and believing them: every file is there, whole, and of the one schema."""

from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from spark_trace_analysis.errors import BadTracesError
from spark_trace_analysis.traces.manifest import MANIFEST, Run, read_manifest
from spark_trace_analysis.traces.schema import difference


def find_runs(folder: Path) -> list[Run]:
    """Give the run in a folder, or the runs in its sub-folders in the order of their names.

    Raises
    ------
    BadTracesError
        The folder is missing or empty, holds no run, or one of its runs is damaged.
    """
    if not folder.exists():
        message = f"{folder}: there is no such folder"
        raise BadTracesError(message)
    if not folder.is_dir():
        message = f"{folder}: not a folder; expected what `halfcheck simulate --out` wrote"
        raise BadTracesError(message)
    if not any(folder.iterdir()):
        message = f"{folder}: the folder is empty; expected what `halfcheck simulate --out` wrote"
        raise BadTracesError(message)
    if (folder / MANIFEST).exists():
        return [open_run(folder)]
    found = sorted(path.parent for path in folder.glob(f"*/{MANIFEST}") if not path.parent.name.startswith("."))
    if not found:
        message = f"{folder}: no {MANIFEST} in it or in a folder of it; expected what `halfcheck simulate --out` wrote"
        raise BadTracesError(message)
    return [open_run(path) for path in found]


def open_run(folder: Path) -> Run:
    """Read one run's manifest and check each file's size, end and schema (not yet its checksum: judging reads it all).

    Raises
    ------
    BadTracesError
        The first thing that is wrong, in words.
    """
    manifest = read_manifest(folder)
    for file in manifest.files:
        path = folder / file.name
        if not path.is_file():
            message = f"{path}: the manifest names it, but it is missing"
            raise BadTracesError(message)
        size = path.stat().st_size
        if size != file.size_bytes:
            message = f"{path}: {size} bytes, the manifest says {file.size_bytes}; the file was cut or changed"
            raise BadTracesError(message)
        try:
            with pq.ParquetFile(path) as opened:
                rows, schema = opened.metadata.num_rows, opened.schema_arrow
        except (pa.ArrowException, OSError) as failure:
            message = f"{path}: not readable as Parquet ({str(failure).splitlines()[0]})"
            raise BadTracesError(message) from None
        wrong = difference(schema)
        if wrong is None and rows != file.events:
            wrong = f"has {rows} rows, the manifest says {file.events}"
        if wrong:
            message = f"{path}: {wrong}"
            raise BadTracesError(message)
    strangers = sorted(
        path.name for path in folder.glob("*.parquet") if path.name not in {f.name for f in manifest.files}
    )
    if strangers:
        message = f"{folder / strangers[0]}: not in the manifest; mixed runs can't be judged together"
        raise BadTracesError(message)
    return Run(folder, manifest)
