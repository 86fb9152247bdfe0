"""From judged runs and their statistics to the report's section on simulation."""

from collections.abc import Mapping, Sequence

from spark_trace_analysis.judge.both_ways import Judgement
from spark_trace_analysis.judge.properties import ALL, NOT_SHOWN
from spark_trace_analysis.report.simulation_data import RareSchedule, ShownProperty, SimulatedRun, SimulationSection
from spark_trace_analysis.report.told_steps import Counterexample
from spark_trace_analysis.statistics.run_statistics import Statistics
from spark_trace_analysis.statistics.states_seen import StatesSeen
from spark_trace_analysis.traces.manifest import Run


def simulation_section(
    runs: Sequence[Run],
    judgement: Judgement,
    statistics: Statistics,
    command: str,
    seconds: Mapping[str, float] | None = None,
    *,
    shortest: Sequence[Counterexample] = (),
    states: Sequence[StatesSeen] = (),
) -> SimulationSection:
    """Gather what the page shows of simulated traces.

    Parameters
    ----------
    runs, judgement, statistics
        The runs and what was found in them.
    command
        What makes the section again.
    seconds
        Time by phase, where other phases than judging and statistics belong to it.
    shortest, states
        As ``SimulationSection`` says.
    """
    return SimulationSection(
        runs=tuple(
            SimulatedRun(
                run.parameters.profile,
                run.parameters.environment_name,
                run.parameters.traces,
                run.manifest.events,
                f"{run.parameters.command} --out {run.folder}",
            )
            for run in runs
        ),
        counts=judgement.counts,
        statistics=statistics.runs,
        seconds=seconds
        or {
            "kernels": judgement.kernel_seconds,
            "expressions": judgement.expression_seconds,
            "statistics": statistics.seconds,
        },
        command=command,
        shortest=tuple(shortest),
        states=tuple(states),
        rarest=tuple(
            RareSchedule(
                told.profile,
                told.environment,
                one.trace,
                one.mean_log_frequency,
                run.parameters.command_of(one.trace),
            )
            for run, told in zip(runs, statistics.runs, strict=True)
            for one in told.rarest
        ),
        shown=(
            *(
                ShownProperty(one.property_id, one.sentence, one.shows, "exactly" if one.is_exact else "in part")
                for one in ALL
            ),
            *(ShownProperty(property_id, "", why, "not") for property_id, why in NOT_SHOWN.items()),
        ),
    )
