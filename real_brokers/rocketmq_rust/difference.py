"""A difference of two brokers as a schedule: what is done, what RocketMQ answers by its source, and why it matters.

What the broker before us answers is never written here: it is asked each time, and compared.
"""

from __future__ import annotations

import sys
from dataclasses import dataclass
from itertools import groupby
from typing import TYPE_CHECKING, Any, Final

from real_brokers.rocketmq_rust.broker import SETTINGS
from real_brokers.rocketmq_rust.stage import Stage
from wire.client.transactions import COMMIT
from wire.errors import WireError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from real_brokers.loopback import LoopbackBroker

END_TRANSACTION: Final = "EndTransactionProcessor#processRequest"


@dataclass(frozen=True, slots=True)
class DifferenceStep:
    """One thing that is done to a broker."""

    done: str
    """In words."""
    act: Callable[[Stage], str]
    """Does it, and gives what was answered or seen, in words."""
    rocketmq: str
    """RocketMQ's answer, in the same words."""
    source: str = ""
    """The class and method that it comes from; empty where both are to do what every broker does."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RustDifference:
    """One thing that the other broker does in another way."""

    name: str
    says: str
    """Its name, and the difference in a sentence."""
    source: str
    """The file and function of the other broker that it comes from."""
    steps: tuple[DifferenceStep, ...]
    matters: str
    """Its effect on a message, or to whom it matters."""
    to_do: str = ""
    """The remedy for a user of that broker."""
    breaks: tuple[str, ...] = ()
    keeps: tuple[str, ...] = ()
    """The clauses of the guarantees that it breaks though RocketMQ keeps them, and the other way round; such as
    ``S5.no_commit_arrived``."""
    settings: tuple[tuple[str, str], ...] = ()
    """Settings of the broker that it wants, by their names in ``broker.conf``."""
    is_last: bool = False
    """Whether it leaves the broker's check service where no other schedule can be played on."""


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


def staged(difference: RustDifference, stage: Stage) -> Staged:
    """Take all steps of a difference, one after the other; what cannot be done is its answer."""
    answers = []
    for step in difference.steps:
        try:
            answer = step.act(stage)
        except (WireError, KeyError, IndexError) as error:
            answer = f"could not be done: {' '.join(str(error).split())}"
        answers.append(Answered(step.done, step.rocketmq, step.source, answer))
    return Staged(difference.name, tuple(answers))


def stage_all(
    differences: Sequence[RustDifference], starts: Callable[[Mapping[str, str]], LoopbackBroker], name: str
) -> Iterator[Staged]:
    """Stage differences, on as few brokers as their settings allow; what spoils a broker comes last.

    `starts` gives a broker with settings, which runs while the context lasts; `name` calls it in the lines on stderr.
    """
    by_settings = sorted(differences, key=lambda each: (each.settings, each.is_last))
    for settings, group in groupby(by_settings, key=lambda each: each.settings):
        with starts({**SETTINGS, **dict(settings)}) as broker:
            for difference in group:
                stage = Stage(broker.address, longest_s(broker.settings), broker)
                try:
                    result = staged(difference, stage)
                finally:
                    stage.close()
                seen = sum(step.differs for step in result.steps)
                print(f"{name}: {difference.name}: {seen} of {len(result.steps)} steps differ", file=sys.stderr)
                yield result


def longest_s(settings: Mapping[str, str]) -> float:
    """How many seconds a broker with such settings may take to what it does by itself: at most until a discard."""
    timeout, interval, batch = (
        int(settings[name]) for name in ("transactionTimeOut", "transactionCheckInterval", "transactionOpBatchInterval")
    )
    rounds = 2 * int(settings["transactionCheckMax"]) + 3
    return (timeout + rounds * interval + 2 * batch) / 1_000 + 3


# --- steps that several differences are made of -----------------------------------------------------------------------


def connected() -> DifferenceStep:
    """The producers' heartbeat, which begins most schedules."""
    return DifferenceStep("a heartbeat of the producer group", Stage.connect, "code 0")


def half(letter: str, **properties: str) -> DifferenceStep:
    """A half that is sent as every producer sends it."""
    named = "".join(f" with {name}={value}" for name, value in properties.items())
    return DifferenceStep(f"send half {letter}{named}", lambda stage: stage.send(letter, properties), "code 0")


def end(
    letter: str, outcome: int, expected: str, done: str = "", source: str = END_TRANSACTION, **changed: Any
) -> DifferenceStep:
    """An END_TRANSACTION; `done` says what is odd about it."""
    word = "commit" if outcome == COMMIT else "roll back"
    return DifferenceStep(
        f"{word} half {letter}{done}", lambda stage: stage.end(letter, outcome, **changed), expected, source
    )


def place(letter: str, expected: str, source: str = "") -> DifferenceStep:
    """Where a message is."""
    return DifferenceStep(f"look where {letter} is", lambda stage: stage.where(letter), expected, source)


def delivery(letter: str, expected: str, source: str = "") -> DifferenceStep:
    """Whether a message is delivered."""
    return DifferenceStep(
        f"whether {letter} is delivered", lambda stage: stage.await_delivery(letter), expected, source
    )


def awaited(
    done: str, has_come: Callable[[Stage], bool], came: str, otherwise: str, source: str = ""
) -> DifferenceStep:
    """Wait for what RocketMQ does by itself."""

    def act(stage: Stage) -> str:
        return came if stage.await_that(lambda: has_come(stage)) else otherwise

    return DifferenceStep(f"await {done}", act, came, source)


def discarded(letter: str) -> DifferenceStep:
    """Wait until a message is given up."""
    return awaited(
        f"that {letter} is given up",
        lambda stage: bool(stage.discarded(letter)),
        "discarded",
        "not discarded",
        "TransactionalMessageServiceImpl#needDiscard",
    )


def check_came(letter: str, number: int = 1) -> DifferenceStep:
    """Wait for a check."""
    which = "a check" if number == 1 else f"check {number}"
    return DifferenceStep(f"await {which} of {letter}", lambda stage: stage.await_check(letter, number), "a check")
