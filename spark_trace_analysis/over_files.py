"""One look at every file of some runs, inside Spark tasks, each file whole and as its manifest says."""

import hashlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

import pyarrow as pa
from pyspark.sql import DataFrame, Row, SparkSession

from spark_trace_analysis.errors import BadTracesError
from spark_trace_analysis.manifest import Run

Look = Callable[[pa.Buffer], Iterable[Mapping[str, Any]]]
"""From a Parquet file's bytes to a few rows."""

_ARROW = {"bigint": pa.int64(), "string": pa.string()}
_ADDED = {"run": "bigint", "problem": "string"}


def over_files(spark: SparkSession, runs: Sequence[Run], look: Look, columns: Mapping[str, str]) -> list[Row]:
    """Give what ``look`` says of every file of the runs.

    Parameters
    ----------
    spark
        Its workers must see the runs under the same path.
    runs
        Their files are shared out among one task a core: a task costs more to start than a file to look at.
    look
        Called in the workers.
    columns
        Names of the columns of its rows, and ``bigint`` or ``string`` for each; a row may leave some out.

    Returns
    -------
    list of Row
        The rows of all files, in no particular order, each with ``run``, the run's place in ``runs``.

    Raises
    ------
    BadTracesError
        A file is missing, changed or not readable, or ``look`` says so of it; the first by name.
    """
    rows = file_rows(spark, runs, [look] * len(runs), columns).collect()
    problems = sorted(row["problem"] for row in rows if row["problem"])
    if problems:
        raise BadTracesError(problems[0])
    return rows


def file_rows(spark: SparkSession, runs: Sequence[Run], looks: Sequence[Look], columns: Mapping[str, str]) -> DataFrame:
    """Give the same as a data frame, for Spark to add up: a row has ``problem`` where a file is damaged.

    Parameters
    ----------
    looks
        How to look at the files of each run.
    """
    files = [
        (number, str(run.folder.resolve() / file.name), file.sha256)
        for number, run in enumerate(runs)
        for file in run.manifest.files
    ]
    kinds = {**_ADDED, **columns}
    schema = pa.schema([(name, _ARROW[kind]) for name, kind in kinds.items()])

    def look_at_files(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            for number in batch.column(0).to_pylist():
                run, path, sha256 = files[number]
                yield pa.RecordBatch.from_pylist(
                    [{"run": run, **row} for row in _rows(path, sha256, looks[run])], schema
                )

    return spark.range(0, len(files), 1, min(spark.sparkContext.defaultParallelism, len(files))).mapInArrow(
        look_at_files, ", ".join(f"{name} {kind}" for name, kind in kinds.items())
    )


def _rows(path: str, sha256: str, look: Look) -> list[Mapping[str, Any]]:
    """Look at one file; damage is told in ``problem``, because an exception would come back as Java's words."""
    try:
        with pa.OSFile(path) as source:
            content = source.read_buffer()
        if hashlib.sha256(content).hexdigest() != sha256:
            message = "its SHA-256 is not the manifest's; the file was changed"
            raise BadTracesError(message)
        return list(look(content))
    except (pa.ArrowException, OSError, BadTracesError) as damage:
        return [{"problem": f"{path}: {str(damage).splitlines()[0]}"}]
