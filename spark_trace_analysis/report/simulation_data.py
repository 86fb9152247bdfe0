"""What the report shows of simulated traces, as plain data."""

from collections.abc import Mapping
from dataclasses import dataclass

from spark_trace_analysis.judge.both_ways import Count
from spark_trace_analysis.report.told_steps import Counterexample
from spark_trace_analysis.statistics.run_statistics import RunStatistics
from spark_trace_analysis.statistics.states_seen import StatesSeen


@dataclass(frozen=True)
class SimulatedRun:
    """One run of simulated traces: its size and the command that makes it."""

    profile: str
    environment: str
    traces: int
    events: int
    command: str


@dataclass(frozen=True)
class ShownProperty:
    """What a trace shows of a property.

    Attributes
    ----------
    shows
        How it shows a violation, or why it shows none.
    how_far
        ``exactly``, ``in part`` (a violation shown is real, some are not shown) or ``not``.
    """

    property_id: str
    sentence: str
    shows: str
    how_far: str


@dataclass(frozen=True)
class RareSchedule:
    """One of the traces whose action pairs are rarest in their run, and the command that makes it again."""

    profile: str
    environment: str
    trace: int
    mean_log_frequency: float
    command: str


@dataclass(frozen=True)
class SimulationSection:
    """Simulated traces: how many, what they violate, what they look like, how long it took.

    Attributes
    ----------
    shortest
        The minimal violating trace of each property in each environment, over all traces, up to the violation.
    states
        Only of instances that are small enough to be searched.
    rarest
        Of each run, the rarest first.
    shown
        All properties.
    """

    runs: tuple[SimulatedRun, ...]
    counts: tuple[Count, ...]
    statistics: tuple[RunStatistics, ...]
    seconds: Mapping[str, float]
    command: str
    shortest: tuple[Counterexample, ...] = ()
    states: tuple[StatesSeen, ...] = ()
    rarest: tuple[RareSchedule, ...] = ()
    shown: tuple[ShownProperty, ...] = ()
