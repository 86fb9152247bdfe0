"""``docs/generated/how-often-on-real-brokers.md``: each measure of real runs beside that of the simulated ones."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Final

from document.markdown import markdown
from document.parts import Heading, Paragraph, Part, prose, tabulated
from files.writing import write_whole
from real_brokers.what_if.trials import TRIALS

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from real_brokers.what_if.seen import ComparedMeasure, ComparedRun

PAGE: Final = Path(__file__).parents[2] / "docs" / "generated" / "how-often-on-real-brokers.md"

_HEAD: Final = """\
# How often, on real brokers

`make what-if-real` leads real brokers under a workload and simulates the same with `halfcheck what-if`: the release,
its `broker.conf`, as many transactions, and the crashes when they came. Both leave stores, which the same audit
measures.

An interval is from the least to the greatest of 39 simulated runs. If the model is right, the real run is one of 40
that nobody can tell apart, and lies within with 38 of 40, 95 %, whatever the distribution. So one of twenty measures
lies outside by chance alone, and measures of one run are not independent: more put-backs are more bytes and longer
times.

What a run takes from reality is the rate, the latency of a send as its client measured it (half of it for each way),
and when the broker died and how long it was away. All else is in the workloads (`real_brokers/what_if/workloads`).
Times in stores are those of records; those from a commit on begin when the producer's local transaction ended.
"""

_MENDED: Final = """\
## What it has mended

In a run of `kills` on 5.5.0 a broker that had started again knew no producer for 17 s: it put 300 halves back unasked
("channel is null"), and 9.6 % of all were given up, where the model said 1.3 to 4.0 %. A send had made its producer
known there. It does not in RocketMQ: only heartbeats do, each 30 s, and from clients of 5.x one with each new
connection. A workload now says which (`client.heartbeat_on_connect`).

## What is open

`steady` on 4.5.1 doubles 3.3 % where the model says 4.7 to 33 %, and half of its measures lie outside with that: how
often rounds of 4.5.1 fall behind the op queue is not yet right. Why is not known; until then rates of 4.5.1 are too
high.
"""


def write_page(seen: Mapping[str, ComparedRun], page: Path = PAGE) -> None:
    """Write the page; it appears whole or not at all."""
    write_whole(page, markdown(list(_parts(list(seen.values())))))


def _parts(seen: list[ComparedRun]) -> Iterator[Part]:
    yield from prose(_HEAD)
    compared = [measure for run in seen for measure in run.compared]
    within = sum(measure.is_within for measure in compared)
    yield Paragraph(f"In all {within} of {len(compared)} measures of {len(seen)} runs lie within.")
    yield tabulated(
        "release", "trial", "transactions", "a second", "a send took, p50, p99", "away after kills", "within",
        rows=[
            (
                run.release, f"`{run.trial}`", f"{run.transactions:,}", f"{run.per_second:.1f}", _latency(run),
                ", ".join(f"{away:.1f} s" for away in run.away_s) or "–",
                f"{sum(measure.is_within for measure in run.compared)} of {len(run.measures)}",
            )
            for run in seen
        ],
    )  # fmt: skip
    for trial in TRIALS.values():
        runs = [run for run in seen if run.trial == trial.name]
        if runs:
            yield Heading(f"`{trial.name}`")
            yield Paragraph(trial.story)
            if trial.not_modelled:
                yield Paragraph(trial.not_modelled)
            yield tabulated(
                "measure", *(heading for run in runs for heading in (run.release, "simulated")), rows=_rows(runs)
            )
    yield from _outside(seen)
    yield from prose(_MENDED)


def _rows(runs: list[ComparedRun]) -> list[tuple[str, ...]]:
    """One row a measure: of each release the real value, in bold where it is outside, and its interval."""
    of_each = [{measure.name: measure for measure in run.compared} for run in runs]
    names = list(dict.fromkeys(name for measures in of_each for name in measures))
    rows = []
    for name in names:
        cells: list[str] = []
        for measures in of_each:
            measure = measures.get(name)
            cells += ("–", "–") if measure is None else (_real(measure), _interval(measure))
        rows.append((name, *cells))
    return rows


def _real(measure: ComparedMeasure) -> str:
    shown = _figure(measure.real, measure.unit)
    return shown if measure.is_within else f"{shown} (outside)"


def _interval(measure: ComparedMeasure) -> str:
    return f"{_figure(measure.low, measure.unit)} to {_figure(measure.high, measure.unit)}"


def _figure(value: float, unit: str) -> str:
    if unit == "of all":
        return f"{100 * value:.2f} %"
    return f"{value:.2f} s" if unit == "s" else f"{value:,.3f}" if value < 100 else f"{value:,.0f}"


def _latency(run: ComparedRun) -> str:
    return f"{run.answered_ms[0]:.1f} ms, {run.answered_ms[1]:.0f} ms" if run.answered_ms[1] else "not measured"


def _outside(seen: list[ComparedRun]) -> Iterator[Part]:
    rows = [
        (run.name, measure.name, _figure(measure.real, measure.unit), _interval(measure))
        for run in seen
        for measure in run.compared
        if not measure.is_within
    ]
    if rows:
        yield Heading("What lies outside")
        yield tabulated("run", "measure", "real", "simulated", rows=rows)
