"""The observations of rocketmq-rust, as JSON from one run to the next: the page is made from them."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from files.content import read_json
from files.writing import write_whole
from real_brokers.rocketmq_rust.difference import Answered, RustDifference, Staged

if TYPE_CHECKING:
    from collections.abc import Iterable


OBSERVATIONS: Final = Path(__file__).with_name("observations.json")


@dataclass(slots=True)
class Observations:
    """All that the page shows."""

    plays: dict[str, dict[str, Any]] = field(default_factory=dict)
    """By the name of the scenario, what :func:`halfcheck.probe.answer.play_json` says, with how many events it has."""
    fitting: dict[str, list[str]] = field(default_factory=dict)
    """By profile, the scenarios that its specification explains."""
    staged: dict[str, Staged] = field(default_factory=dict)
    """The differences by name, as the broker answered."""
    rocketmq: dict[str, Staged] = field(default_factory=dict)
    """The same schedules on a real RocketMQ, and its release; to see that what is said of it is so."""
    release: str = ""

    def add_play(self, play: dict[str, Any], fitting: Iterable[str]) -> None:
        """Take in a scenario that was played, and the profiles that explain it."""
        name = play["schedule"]
        self.plays[name] = {**{key: play[key] for key in play if key != "events"}, "events": len(play["events"])}
        explains = set(fitting)
        for profile in explains | self.fitting.keys():
            others = [each for each in self.fitting.get(profile, []) if each != name]
            self.fitting[profile] = sorted([*others, name] if profile in explains else others)

    def of(self, difference: RustDifference) -> Staged | None:
        """The answers of rocketmq-rust to a schedule; None if it was staged in another form, or not."""
        return _of(difference, self.staged.get(difference.name))

    def of_rocketmq(self, difference: RustDifference) -> Staged | None:
        """The answers of a real RocketMQ to it."""
        return _of(difference, self.rocketmq.get(difference.name))


def _of(difference: RustDifference, found: Staged | None) -> Staged | None:
    """A result, if it is one of just this schedule: another form of it is to be staged again."""
    staged = [] if found is None else [(step.done, step.rocketmq, step.source) for step in found.steps]
    return found if staged == [(step.done, step.rocketmq, step.source) for step in difference.steps] else None


def read_observations(path: Path = OBSERVATIONS) -> Observations:
    """Those of the file; none where there is no such file."""
    if not path.exists():
        return Observations()
    rows = read_json(path)
    return Observations(
        rows["plays"], rows["fitting"], _differences(rows["staged"]), _differences(rows["rocketmq"]), rows["release"]
    )


def write_observations(observations: Observations, path: Path = OBSERVATIONS) -> None:
    """Write the file, by rename."""
    write_whole(path, json.dumps(asdict(observations), indent=1, ensure_ascii=False) + "\n")


def _differences(rows: dict[str, Any]) -> dict[str, Staged]:
    return {name: Staged(name, tuple(Answered(**step) for step in staged["steps"])) for name, staged in rows.items()}
