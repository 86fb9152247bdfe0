"""The page ``docs/generated/on-real-brokers.md``."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Final

from document.markdown import markdown
from document.parts import Heading, List, Paragraph, prose, tabulated
from model_check.wording.sentences import capitalized
from real_brokers.probe.outcomes import RELEASES, ReplayOutcome

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from document.parts import Part
    from real_brokers.probe.outcomes import BrokerReplay

PAGE: Final = Path(__file__).parents[2] / "docs" / "generated" / "on-real-brokers.md"

_HEAD: Final = """\
# The counterexamples, on real brokers

Each counterexample of [the table of verdicts](verdicts.md) against the real broker of its release, which
`make replay-on-real` starts from its package; that writes this page, too. [The probe](../probe.md) sends what the
producers of the schedule send, when they send it; the broker's rounds, put-backs and checks come as they come. What it
wrote is read over the wire and held against the specification of the release.

- **seen**: the specification explains all records, and its path breaks the clause of the counterexample.
- **seen\\***: the specification explains all records, and the broker wrote record by record what the schedule has; the
  clause turns on what only a producer knows (what it decided or lost, when it rolled back, how its clock stood), and
  the probe was that producer.
- **not seen**: the specification explains all records, and the path that was found keeps the clause. The reason stands
  beside it.
- **contradicted**: no path of the specification explains the records: a defect of the specification or of trace
  validation.
- **out of reach**: it takes a fault that nobody can stage from outside, or one that a trace is not explained with.
- **not tried**: it can be played, and has not been yet.

A tick is half a second, or a second where a message has an immunity; each schedule is played up to twice. A stop and
the start behind it took a broker 7 to 22 seconds when this was written, longer than the immunities of these schedules:
there, what is waited for behind a stop "did not come".
"""


def page_of(table: Sequence[BrokerReplay]) -> str:
    """The page."""
    return markdown([*prose(_HEAD), *_totals(table), *_played(table), *_out_of_reach(table)])


def _totals(table: Sequence[BrokerReplay]) -> Iterator[Part]:
    counts = Counter((replay.release, replay.outcome) for replay in table)
    rows = [(release, *(counts[release, outcome] for outcome in ReplayOutcome)) for release in RELEASES]
    rows.append(("all", *(sum(counts[release, outcome] for release in RELEASES) for outcome in ReplayOutcome)))
    yield tabulated("", *(f">{outcome.value}" for outcome in ReplayOutcome), rows=rows)
    by_records = sum(replay.outcome is ReplayOutcome.SEEN and bool(replay.reason) for replay in table)
    yield Paragraph(f"Of those that were seen, {by_records} are seen\\*.")


def _played(table: Sequence[BrokerReplay]) -> Iterator[Part]:
    found: dict[tuple[str, str], dict[str, BrokerReplay]] = {}
    for replay in table:
        if replay.outcome is not ReplayOutcome.OUT_OF_REACH:
            found.setdefault((replay.clause, replay.environment), {})[replay.release] = replay
    yield Heading("What was played")
    rows = [(*what, *(_outcome(by.get(release)) for release in RELEASES)) for what, by in sorted(found.items())]
    yield tabulated("clause", "faults", *RELEASES, rows=rows)


def _outcome(replay: BrokerReplay | None) -> str:
    if replay is None:
        return ""
    if replay.outcome is ReplayOutcome.SEEN:
        return "seen*" if replay.reason else "seen"
    if replay.outcome is ReplayOutcome.NOT_TRIED:
        return replay.outcome.value
    return f"**{replay.outcome.value}**: {replay.reason}"


def _out_of_reach(table: Sequence[BrokerReplay]) -> Iterator[Part]:
    reasons: dict[str, dict[str, set[str]]] = {}
    for replay in table:
        if replay.outcome is ReplayOutcome.OUT_OF_REACH:
            reasons.setdefault(replay.reason, {}).setdefault(replay.environment, set()).add(replay.clause)
    counts = Counter(replay.reason for replay in table if replay.outcome is ReplayOutcome.OUT_OF_REACH)
    yield Heading("What is out of reach")
    for reason, number in sorted(counts.items(), key=lambda at: (-at[1], at[0])):
        yield Heading(capitalized(reason), 3)
        yield Paragraph(f"{number} counterexamples of the five releases:")
        found = sorted(reasons[reason].items())
        yield List(tuple(f"{environment}: {', '.join(sorted(clauses))}" for environment, clauses in found))
