"""The record of an action: how the lockstep does it to the broker, when, and the answer that is expected.

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
    """The optional fields of a record; see `Driven`."""

    needs: tuple[str, ...]
    unless: Exclusion
    ask: Ask
    dispatches: bool
    after: str
    repairs: tuple[str, ...]


class ActionRecord:
    """The lockstep's record of an action."""


@dataclass(frozen=True, slots=True, eq=False)
class Driven(ActionRecord):
    """An action that is done to the broker as well."""

    do: Do
    """Does it to the broker and its surroundings, and raises `AnswerDifference` where an answer is not the expected
    one; its result is ignored."""
    moves: tuple[Move, ...]
    """The kinds of move that it belongs to."""
    part: Literal["", "end", "pass", "uncertain pass"] = ""
    """Whether it is a step of END_TRANSACTION, a pass of the round, or a pass whose outcome store or network decide."""
    expected: str = ""
    """The broker's answer to a step of END_TRANSACTION."""
    needs: tuple[str, ...] = ()
    """Switches and faults without which it is possible in no state, where its guard alone does not say so: names that
    must be on, or off where a `-` stands before them. Of several alternatives one is enough."""
    unless: Exclusion | None = None
    """Excludes it from the lockstep in some states, in which the broker cannot take the same step; its docstring says
    why."""
    ask: Ask | None = None
    """Asks the broker for it where the specification forbids it, and says whether it has asked. Steps of
    END_TRANSACTION and passes of the round are else asked for in `fuzz.lockstep.forbidden`."""
    dispatches: bool | None = None
    """Whether the broker dispatches all stored records into the consume queues before the step. None: it does unless a
    round runs whose next half is dispatched already. Copies that a round has stored are so dispatched as late as
    possible, and `end_round_before_dispatch` can happen."""
    after: str = ""
    """The action behind which it is tried among the steps of a kind, if not in its place among the machine's
    actions."""
    repairs: tuple[str, ...] = ()
    """Switches without any of which it is left out, as it is theirs alone."""

    def may_happen(self, constants: Constants) -> bool:
        """Whether profile and environment fulfil its `needs`."""
        return not self.needs or any(
            all(getattr(constants, name.lstrip("-")) != name.startswith("-") for name in needed.split())
            for needed in self.needs
        )


@dataclass(frozen=True, slots=True, eq=False)
class Excluded(ActionRecord):
    """An action that is not done to the broker, and why."""

    why: str


def drives(*moves: Move, **terms: Unpack[Terms]) -> Callable[[Do], Driven]:
    """Make a record of a function that does the action to the broker."""
    return lambda do: Driven(do, moves, **terms)


class AnswerDifference(AssertionError):  # noqa: N818 (it is a finding, and reads as one)
    """An unexpected answer: its name, the expected value and the given one."""

    def __init__(self, variable: str, expected: str, given: str) -> None:
        super().__init__(variable, expected, given)
        self.found = variable, expected, given


def expect(variable: str, expected: object, given: object) -> None:
    """Raise `AnswerDifference` if an answer, as text, is not the expected one."""
    if str(expected) != str(given):
        raise AnswerDifference(variable, str(expected), str(given))
