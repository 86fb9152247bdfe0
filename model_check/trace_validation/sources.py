"""Where a record of the check service may come from: which halves, and what no half explains."""

from __future__ import annotations

from typing import TYPE_CHECKING

from model_check.trace_validation.observed import EventKind, ObservedEvent
from spec.language import NONE, Refused

if TYPE_CHECKING:
    from collections.abc import Iterable

    from spec.constants import Constants
    from spec.state import State


def checks_before(c: Constants, event: ObservedEvent) -> tuple[int, ...]:
    """How many checks the half of a put-back or a discard may have counted: a put-back is one more.

    A repaired service does not count those that send no check.
    """
    if event.kind is not EventKind.PUT_BACK:
        return (event.check_times,)
    is_always_counted = not (c.counts_sent_checks or c.discards_instead_of_checking)
    return (event.check_times - 1,) if is_always_counted else (event.check_times - 1, event.check_times)


def may_come_from(s: State, c: Constants, event: ObservedEvent, half: int) -> bool:
    """Whether a put-back or a discard is of the half's transaction and has a check count that follows the half's."""
    return s.half[half].transaction == event.transaction and s.half[half].check_times in checks_before(c, event)


def sources(s: State, c: Constants, event: ObservedEvent, halves: Iterable[int]) -> list[int]:
    """Those of some halves that the record may come from."""
    return [half for half in halves if may_come_from(s, c, event, half)]


def impossible(s: State, c: Constants, event: ObservedEvent) -> Refused | None:
    """What refuses the record wherever rounds were: its place, the number of checks, or what its copy carries on."""
    if event.kind is EventKind.PUT_BACK and event.half != s.half_length:
        return Refused(
            "record", f"the record stands at the end of the half queue: at {s.half_length}, not {event.half}"
        )
    found = sources(s, c, event, range(s.half_length))
    if not found:
        return Refused("record", "a half of the transaction with that check count is stored")
    if event.kind is EventKind.DISCARDED:
        return None if event.check_times >= c.check_max else Refused("require", "it has no checks left")
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
    """What a step wrote against what the record says."""
    if event.kind is not EventKind.PUT_BACK:
        return None
    copy = s.half[event.half]
    for name, written in (("check_times", copy.check_times), ("original", copy.original), ("born", copy.born_at)):
        seen = getattr(event, name)
        if written != seen:
            return Refused("record", f"the copy's {name} is {written}, not {seen}")
    return None
