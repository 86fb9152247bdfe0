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

    from real_brokers.what_if.seen import ComparedAdvice, ComparedMeasure, ComparedRun

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
when the broker's check service began, when the broker died and how long it was away. All else is in the workloads
(`real_brokers/what_if/workloads`).
Times in stores are those of records; those from a commit on begin when the producer's local transaction ended.
"""

_ADVICE: Final = """\
## What a sweep advises, done

`make what-if-real ARGS=advice` sweeps settings for three workloads with `halfcheck what-if --sweep`, and puts the
release's default settings, and what the sweep advises against doubled and lost messages, onto a real broker, the same
traffic on each. All is simulated before the broker starts: neither a latency nor the time of a crash is taken from the
real runs. A simulated run has as many transactions as a real one; an interval is from the least to the greatest of 39,
that of a difference of 39 pairs.
"""

_MENDED: Final = """\
## What it has mended

In a run of `kills` on 5.5.0 a broker that had started again knew no producer for 17 s: it put 300 halves back unasked
("channel is null"), and 9.6 % of all were given up, where the model said 1.3 to 4.0 %. A send had made its producer
known there. It does not in RocketMQ: only heartbeats do, each 30 s, and from clients of 5.x one with each new
connection. A workload now says which (`client.heartbeat_on_connect`).

In `steady` on 4.5.1 half of the measures lay outside: 3.3 % were doubled where the model said 4.7 to 33 %. Rounds of
4.5.1 are in one of two states. In one, the op offset jumps to the end of its queue each time (A02), so that what was
settled before and is read later is checked again, and a third of all is doubled. In the other it does not, and 2 to
5 % are. The first rounds that meet halves decide which, and it lasts for minutes. Simulated with a check service that
has waited for 0 to 0.4 s as traffic begins, 15 of 16 runs are in the first; with 1.5 s, 3 of 8. The model began both
at once, where a real broker has served for a while, the longer the busier its machine is. A simulated run now begins
as its broker's check service did, by its log. Of `mixed` the six measures that lay outside are within with that, and
with the latency that its records show.

`kills` on 5.3.3 doubled 5.0 % where the model said 6.1 to 13.2 %, with a middle of 10.5 %. The op batch thread and the
check service began at the same moment there, so each round looked at the op queue just before a batch was written: of
1,500 `steady` transactions 10 % are doubled then, 4 % if the threads begin 50 ms apart, 8 % with 750 ms. They begin
apart now, by a chance of their own in `halfcheck what-if`, and in the simulation of a run by as much as its rounds were
behind batches in the middle, by its log.

## Why some lie outside, and what is open

One of twenty does by chance. Two things are not modelled, and move what lies outside of 5.3.3:

- Rounds take no time in the model; each takes 3 to 70 ms on a real broker, so that the next one begins later, and looks
  at the op queue at another moment between two batches: in `steady` on 5.3.3 0.6 s behind one at first, 0.9 s later.
- An op batch thread of 5.3.3 skips one interval in twelve: it looks again as an interval is over, and its last write
  ended a millisecond behind its last look. Op messages are fewer then, and what they settle is checked more often.

With advice, the settings of all three do what the sweep says. The counts of `slow` before are lower than all simulated
ones; why is not known. In `crash-prone` the broker was away for 63 s before and 54 s after, where simulated pairs have
the same restarts.
"""


def write_page(seen: Mapping[str, ComparedRun], advice: Mapping[str, ComparedAdvice], page: Path = PAGE) -> None:
    """Write the page; it appears whole or not at all."""
    parts = [*_parts(list(seen.values())), *_advised(list(advice.values())), *prose(_MENDED)]
    write_whole(page, markdown(parts))


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


def _advised(advice: list[ComparedAdvice]) -> Iterator[Part]:
    """What was said of each workload, and what a real broker did."""
    yield from prose(_ADVICE)
    for one in advice:
        yield Heading(f"`{one.name}`, {one.release}")
        kills = ", ".join(f"{life:g} s" for life in one.killed_after_s)
        yield Paragraph(
            f"{one.transactions:,} transactions, swept over {', '.join(f'`{each}`' for each in one.swept)}"
            f"{f'; processes of the real broker were killed after {kills}' if kills else ''}. The sweep says:"
        )
        for words in one.said:
            yield Paragraph(f"“{words}”")
        found = [compared for measure in one.compared for compared in measure.compared]
        rows = [
            (measure.name, *(cell for each in measure.compared for cell in (_real(each), _interval(each))))
            for measure in one.compared
        ]
        yield tabulated("measure", "before", "simulated", "after", "simulated", "difference", "simulated", rows=rows)
        yield Paragraph(f"{sum(each.is_within for each in found)} of {len(found)} lie within.")


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
