"""The plots, as SVG drawn beforehand: no script is needed to see them, they print, and they take the page's colours.

Vega-Lite writes each mark's words into ``aria-label``; screen readers read it out and the page's few lines of script
show it on hover or touch. Colours are CSS variables, so that one drawing serves both colour schemes; each environment
has a drawing of its own and each mark names its profile, so that the page can show some of them.
"""

import math
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import altair as alt
import vl_convert

from html_report.data import SimulationSection
from model_check.walks.choices import GUIDED
from model_check.world import QUIET
from spark_trace_analysis.statistics.run_statistics import Distribution, RunStatistics


@dataclass(frozen=True)
class Drawing:
    """The drawing of one environment, by its name on the page."""

    title: str
    svg: str


@dataclass(frozen=True)
class Plot:
    """Drawings; a title that says what is seen, how to read it, and profile, colour and sign of each series."""

    title: str
    caption: str
    legend: tuple[tuple[str, str, str], ...]
    drawings: tuple[Drawing, ...]


_Row = dict[str, Any]


def draw_all(section: SimulationSection) -> list[Plot]:
    """Draw the plots of a section, those without a single value left out."""
    runs = section.statistics
    log = "The vertical scale is logarithmic, so that rare schedules show."
    plots = [
        _violation_rates(section),
        _shares(runs, "checks", "Checks per transaction", "check messages sent", log),
        _shares(runs, "put_backs", "Put-backs per transaction", "copies of its half that were written", log),
        _shares(runs, "half_offsets", "Half queue offsets per transaction", "offsets used up (1: never put back)", log),
        _shares(runs, "records", "Records written per transaction", "records, without shared op messages", log),
        _within(runs, "time_to_delivery", "Time to delivery", "ticks from half stored to first delivery", "delivered"),
        _within(runs, "op_lag", "Op lag", "ticks that an op waited in memory", "stored"),
        _within(runs, "settled_lag", "From settled to op visible", "ticks from settled to the op message", "settled"),
        _shares(runs, "age_at_discard", "Age at discard", "ticks from half stored to discard", log),
        _actions(runs),
    ]
    return [plot for plot in plots if plot is not None]


def _plot(title: str, caption: str, rows: Sequence[_Row], draw: Any) -> Plot | None:
    """One drawing an environment, all with the same series."""
    if not rows:
        return None
    profiles = distinct(row["profile"] for row in rows)
    drawings = tuple(
        Drawing(environment, draw([row for row in rows if row["environment"] == environment], profiles))
        for environment in sorted(distinct(row["environment"] for row in rows), key=lambda name: name != QUIET)
    )
    return Plot(title, caption, tuple(legend(profiles)), drawings)


def _violation_rates(section: SimulationSection) -> Plot | None:
    rows: list[_Row] = []
    seen = {count.property_id for count in section.counts if count.violations}
    unseen = distinct(count.property_id for count in section.counts if count.property_id not in seen)
    for count in section.counts:
        if count.property_id in unseen:
            continue
        of = count.parameters
        low, high = wilson(count.violations, of.traces)
        share = count.violations / of.traces
        words = (
            f"{count.property_id}, {of.profile}, {of.environment_name}: "
            f"{count.violations:,} of {of.traces:,} random walks"
            f" ({share:.3%}; 95 % interval {low:.3%} to {high:.3%}), no rate of a real system"
        )
        rows.append(
            {
                "property": count.property_id,
                "profile": of.profile.name,
                "environment": of.environment_name,
                "share": share,
                "low": low,
                "high": high,
                "words": words,
            }
        )

    def draw(here: list[_Row], series: list[str]) -> str:
        scale = alt.Scale(type="symlog", constant=1e-4, domain=[0, max(row["high"] for row in rows)], nice=False)
        ticks = [tick for tick in (0, 1e-4, 1e-3, 1e-2, 1e-1, 1) if tick <= max(row["high"] for row in rows)]
        base = alt.Chart(alt.InlineData(values=here)).encode(
            y=alt.Y("property:N", title=None, sort=distinct(row["property"] for row in here)),
            yOffset=alt.YOffset("profile:N", sort=series),
            color=by_profile(series),
            description="words:N",
        )
        axis = alt.Axis(values=ticks, labelExpr="format(100 * datum.value, '~g') + '%'", labelOverlap="greedy")
        across = alt.X(
            "low:Q", title="share of random walks that violate it, no rate of a real system", axis=axis, scale=scale
        )
        interval = base.mark_rule(strokeWidth=2).encode(x=across, x2="high:Q")
        point = base.mark_point(filled=True, size=48, opacity=1).encode(
            x="share:Q", shape=by_profile(series, shape=True)
        )
        chart = alt.layer(interval, point).properties(width=WIDTH - 20, height=alt.Step(9))
        return svg(chart, series)

    caption = (
        "A point is the share of random walks, its bar the 95 % interval (Wilson); the scale is logarithmic from "
        "0.01 % on."
        " Walks choose their steps by chance, faults too: no share is a rate of a real system."
    )
    if unseen:
        caption += f" No walk breaks {', '.join(unseen)}."
    if any(count.parameters.choice == GUIDED for count in section.counts):
        caption += " Guided walks are no sample of others: their shares are those of what was kept."
    return _plot("How many of the random walks break a property: no rate of a real system", caption, rows, draw)


def _shares(runs: Sequence[RunStatistics], quantity: str, title: str, axis: str, caption: str) -> Plot | None:
    rows: list[_Row] = []
    for run in runs:
        distribution: Distribution = getattr(run, quantity)
        total = sum(distribution.values())
        for value, transactions in sorted(distribution.items()):
            share = transactions / total
            words = f"{transactions:,} of {total:,} transactions ({share:.3%}) have {value}"
            rows.append(_row(run, words) | {"value": value, "share": share})

    def draw(here: list[_Row], series: list[str]) -> str:
        ticks = powers_of_ten(row["share"] for row in here)
        base = alt.Chart(alt.InlineData(values=here)).encode(
            x=alt.X("value:Q", title=axis, axis=whole_numbers(row["value"] for row in here)),
            y=alt.Y("share:Q", title="share of transactions", scale=alt.Scale(type="log"), axis=ticks),
            color=by_profile(series),
        )
        return draw_lines(base, series)

    return _plot(title, caption, rows, draw)


def _within(runs: Sequence[RunStatistics], quantity: str, title: str, axis: str, what: str) -> Plot | None:
    rows: list[_Row] = []
    for run in runs:
        distribution: Distribution = getattr(run, quantity)
        total, so_far = sum(distribution.values()), 0
        for ticks, transactions in sorted(distribution.items()):
            so_far += transactions
            words = f"{so_far / total:.2%} of {total:,} {what} within {ticks} ticks"
            rows.append(_row(run, words) | {"value": ticks, "share": so_far / total})

    def draw(here: list[_Row], series: list[str]) -> str:
        base = alt.Chart(alt.InlineData(values=here)).encode(
            x=alt.X("value:Q", title=axis, axis=whole_numbers(row["value"] for row in here)),
            y=alt.Y("share:Q", title=f"share of those {what}", axis=alt.Axis(format="~%", tickCount=5)),
            color=by_profile(series),
        )
        return draw_lines(base, series)

    return _plot(title, f"How many of those that were {what} were so within so many ticks.", rows, draw)


def _actions(runs: Sequence[RunStatistics]) -> Plot | None:
    rows: list[_Row] = []
    for run in runs:
        for action, times in run.actions.items():
            mean = times / run.parameters.traces
            words = f"{action} {times:,} times, {mean:.3g} a trace"
            rows.append(_row(run, words) | {"action": action, "mean": mean})

    def draw(here: list[_Row], series: list[str]) -> str:
        across = alt.X(
            "mean:Q",
            title="times a trace (logarithmic)",
            scale=alt.Scale(type="log"),
            axis=alt.Axis(format="~g", tickCount=4, grid=False),
        )
        order = alt.EncodingSortField("mean", op="sum", order="descending")
        chart = (
            alt.Chart(alt.InlineData(values=here))
            .mark_point(filled=True, opacity=1)
            .encode(
                x=across,
                y=alt.Y("action:N", title=None, axis=alt.Axis(grid=True), sort=order),
                color=by_profile(series),
                shape=by_profile(series, shape=True),
                size=nested(series),
                description="words:N",
            )
            .properties(width=WIDTH - 120, height=alt.Step(14))
        )
        return svg(chart, series)

    return _plot("How often each action is taken", "The most frequent first.", rows, draw)


def _row(run: RunStatistics, words: str) -> _Row:
    profile, environment = run.parameters.profile.name, run.parameters.environment_name
    series = f"{profile}, {environment}"
    return {"profile": profile, "environment": environment, "series": series, "words": f"{series}: {words}"}


WIDTH = 330
"""Pixels of a plot's inside; the page scales the whole drawing to its column."""

_COLOURS = [f"var(--series-{number})" for number in range(1, 7)]
_SHAPES = ["circle", "square", "triangle-up", "diamond", "cross", "triangle-down"]


def distinct(values: Iterable[str]) -> list[str]:
    """Give each value once, in the order of their first appearance."""
    return list(dict.fromkeys(values))


def by_profile(series: Sequence[str], *, shape: bool = False) -> Any:
    """Give a profile its colour, or its shape; the page has the legend."""
    several = -(-len(series) // 6)
    marks = alt.Scale(domain=list(series), range=((_SHAPES if shape else _COLOURS) * several)[: len(series)])
    if shape:
        return alt.Shape("profile:N", scale=marks, legend=None)
    return alt.Color("profile:N", scale=marks, legend=None)


def nested(series: Sequence[str]) -> alt.Size:
    """Smaller marks lie on larger ones, so that profiles with equal values all show."""
    sizes = [36 + 34 * (len(series) - 1 - n) for n in range(len(series))]
    return alt.Size("profile:N", scale=alt.Scale(type="ordinal", domain=list(series), range=sizes), legend=None)


def whole_numbers(values: Iterable[int]) -> alt.Axis:
    """Ticks at whole numbers only, at most nine."""
    seen = sorted(set(values))
    step = max(1, -(-(seen[-1] - seen[0]) // 8))
    return alt.Axis(values=list(range(min(seen), max(seen) + 1, step)), format="d")


def powers_of_ten(shares: Iterable[float]) -> alt.Axis:
    """Ticks of a logarithmic axis of shares, from 100 % down to below the least."""
    lowest = math.floor(math.log10(min(shares)))
    return alt.Axis(values=[10.0**power for power in range(lowest, 1)], format="~%")


_SYMBOLS = ["●", "■", "▲", "◆", "✚", "▼"]


def legend(series: Sequence[str]) -> list[tuple[str, str, str]]:
    """Each profile with its colour and a sign of its shape."""
    return [(name, _COLOURS[n % 6], _SYMBOLS[n % 6]) for n, name in enumerate(series)]


def draw_lines(base: alt.Chart, series: Sequence[str]) -> str:
    """Draw points with lines between those of a profile."""
    lines = base.mark_line(strokeWidth=1.5).encode(description="series:N")
    marks = base.mark_point(filled=True, opacity=1).encode(
        shape=by_profile(series, shape=True), size=nested(series), description="words:N"
    )
    return svg(alt.layer(lines, marks).properties(width=WIDTH, height=150), series)


_CONFIG: Mapping[str, Any] = {
    "background": "transparent",
    "font": "system-ui, -apple-system, Segoe UI, Roboto, Noto Sans, DejaVu Sans, sans-serif",
    "view": {"stroke": None},
    "axis": {
        "labelColor": "var(--muted)",
        "titleColor": "var(--muted)",
        "titleFontWeight": "normal",
        "gridColor": "var(--rule)",
        "gridOpacity": 0.6,
        "domainColor": "var(--rule)",
        "tickColor": "var(--rule)",
        "labelFontSize": 11,
        "titleFontSize": 11,
        "labelLimit": 190,
    },
}


def svg(chart: alt.LayerChart | alt.FacetChart | alt.Chart, series: Sequence[str] = ()) -> str:
    """Draw a chart; the page decides its width, and finds the marks of each series, a profile."""
    drawn = vl_convert.vegalite_to_svg(chart.to_dict(validate=False) | {"config": _CONFIG})
    return _of_profiles(_scalable(drawn), series)


def _of_profiles(svg: str, series: Sequence[str]) -> str:
    """Say of each mark whose words name a profile that it is of this one."""

    def mark(found: re.Match[str]) -> str:
        words = set(re.split(r"[,:] ", found[1]))
        named = [profile for profile in series if profile in words]
        return f'{found[0]} data-profile="{named[0]}"' if named else found[0]

    return re.sub(r'aria-label="([^"]*)"', mark, svg)


def _scalable(svg: str) -> str:
    """Let the page decide width and font, and leave out what says nothing: fractions of pixels, kinds of marks."""
    opening, rest = svg.split(">", 1)
    rest = re.sub(
        r' (font-family="[^"]*"|pointer-events="none"|opacity="1"|stroke-width="1"|aria-roledescription="[^"]*")',
        "",
        rest,
    )
    rest = rest.replace('role="graphics-symbol"', 'role="img"')
    rest = re.sub(r' (?:d|transform|[xy]2?)="[^"]*"', lambda found: re.sub(r"(\.\d\d)\d+", r"\1", found[0]), rest)
    return re.sub(r'\s(width|height)="[^"]*"', "", opening) + ">" + rest


_Z = 1.959964
"""95 % of a normal distribution lie within so many standard deviations."""


def wilson(hits: int, total: int) -> tuple[float, float]:
    """Give Wilson's 95 % interval of so many hits in all (E. B. Wilson, 1927); of none at all, everything is possible.

    It says something of rare events, too.

    >>> [round(bound, 4) for bound in wilson(0, 1000)]
    [0.0, 0.0038]
    >>> wilson(0, 0)
    (0.0, 1.0)
    """
    if total == 0:
        return 0.0, 1.0
    share = hits / total
    centre = share + _Z * _Z / (2 * total)
    spread = _Z * math.sqrt(share * (1 - share) / total + _Z * _Z / (4 * total * total))
    scale = 1 + _Z * _Z / total
    return max(0.0, (centre - spread) / scale), min(1.0, (centre + spread) / scale)
