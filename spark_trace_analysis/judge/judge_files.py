"""What both ways of judging have in common: a look at every file, inside Spark tasks; Spark adds their counts up."""

from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any, Protocol

import pyarrow as pa
from pyspark.sql import SparkSession, functions

from spark_trace_analysis.errors import BadTracesError
from spark_trace_analysis.judge.found import Found, Verdicts
from spark_trace_analysis.judge.properties import Invariant
from spark_trace_analysis.traces.manifest import Run, source_fingerprint
from spark_trace_analysis.traces.over_files import collected, count_kept, file_rows
from spark_trace_analysis.traces.run_settings import RunSettings, settings_of


class JudgeFile(Protocol):
    """From a file's bytes to rows with the columns of `_JUDGED`; several of one property are added up."""

    def __call__(
        self, content: pa.Buffer, invariants: Sequence[Invariant], settings: RunSettings
    ) -> Iterable[Mapping[str, Any]]:
        """Look at one file."""


_JUDGED = {
    "property": "string",
    "traces": "bigint",
    "events": "bigint",
    "violations": "bigint",
    "first": "bigint",
    "shortest": "bigint",
    "shortest_events": "bigint",
}


def judge_files(
    spark: SparkSession,
    runs: Sequence[Run],
    invariants: Sequence[Invariant],
    judge_file: JudgeFile,
    work: Path | None = None,
) -> Verdicts:
    """Judge each run by one way.

    Raises
    ------
    BadTracesError
        A file is missing, changed or not readable; or it holds other traces than its manifest says.
    """
    judged = tuple(invariants)
    looks = [partial(judge_file, invariants=judged, settings=settings_of(run)) for run in runs]
    rows = collected(
        file_rows(spark, runs, looks, _JUDGED, work, _asked(runs, judged, judge_file))
        .groupBy("run", "property")
        .agg(
            functions.min("problem").alias("problem"),
            *(functions.sum(name).alias(name) for name in ("traces", "events", "violations")),
            functions.min("first").alias("first"),
            functions.min(
                functions.when(functions.col("shortest").isNotNull(), functions.struct("shortest_events", "shortest"))
            ).alias("least"),
        )
    )
    verdicts = {(number, each.property_id): Found() for number in range(len(runs)) for each in judged}
    seen = [(0, 0)] * len(runs)
    for row in rows:
        events, shortest = row["least"] or (None, None)
        verdicts[row["run"], row["property"]] = Found(row["violations"], row["first"], shortest, events)
        seen[row["run"]] = row["traces"], row["events"]
    for run, (traces, events) in zip(runs, seen, strict=True):
        if (traces, events) != (run.parameters.traces, run.manifest.events):
            message = (
                f"{run.folder}: holds {traces} traces with {events} events, "
                f"the manifest says {run.parameters.traces} and {run.manifest.events}"
            )
            raise BadTracesError(message)
    return verdicts


def count_judged(runs: Sequence[Run], invariants: Sequence[Invariant], judge_file: JudgeFile, work: Path) -> int:
    """How many files were judged before, so that what is kept of them in a folder is taken."""
    return count_kept(runs, work, _asked(runs, tuple(invariants), judge_file))


def _asked(runs: Sequence[Run], invariants: Sequence[Invariant], judge_file: JudgeFile) -> list[str]:
    """A text for each run that changes with what this way says of the same file."""
    names = " ".join(each.property_id for each in invariants)
    source = source_fingerprint("", ("spec", "spark_trace_analysis"))
    return [f"{judge_file.__module__} {names} {source} {settings_of(run)}" for run in runs]
