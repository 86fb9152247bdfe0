"""Passes of the check round: the broker takes its one pass, which must be the one that the specification took."""

from __future__ import annotations

from typing import TYPE_CHECKING, Unpack

from fuzz.actions.record import Driven, Move, Terms
from fuzz.broker_side.difference import expect
from reference.broker.transaction.check_step import CheckBranch

if TYPE_CHECKING:
    from collections.abc import Callable

    from fuzz.broker_side.broker_side import BrokerSide
    from reference.broker.transaction.check_step import CheckStep
    from spec.language import Step

    TakePass = Callable[[BrokerSide], CheckStep | None]


def branch(expected: CheckBranch, **terms: Unpack[Terms]) -> Driven:
    """The action that is this branch of the round, which nothing but the state decides."""
    return Driven(_takes(expected, lambda side: side.step_round()), ("round",), "pass", **terms)


def uncertain_branch(expected: CheckBranch, *moves: Move, **terms: Unpack[Terms]) -> Callable[[TakePass], Driven]:
    """The same where store or network decide how the pass goes: the function says what they do in it."""
    return lambda take_pass: Driven(_takes(expected, take_pass), moves, "uncertain pass", **terms)


def _takes(expected: CheckBranch, take_pass: TakePass) -> Callable[[BrokerSide, Step], None]:
    def do(side: BrokerSide, _: Step) -> None:
        done = take_pass(side)
        if expected is CheckBranch.ENDED_AT_QUEUE_END:
            done = _second_look(side, done)
        expect("the round's branch", expected.value, "no round runs" if done is None else done.branch.value)

    return do


def _second_look(side: BrokerSide, done: CheckStep | None) -> CheckStep | None:
    """In 4.5.1 the end of the half queue reads as a half that is missing, so that a second look ends the round.

    So does a first look in any version, if the round has missed a half before; that is the queue's end all the same.
    """
    if done is not None and done.branch is CheckBranch.NULL_HALF:
        done = side.step_round()
    if done is not None and done.branch is CheckBranch.ENDED_AT_SECOND_NULL_HALF:
        return type(done)(CheckBranch.ENDED_AT_QUEUE_END, done.half)
    return done


def fail_all_puts(side: BrokerSide) -> CheckStep | None:
    """A pass in which the store refuses every message."""
    with side.puts_fail():
        return side.step_round()
