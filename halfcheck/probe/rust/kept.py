"""What was seen of rocketmq-rust the last time, kept as JSON: the page is made from it."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from files.content import read_json
from files.writing import write_whole
from halfcheck.probe.rust.difference import Answered, Staged

if TYPE_CHECKING:
    from collections.abc import Iterable

    from halfcheck.probe.rust.difference import Difference

KEPT: Final = Path(__file__).with_name("kept.json")
_EVENTS: Final = ("events",)
"""Of a play, what is not kept: the number of its events is."""


@dataclass(slots=True)
class Kept:
    """All that the page tells of.

    Attributes
    ----------
    plays
        By the name of the scenario, what :func:`halfcheck.probe.answer.play_json` says, with how many events it has.
    fitting
        By profile, the scenarios that its specification explains.
    staged
        The differences by name, as the broker answered.
    rocketmq
        The same schedules on a real RocketMQ, and its release; to see that what is said of it is so.
    """

    plays: dict[str, dict[str, Any]] = field(default_factory=dict)
    fitting: dict[str, list[str]] = field(default_factory=dict)
    staged: dict[str, Staged] = field(default_factory=dict)
    rocketmq: dict[str, Staged] = field(default_factory=dict)
    release: str = ""

    def keep_play(self, play: dict[str, Any], fitting: Iterable[str]) -> None:
        """Take in a scenario that was played, and the profiles that explain it."""
        name = play["schedule"]
        self.plays[name] = {**{key: play[key] for key in play if key not in _EVENTS}, "events": len(play["events"])}
        explains = set(fitting)
        for profile in explains | self.fitting.keys():
            others = [each for each in self.fitting.get(profile, []) if each != name]
            self.fitting[profile] = sorted([*others, name] if profile in explains else others)

    def of(self, difference: Difference) -> Staged | None:
        """What rocketmq-rust answered to a schedule; None if it was staged in another form, or not."""
        return _of(difference, self.staged.get(difference.name))

    def of_rocketmq(self, difference: Difference) -> Staged | None:
        """What a real RocketMQ answered to it."""
        return _of(difference, self.rocketmq.get(difference.name))


def _of(difference: Difference, found: Staged | None) -> Staged | None:
    """A result, if it is one of just this schedule: another form of it is to be staged again."""
    told = [] if found is None else [(step.done, step.rocketmq, step.source) for step in found.steps]
    return found if told == [(step.done, step.rocketmq, step.source) for step in difference.steps] else None


def read_kept(path: Path = KEPT) -> Kept:
    """What is kept; nothing where there is no such file."""
    if not path.exists():
        return Kept()
    told = read_json(path)
    return Kept(
        told["plays"], told["fitting"], _differences(told["staged"]), _differences(told["rocketmq"]), told["release"]
    )


def write_kept(kept: Kept, path: Path = KEPT) -> None:
    """Keep it, by rename."""
    write_whole(path, json.dumps(asdict(kept), indent=1, ensure_ascii=False) + "\n")


def _differences(told: dict[str, Any]) -> dict[str, Staged]:
    return {name: Staged(name, tuple(Answered(**step) for step in staged["steps"])) for name, staged in told.items()}
