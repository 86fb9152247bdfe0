"""A difference of two brokers as a schedule: what is done, what RocketMQ answers by its source, and why it matters.

What the broker before us answers is never written here: it is asked each time, and compared.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from wire.errors import WireError

if TYPE_CHECKING:
    from collections.abc import Callable

    from halfcheck.probe.rust.stage import Stage

MOST_STEPS: Final = 20
"""Of a schedule."""


@dataclass(frozen=True, slots=True)
class Step:
    """One thing that is done to a broker.

    Attributes
    ----------
    done
        In words.
    act
        Does it, and gives what was answered or seen, in words.
    rocketmq
        What RocketMQ answers, in the same words.
    source
        The class and method that it comes from; empty where both are to do what every broker does.
    """

    done: str
    act: Callable[[Stage], str]
    rocketmq: str
    source: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Difference:
    """One thing that the other broker does in another way.

    Attributes
    ----------
    name, says
        What it is called, and what is different, in a sentence.
    source
        The file and function of the other broker that it comes from.
    breaks, keeps
        The clauses of the guarantees that it breaks though RocketMQ keeps them, and the other way round; such as
        ``S5.no_commit_arrived``.
    matters
        What it does to a message, or to whom it matters.
    to_do
        What a user of that broker can do about it.
    settings
        Settings of the broker that it wants, by their names in ``broker.conf``.
    is_last
        Whether it leaves the broker's check service where no other schedule can be played on.
    """

    name: str
    says: str
    source: str
    steps: tuple[Step, ...]
    matters: str
    to_do: str = ""
    breaks: tuple[str, ...] = ()
    keeps: tuple[str, ...] = ()
    settings: tuple[tuple[str, str], ...] = ()
    is_last: bool = False


@dataclass(frozen=True, slots=True)
class Answered:
    """One step as it was taken: what RocketMQ's source says, and what this broker answered."""

    done: str
    rocketmq: str
    source: str
    answer: str

    @property
    def differs(self) -> bool:
        """Whether this broker answered in another way."""
        return self.answer != self.rocketmq


@dataclass(frozen=True, slots=True)
class Staged:
    """A difference that was staged on a broker."""

    name: str
    steps: tuple[Answered, ...]

    @property
    def is_seen(self) -> bool:
        """Whether some step was answered in another way than RocketMQ does."""
        return any(step.differs for step in self.steps)


def staged(difference: Difference, stage: Stage) -> Staged:
    """Take all steps of a difference, one after the other; what cannot be done is its answer."""
    answers = []
    for step in difference.steps:
        try:
            answer = step.act(stage)
        except (WireError, KeyError, IndexError) as error:
            answer = f"could not be done: {' '.join(str(error).split())}"
        answers.append(Answered(step.done, step.rocketmq, step.source, answer))
    return Staged(difference.name, tuple(answers))
