"""The table of verdicts as a drawing: clauses by faults, one stripe a version, coloured by the shortest schedule."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import altair as alt
import vl_convert

from model_check.clauses import name_of
from model_check.world import NO_FAULTS, QUIET, Environment, Profile

if TYPE_CHECKING:
    from model_check.verdicts.table import TableOfVerdicts
    from spec.language import Property

STRIPE = 5
"""Pixels of a stripe."""

ROW = 12
"""Pixels of a row."""

BAND = "#ebe6f2"
UNDECIDED = "#9a9a9a"
_COLOURS = ["#3f007d", "#54278f", "#6a51a3", "#807dba", "#9e9ac8", "#b8b5d9"]
_CONFIG: dict[str, Any] = {
    "background": "#ffffff",
    "font": "DejaVu Sans, Verdana, sans-serif",
    "aria": False,
    "view": {"stroke": "#c8c8c8"},
    "axis": {"labelFontSize": 9, "labelLimit": 220, "ticks": False, "domain": False, "labelColor": "#222222"},
    "legend": {"labelFontSize": 9, "titleFontSize": 9, "titleFontWeight": "normal", "titleLimit": 400},
    "title": {"fontSize": 11, "fontWeight": "normal", "anchor": "start", "offset": 12},
}


def cells(table: TableOfVerdicts) -> list[dict[str, Any]]:
    """The marks of the drawing, by clause and profile, of all instances together.

    `kind` is `full` (the quiet world, or the fault alone, breaks the clause; a fault only if it takes fewer steps than
    the quiet world), `half` (the fault breaks it together with others), `band` (the quiet world breaks it, so that
    every fault does) or `dot` (it is not decided whether the fault alone breaks it); `depth` is the steps of the
    shortest schedule, for a half the shortest of all its sets, for a band and a dot none.
    """
    return [
        {"clause": name_of(clause), "profile": profile.name, **mark}
        for clause in table.clauses
        for profile in table.profiles
        for mark in _row(table, profile, clause)
    ]


def _row(table: TableOfVerdicts, profile: Profile, clause: Property) -> list[dict[str, Any]]:
    breaking = {environment: one.depth for environment, one in table.breaking(profile, clause).items()}
    alone = {fault: breaking.get(Environment([fault])) for fault in table.faults}
    quiet = breaking.get(NO_FAULTS)
    if quiet is not None:
        marks = [_mark("full", QUIET, quiet)]
        for fault, depth in alone.items():
            is_sooner = depth is not None and depth < quiet
            marks.append(_mark("full", fault, depth or 0) if is_sooner else _mark("band", fault, 0))
        return marks
    sets = table.minimal_sets(profile, clause)
    undecided = table.undecided(profile, clause)
    marks = []
    for fault, depth in alone.items():
        together = [one.depth for one in sets if fault in one.environment]
        if depth is not None:
            marks.append(_mark("full", fault, depth))
        elif together:
            marks.append(_mark("half", fault, min(together)))
        elif Environment([fault]) in undecided:
            marks.append(_mark("dot", fault, 0))
    return marks


def _mark(kind: str, column: str, depth: int) -> dict[str, Any]:
    return {"kind": kind, "fault": column, "depth": depth}


def draw(table: TableOfVerdicts) -> str:
    """The drawing, as SVG."""
    marks = cells(table)
    columns = [QUIET, *table.faults]
    x = alt.X(
        "fault:N",
        title=None,
        scale=alt.Scale(domain=columns, paddingInner=0.14, paddingOuter=0.07),
        axis=alt.Axis(orient="top", labelAngle=-60, grid=True, gridColor="#f1f1f1", zindex=0),
    )
    stripe = alt.XOffset("profile:N", scale=alt.Scale(domain=list(table.profile_names)))
    y = alt.Y("clause:N", title=None, scale=alt.Scale(domain=list(table.clause_names)), axis=alt.Axis(grid=False))
    colour = alt.Color(
        "depth:Q",
        title="steps of the shortest schedule",
        scale=alt.Scale(range=_COLOURS, domain=[0, max((mark["depth"] for mark in marks), default=1)], type="linear"),
        legend=alt.Legend(orient="bottom", direction="horizontal", type="gradient"),
    )

    def layer(kind: str) -> alt.Chart:
        values = [{k: v for k, v in mark.items() if k != "kind"} for mark in marks if mark["kind"] == kind]
        return alt.Chart(alt.InlineData(values=values)).encode(x=x, xOffset=stripe, y=y)

    firsts = {clause.identifier: name_of(clause) for clause in reversed(table.clauses)}.values()
    lines = alt.Chart(alt.InlineData(values=[{"clause": clause} for clause in [*reversed(firsts)][1:]])).encode(y=y)
    chart = alt.layer(
        lines.mark_rule(yOffset=-ROW / 2, color="#c8c8c8", strokeWidth=0.7),
        layer("band").mark_rect(color=BAND, height=ROW - 3),
        layer("full").mark_rect(height=ROW - 2).encode(color=colour),
        layer("half").mark_rect(height=ROW / 3).encode(color=colour),
        layer("dot").mark_point(shape="circle", size=5, filled=True, color=UNDECIDED, opacity=1),
    ).properties(
        title="the stripes of a cell, from left to right: " + " · ".join(table.profile_names),
        width=(STRIPE * len(table.profiles) + 4) * len(columns),
        height=ROW * len(table.clauses),
    )
    return str(vl_convert.vegalite_to_svg(chart.to_dict(validate=False) | {"config": _CONFIG}))
