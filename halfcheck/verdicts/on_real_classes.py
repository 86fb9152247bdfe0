"""``make replay-on-classes``: every counterexample of the table of verdicts on the classes of its release.

Writes the page, and `model_check/verdicts/results/on_classes.json`, from which others say what the classes took.
"""

from __future__ import annotations

import json
import sys
from collections import Counter
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final

from conformance.errors import ConformanceError
from conformance.java.real_classes import RealClasses
from document.markdown import markdown
from document.parts import Heading, Paragraph, Part, prose, tabulated
from files.content import read_json
from files.writing import write_whole
from fuzz.lockstep.real_replays import RealOutcome, RealReplay, replay_on
from halfcheck.verdicts.files import VerdictFiles
from model_check.clauses import name_of
from model_check.defects.findings import digits_of
from model_check.world import Profile
from spec.profiles import VERSIONS

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from model_check.verdicts.counterexamples import MinimalCounterexample

PAGE: Final = Path(__file__).parents[2] / "docs" / "generated" / "on-real-classes.md"

RESULTS: Final = VerdictFiles().schedules.with_name("on_classes.json")

_HEAD: Final = """\
# The counterexamples, on RocketMQ's own classes

Each counterexample of [the table of verdicts](verdicts.md), step by step on the published classes of its release,
beside specification and reference broker ([how](../real-classes.md)). `make replay-on-classes` writes this page anew,
in some minutes.

- **taken**: the real classes took every step. Each answer, the bytes of the log, the offsets, the ends of the queues,
  the op batch and the check requests were the reference broker's, whose state is the specification's, which breaks the
  clause at its end.
- **left out**: a step that the lockstep can't do; the reasons stand below.
- **different**: RocketMQ did otherwise: a defect of specification or reference broker.
"""


@dataclass(frozen=True, slots=True)
class Replayed:
    """A counterexample and its replay."""

    one: MinimalCounterexample
    replay: RealReplay

    @property
    def key(self) -> tuple[str, str]:
        """Its row on the page."""
        return name_of(self.one.clause), self.one.environment.name


def replay_all(release: str) -> Iterator[Replayed]:
    """Replay all counterexamples of a release; raises `ConformanceError` where its classes can't be run."""
    profile = Profile.of(release)
    with RealClasses(release) as real:
        for one in VerdictFiles().counterexamples(profile):
            yield Replayed(one, replay_on(real, one.world(profile), one.path(profile), one.clause))


@dataclass(frozen=True, slots=True)
class RecordedReplay:
    """What the classes of a release did with a counterexample, on record."""

    release: str
    of: tuple[str, str]
    """The names of its clause and of its faults."""
    outcome: str
    """`taken`, `left out` or `different` (`RealOutcome`)."""
    reason: str
    digits: str
    """Of the steps: another counterexample is to be replayed again."""

    @property
    def key(self) -> tuple[str, str, str]:
        """By which it is found."""
        return self.release, *self.of


def recorded(each: Replayed) -> RecordedReplay:
    """What is kept of a replay."""
    replay = each.replay
    return RecordedReplay(replay.release, each.key, replay.outcome.value, replay.reason, digits_of(each.one.steps))


def read_recorded() -> dict[tuple[str, str, str], RecordedReplay]:
    """All that is on record, by release, clause and faults; raises `BadFile`."""
    rows = (RecordedReplay(**{**row, "of": tuple(row["of"])}) for row in read_json(RESULTS))
    return {row.key: row for row in rows}


def write_recorded(table: Sequence[Replayed]) -> None:
    """Keep all of a table; the file appears whole or not at all."""
    lines = ",\n".join(json.dumps(asdict(recorded(each)), ensure_ascii=False) for each in table)
    write_whole(RESULTS, f"[\n{lines}\n]\n")


def page_of(table: Sequence[Replayed]) -> str:
    """The page."""
    return markdown([*prose(_HEAD), *_totals(table), *_rows(table), *_left_out(table)])


def _totals(table: Sequence[Replayed]) -> Iterator[Part]:
    counts = Counter((each.replay.release, each.replay.outcome) for each in table)
    releases = tuple(dict.fromkeys(each.replay.release for each in table))
    rows = [(release, *(counts[release, outcome] for outcome in RealOutcome)) for release in releases]
    rows.append(("all", *(sum(counts[release, outcome] for release in releases) for outcome in RealOutcome)))
    yield tabulated("", *(f">{outcome.value}" for outcome in RealOutcome), rows=rows)


def _rows(table: Sequence[Replayed]) -> Iterator[Part]:
    releases = tuple(dict.fromkeys(each.replay.release for each in table))
    found: dict[tuple[str, str], dict[str, RealReplay]] = {}
    for each in table:
        found.setdefault(each.key, {})[each.replay.release] = each.replay
    yield Heading("Each of them")
    yield Paragraph(
        "Behind the number of steps stand, where a message was delivered more than once, the places of its deliveries "
        "in the commit log."
    )
    rows = [(*what, *(_cell(by.get(release)) for release in releases)) for what, by in sorted(found.items())]
    yield tabulated("clause", "faults", *releases, rows=rows)


def _cell(replay: RealReplay | None) -> str:
    if replay is None:
        return ""
    if replay.outcome is not RealOutcome.TAKEN:
        return f"**{replay.outcome.value}**"
    twice = "; ".join(", ".join(map(str, places)) for _, places in replay.delivered)
    return f"{replay.steps} steps" + (f": {twice}" if twice else "")


def _left_out(table: Sequence[Replayed]) -> Iterator[Part]:
    reasons = Counter(each.replay.reason for each in table if each.replay.outcome is not RealOutcome.TAKEN)
    yield Heading("What was not taken, and why")
    rows = [(reason, count) for reason, count in sorted(reasons.items(), key=lambda found: (-found[1], found[0]))]
    yield tabulated("what", ">counterexamples", rows=rows)


def main() -> int:
    """Replay all of all releases, and write the page."""
    table: list[Replayed] = []
    try:
        for release in VERSIONS:
            of_release = list(replay_all(release))
            taken = sum(each.replay.outcome is RealOutcome.TAKEN for each in of_release)
            print(f"{release}: {taken} of {len(of_release)} taken by RocketMQ's own classes", flush=True)
            table += of_release
    except ConformanceError as error:
        print(f"halfcheck: {error}", file=sys.stderr)
        return error.exit_code
    except KeyboardInterrupt:
        print("halfcheck: interrupted; the page stays as it was", file=sys.stderr)
        return 130
    write_recorded(table)
    write_whole(PAGE, page_of(table))
    return 12 if any(each.replay.outcome is RealOutcome.DIFFERENT for each in table) else 0


if __name__ == "__main__":
    sys.exit(main())
