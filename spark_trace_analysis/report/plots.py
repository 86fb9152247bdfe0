"""The plots, as SVG drawn beforehand: no script is needed to see them, they print, and they take the page's colours.

Vega-Lite writes each mark's words into ``aria-label``; screen readers read it out and the page's few lines of script
show it on hover or touch. Colours are CSS variables, so that one drawing serves both colour schemes.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import altair as alt

from spark_trace_analysis.report.data import SimulationSection
from spark_trace_analysis.report.plot_style import (
    WIDTH,
    by_environment,
    by_profile,
    distinct,
    environment_names,
    nested,
    powers_of_ten,
    svg,
    whole_numbers,
)
from spark_trace_analysis.statistics import Distribution, RunStatistics


@dataclass(frozen=True)
class Plot:
    """A drawing with its words: a title that says what is seen, and a sentence on how to read it."""

    title: str
    reading: str
    svg: str


def draw_all(section: SimulationSection) -> list[Plot]:
    """Draw the plots of a section, those without a single value left out."""
    plots = [
        _violation_rates(section),
        _shares(section.statistics, "checks", "Checks per transaction", "check messages sent"),
        _shares(
            section.statistics,
            "half_offsets",
            "Half queue offsets per transaction",
            "offsets used up (1: never put back)",
        ),
        _waiting(section.statistics),
        _actions(section.statistics),
    ]
    return [plot for plot in plots if plot is not None]


def rate_interval(hits: int, total: int) -> tuple[float, float]:
    """Give Wilson's 95 % interval of a rate.

    >>> [round(bound, 4) for bound in rate_interval(0, 1000)]
    [0.0, 0.0038]
    """
    z = 1.959964
    share = hits / total
    centre = share + z * z / (2 * total)
    spread = z * math.sqrt(share * (1 - share) / total + z * z / (4 * total * total))
    scale = 1 + z * z / total
    return max(0.0, (centre - spread) / scale), min(1.0, (centre + spread) / scale)


def _violation_rates(section: SimulationSection) -> Plot | None:
    rows: list[dict[str, Any]] = []
    for count in section.counts:
        low, high = rate_interval(count.violations, count.traces)
        share = count.violations / count.traces
        told = (
            f"{count.property_id}, {count.profile}, {count.environment}: "
            f"{count.violations:,} of {count.traces:,} traces"
            f" ({share:.3%}; 95 % interval {low:.3%} to {high:.3%})"
        )
        rows.append(
            {
                "property": count.property_id,
                "profile": count.profile,
                "environment": count.environment,
                "share": share,
                "low": low,
                "high": high,
                "told": told,
            }
        )
    if not rows:
        return None
    profiles = distinct(row["profile"] for row in rows)
    base = alt.Chart(alt.InlineData(values=rows)).encode(
        y=alt.Y("environment:N", title=None, sort=environment_names(row["environment"] for row in rows)),
        yOffset=alt.YOffset("profile:N", sort=profiles),
        color=by_profile(profiles),
        description="told:N",
    )
    across = alt.X("low:Q", title="share of traces that violate it", axis=alt.Axis(format="~%", tickCount=5))
    interval = base.mark_rule(strokeWidth=2).encode(x=across, x2="high:Q")
    point = base.mark_point(filled=True, size=64, opacity=1).encode(x="share:Q", shape=by_profile(profiles, shape=True))
    chart = (
        alt.layer(interval, point)
        .properties(width=WIDTH - 40, height=alt.Step(13))
        .facet(row=alt.Row("property:N", title=None, header=alt.Header(labelAngle=0, labelAlign="left")))
        .resolve_scale(x="independent")
    )
    return Plot(
        "How often a random walk breaks a property",
        "A point is the share of traces, its bar the 95 % interval (Wilson).",
        svg(chart),
    )


def _shares(runs: Sequence[RunStatistics], quantity: str, title: str, axis: str) -> Plot | None:
    rows: list[dict[str, Any]] = []
    for run in runs:
        distribution: Distribution = getattr(run, quantity)
        for value, transactions in sorted(distribution.items()):
            share = transactions / run.transactions
            told = f"{transactions:,} of {run.transactions:,} transactions ({share:.3%}) have {value}"
            rows.append(_row(run, told) | {"value": value, "share": share})
    if not rows:
        return None
    profiles = distinct(row["profile"] for row in rows)
    base = alt.Chart(alt.InlineData(values=rows)).encode(
        x=alt.X("value:Q", title=axis, axis=whole_numbers(row["value"] for row in rows)),
        y=alt.Y(
            "share:Q",
            title="share of transactions",
            scale=alt.Scale(type="log"),
            axis=powers_of_ten(row["share"] for row in rows),
        ),
        color=by_profile(profiles),
    )
    marks = base.mark_point(filled=True, opacity=1).encode(
        shape=by_profile(profiles, shape=True), size=nested(profiles), description="told:N"
    )
    return Plot(
        title,
        "The vertical scale is logarithmic, so that rare schedules show.",
        svg(by_environment(base, marks, environment_names(run.environment for run in runs))),
    )


def _waiting(runs: Sequence[RunStatistics]) -> Plot | None:
    rows: list[dict[str, Any]] = []
    for run in runs:
        delivered = sum(run.time_to_delivery.values())
        so_far = 0
        for ticks, transactions in sorted(run.time_to_delivery.items()):
            so_far += transactions
            told = f"{so_far / delivered:.2%} of {delivered:,} delivered within {ticks} ticks"
            rows.append(_row(run, told) | {"value": ticks, "share": so_far / delivered})
    if not rows:
        return None
    profiles = distinct(row["profile"] for row in rows)
    base = alt.Chart(alt.InlineData(values=rows)).encode(
        x=alt.X(
            "value:Q",
            title="ticks from half stored to first delivery",
            axis=whole_numbers(row["value"] for row in rows),
        ),
        y=alt.Y("share:Q", title="share of those delivered", axis=alt.Axis(format="~%", tickCount=5)),
        color=by_profile(profiles),
    )
    marks = base.mark_point(filled=True, opacity=1).encode(
        shape=by_profile(profiles, shape=True), size=nested(profiles), description="told:N"
    )
    return Plot(
        "Time to delivery",
        "How many of the delivered transactions had been delivered within so many ticks.",
        svg(by_environment(base, marks, environment_names(run.environment for run in runs))),
    )


def _actions(runs: Sequence[RunStatistics]) -> Plot | None:
    rows: list[dict[str, Any]] = []
    for run in runs:
        for action, times in run.actions.items():
            told = f"{action} {times:,} times, {times / run.traces:.3g} a trace"
            rows.append(_row(run, told) | {"action": action, "mean": times / run.traces})
    if not rows:
        return None
    profiles = distinct(row["profile"] for row in rows)
    environments = environment_names(row["environment"] for row in rows)
    chart = (
        alt.Chart(alt.InlineData(values=rows))
        .mark_point(filled=True, opacity=1)
        .encode(
            x=alt.X(
                "mean:Q",
                title="times a trace (logarithmic)",
                scale=alt.Scale(type="log"),
                axis=alt.Axis(format="~g", tickCount=4, grid=False),
            ),
            y=alt.Y(
                "action:N",
                title=None,
                axis=alt.Axis(grid=True),
                sort=alt.EncodingSortField("mean", op="sum", order="descending"),
            ),
            yOffset=alt.YOffset("environment:N", sort=environments),
            color=by_profile(profiles),
            shape=by_profile(profiles, shape=True),
            size=nested(profiles),
            description="told:N",
        )
        .properties(width=WIDTH - 120, height=alt.Step(max(6, 16 // len(environments))))
    )
    return Plot(
        "How often each action is taken",
        f"Within an action, from top to bottom: {', '.join(environments)}." if len(environments) > 1 else "",
        svg(chart),
    )


def _row(run: RunStatistics, told: str) -> dict[str, Any]:
    return {
        "profile": run.profile,
        "environment": run.environment,
        "told": f"{run.profile}, {run.environment}: {told}",
    }
