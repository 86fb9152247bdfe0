"""``python -m benchmarks.spark.run_once TRACES FOLDER``: simulates and judges in this process; prints JSON.

The runs are those of ``halfcheck verify``. The first one is told of by itself: Spark's Python workers start in it.
"""

from __future__ import annotations

import json
import sys
from dataclasses import asdict, dataclass
from pathlib import Path
from time import perf_counter

from halfcheck.verification import ENVIRONMENTS, INSTANCE, STEPS
from spark_trace_analysis.judge import judge
from spark_trace_analysis.manifest import Parameters
from spark_trace_analysis.session import spark_session
from spark_trace_analysis.simulate import prepare, simulate
from spark_trace_analysis.statistics import statistics
from spec.profiles import VERSIONS

SEED = 7


@dataclass(frozen=True)
class Phase:
    """Seconds for so many traces and events; starting Spark is for none."""

    seconds: float
    traces: int
    events: int


def phases(traces: int, folder: Path) -> dict[str, Phase]:
    """Run each phase once, the traces shared out evenly among the runs; their kernels are compiled beforehand."""
    kinds = [(profile, faults) for profile in VERSIONS for faults in ENVIRONMENTS[:2]]
    asked = [Parameters(profile, faults, INSTANCE, SEED, traces // len(kinds), STEPS) for profile, faults in kinds]
    for parameters in asked:
        prepare(parameters)
    began = perf_counter()
    with spark_session(work=folder / "spark") as spark:
        told = {"start Spark": Phase(perf_counter() - began, 0, 0)}
        made = [
            simulate(spark, parameters, folder / f"{parameters.profile}-{parameters.environment_name}")
            for parameters in asked
        ]
        for name, some in (("simulate: the first run", made[:1]), ("simulate: the others", made[1:])):
            told[name] = Phase(
                sum(one.seconds for one in some),
                sum(one.run.parameters.traces for one in some),
                sum(one.run.manifest.events for one in some),
            )
        runs = [one.run for one in made]
        judgement = judge(spark, runs)
        told["judge by kernels"] = Phase(judgement.kernel_seconds, judgement.traces, judgement.events)
        told["judge by SQL"] = Phase(judgement.query_seconds, judgement.traces, judgement.events)
        told["statistics"] = Phase(statistics(spark, runs).seconds, judgement.traces, judgement.events)
    return told


if __name__ == "__main__":
    print(json.dumps({name: asdict(phase) for name, phase in phases(int(sys.argv[1]), Path(sys.argv[2])).items()}))
