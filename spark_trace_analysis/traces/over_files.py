"""One look at every file of some runs, inside Spark tasks, each file whole and as its manifest says.

Rows of a look may be cached, file by file, so that a job which died does not look again.
"""

import hashlib
import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

import pyarrow as pa
from pyspark.sql import DataFrame, Row, SparkSession

from files.content import read_json
from files.reading import read_bytes, stamp_of
from files.remote_path import Location
from files.writing import WrittenBehind
from spark_trace_analysis.errors import BadTracesError
from spark_trace_analysis.traces.manifest import TraceRun
from spark_trace_analysis.traces.same_sources import other_version, sources_here

Look = Callable[[pa.Buffer], Iterable[Mapping[str, Any]]]
"""From a Parquet file's bytes to a few rows."""

_ARROW = {"bigint": pa.int64(), "string": pa.string()}
_ADDED = {"run": "bigint", "problem": "string"}


def collected(rows: DataFrame) -> list[Row]:
    """Rows of :func:`file_rows`, added up or not, in no particular order.

    Raises `BadTracesError` if a file is missing, changed or not readable, or a look says so of it; the first by name.
    """
    found = rows.collect()
    problems = sorted(row["problem"] for row in found if row["problem"])
    if problems:
        raise BadTracesError(problems[0])
    return found


def file_rows(
    spark: SparkSession,
    runs: Sequence[TraceRun],
    looks: Sequence[Look],
    columns: Mapping[str, str],
    cache: Location | None = None,
    asked: Sequence[str] = (),
) -> DataFrame:
    """Give the rows of a look at every file of the runs as a data frame, for Spark to add up.

    Each row has ``run``, the run's place in ``runs``, and ``problem`` where the file is damaged. Files are shared out
    among one task a core: a task costs more to start than a file to look at.

    Parameters
    ----------
    columns
        Names of the columns of its rows, and ``bigint`` or ``string`` for each; a row may leave some out.
    cache
        A folder that the workers see, for the rows of each file; nothing is cached without one.
    asked
        For each run, a text that changes with the rows that its look gives of the same file.
    """
    files = [
        (number, run.folder.resolve() / file.name, file.sha256)
        for number, run in enumerate(runs)
        for file in run.manifest.files
    ]
    kinds = {**_ADDED, **columns}
    schema = pa.schema([(name, _ARROW[kind]) for name, kind in kinds.items()])
    answers = [None if cache is None else _LookCache(cache, text) for text in asked] or [None] * len(runs)

    sources = sources_here()

    def look_at_files(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        behind, refused = WrittenBehind(), other_version(sources)
        if refused is not None:
            yield pa.RecordBatch.from_pylist([{"run": 0, "problem": refused}], schema)
            return
        for batch in batches:
            for number in batch.column(0).to_pylist():
                run, path, sha256 = files[number]
                rows = _rows(path, sha256, looks[run], answers[run], behind)
                yield pa.RecordBatch.from_pylist([{"run": run, **row} for row in rows], schema)
        with suppress(OSError):
            behind.settle()

    return spark.range(0, len(files), 1, min(spark.sparkContext.defaultParallelism, len(files))).mapInArrow(
        look_at_files, ", ".join(f"{name} {kind}" for name, kind in kinds.items())
    )


def count_cached(runs: Sequence[TraceRun], cache: Location, asked: Sequence[str]) -> int:
    """How many files of the runs were looked at before; the rest as for :func:`file_rows`."""
    if not cache.is_dir() or not any(cache.iterdir()):
        return 0
    return sum(
        _LookCache(cache, text).find(run.folder.resolve() / file.name, file.sha256) is not None
        for run, text in zip(runs, asked, strict=True)
        for file in run.manifest.files
    )


@dataclass(frozen=True)
class _LookCache:
    """The rows of earlier looks; a file that has another size or time than then is looked at again."""

    folder: Location
    asked: str

    def _place(self, path: Location, sha256: str) -> Location:
        key = f"{self.asked}\0{sha256}\0{stamp_of(path)}"
        return self.folder / f"{hashlib.sha256(key.encode()).hexdigest()[:32]}.json"

    def find(self, path: Location, sha256: str) -> list[Mapping[str, Any]] | None:
        """The rows of the file, if it was looked at."""
        try:
            found: list[Mapping[str, Any]] = read_json(self._place(path, sha256))
        except (OSError, ValueError):
            return None
        return found

    def store(self, path: Location, sha256: str, rows: list[Mapping[str, Any]], behind: WrittenBehind) -> None:
        """Cache rows, by rename. A folder that takes no files caches nothing, and that is no error."""
        with suppress(OSError):
            behind.write(self._place(path, sha256), json.dumps(rows).encode())


def _rows(
    path: Location, sha256: str, look: Look, cache: _LookCache | None, behind: WrittenBehind
) -> list[Mapping[str, Any]]:
    """Look at one file; damage is a row with a ``problem``, because an exception would come back as Java's words."""
    found = None if cache is None else cache.find(path, sha256)
    if found is not None:
        return found
    try:
        content = pa.py_buffer(read_bytes(path))
        if hashlib.sha256(content).hexdigest() != sha256:
            message = "its SHA-256 is not the manifest's; the file was changed"
            raise BadTracesError(message)
        rows = list(look(content))
    except (pa.ArrowException, OSError, BadTracesError) as damage:
        return [{"problem": f"{path}: {str(damage).splitlines()[0]}"}]
    if cache is not None:
        cache.store(path, sha256, rows, behind)
    return rows
