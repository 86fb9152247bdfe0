"""The table of verdicts as a drawing: clauses by faults, coloured by the length of the shortest schedule."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import altair as alt
import vl_convert

from model_check.verdicts.environment import QUIET
from model_check.verdicts.page import shown_instance

if TYPE_CHECKING:
    from model_check.verdicts.table import Table

CELL = 11
"""Pixels of a cell."""

_COLOURS = ["#3f007d", "#54278f", "#6a51a3", "#807dba", "#9e9ac8", "#bcbddc"]
_CONFIG: dict[str, Any] = {
    "background": "#ffffff",
    "font": "DejaVu Sans, Verdana, sans-serif",
    "aria": False,
    "view": {"stroke": "#c8c8c8"},
    "axis": {"labelFontSize": 8, "titleFontSize": 9, "gridColor": "#efefef", "labelLimit": 220, "ticks": False},
    "header": {"labelFontSize": 11, "labelFontWeight": 600},
    "legend": {"labelFontSize": 9, "titleFontSize": 9, "titleFontWeight": "normal"},
}


def cells(table: Table) -> list[dict[str, Any]]:
    """The marks of the drawing, by profile and clause.

    Returns
    -------
    list of dict
        `kind` is `bar` (the quiet world breaks the clause), `square` (the fault alone breaks it, or breaks it sooner
        than the quiet world does), `ring` (the fault breaks it together with others) or `dot` (it is unknown whether
        the fault alone breaks it); `depth` is the steps of the shortest schedule, for a ring the shortest of all its
        sets, for a dot none.
    """
    instance = shown_instance(table)
    marks: list[dict[str, Any]] = []
    for profile in table.profiles:
        entries = table.of(profile, instance)
        for clause in table.clauses if entries else ():
            row = {"profile": profile, "clause": clause}
            quiet = entries[QUIET].violated.get(clause)
            if quiet is not None:
                marks.append({**row, "kind": "bar", "fault": QUIET, "depth": quiet})
            undecided = table.undecided(profile, instance, clause)
            marks += [
                {**row, "kind": "dot", "fault": fault, "depth": 0} for fault in table.faults if (fault,) in undecided
            ]
            for fault in table.faults:
                depth = entries[fault].violated.get(clause) if fault in entries else None
                if depth is not None and (quiet is None or depth < quiet):
                    marks.append({**row, "kind": "square", "fault": fault, "depth": depth})
            sets = table.minimal_sets(profile, instance, clause)
            together = {fault for faults, _ in sets if len(faults) > 1 for fault in faults}
            marks += [
                {**row, "kind": "ring", "fault": fault, "depth": min(d for faults, d in sets if fault in faults)}
                for fault in table.faults
                if fault in together
            ]
    return marks


def draw(table: Table) -> str:
    """The drawing, as SVG."""
    marks = cells(table)
    columns = [QUIET, *table.faults]
    deepest = max((mark["depth"] for mark in marks), default=1)
    colour = alt.Color(
        "depth:Q",
        title="steps of the shortest schedule",
        scale=alt.Scale(range=_COLOURS, domain=[0, deepest], type="linear"),
        legend=alt.Legend(orient="bottom", direction="horizontal", type="gradient"),
    )
    panels = [
        _panel([mark for mark in marks if mark["profile"] == profile], table, columns, colour, profile)
        for profile in table.profiles
    ]
    chart = alt.concat(*panels, columns=2).resolve_scale(x="independent", y="independent")
    return str(vl_convert.vegalite_to_svg(chart.to_dict(validate=False) | {"config": _CONFIG}))


def _panel(marks: list[dict[str, Any]], table: Table, columns: list[str], colour: alt.Color, profile: str) -> Any:
    x = alt.X(
        "fault:N", title=None, scale=alt.Scale(domain=columns), axis=alt.Axis(labelAngle=-90, grid=True, zindex=0)
    )
    y = alt.Y("clause:N", title=None, scale=alt.Scale(domain=list(table.clauses)), axis=alt.Axis(grid=True, zindex=0))

    def layer(kind: str) -> alt.Chart:
        return alt.Chart(alt.InlineData(values=[mark for mark in marks if mark["kind"] == kind])).encode(y=y)

    bars = layer("bar").mark_rect(color="#ece7f2", height=CELL - 2)
    quiet = layer("bar").mark_rect(width=CELL - 2, height=CELL - 2).encode(x=x, color=colour)
    squares = layer("square").mark_rect(width=CELL - 2, height=CELL - 2).encode(x=x, color=colour)
    rings = layer("ring").mark_point(shape="circle", size=26, strokeWidth=1.4).encode(x=x, color=colour)
    dots = layer("dot").mark_point(shape="circle", size=5, filled=True, color="#9a9a9a", opacity=1).encode(x=x)
    return alt.layer(bars, quiet, squares, dots, rings).properties(
        title=profile, width=CELL * len(columns), height=CELL * len(table.clauses)
    )
