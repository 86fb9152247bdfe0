"""How all plots look: marks by profile, axes; one drawing an environment; the colours are the page's."""

import math
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import altair as alt
import vl_convert

from model_check.world import QUIET

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


def environment_names(names: Iterable[str]) -> list[str]:
    """Each once, the quiet world first."""
    return sorted(distinct(names), key=lambda name: name != QUIET)


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
