"""``python -m benchmarks.spark.pipeline TRACES FOLDER STEPS INSTANCE...``: from nothing to the report's page.

It simulates and writes, judges by kernels and by expressions, gathers statistics, counts states, makes the minimal
violating traces again and writes the page, as ``halfcheck simulate`` and ``halfcheck analyze --report`` do. A run
is of one release in one environment of one instance. A line of JSON says when a phase begins, the last one what there
was in the end.
"""

from __future__ import annotations

import json
import sys
from itertools import product
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Sequence

    from spark_trace_analysis.traces.manifest import TraceRun

SEED: Final = 7
ENVIRONMENTS: Final = ((), ("crash",), ("lose_end",), ("slow_local",), ("put_failure",))

STARTING, SIMULATING, JUDGING, GATHERING = "start Spark", "simulate", "judge", "statistics"
COUNTING, REMAKING, WRITING = "states seen", "minimal traces", "page"
PHASES: Final = {
    "gathering statistics": GATHERING,
    "counting the states that walks have seen": COUNTING,
    "making the minimal violating traces again": REMAKING,
}
"""What the way to the page says that it does, to the names of its phases."""


def main(traces: int, folder: Path, steps: int, instances: Sequence[str]) -> None:
    """Run all phases; the traces are shared out evenly among the runs."""
    _tell(phase=STARTING)
    from html_report.data import ReportData, simulation_section
    from html_report.page import write
    from model_check.world import World
    from spark_trace_analysis.cluster.session import spark_session
    from spark_trace_analysis.judge.both_ways import judge
    from spark_trace_analysis.traces.manifest import Parameters
    from spark_trace_analysis.traces.simulate import simulate
    from spec.profiles import VERSIONS, distinct
    from spec.transactional_messages import TRANSACTIONAL_MESSAGES

    idle = [action.name for action in TRANSACTIONAL_MESSAGES.actions if action.event == "time_passed"]
    kinds = list(product(instances, distinct(VERSIONS), ENVIRONMENTS))
    with spark_session(work=folder / "spark") as spark:
        _tell(phase=SIMULATING)
        runs: list[TraceRun] = []
        for number, (instance, profile, faults) in enumerate(kinds):
            share = traces // len(kinds) + (number < traces % len(kinds))
            parameters = Parameters(World.of(profile, faults, instance), seed=SEED, traces=share, steps=steps)
            out = folder / f"{instance}-{profile}-{parameters.environment_name}"
            runs.append(simulate(spark, parameters, out).run)
        _tell(phase=JUDGING)
        judgement = judge(spark, runs)
        made_by = "make bench-spark"
        section = simulation_section(spark, runs, judgement, made_by, {}, lambda phase: _tell(phase=PHASES[phase]))
        _tell(phase=WRITING)
        write(ReportData("Simulated traces", (), made_by, simulation=section), folder / "page.html")
    _tell(
        traces=judgement.traces,
        events=judgement.events,
        written_bytes=sum(file.size_bytes for run in runs for file in run.manifest.files),
        idle_events=sum(run.actions.get(name, 0) for run in section.statistics for name in idle),
        properties=len({count.property_id for count in judgement.counts}),
        violations=sum(count.violations for count in judgement.counts),
        page_bytes=(folder / "page.html").stat().st_size,
        kernel_seconds=judgement.kernel_seconds,
        expression_seconds=judgement.expression_seconds,
    )


def _tell(**what: object) -> None:
    print(json.dumps({"at": perf_counter(), **what}), flush=True)


if __name__ == "__main__":
    main(int(sys.argv[1]), Path(sys.argv[2]), int(sys.argv[3]), sys.argv[4:])
