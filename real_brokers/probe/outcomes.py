"""Outcomes of the counterexamples of the table of verdicts on the real broker of each release: JSON, and the page."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import asdict, dataclass, replace
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Final

from document.markdown import markdown
from document.parts import Heading, List, Paragraph, Part, prose, tabulated
from files.content import read_json
from files.writing import write_whole
from halfcheck.probe.schedules import plan_of
from halfcheck.verdicts.files import VerdictFiles
from halfcheck.verdicts.on_real_classes import RecordedReplay, read_recorded
from model_check.clauses import name_of
from model_check.defects.findings import digits_of
from model_check.wording.sentences import capitalized
from model_check.world import Profile
from wire.probe.staging import CannotStageError

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from model_check.verdicts.counterexamples import MinimalCounterexample
    from wire.probe.orders import ProbePlan

RELEASES: Final = ("4.5.1", "4.9.7", "5.3.3", "5.4.0", "5.5.0")
"""Those whose packages are started."""

RESULTS: Final = Path(__file__).with_name("replays")
"""A file a release."""

PAGE: Final = Path(__file__).parents[2] / "docs" / "generated" / "on-real-brokers.md"


class ReplayOutcome(StrEnum):
    """Outcome of a replay."""

    SEEN = "seen"
    NOT_SEEN = "not seen"
    CONTRADICTED = "contradicted"
    OUT_OF_REACH = "out of reach"
    NOT_TRIED = "not tried"


@dataclass(frozen=True, slots=True)
class BrokerReplay:
    """One counterexample on one release."""

    release: str
    clause: str
    environment: str
    outcome: ReplayOutcome
    reason: str = ""
    """Why it was not seen, or is out of reach; of a contradiction the first record that nothing explains."""
    attempts: int = 0
    steps: str = ""
    """Of the counterexample that was played: another one is to be played again."""

    @property
    def key(self) -> tuple[str, str, str]:
        """By which it is found."""
        return self.release, self.clause, self.environment


@dataclass(frozen=True, slots=True)
class Task:
    """One counterexample that a client can play."""

    release: str
    one: MinimalCounterexample
    plan: ProbePlan

    @property
    def key(self) -> tuple[str, str, str]:
        """As that of its replay."""
        return _key(self.release, self.one)

    @property
    def why_finer(self) -> str:
        """Why it may well not be seen; empty if there is no such reason."""
        return f"nobody can choose from outside that {self.plan.finer[0]}" if self.plan.finer else ""

    def became(self, outcome: ReplayOutcome, reason: str, attempts: int) -> BrokerReplay:
        """Its replay."""
        return BrokerReplay(*self.key, outcome, reason, attempts, self.one.steps)


def tasks_of(release: str) -> tuple[list[Task], list[BrokerReplay]]:
    """The counterexamples of a release that a client can play, and why it can't play the others."""
    tasks, others = [], []
    profile = Profile.of(release)
    for one in VerdictFiles().counterexamples(profile):
        try:
            tasks.append(Task(release, one, plan_of(profile, one)))
        except CannotStageError as error:
            _, _, why = str(error).partition(": ")
            others.append(
                BrokerReplay(*_key(release, one), ReplayOutcome.OUT_OF_REACH, why or str(error), 0, one.steps)
            )
    return tasks, others


def _key(release: str, one: MinimalCounterexample) -> tuple[str, str, str]:
    return release, name_of(one.clause), one.environment.name


def read_replays() -> dict[tuple[str, str, str], BrokerReplay]:
    """All replays on record."""
    rows = [row for path in sorted(RESULTS.glob("*.json")) for row in read_json(path)]
    replays = (BrokerReplay(**{**row, "outcome": ReplayOutcome(row["outcome"])}) for row in rows)
    return {replay.key: replay for replay in replays}


def write_replays(release: str, replays: Mapping[tuple[str, str, str], BrokerReplay]) -> None:
    """Keep those of a release, by rename."""
    rows = [asdict(replays[key]) for key in sorted(replays) if key[0] == release]
    lines = ",\n".join(json.dumps(row, ensure_ascii=False) for row in rows)
    RESULTS.mkdir(exist_ok=True)
    write_whole(RESULTS / f"{release}.json", f"[\n{lines}\n]\n")


def table_of(played: Mapping[tuple[str, str, str], BrokerReplay]) -> Iterator[BrokerReplay]:
    """Every counterexample of the five releases, as it was played, or why it was not."""
    for release in RELEASES:
        tasks, others = tasks_of(release)
        for task in tasks:
            known = played.get(task.key)
            if known is None or known.steps != task.one.steps:
                yield task.became(ReplayOutcome.NOT_TRIED, "it was not played", 0)
            elif known.outcome is ReplayOutcome.NOT_SEEN and task.plan.finer:
                yield replace(known, reason=task.why_finer)
            else:
                yield known
        yield from others


# --- the page ---------------------------------------------------------------------------------------------------------

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

The last column says what [RocketMQ's own classes](on-real-classes.md) did with the same counterexamples, which are led
from inside: *taken* is each step with the same answers, records and offsets. What neither a client could stage nor the
classes took has its reason there.

A tick is half a second, or a second where a message has an immunity; each schedule is played up to twice. A stop and
the start behind it took a broker 7 to 22 seconds when this was written, longer than the immunities of these schedules:
there, what is waited for behind a stop "did not come".
"""


def page_of(table: Sequence[BrokerReplay]) -> str:
    """The page; raises `BadFile` where what the real classes took can't be read."""
    own = _OwnClasses(read_recorded())
    return markdown([*prose(_HEAD), *_totals(table, own), *_played(table, own), *_out_of_reach(table, own)])


@dataclass(frozen=True, slots=True)
class _OwnClasses:
    """What RocketMQ's own classes did with the counterexamples."""

    recorded: Mapping[tuple[str, str, str], RecordedReplay]

    def outcome(self, replay: BrokerReplay) -> str:
        """`taken`, or why not."""
        known = self.recorded.get(replay.key)
        if known is None or known.digits != digits_of(replay.steps):
            return "not asked"
        return known.outcome if not known.reason else f"{known.outcome}: {known.reason}"

    def took(self, replay: BrokerReplay) -> bool:
        """Whether they took it."""
        return self.outcome(replay) == "taken"

    def in_words(self, replays: Iterable[BrokerReplay]) -> str:
        """The outcomes of some counterexamples, those of several releases together."""
        releases: dict[str, list[str]] = {}
        for replay in replays:
            releases.setdefault(self.outcome(replay), []).append(replay.release)
        if len(releases) == 1:
            return next(iter(releases))
        return "; ".join(f"{' '.join(those)} {outcome}" for outcome, those in releases.items())


def _totals(table: Sequence[BrokerReplay], own: _OwnClasses) -> Iterator[Part]:
    counts = Counter((replay.release, replay.outcome) for replay in table)
    rows = [(release, *(counts[release, outcome] for outcome in ReplayOutcome)) for release in RELEASES]
    rows.append(("all", *(sum(counts[release, outcome] for release in RELEASES) for outcome in ReplayOutcome)))
    yield tabulated("", *(f">{outcome.value}" for outcome in ReplayOutcome), rows=rows)
    by_records = sum(replay.outcome is ReplayOutcome.SEEN and bool(replay.reason) for replay in table)
    unseen = [replay for replay in table if replay.outcome is not ReplayOutcome.SEEN]
    taken = sum(map(own.took, unseen))
    yield Paragraph(
        f"Of those that were seen, {by_records} are seen\\*. Of the {len(unseen)} that were not seen, RocketMQ's own "
        f"classes of the same release took {taken}; of the other {len(unseen) - taken} the reasons stand below."
    )


def _played(table: Sequence[BrokerReplay], own: _OwnClasses) -> Iterator[Part]:
    found: dict[tuple[str, str], dict[str, BrokerReplay]] = {}
    for replay in table:
        if replay.outcome is not ReplayOutcome.OUT_OF_REACH:
            found.setdefault((replay.clause, replay.environment), {})[replay.release] = replay
    yield Heading("What was played")
    rows = [
        (*what, *(_outcome(by.get(release)) for release in RELEASES), own.in_words(by.values()))
        for what, by in sorted(found.items())
    ]
    yield tabulated("clause", "faults", *RELEASES, "own classes", rows=rows)


def _outcome(replay: BrokerReplay | None) -> str:
    if replay is None:
        return ""
    if replay.outcome is ReplayOutcome.SEEN:
        return "seen*" if replay.reason else "seen"
    if replay.outcome is ReplayOutcome.NOT_TRIED:
        return replay.outcome.value
    return f"**{replay.outcome.value}**: {replay.reason}"


def _out_of_reach(table: Sequence[BrokerReplay], own: _OwnClasses) -> Iterator[Part]:
    reasons: dict[str, list[BrokerReplay]] = {}
    for replay in table:
        if replay.outcome is ReplayOutcome.OUT_OF_REACH:
            reasons.setdefault(replay.reason, []).append(replay)
    yield Heading("What is out of reach")
    for reason, replays in sorted(reasons.items(), key=lambda at: (-len(at[1]), at[0])):
        taken = sum(map(own.took, replays))
        yield Heading(capitalized(reason), 3)
        yield Paragraph(
            f"{len(replays)} counterexamples of the five releases, {taken} of them taken by the own classes:"
        )
        clauses: dict[str, set[str]] = {}
        for replay in replays:
            clauses.setdefault(replay.environment, set()).add(replay.clause)
        yield List(tuple(f"{where}: {', '.join(sorted(those))}" for where, those in sorted(clauses.items())))
        others = Counter(own.outcome(replay) for replay in replays if not own.took(replay))
        if others:
            yield Paragraph("Not taken by them:")
            yield List(tuple(f"{number} {outcome}" for outcome, number in sorted(others.items())))
