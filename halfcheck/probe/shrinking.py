"""A schedule that failed is made shorter: orders are left out as long as the same goes wrong.

Waits that are left out cost nothing: the broker's rounds come all the same. What can't be carried out without an order,
as it names a half that is not known then, goes with it.
"""

from __future__ import annotations

import time
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from wire.probe.orders import (
    AwaitCheck,
    AwaitCopy,
    AwaitDiscard,
    AwaitRound,
    AwaitTick,
    ProbePlan,
    SendEnd,
    SendHalf,
)

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from halfcheck.probe.failures import Failure
    from halfcheck.probe.plays import Plays
    from halfcheck.probe.session import Played
    from wire.probe.orders import Order


@dataclass(frozen=True, slots=True, kw_only=True)
class Search:
    """A failure that was looked for, or found, and how short its schedule became.

    Attributes
    ----------
    name
        Of the schedule that it began with, or ``examples``.
    failure, shortest
        What went wrong, and the shortest play in which it did; None where nothing went wrong.
    drawn
        How many drawn schedules were played until it did, or in all.
    plays
        How many plays made it shorter, or were to.
    orders
        How many orders the first schedule had in which it went wrong.
    came, again
        How often it came when the shortest schedule was played again, and how often that was.
    seconds
        How long all took.
    ended
        Why it ended before its time; empty if it did not.
    """

    name: str
    failure: Failure | None = None
    shortest: Played | None = None
    drawn: int = 0
    plays: int = 0
    orders: int = 0
    came: int = 0
    again: int = 0
    seconds: float = 0.0
    ended: str = ""


def shrink(plays: Plays, played: Played, failure: Failure) -> Search:
    """Make a schedule that failed shorter, with the plays that are left, and play what comes of it once more."""
    began, before = time.monotonic(), plays.count
    plays.know(played)
    shortest = _shrunk(plays, played, failure)
    made, ended = plays.count - before, plays.ended
    came, again = plays.comes_again(shortest, failure)
    return Search(
        name=played.schedule.name,
        failure=failure,
        shortest=shortest,
        plays=made,
        orders=len(played.schedule.plan.orders),
        came=came,
        again=again,
        seconds=time.monotonic() - began,
        ended=ended,
    )


def _shrunk(plays: Plays, played: Played, failure: Failure) -> Played:
    """The shortest play that is found in which the same goes wrong, by leaving orders out of a schedule."""
    best = _without_what_was_not_reached(played)
    for candidate in _without_waits(best.schedule.plan.orders):
        best = _if_it_fails(plays, best, candidate, failure) or best
    length = (len(best.schedule.plan.orders) + 1) // 2
    while length and not plays.ended:
        at = 0
        while at < len(orders := best.schedule.plan.orders):
            shorter = _if_it_fails(plays, best, (*orders[:at], *orders[at + length :]), failure)
            best, at = (best, at + length) if shorter is None else (shorter, at)
        length //= 2
    return best


def _without_what_was_not_reached(played: Played) -> Played:
    """Orders behind one that did not come true were never carried out."""
    orders = played.schedule.plan.orders
    reached = len(played.done) + (played.missed is not None)
    if reached >= len(orders):
        return played
    schedule = replace(played.schedule, plan=replace(played.schedule.plan, orders=orders[:reached]))
    return replace(played, schedule=schedule)


def _without_waits(orders: Sequence[Order]) -> Iterator[Sequence[Order]]:
    """Most schedules do without those for time."""
    yield [order for order in orders if not isinstance(order, AwaitTick | AwaitRound)]


def _if_it_fails(plays: Plays, best: Played, orders: Sequence[Order], failure: Failure) -> Played | None:
    left = tuple(can_be_carried_out(orders))
    if not left or len(left) >= len(best.schedule.plan.orders):
        return None
    schedule = replace(best.schedule, plan=ProbePlan(left), story=f"{len(left)} orders of {best.schedule.name}")
    played = plays.of(schedule, "shorter")
    return played if played is not None and failure.is_in(played) else None


def can_be_carried_out(orders: Sequence[Order]) -> Iterator[Order]:
    """Those of some orders whose transaction was sent before, and whose half is known by then."""
    sent: set[int] = set()
    known: set[int] = set()
    for order in orders:
        match order:
            case SendHalf(transaction, half):
                sent.add(transaction)
                known.add(half)
            case AwaitCopy(transaction, half) | AwaitCheck(transaction, half):
                if transaction not in sent:
                    continue
                known.add(half)
            case AwaitDiscard(transaction):
                if transaction not in sent:
                    continue
            case SendEnd(_, half):
                if half not in known:
                    continue
            case _:
                pass
        yield order
