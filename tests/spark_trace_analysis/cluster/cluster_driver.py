"""An application that is told what to do: ``python -m tests.spark_trace_analysis.cluster.cluster_driver URL FOLDER``.

A line is a job's name, the answer a line of JSON when the job is done. The first answer comes when Spark has started.
"""

from __future__ import annotations

import json
import sys
from dataclasses import asdict, replace
from pathlib import Path
from typing import TYPE_CHECKING

from model_check.world import World
from spark_trace_analysis.audit.staged_audit import StagedAuditOptions, audit_in_stages
from spark_trace_analysis.audit.stages.spark_jobs import SparkJobs
from spark_trace_analysis.cluster.session import spark_session, walk_kernels
from spark_trace_analysis.judge.both_ways import judge
from spark_trace_analysis.traces.event_source import WALKS
from spark_trace_analysis.traces.manifest import Parameters
from spark_trace_analysis.traces.runs import open_run
from spark_trace_analysis.traces.simulate import prepare, simulate
from tests.spark_trace_analysis.cluster.standalone_cluster import PROJECT, SMALL

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

PARAMETERS = Parameters(World.of("5.3.3", ("crash", "lose_end"), "tiny"), seed=7, traces=80_000, steps=20)
"""A second of work in three files."""
FEW = replace(PARAMETERS, traces=3_000)
SMALL_FILES = replace(WALKS, events_a_file=10_000)
"""Six files, which are judged soon and are shared out among all executors."""


def where_code_is(spark: SparkSession, _folder: Path) -> list[str]:
    """The file of a module of this project in each worker."""

    def look(_number: int) -> str:
        import model_check.walks.walk

        return str(model_check.walks.walk.__file__)

    return sorted(spark.sparkContext.parallelize(range(2), 2).map(look).collect())


def simulated(spark: SparkSession, folder: Path) -> object:
    """The manifest's files of a run, which carry their checksums."""
    return [asdict(file) for file in simulate(spark, PARAMETERS, folder / "traces").run.manifest.files]


def written(spark: SparkSession, folder: Path) -> object:
    """A smaller run, which is judged afterwards."""
    return len(simulate(spark, FEW, folder / "few", source=SMALL_FILES).run.manifest.files)


def judged(spark: SparkSession, folder: Path) -> object:
    """What both ways of judging say of the smaller run."""
    return [asdict(count) for count in judge(spark, [open_run(folder / "few")]).counts]


def audited(spark: SparkSession, folder: Path) -> object:
    """What became of every transaction of a real broker's store, whose commit log has three files."""
    store = PROJECT / "conformance" / "golden" / "5.3.3" / "wide"
    audit = audit_in_stages(SparkJobs(spark), store, StagedAuditOptions(everything=True, work=folder / "audit"))
    return audit.to_json(everything=True, limit=0)


JOBS = {job.__name__: job for job in (where_code_is, simulated, written, judged, audited)}


def main(master: str, folder: Path) -> None:
    """Answer until standard input ends."""
    prepare(PARAMETERS)
    with spark_session(master, folder / "spark", conf=SMALL, kernels=walk_kernels(PARAMETERS.world.instance)) as spark:
        print(json.dumps("ready"), flush=True)
        for line in sys.stdin:
            print(json.dumps(JOBS[line.strip()](spark, folder)), flush=True)


if __name__ == "__main__":
    main(sys.argv[1], Path(sys.argv[2]))
