"""The steps that several differences are made of."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any, Final

from halfcheck.probe.rust.difference import Step
from halfcheck.probe.rust.stage import Stage
from wire.client.transactions import COMMIT

if TYPE_CHECKING:
    from collections.abc import Callable

END_TRANSACTION: Final = "EndTransactionProcessor#processRequest"


def connected() -> Step:
    """The producers' heartbeat, which begins most schedules."""
    return Step("a heartbeat of the producer group", Stage.connect, "code 0")


def half(letter: str, **properties: str) -> Step:
    """A half that is sent as every producer sends it."""
    told = "".join(f" with {name}={value}" for name, value in properties.items())
    return Step(f"send half {letter}{told}", lambda stage: stage.send(letter, properties), "code 0")


def end(
    letter: str, outcome: int, expected: str, done: str = "", source: str = END_TRANSACTION, **changed: object
) -> Step:
    """An END_TRANSACTION; `done` says what is odd about it."""
    word = "commit" if outcome == COMMIT else "roll back"
    act = partial(_end, letter=letter, outcome=outcome, changed=changed)
    return Step(f"{word} half {letter}{done}", act, expected, source)


def place(letter: str, expected: str, source: str = "") -> Step:
    """Where a message is."""
    return Step(f"look where {letter} is", lambda stage: stage.where(letter), expected, source)


def delivery(letter: str, expected: str, source: str = "") -> Step:
    """Whether a message is delivered."""
    return Step(f"whether {letter} is delivered", lambda stage: stage.await_delivery(letter), expected, source)


def awaited(done: str, has_come: Callable[[Stage], bool], came: str, otherwise: str, source: str = "") -> Step:
    """Wait for what RocketMQ does by itself."""

    def act(stage: Stage) -> str:
        return came if stage.await_that(lambda: has_come(stage)) else otherwise

    return Step(f"await {done}", act, came, source)


def discarded(letter: str) -> Step:
    """Wait until a message is given up."""
    return awaited(
        f"that {letter} is given up",
        lambda stage: bool(stage.discarded(letter)),
        "discarded",
        "not discarded",
        "TransactionalMessageServiceImpl#needDiscard",
    )


def check_came(letter: str, number: int = 1) -> Step:
    """Wait for a check."""
    which = "a check" if number == 1 else f"check {number}"
    return Step(f"await {which} of {letter}", lambda stage: stage.await_check(letter, number), "a check")


def _end(stage: Stage, letter: str, outcome: int, changed: dict[str, Any]) -> str:
    return stage.end(letter, outcome, **changed)
