"""The data of the page: the records of searches, audits, lockstep runs and hunts, and what is gathered of traces."""

from __future__ import annotations

from dataclasses import dataclass
from time import perf_counter
from typing import TYPE_CHECKING, Any

from html_report.counterexamples import Counterexample, minimal_traces
from spark_trace_analysis.statistics.run_statistics import RunStatistics, statistics
from spark_trace_analysis.statistics.states_seen import StatesSeen, states_seen

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, MutableMapping, Sequence

    from pyspark.sql import SparkSession

    from fuzz.mutants.kill_table import HuntResult
    from fuzz.search.campaign import Campaign
    from html_report.verdict_table import VerdictTable
    from model_check.finding import Finding
    from model_check.trace_validation.divergence import Divergence
    from model_check.world import Profile
    from spark_trace_analysis.audit.audit import Audit
    from spark_trace_analysis.judge.both_ways import Count, TraceJudgement
    from spark_trace_analysis.traces.manifest import TraceRun


@dataclass(frozen=True)
class Fact:
    """One line of the page's head: version, commit, seed, machine."""

    label: str
    value: str


@dataclass(frozen=True)
class RefusedSpecification:
    """A specification that is wrong about a store as `claim` says, and the first record that no path explains.

    The setting is the one that is another than the store's own, empty if none is.
    """

    store: str
    profile: Profile
    setting: str
    claim: str
    found: Divergence
    command: str

    def to_json(self) -> dict[str, Any]:
        """The refusal as plain data."""
        return {
            "store": self.store,
            "specification": self.profile.name,
            "setting": self.setting,
            "claim": self.claim,
            "number": self.found.number,
            "event": str(self.found.event),
            "guard": self.found.guard,
            "nearest": list(self.found.nearest),
            "command": self.command,
        }


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


@dataclass(frozen=True)
class ReportData:
    """The whole page; a section without content is left out.

    The audits are of the golden stores, each with the name of its store; `hunted_by` is the command that hunts the
    mutants.
    """

    title: str
    facts: tuple[Fact, ...]
    command: str
    table: VerdictTable | None = None
    searches: tuple[Finding, ...] = ()
    audits: tuple[Audit, ...] = ()
    refused: tuple[RefusedSpecification, ...] = ()
    lockstep: tuple[Campaign, ...] = ()
    mutants: tuple[HuntResult, ...] = ()
    hunted_by: str = ""
    simulation: SimulationSection | None = None
    notes: tuple[str, ...] = ()


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
