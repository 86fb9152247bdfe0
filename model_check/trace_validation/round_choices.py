"""The choices of the search for rounds, in their order: the view, the start, the action that wrote a record."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING

from model_check.trace_validation.observed import EventKind, ObservedEvent, Trace
from spec.chapters import discarding, putting_back
from spec.language import NONE, Refused
from spec.state import Role, State

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from model_check.trace_validation.producer_side import ProducerSide
    from model_check.trace_validation.round_steps import View
    from model_check.trace_validation.workspace import ActionFunction, Workspace
    from spec.constants import Constants


@dataclass(frozen=True, slots=True)
class Strategy:
    """The strategy of a search: what it leaves out, and how long it goes on.

    Attributes
    ----------
    heeds_answers
        Whether a copy that an END_TRANSACTION names was put back for a check. Else that may be a wrong one.
    is_thorough
        Whether rounds may read the op queue in every view. Else they read it as late as they can, or just before an op
        message whose half is looked at again afterwards: what comes late sees most, and only such a message is better
        not seen.
    patience
        How many times the usual number of steps it may try.
    """

    heeds_answers: bool
    is_thorough: bool
    patience: int = 1


class RoundChoices:
    """The choices of one search."""

    def __init__(self, work: Workspace, trace: Trace, producers: ProducerSide, strategy: Strategy) -> None:
        self.work = work
        self.trace = trace
        self.producers = producers
        self.strategy = strategy
        self.left_out = False  # whether something was not tried as an END_TRANSACTION answers the check of a copy
        self._better_not_seen = _ops_seen_too_late(trace)
        self._last_in_a_row = _last_in_a_row(trace, work.constants.check_interval)

    def likely_start(self, number: int, views: Sequence[View]) -> int:
        """The instant behind which halves were stored that come after the last one put back in a row with this."""
        s, c = self.work.state, self.work.constants
        last = sources(s, c, self.trace.events[self._last_in_a_row[number]], range(views[-1].halves))
        return s.half[last[-1]].stored_at + 1 if last else 0

    def starts(self, views: Sequence[View], places: Sequence[int], due: int, likely: int) -> Iterator[tuple[int, int]]:
        """When the round may have begun: what matters is which halves are fresh to it, and which op messages late.

        In each view the latest start comes first, then the likely one, which makes the halves fresh that stand behind
        the last one put back in a row with this one; all others come behind those of all views.
        """
        s, c = self.work.state, self.work.constants
        others = []
        for place in places:
            view = views[place]
            first = max(due, view.earliest)
            edges = {s.half[h].stored_at + 1 for h in range(s.offsets.half, view.halves)} | {first}
            edges |= {s.op[o].born_at - c.timeout for o in range(s.offsets.op, views[-1].ops)}
            for now in dict.fromkeys([view.latest, likely, *sorted(edges, reverse=True)]):
                if first <= now <= view.latest:
                    if now in (view.latest, likely):
                        yield place, now
                    else:
                        others.append((place, now))
        yield from others

    def views_in_order(self, views: Sequence[View], at: int, likely: int = 0) -> list[int]:
        """The order in which views are tried.

        The latest first; then those that end with an op message which is better not seen, and that of a likely instant;
        then the others.
        """
        places = range(len(views) - 1, at - 1, -1)
        likelier = [
            p
            for p in places[1:]
            if views[p].ops in self._better_not_seen or views[p].earliest <= likely <= views[p].latest
        ]
        others = [p for p in places[1:] if p not in likelier] if self.strategy.is_thorough else []
        return [*places[:1], *likelier, *others]

    def ways(self, number: int, event: ObservedEvent, clock: int) -> list[tuple[ActionFunction, int]]:
        """The actions that may write the record, and the instants that favour them most, the likelier first."""
        c = self.work.constants
        if event.kind is EventKind.DISCARDED:
            late = c.discards_instead_of_checking
            return [(discarding.discard_instead_of_check, event.time) if late else (discarding.discard_half, clock)]
        s = self.work.state
        is_unasked = s.role == Role.STOPPING or (
            c.counts_sent_checks and event.check_times == s.half[s.round.cursor].check_times
        )
        ask: ActionFunction = putting_back.put_back_unasked if is_unasked else putting_back.put_back_and_check
        check = ask, event.time
        immune: tuple[ActionFunction, int] = putting_back.put_back_immune_half, clock
        if event.half in self.trace.checked or event.original == NONE:
            return [check]
        if not self.producers.is_answered(number, event.half):
            return [immune, check]
        self.left_out = self.left_out or self.strategy.heeds_answers
        return [check] if self.strategy.heeds_answers else [check, immune]


# --- which halves a record may come from ------------------------------------------------------------------------------


def _checks_before(c: Constants, event: ObservedEvent) -> tuple[int, ...]:
    """How many checks the half of a put-back or a discard may have counted: a put-back is one more.

    A repaired service does not count those that send no check.
    """
    if event.kind is not EventKind.PUT_BACK:
        return (event.check_times,)
    is_always_counted = not (c.counts_sent_checks or c.discards_instead_of_checking)
    return (event.check_times - 1,) if is_always_counted else (event.check_times - 1, event.check_times)


def may_come_from(s: State, c: Constants, event: ObservedEvent, half: int) -> bool:
    """Whether a put-back or a discard is of the half's transaction and has a check count that follows the half's."""
    if s.half[half].transaction != event.transaction:
        return False
    return s.half[half].check_times in _checks_before(c, event) or _is_over_age(s, c, event, half)


def _is_over_age(s: State, c: Constants, event: ObservedEvent, half: int) -> bool:
    """Whether a discard is of a half with checks left that is too old: it was counted before it was found so.

    RocketMQ: TransactionalMessageServiceImpl#check asks #needDiscard, which counts, before #needSkip.
    """
    is_old = c.reserved_time != NONE and event.time - s.half[half].born_at > c.reserved_time
    return event.kind is EventKind.DISCARDED and is_old and s.half[half].check_times == event.check_times - 1


def sources(s: State, c: Constants, event: ObservedEvent, halves: Iterable[int]) -> list[int]:
    """Those of some halves that the record may come from."""
    return [half for half in halves if may_come_from(s, c, event, half)]


def impossible(s: State, c: Constants, event: ObservedEvent) -> Refused | None:
    """The refusal of the record wherever rounds were: by its place, its number of checks, or the fields of its copy."""
    if event.kind is EventKind.PUT_BACK and event.half != s.half_length:
        return Refused(
            "record", f"the record stands at the end of the half queue: at {s.half_length}, not {event.half}"
        )
    found = sources(s, c, event, range(s.half_length))
    if not found:
        return Refused("record", "a half of the transaction with that check count is stored")
    if event.kind is EventKind.DISCARDED:
        is_due = event.check_times >= c.check_max or any(_is_over_age(s, c, event, half) for half in found)
        return None if is_due else Refused("require", "it has no checks left")
    if event.check_times > c.check_max:
        return Refused("require", "it has checks left")
    carried = {s.half[half].original for half in found} | {half for half in found if s.half[half].original == NONE}
    if event.original not in carried:
        return Refused("record", f"the copy's original is one of {sorted(carried)}, not {event.original}")
    births = {s.half[half].born_at for half in found}
    if event.born not in births:
        return Refused("record", f"the copy was born when its half was, at {births.pop()}, not {event.born}")
    return None


def differs(s: State, event: ObservedEvent) -> Refused | None:
    """The refusal of a step whose write differs from the record."""
    if event.kind is not EventKind.PUT_BACK:
        return None
    copy = s.half[event.half]
    for name, found in (("check_times", copy.check_times), ("original", copy.original), ("born", copy.born_at)):
        seen = getattr(event, name)
        if found != seen:
            return Refused("record", f"the copy's {name} is {found}, not {seen}")
    return None


@lru_cache(maxsize=4)
def _ops_seen_too_late(trace: Trace) -> frozenset[int]:
    """The op messages that name a half which the check service put back or discarded afterwards all the same."""
    treated: dict[tuple[int, int], int] = {}
    for number, event in enumerate(trace.events):
        if event.kind in (EventKind.PUT_BACK, EventKind.DISCARDED):
            treated[event.transaction, event.check_times - (event.kind is EventKind.PUT_BACK)] = number
    known: dict[int, tuple[int, int]] = {}
    found = set()
    for number, event in enumerate(trace.events):
        if event.kind in (EventKind.HALF_STORED, EventKind.PUT_BACK):
            known[event.half] = (event.transaction, event.check_times)
        elif event.kind is EventKind.OP_STORED and any(
            treated.get(known.get(h, (-1, 0)), -1) > number for h in event.names
        ):
            found.add(event.op)
    return frozenset(found)


def _last_in_a_row(trace: Trace, check_interval: int) -> dict[int, int]:
    """Each record of the check service to the last one of the same round, judged by the silence between rounds."""
    last: dict[int, int] = {}
    following: int | None = None
    for number in range(len(trace.events) - 1, -1, -1):
        event = trace.events[number]
        if event.kind not in (EventKind.PUT_BACK, EventKind.DISCARDED):
            continue
        goes_on = following is not None and trace.events[following].time - event.time < check_interval
        last[number] = last[following] if following is not None and goes_on else number
        following = number
    return last
