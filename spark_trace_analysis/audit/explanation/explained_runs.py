"""Validation of some traces of each run in Spark tasks: accepted, or refused by the specification.

Trace validation inserts steps without an event. A refused trace is described by its first event that no path explains,
and by the guard that refuses it.
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from files.parquet import parquet_file
from files.temporary_folder import temporary_folder
from reference.format.broker_conf import BrokerConf
from spark_trace_analysis.audit.explanation.recorded_verdict import RecordedQuestion, judge_recorded
from spark_trace_analysis.cluster.jobs import described
from spark_trace_analysis.errors import TraceAnalysisError
from spark_trace_analysis.traces.schema import as_events

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from pyspark.sql import SparkSession

    from files.remote_path import Location
    from spark_trace_analysis.traces.manifest import Parameters, TraceRun

_COLUMNS = (
    "run bigint, accepted bigint, refused bigint, trace bigint, step bigint, event string, guard string, problem string"
)
_SCHEMA = pa.schema(
    [(part.split()[0], pa.int64() if part.endswith("bigint") else pa.string()) for part in _COLUMNS.split(", ")]
)


@dataclass(frozen=True)
class Explained:
    """The verdict on some traces of a run: how many some path explains, and how many none.

    Of the refused trace with the lowest number it has the first event that no path explains, and the refusing guard.
    The problem says why a trace could not be asked about, if one could not.
    """

    parameters: Parameters
    accepted: int
    refused: int
    trace: int | None
    step: int | None
    event: str | None
    guard: str | None
    problem: str | None

    def to_json(self) -> dict[str, Any]:
        """The verdict as plain data."""
        of = {"profile": self.parameters.profile.name, "environment": self.parameters.environment_name}
        return of | {field.name: getattr(self, field.name) for field in fields(self)[1:]}

    def sentence(self) -> str:
        """The result in words."""
        of = f"{self.parameters.profile}, {self.parameters.environment_name}"
        text = f"{of}: {self.accepted:,} of {self.accepted + self.refused:,} traces are explained by the specification"
        if self.trace is not None:
            text += f"; trace {self.trace} is refused at step {self.step} ({self.event}): {self.guard}"
        return text if self.problem is None else f"{text}; {self.problem}"


def explain_some(
    spark: SparkSession, runs: Sequence[TraceRun], number: int, conf: BrokerConf | None = None
) -> tuple[Explained, ...]:
    """Ask the specification about so many traces of each run, evenly over their numbers; or all, where it has no more.

    The settings are those of the broker that left recorded traces.
    """
    asked = [
        (place, run.folder.resolve() / file.name, trace)
        for place, run in enumerate(runs)
        for file, trace in _chosen(run, number)
    ]
    questions = [
        RecordedQuestion(
            profile=run.parameters.profile,
            conf=conf or BrokerConf(),
            instance=None if conf is not None else run.parameters.world.instance,
        )
        for run in runs
    ]

    def ask(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            for which in batch.column(0).to_pylist():
                place, path, trace = asked[which]
                row = {"run": place, **_ask(path, trace, questions[place])}
                yield pa.RecordBatch.from_pylist([row], _SCHEMA)

    places = spark.range(0, len(asked), 1, min(4 * spark.sparkContext.defaultParallelism, max(len(asked), 1)))
    places.mapInArrow(ask, _COLUMNS).createOrReplaceTempView("asked")
    with described(spark, f"ask whether the specification explains {len(asked):,} traces"):
        rows = spark.sql("""
            SELECT run, sum(accepted) AS accepted, sum(refused) AS refused, min(problem) AS problem,
                min(if(refused = 1, struct(trace, step, event, guard), NULL)) AS least
            FROM asked GROUP BY run ORDER BY run
        """).collect()
    explained = []
    for row in rows:
        least: tuple[Any, Any, Any, Any] = row["least"] or (None, None, None, None)
        found = row["accepted"], row["refused"], *least, row["problem"]
        explained.append(Explained(runs[row["run"]].parameters, *found))
    return tuple(explained)


def _chosen(run: TraceRun, number: int) -> Iterator[tuple[Any, int]]:
    """Files and trace places, evenly over the run."""
    total = run.parameters.traces
    wanted = [place * total // min(number, total) for place in range(min(number, total))]
    before = 0
    for file in run.manifest.files:
        for place in wanted:
            if before <= place < before + file.traces:
                yield file, place - before
        before += file.traces


def _groups_with(metadata: Any, trace: int) -> list[int]:
    """The row groups that may have rows of a trace, by their statistics."""
    place = metadata.schema.names.index("trace")
    statistics = [metadata.row_group(group).column(place).statistics for group in range(metadata.num_row_groups)]
    return [group for group, known in enumerate(statistics) if known is None or known.min <= trace <= known.max]


def _ask(path: Location, place: int, question: RecordedQuestion) -> dict[str, Any]:
    """Cut one trace out of a file, and validate it; a failure becomes a row and is not raised."""
    with parquet_file(path) as opened:
        numbers = pc.unique(opened.read(["trace"])["trace"]).sort().to_pylist()
        groups = [opened.read_row_group(group) for group in _groups_with(opened.metadata, numbers[place])]
    table = pa.concat_tables(groups)
    rows = as_events(table.filter(pc.equal(table["trace"], numbers[place])))
    with temporary_folder() as folder:
        file = folder / "trace.parquet"
        pq.write_table(rows, file)
        try:
            verdict = judge_recorded(file, question)
        except TraceAnalysisError as problem:
            why = str(problem).replace(str(file), "a trace")
            return {"accepted": 0, "refused": 0, "problem": f"{path.name}: {why}"}
    if verdict.accepted:
        return {"accepted": 1, "refused": 0}
    found = verdict.refusal
    refused = {"accepted": 0, "refused": 1, "trace": numbers[place]}
    if found is None:
        return refused | {"guard": "the search did not get to a reason"}
    return refused | {"step": found.row.step, "event": str(found.row), "guard": found.guard}
