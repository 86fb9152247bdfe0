"""The plots of a sweep: curves with bands over one setting, heat maps over two, points over more, and the front."""

from __future__ import annotations

from math import ceil, floor, log1p, log10
from typing import TYPE_CHECKING, Any, Final

import altair as alt

from html_report.plots import WIDTH, Drawing, Plot, by_profile, legend, svg
from traffic.sweep.sweep_answer import AIMS, CHECKS, DELAY, DOUBLED_OR_LOST, SweepAnswer, SweptAnswer

if TYPE_CHECKING:
    from collections.abc import Sequence

    from traffic.sweep.swept_setting import SweptSetting

_TITLES: Final = {
    DOUBLED_OR_LOST: ("Doubled or lost", "messages a day"),
    DELAY: ("Delay", "mean ms from commit to delivery"),
    CHECKS: ("Checks", "a day"),
}
_HEIGHT: Final = 170
_CELL: Final = 30
_MOST_COLUMNS: Final = 9
"""More would leave no room for a figure in a cell."""
_WIDE: Final = 20
_LOG_AXIS: Final = 8
_MARGIN: Final = 1.5
"""An axis by factors goes so far beyond the least and the largest value; intervals end there."""
_TIME_LABEL: Final = (
    "datum.value >= 3600000 ? format(datum.value / 3600000, '~g') + ' h' : datum.value >= 60000 ? "
    "format(datum.value / 60000, '~g') + ' min' : datum.value >= 1000 ? format(datum.value / 1000, '~g') + ' s' : "
    "format(datum.value, '~g') + ' ms'"
)
_NUMBER_LABEL: Final = "datum.value >= 10000 ? format(datum.value, '.3~s') : format(datum.value, '~g')"

_Row = dict[str, Any]


def draw_sweep(answer: SweepAnswer) -> list[Plot]:
    """Draw the plots; none where nothing but releases was compared."""
    settings = answer.settings
    if not settings:
        return []
    is_grid = all(
        all(value in setting.values for setting, value in zip(settings, one.point.values, strict=True))
        for one in answer.points
        if not one.point.is_yours
    )
    if len(settings) == 1:
        plots = [_curve(answer, aim) for aim in AIMS]
    elif len(settings) == 2 and is_grid:
        plots = [_heat_map(answer, aim, release) for release in answer.releases for aim in AIMS]
    else:
        plots = [_scattered(answer, place, aim) for place in range(len(settings)) for aim in AIMS]
    return [*plots, _front(answer)]


def _curve(answer: SweepAnswer, aim: str) -> Plot:
    setting, series = answer.settings[0], list(answer.releases)
    rows = [_row(one, answer, 0, aim) for one in answer.points if setting.is_number or not one.point.is_yours]
    title, axis = _TITLES[aim]
    if not setting.is_number:
        return _plot(
            title, _interval_chart(rows, setting, axis, series), series, "Bars are 95\N{NO-BREAK SPACE}% intervals."
        )
    scale = _scale([row["value"] for row in rows])
    rows = _on_axis(rows, scale)
    base = alt.Chart(alt.InlineData(values=rows)).encode(x=_across(setting, rows), color=by_profile(series))
    up = alt.Y("value:Q", title=axis, scale=scale, axis=_numbers(scale))
    band = base.mark_area(opacity=0.16, clip=True).encode(
        y=alt.Y("low:Q", title=axis, scale=scale, axis=_numbers(scale)),
        y2="high:Q",
        fill=_fill(series),
        color=alt.value("transparent"),
    )
    line = base.mark_line(strokeWidth=2).encode(y=up)
    points = base.mark_point(filled=True, opacity=1, size=46).encode(
        y=up, shape=by_profile(series, shape=True), description="words:N"
    )
    now = alt.Chart(alt.InlineData(values=[row for row in rows if row["is_yours"]][:1])).encode(
        x=_across(setting, rows)
    )
    rule = now.mark_rule(strokeDash=[3, 3], stroke="var(--muted)").encode(description=alt.value("your setting"))
    chart = alt.layer(band, rule, line, points).properties(width=WIDTH, height=_HEIGHT)
    caption = f"The band is the 95\N{NO-BREAK SPACE}% interval of each point; the dashed line is your {setting.name}."
    return _plot(title, svg(chart, series), series, caption)


def _interval_chart(rows: list[_Row], setting: SweptSetting, axis: str, series: list[str]) -> str:
    """Intervals side by side, for a setting that is a word."""
    base = alt.Chart(alt.InlineData(values=rows)).encode(
        x=alt.X("text:N", title=setting.name, sort=None, axis=alt.Axis(labelAngle=0)),
        xOffset=alt.XOffset("profile:N", sort=series),
        color=by_profile(series),
        description="words:N",
    )
    rule = base.mark_rule(strokeWidth=2).encode(y=alt.Y("low:Q", title=axis, axis=_numbers()), y2="high:Q")
    point = base.mark_point(filled=True, opacity=1, size=46).encode(y="value:Q", shape=by_profile(series, shape=True))
    return svg(alt.layer(rule, point).properties(width=WIDTH, height=_HEIGHT), series)


def _heat_map(answer: SweepAnswer, aim: str, release: str) -> Plot:
    across, up = answer.settings
    here = [one for one in answer.of_release(release) if _is_in_grid(one, answer)]
    rows = []
    for one in here:
        row = _row(one, answer, 0, aim)
        rows.append(row | {"across": row["text"], "up": one.point.values[1].text, "shown": _short(row["value"])})
    shades = _shades([row["value"] for row in rows])
    rows = [row | {"shade": shade} for row, shade in zip(rows, shades, strict=True)]
    columns, lines = (_sorted_texts(setting) for setting in (across, up))
    base = alt.Chart(alt.InlineData(values=rows)).encode(
        x=alt.X("across:N", title=across.name, sort=columns, axis=alt.Axis(labelAngle=0, domain=False, ticks=False)),
        y=alt.Y("up:N", title=up.name, sort=lines[::-1], axis=alt.Axis(domain=False, ticks=False)),
    )
    # The dark end is the bad one, in both colour schemes.
    colours = alt.Scale(range=["#f4ead0", "#efb36b", "#c8553d", "#6b1e3f"], domain=[0, 0.35, 0.7, 1])
    cells = base.mark_rect(stroke="var(--paper)", strokeWidth=2).encode(
        color=alt.Color("shade:Q", scale=colours, legend=None), description="words:N"
    )
    layers = [cells]
    if len(columns) <= _MOST_COLUMNS:
        ink = alt.condition("datum.shade > 0.5", alt.value("#ffffff"), alt.value("#2a1a10"))
        layers.append(base.mark_text(fontSize=10).encode(text="shown:N", color=ink))
    chart = alt.layer(*layers).properties(width=WIDTH - 20, height=max(_CELL * len(lines), 130))
    title, axis = _TITLES[aim]
    of = f" in {release}" if len(answer.releases) > 1 else ""
    yours = answer.of_release(release)[0]
    now = ", ".join(f"{s.name} {v.text}" for s, v in zip(answer.settings, yours.point.values, strict=True))
    caption = f"{axis[0].upper()}{axis[1:]}; the darker the worse. Yours ({now}): {_words(yours, aim)}."
    return Plot(f"{title}{of}", caption, (), (Drawing(release, svg(chart)),))


def _scattered(answer: SweepAnswer, place: int, aim: str) -> Plot:
    setting, series = answer.settings[place], list(answer.releases)
    rows = [_row(one, answer, place, aim) for one in answer.points]
    title, axis = _TITLES[aim]
    if not setting.is_number:
        drawn = _interval_chart(rows, setting, axis, series)
    else:
        scale = _scale([row["value"] for row in rows])
        rows = _on_axis(rows, scale)
        base = alt.Chart(alt.InlineData(values=rows)).encode(x=_across(setting, rows), color=by_profile(series))
        up = alt.Y("value:Q", title=axis, scale=scale, axis=_numbers(scale))
        rule = base.mark_rule(opacity=0.35, clip=True).encode(
            y=alt.Y("low:Q", title=axis, scale=scale, axis=_numbers(scale)), y2="high:Q"
        )
        point = base.mark_point(filled=True, opacity=1, size=30).encode(
            y=up, shape=by_profile(series, shape=True), description="words:N"
        )
        drawn = svg(alt.layer(rule, point).properties(width=WIDTH, height=_HEIGHT), series)
    caption = "Each point is a setting of all that is swept, its bar the 95\N{NO-BREAK SPACE}% interval."
    return _plot(f"{title} by {setting.name}", drawn, series, caption)


def _front(answer: SweepAnswer) -> Plot:
    rows = []
    for one in answer.points:
        row = _row(one, answer, 0, DOUBLED_OR_LOST)
        is_front = any(one is other for other in answer.front)
        settings = ", ".join(f"{s.name} {v.text}" for s, v in zip(answer.settings, one.point.values, strict=True))
        words = f"{one.point.release}: {settings}; {_words(one, DOUBLED_OR_LOST)}, {_words(one, DELAY)}"
        kind = "yours" if one is answer.yours else "front" if is_front else "beaten"
        rows.append(row | {"delay": one.aims[DELAY].value, "kind": kind, "words": words})
    kinds = ["beaten", "front", "yours"]
    rows.sort(key=lambda row: kinds.index(row["kind"]))
    across = _scale([row["delay"] for row in rows], zero=False)
    up = _scale([row["value"] for row in rows])
    base = alt.Chart(alt.InlineData(values=rows)).encode(
        x=alt.X("delay:Q", title=_TITLES[DELAY][1], scale=across, axis=_numbers(across, grid=False)),
        y=alt.Y("value:Q", title="doubled or lost a day", scale=up, axis=_numbers(up, grid=False)),
    )
    colours = alt.Scale(domain=kinds, range=["var(--muted)", "var(--accent)", "var(--bad)"])
    shapes = alt.Scale(domain=kinds, range=["circle", "circle", "diamond"])
    sizes = alt.Scale(type="ordinal", domain=kinds, range=[22, 70, 90])
    points = base.mark_point(filled=True, opacity=0.9).encode(
        color=alt.Color("kind:N", scale=colours, legend=None),
        shape=alt.Shape("kind:N", scale=shapes, legend=None),
        size=alt.Size("kind:N", scale=sizes, legend=None),
        description="words:N",
    )
    key = (("not beaten", "var(--accent)", "●"), ("beaten", "var(--muted)", "·"), ("yours", "var(--bad)", "◆"))
    caption = "Down and to the left is better. What lies there may still cost more checks: the table has them."
    drawn = Drawing("", svg(points.properties(width=WIDTH, height=_HEIGHT)))
    return Plot("What no other setting beats", caption, key, (drawn,))


def _plot(title: str, drawn: str, series: Sequence[str], caption: str) -> Plot:
    return Plot(title, caption, tuple(legend(series)), (Drawing("", drawn),))


def _row(one: SweptAnswer, answer: SweepAnswer, place: int, aim: str) -> _Row:
    value, found = one.point.values[place], one.aims[aim]
    name = answer.settings[place].name
    return {
        "profile": one.point.release,
        "text": value.text,
        "x": value.number,
        "value": found.value,
        "low": found.low,
        "high": found.high,
        "is_yours": one.point.is_yours,
        "words": f"{one.point.release}, {name} {value.text}: {_words(one, aim)}",
    }


def _words(one: SweptAnswer, aim: str) -> str:
    found, (title, axis) = one.aims[aim], _TITLES[aim]
    return f"{title.lower()} {_short(found.value)} ({_short(found.low)} to {_short(found.high)}) {axis}"


def _short(value: float) -> str:
    """Three digits that count, or all before the point.

    Examples
    --------
    >>> _short(1234.5), _short(0.0456), _short(12.345), _short(4_224_960.0)
    ('1,234', '0.0456', '12.3', '4.22 M')
    """
    if value >= 1e6:
        return f"{value / 1e6:.3g} M"
    return f"{value:,.0f}" if value >= 1000 else f"{value:.3g}"


def _is_in_grid(one: SweptAnswer, answer: SweepAnswer) -> bool:
    pairs = zip(answer.settings, one.point.values, strict=True)
    return all(value.text in {known.text for known in setting.values} for setting, value in pairs)


def _sorted_texts(setting: SweptSetting) -> list[str]:
    if not setting.is_number:
        return [value.text for value in setting.values]
    return [value.text for value in sorted(setting.values, key=lambda value: value.number or 0.0)]


def _across(setting: SweptSetting, rows: Sequence[_Row]) -> alt.X:
    numbers = [row["x"] for row in rows if row["x"] is not None]
    label = _TIME_LABEL if setting.is_time else _NUMBER_LABEL
    is_wide = min(numbers) > 0 and max(numbers) >= _LOG_AXIS * min(numbers)
    is_log = is_wide and (setting.range is None or setting.range.is_log)
    ticks = sorted({value.number for value in setting.values if value.number is not None})
    axis = alt.Axis(labelExpr=label, values=ticks, grid=False, labelOverlap="greedy")
    return alt.X("x:Q", title=setting.name, scale=alt.Scale(type="log" if is_log else "linear", nice=False), axis=axis)


def _scale(values: Sequence[float], *, zero: bool = True) -> alt.Scale:
    """By factors where the values lie far apart, beginning at 0 where one is 0."""
    seen = [value for value in values if value > 0]
    if seen and max(seen) >= _WIDE * min(seen):
        if len(seen) < len(values):
            return alt.Scale(type="symlog", constant=min(seen))
        return alt.Scale(type="log", domain=[min(seen) / _MARGIN, max(seen) * _MARGIN])
    return alt.Scale(zero=zero)


def _on_axis(rows: Sequence[_Row], scale: alt.Scale) -> list[_Row]:
    """The rows, each interval from where an axis by factors begins: it may begin at 0, which such an axis has not."""
    if scale.to_dict().get("type") != "log":
        return list(rows)
    least = scale.to_dict()["domain"][0]
    return [row | {"low": max(row["low"], least)} for row in rows]


def _shades(values: Sequence[float]) -> list[float]:
    """Where each value stands between the least and the largest, from 0 to 1, by factors where they lie far apart.

    Examples
    --------
    >>> _shades([1.0, 2.0, 3.0]), _shades([5.0, 5.0])
    ([0.0, 0.5, 1.0], [0.0, 0.0])
    >>> [round(shade, 2) for shade in _shades([0.0, 10.0, 100.0, 1000.0])]
    [0.0, 0.15, 0.52, 1.0]
    """
    seen = [value for value in values if value > 0]
    if seen and max(seen) >= _WIDE * min(seen):
        values = [log1p(value / min(seen)) for value in values]
    low, high = min(values), max(values)
    return [(value - low) / (high - low) if high > low else 0.0 for value in values]


def _numbers(scale: alt.Scale | None = None, *, grid: bool = True) -> alt.Axis:
    """An axis of numbers; one by factors over more than a factor of ten has its powers alone."""
    given = {} if scale is None else scale.to_dict()
    if given.get("type") == "log":
        low, high = given["domain"]
        powers = [10.0**power for power in range(ceil(log10(low)), floor(log10(high)) + 1)]
        if len(powers) > 1:
            return alt.Axis(labelExpr=_NUMBER_LABEL, values=powers, grid=grid)
    return alt.Axis(labelExpr=_NUMBER_LABEL, tickCount=4, grid=grid, labelOverlap="greedy")


def _fill(series: Sequence[str]) -> alt.Fill:
    colours = [colour for _, colour, _ in legend(series)]
    return alt.Fill("profile:N", scale=alt.Scale(domain=list(series), range=colours), legend=None)
