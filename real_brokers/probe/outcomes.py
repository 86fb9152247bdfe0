"""What became of each counterexample of the table of verdicts on the real broker of its release, as JSON."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, replace
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Final

from files.content import read_json
from files.writing import write_whole
from halfcheck.probe.schedules import counterexamples, plan_of
from model_check.clauses import name_of
from model_check.world import Profile
from wire.probe.staging import CannotStageError

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from model_check.verdicts.counterexamples import MinimalCounterexample
    from wire.probe.orders import ProbePlan

RELEASES: Final = ("4.5.1", "4.9.7", "5.3.3", "5.4.0", "5.5.0")
"""Those whose packages are started."""

RESULTS: Final = Path(__file__).with_name("replays")
"""A file a release."""


class ReplayOutcome(StrEnum):
    """What was seen."""

    SEEN = "seen"
    NOT_SEEN = "not seen"
    CONTRADICTED = "contradicted"
    OUT_OF_REACH = "out of reach"
    NOT_TRIED = "not tried"


@dataclass(frozen=True, slots=True)
class BrokerReplay:
    """One counterexample on one release.

    Attributes
    ----------
    reason
        Why it was not seen, or is out of reach; of a contradiction the first record that nothing explains.
    attempts
        How often it was played.
    steps
        Of the counterexample that was played: another one is to be played again.
    """

    release: str
    clause: str
    environment: str
    outcome: ReplayOutcome
    reason: str = ""
    attempts: int = 0
    steps: str = ""

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
    for one in counterexamples(profile):
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
    """What was played so far."""
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
