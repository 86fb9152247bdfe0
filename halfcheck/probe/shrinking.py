"""Failures, and schedules that are made shorter: orders are left out as long as the same goes wrong.

Waits that are left out cost nothing: the broker's rounds come all the same. What can't be carried out without an order,
as it names a half that is not known then, goes with it.
"""

from __future__ import annotations

import time
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Final

from wire.errors import WireError
from wire.probe.orders import (
    AwaitCheck,
    AwaitCopy,
    AwaitDiscard,
    AwaitRound,
    AwaitTick,
    Order,
    ProbePlan,
    SendEnd,
    SendHalf,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator, Sequence

    from halfcheck.probe.schedules import Schedule
    from halfcheck.probe.session import Played, Session
    from spec.language import Property


_NO_PLAYS: Final = "no plays were left"
_AGAIN: Final = 3
"""So often a failure may stay away before it is said that it does not come again."""


@dataclass(frozen=True, slots=True)
class Failure:
    """A broken clause such as ``S1.immune_half``; or a record that nothing explains: its kind and the refusing rule."""

    what: str
    clause: Property | None = None

    def __str__(self) -> str:
        return self.what if self.clause is not None else f"not explained: {self.what}"

    def is_in(self, played: Played) -> bool:
        """Whether it came in another play, too."""
        return self in _all_of(played)


def failure_of(played: Played, wanted: Collection[Property]) -> Failure | None:
    """The failure for which a play is shrunk: a record that nothing explains, or the first wanted clause broken."""
    return next((each for each in _all_of(played) if each.clause is None or each.clause in wanted), None)


def _all_of(played: Played) -> list[Failure]:
    judgement = played.judgement
    if judgement is None:
        return []
    if judgement.is_explained:
        return [Failure(each.name, each.clause) for each in judgement.broken]
    found = judgement.verdict.divergence
    return [Failure("the search names no record" if found is None else f"{found.event.kind.value}: {found.guard}")]


@dataclass(slots=True)
class Plays:
    """Plays schedules until there is no time left, or no broker: `ended` says why, and is empty until then.

    What a schedule came to is kept, so that a search sees the same answer even of a broker that gives different ones.
    The last play may begin at the second `until` of the machine's steady clock, and so many may still come as are
    `left`; each is reported, with what it was played for.
    """

    session: Session
    until: float
    report: Callable[[Played, str], None]
    left: int = 0
    count: int = 0
    ended: str = ""
    _known: dict[tuple[Order, ...], Played] = field(default_factory=dict)

    def allow(self, plays: int) -> None:
        """Let so many plays come from now on."""
        self.left = plays
        if self.ended == _NO_PLAYS:
            self.ended = ""

    def know(self, played: Played) -> None:
        """Take in what was played elsewhere."""
        self._known[played.schedule.plan.orders] = played

    def of(self, schedule: Schedule, why: str) -> Played | None:
        """The play of a schedule, made now if it was not made before; None where it can't be any more."""
        known = self._known.get(schedule.plan.orders)
        if known is not None:
            return known
        played = self.afresh(schedule, why)
        if played is not None:
            self.know(played)
        return played

    def afresh(self, schedule: Schedule, why: str) -> Played | None:
        """Play a schedule, though it was played before; None where it can't be."""
        if self.ended:
            return None
        if self.left <= 0:
            self.ended = _NO_PLAYS
        elif time.monotonic() >= self.until:
            self.ended = "no time was left"
        else:
            try:
                played = self.session.play(schedule, asks_others=False)
            except WireError as error:
                self.ended = f"the broker was not played on any more: {error}"
            else:
                self.left, self.count = self.left - 1, self.count + 1
                self.report(played, why)
                return played
        return None

    def comes_again(self, played: Played, failure: Failure) -> tuple[int, int]:
        """How often a failure came, and how often its schedule was played again: until it came, a few times at most."""
        self.allow(_AGAIN)
        for times in range(_AGAIN):
            again = self.afresh(played.schedule, "again")
            if again is None:
                return 0, times
            if failure.is_in(again):
                return 1, times + 1
        return 0, _AGAIN


@dataclass(frozen=True, slots=True, kw_only=True)
class Search:
    """A failure that was looked for, and how short its schedule became; `failure` is None if none was found.

    Attributes
    ----------
    name
        Of the schedule that it began with, or ``examples``.
    drawn, plays
        How many drawn schedules were played until something went wrong, or in all; and how many plays made it shorter.
    orders
        How many orders the first schedule had in which it went wrong.
    came, again
        How often it came when the shortest schedule was played again, and how often that was.
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
    # Most schedules do without waits for time.
    timeless = [order for order in best.schedule.plan.orders if not isinstance(order, AwaitTick | AwaitRound)]
    best = _if_it_fails(plays, best, timeless, failure) or best
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
