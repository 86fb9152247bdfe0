"""The way from judged runs to the report's section on simulation, and what that section shows, as plain data."""

from __future__ import annotations

from dataclasses import dataclass
from time import perf_counter
from typing import TYPE_CHECKING

from html_report.counterexamples import Counterexample, minimal_traces
from spark_trace_analysis.statistics.run_statistics import RunStatistics, statistics
from spark_trace_analysis.statistics.states_seen import StatesSeen, states_seen

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, MutableMapping, Sequence

    from pyspark.sql import SparkSession

    from spark_trace_analysis.judge.both_ways import Count, TraceJudgement
    from spark_trace_analysis.traces.manifest import TraceRun


@dataclass(frozen=True)
class SimulationSection:
    """Simulated traces: how many, what they violate, what they look like, how long each phase took.

    Attributes
    ----------
    command
        What makes the section again.
    shortest
        The minimal violating trace of each property in each environment, over all traces, up to the violation.
    states
        Only of instances that are small enough to be searched.
    """

    runs: tuple[TraceRun, ...]
    counts: tuple[Count, ...]
    statistics: tuple[RunStatistics, ...]
    seconds: Mapping[str, float]
    command: str
    shortest: tuple[Counterexample, ...] = ()
    states: tuple[StatesSeen, ...] = ()


def simulation_section(
    spark: SparkSession,
    runs: Sequence[TraceRun],
    judgement: TraceJudgement,
    command: str,
    seconds: MutableMapping[str, float],
    say: Callable[[str], None],
) -> SimulationSection:
    """Gather what the page shows of runs that are judged; adds the seconds of its phases, each of which it announces.

    Raises
    ------
    BadTracesError
        A file is missing, changed or not readable.
    ModelCheckError
        A trace is not the walk that its run's parameters say.
    """
    say("gathering statistics")
    began = perf_counter()
    gathered = statistics(spark, runs)
    seconds["statistics"] = (between := perf_counter()) - began
    say("counting the states that walks have seen")
    seen = states_seen(spark, runs)
    seconds["states seen"] = perf_counter() - between
    say("making the minimal violating traces again")
    shortest = minimal_traces(runs, judgement.counts)
    return SimulationSection(tuple(runs), judgement.counts, gathered, seconds, command, shortest, seen)
