"""One Spark for all tests of a process, a pair of simulated runs, and runs written by hand."""

from collections.abc import Callable, Iterator, Sequence
from functools import reduce
from hashlib import sha256
from pathlib import Path

import numpy as np
import pyarrow.parquet as pq
import pytest
from pyspark.sql import DataFrame, SparkSession, functions

from model_check.world import World
from spark_trace_analysis.cluster.session import spark_session
from spark_trace_analysis.traces.manifest import ManifestFile, Parameters, TraceRun, make_manifest, write_manifest
from spark_trace_analysis.traces.runs import open_run
from spark_trace_analysis.traces.schema import ACTIONS, EVENT_SCHEMA, to_batch
from spark_trace_analysis.traces.simulate import simulate
from spec.events import EVENTS
from tests.spark_trace_analysis.traces_by_hand import Event, fields_of

_ACTIONS = ("by_hand", *ACTIONS)

BROKEN = ("op_write_failure", "offline_producer", "resume_discarded", "acting_slave", "wrong_end", "late_end")
"""Faults whose events no other run has."""

WriteRun = Callable[..., TraceRun]


@pytest.fixture(scope="session")
def spark() -> Iterator[SparkSession]:
    with spark_session("local[2]") as session:
        yield session


@pytest.fixture(scope="session")
def simulated(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> list[TraceRun]:
    folder = tmp_path_factory.mktemp("simulated")
    runs = []
    kinds: list[tuple[str, str, tuple[str, ...]]] = [
        ("quiet", "5.3.3", ()),
        ("faulty", "5.3.3", ("crash", "lose_end")),
        ("broken", "5.3.3-batches_ops", BROKEN),
    ]
    for name, profile, faults in kinds:
        parameters = Parameters(World.of(profile, faults, "tiny"), seed=7, traces=3_000, steps=60)
        runs.append(simulate(spark, parameters, folder / name).run)
    return runs


def event_rows(spark: SparkSession, runs: Sequence[TraceRun]) -> DataFrame:
    """All events as one data frame: an event's fields, and ``run``, the place in ``runs``."""
    parts = [
        spark.read.parquet(*(str(run.folder / file.name) for file in run.manifest.files)).withColumn(
            "run", functions.lit(number)
        )
        for number, run in enumerate(runs)
    ]
    return reduce(DataFrame.unionByName, parts)


@pytest.fixture(scope="session")
def write_run() -> WriteRun:
    """Write traces, each a sequence of events, as one file with its manifest."""

    def write(folder: Path, traces: Sequence[Sequence[Event]], profile: str = "5.3.3") -> TraceRun:
        rows = [
            fields_of(number, step, event) for number, trace in enumerate(traces) for step, event in enumerate(trace)
        ]
        columns = {field.name: np.array([row[field.name] for row in rows]) for field in EVENT_SCHEMA}
        columns["event"] = np.array([EVENTS.index(row["event"]) for row in rows])
        columns["action"] = np.array([_ACTIONS.index(row["action"]) for row in rows])
        folder.mkdir(parents=True, exist_ok=True)
        path = folder / "traces.parquet"
        batch = to_batch(columns, {"event": EVENTS, "action": _ACTIONS})
        with pq.ParquetWriter(path, EVENT_SCHEMA) as writer:
            writer.write_batch(batch)
        content = path.read_bytes()
        file = ManifestFile(path.name, 0, len(traces), len(rows), len(content), sha256(content).hexdigest())
        parameters = Parameters(World.of(profile, (), "tiny"), seed=0, traces=len(traces), steps=9)
        write_manifest(folder, make_manifest(parameters, (file,)))
        return open_run(folder)

    return write
