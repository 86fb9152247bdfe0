"""The record of an action: what is done to the broker for it, when, and what it must answer.

A record is an attribute of its chapter's module that is named like its action; `fuzz.lockstep.pairing` gathers them.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, Literal, TypedDict, Unpack, get_args

if TYPE_CHECKING:
    from fuzz.broker_side.broker_side import BrokerSide
    from spec.constants import Constants
    from spec.language import Refused, Step

Move = Literal[
    "time", "round", "whole round", "end", "send", "decide", "batch", "check", "save", "wrong", "again", "lose", "die",
    "twice", "unrun", "leave", "come back", "other send", "clock", "bad send", "bad put", "bad read", "rot", "flush",
    "power", "late", "shut down", "regress", "resume", "role", "back", "slave", "escape", "elsewhere",
    "retain",
]  # fmt: skip
"""Kinds of move, among which workloads choose; a whole round is many of the kind `round`."""

MOVES: Final[tuple[Move, ...]] = get_args(Move)

Do = Callable[["BrokerSide", "Step"], object]
Exclusion = Callable[["BrokerSide", "Step"], bool]
Ask = Callable[["BrokerSide", "Step", "Refused"], bool]


class Terms(TypedDict, total=False):
    """What a record may say beside what is done; see `Driven`."""

    needs: tuple[str, ...]
    unless: Exclusion
    ask: Ask
    dispatches: bool
    after: str


class ActionRecord:
    """What the lockstep knows of an action."""


@dataclass(frozen=True, slots=True, eq=False)
class Driven(ActionRecord):
    """An action that is done to the broker as well.

    Attributes
    ----------
    do
        Does it to the broker and what is around it, and raises `Difference` where an answer is not the expected one;
        nobody looks at what it returns.
    moves
        The kinds of move that it belongs to.
    part
        Whether it is a step of END_TRANSACTION, a pass of the round, or one whose way store or network decide.
    expected
        What the broker answers to a step of END_TRANSACTION.
    needs
        What it needs to be possible in some state, of switches and faults, where its guard alone does not say so: the
        names that must be on, or off where a `-` stands before it. Of several alternatives one is enough.
    unless
        In which states it is excluded from the lockstep, as the broker cannot take the same step; its docstring says
        why.
    ask
        Asks the broker for it where the specification forbids it, and says whether it has asked. Steps of
        END_TRANSACTION and passes of the round are asked for in `fuzz.lockstep.forbidden`.
    dispatches
        Whether the step sees all that is stored in the consume queues. Where this says nothing, a pass of the round
        over an earlier half does not: so the copies that the round stores stay undispatched until it comes to them, and
        `end_round_before_dispatch` is possible.
    after
        The action behind which it is tried among the steps of a kind, if not in its place among the machine's actions.
    """

    do: Do
    moves: tuple[Move, ...]
    part: Literal["", "end", "pass", "uncertain pass"] = ""
    expected: str = ""
    needs: tuple[str, ...] = ()
    unless: Exclusion | None = None
    ask: Ask | None = None
    dispatches: bool | None = None
    after: str = ""

    def may_happen(self, constants: Constants) -> bool:
        """Whether profile and environment have what it needs."""
        return not self.needs or any(
            all(getattr(constants, name.lstrip("-")) != name.startswith("-") for name in needed.split())
            for needed in self.needs
        )


@dataclass(frozen=True, slots=True, eq=False)
class Excluded(ActionRecord):
    """An action that the broker is spared, and why: a repair that no version has, or what there is no broker for."""

    why: str


REPAIR: Final = Excluded("a repair that is in no version")
WRONG_REPAIR: Final = Excluded("a repair that was proposed and is in no version")


def drives(*moves: Move, **terms: Unpack[Terms]) -> Callable[[Do], Driven]:
    """Make a record of a function that says what is done to the broker."""
    return lambda do: Driven(do, moves, **terms)


class Difference(AssertionError):  # noqa: N818 (it is a finding, and reads as one)
    """What was answered, by its name, what was expected, and what came."""

    def __init__(self, variable: str, expected: str, given: str) -> None:
        super().__init__(variable, expected, given)
        self.found = variable, expected, given


def expect(variable: str, expected: object, given: object) -> None:
    """Raise `Difference` if an answer, as text, is not the expected one."""
    if str(expected) != str(given):
        raise Difference(variable, str(expected), str(given))
