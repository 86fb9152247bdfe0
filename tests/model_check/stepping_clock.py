"""A machine whose clock may step back, with moments to come: timers that are set, fire, and are looked at again."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from spec.language import (
    LONG_AGO,
    Machine,
    MachineState,
    Record,
    action,
    always,
    array_of,
    assume,
    clock,
    declared_action,
    declared_always,
    declared_sometimes,
    each,
    flag,
    instant,
    record,
    records,
    require,
    sometimes,
)

if TYPE_CHECKING:
    from collections.abc import Sequence


@dataclass(frozen=True, kw_only=True)
class Constants:
    """Sizes, times, and the switch that lets the clock step back once."""

    timers: int = 2
    cut: int = 2
    long_cut: int = 3
    delay: int = 2
    one: int = 1
    horizon: int = 6
    steps_back: bool = False


class Timer(Record):
    """When it fires, and when it was last looked at."""

    fires_at: int = instant("cut", ahead="delay", slack="steps_back")
    has_fired: bool = flag()


class Log(Record):
    """When each timer fired."""

    fired_at: list[int] = array_of(instant("long_cut", ahead="one", slack="steps_back"), "timers")


class State(MachineState):
    """All of it."""

    now: int = clock()
    timer: Sequence[Timer] = records("timers", Timer)
    log: Log = record(Log)
    looked_at: int = instant("cut", ahead="one", slack="steps_back")
    stepped_back: bool = flag()


@action(t=each("timers"))
def start(s: State, c: Constants, t: int) -> None:
    """A timer is set to a moment to come."""
    require(s.now - s.timer[t].fires_at >= c.cut, "the timer is idle")
    require(s.now - s.log.fired_at[t] >= c.long_cut, "it has not fired for long")
    s.timer[t].fires_at = s.now + c.delay - 1
    s.timer[t].has_fired = False


@action(t=each("timers"))
def fire(s: State, c: Constants, t: int) -> None:
    """Its moment has come."""
    require(s.now - s.timer[t].fires_at >= 0 and s.now - s.timer[t].fires_at < c.cut, "its moment is now or just gone")
    require(not s.timer[t].has_fired, "it has not fired")
    s.timer[t].has_fired = True
    s.log.fired_at[t] = s.timer[t].fires_at
    s.looked_at = s.now


@action(t=each("timers"))
def forget(s: State, c: Constants, t: int) -> None:
    """A moment that is yet to come may be given up."""
    require(s.timer[t].fires_at > s.now, "its moment is to come")
    s.timer[t].fires_at = LONG_AGO


@action()
def look_back(s: State, c: Constants) -> None:
    """A moment that is kept for longer is written where a shorter cut counts."""
    require(s.now - s.looked_at >= 1, "nobody has looked for a tick")
    s.looked_at = s.log.fired_at[c.timers - 1]


@action()
def tick(s: State, c: Constants) -> None:
    """The clock goes on; a timer fires before its time is over."""
    require(
        all(s.timer[t].has_fired or s.now - s.timer[t].fires_at != c.cut - 1 for t in range(c.timers)),
        "no timer is missed",
    )
    s.now += 1


@action()
def step_back(s: State, c: Constants) -> None:
    """The clock is set back, once."""
    assume(c.steps_back, "the clock only goes on")
    require(not s.stepped_back, "it did not step back before")
    s.stepped_back = True
    s.now -= 1


@always("T1", clause="order", t=each("timers"))
def it_never_fired_in_the_time_to_come(s: State, c: Constants, t: int) -> bool:
    """A timer that fired did so at a moment that is over."""
    return s.log.fired_at[t] <= s.now


@always("T1", clause="looked")
def nobody_looks_twice_at_once(s: State, c: Constants) -> bool:
    """As long as the clock only goes on, the last look is over."""
    return s.now - s.looked_at >= 0 or s.stepped_back


@sometimes("T1", t=each("timers"))
def a_timer_fires_late(s: State, c: Constants, t: int) -> bool:
    """A timer that was looked at just now has fired, a tick after its moment."""
    return s.timer[t].has_fired and s.looked_at == s.now and s.now - s.log.fired_at[t] == 1


STEPPING_CLOCK = Machine(
    name="stepping_clock",
    state=State,
    actions=tuple(declared_action(f) for f in (start, fire, forget, look_back, tick, step_back)),
    clauses=(declared_always(it_never_fired_in_the_time_to_come), declared_always(nobody_looks_twice_at_once)),
    witnesses=(declared_sometimes(a_timer_fires_late),),
    switches=("steps_back",),
)
