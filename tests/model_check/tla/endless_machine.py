"""A visitor who may come and go for ever: what temporal formulas can get wrong, on ten states."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from enum import IntEnum
from typing import TYPE_CHECKING

from spec.language import (
    Action,
    Fairness,
    Machine,
    MachineState,
    action,
    count,
    declared_action,
    flag,
    infinitely_often,
    leads_to,
    one_of,
    require,
    responses_of,
)

if TYPE_CHECKING:
    from collections.abc import Callable


@dataclass(frozen=True, kw_only=True)
class Constants:
    """Sizes."""

    calls: int = 1
    most: int = 1
    forgets: int = 1


class Place(IntEnum):
    """Where the visitor is."""

    OUTSIDE = 0
    HALL = 1
    ROOM = 2


class State(MachineState):
    """All of it."""

    place: Place = one_of(Place)
    is_open: bool = flag()
    is_lit: bool = flag()
    waiting: int = count("calls")
    turns: int = count("most")


def forget(s: State, c: Constants) -> None:
    """Nobody counts the turns."""
    if c.forgets == 1:
        s.turns = 0


# --- steps ------------------------------------------------------------------------------------------------------------


@action(event="knocked")
def knock(s: State, c: Constants) -> None:
    """Nobody promises it."""
    require(s.place == Place.OUTSIDE, "the visitor is outside")
    s.place = Place.HALL


@action(event="moved")
def open_door(s: State, c: Constants) -> None:
    """The door to the room moves again and again."""
    require(s.place == Place.HALL, "there is somebody in the hall")
    require(not s.is_open, "it is shut")
    s.is_open = True


@action(event="moved")
def shut_door(s: State, c: Constants) -> None:
    """Likewise."""
    require(s.place == Place.HALL, "there is somebody in the hall")
    require(s.is_open, "it is open")
    s.is_open = False


@action(event="walked")
def walk_in(s: State, c: Constants) -> None:
    """Possible again and again, and not all the time."""
    require(s.place == Place.HALL, "the visitor is in the hall")
    require(s.is_open, "the door is open")
    s.place = Place.ROOM


@action(event="turned")
def turn_round(s: State, c: Constants) -> None:
    """It leaves all as it was, once it is forgotten."""
    require(s.place == Place.ROOM, "the visitor is in the room")
    s.turns += 1


@action(event="left")
def leave(s: State, c: Constants) -> None:
    """Out and away."""
    require(s.place == Place.ROOM, "the visitor is in the room")
    s.place = Place.OUTSIDE
    s.is_open = False
    s.is_lit = False


@action(event="winked")
def wink(s: State, c: Constants) -> None:
    """The lamp goes on, or out."""
    require(s.place == Place.ROOM, "the visitor is in the room")
    s.is_lit = not s.is_lit


@action(event="blinked")
def blink(s: State, c: Constants) -> None:
    """What nobody can tell from a wink."""
    require(s.place == Place.ROOM, "the visitor is in the room")
    s.is_lit = not s.is_lit


@action(event="called")
def call(s: State, c: Constants) -> None:
    """A queue with little room."""
    require(s.waiting < c.calls, "there is room")
    s.waiting += 1


@action(event="answered")
def answer(s: State, c: Constants) -> None:
    """Nobody promises it."""
    require(s.waiting > 0, "there is a call")
    s.waiting = 0


def _those(*functions: Callable[[State, Constants], None]) -> tuple[Action, ...]:
    return tuple(declared_action(function) for function in functions)


FAIRNESS = {
    promise.name: promise
    for promise in (
        Fairness("door", _those(open_door, shut_door), False, "the door moves"),
        Fairness("walker", _those(walk_in), True, "who may go in again and again goes in"),
        Fairness("stroller", _those(walk_in), False, "who may go in all the time goes in"),
        Fairness("guest", _those(turn_round, leave), False, "the visitor turns round or leaves"),
        Fairness("leaver", _those(leave), False, "the visitor leaves"),
        Fairness("winker", _those(wink), False, "the visitor winks"),
    )
}


# --- what must happen in the end --------------------------------------------------------------------------------------


def in_hall(s: State, c: Constants) -> bool:
    """The visitor has come in."""
    return s.place == Place.HALL


def in_room(s: State, c: Constants) -> bool:
    """The visitor has gone through the door."""
    return s.place == Place.ROOM


def outside(s: State, c: Constants) -> bool:
    """The visitor has not knocked yet."""
    return s.place == Place.OUTSIDE


def is_waiting(s: State, c: Constants) -> bool:
    """The queue is full."""
    return s.waiting > 0


@leads_to("E1", clause="strong", given=in_hall, under=("door", "walker"))
def goes_in(s: State, c: Constants) -> bool:
    """True, as the promise is a strong one."""
    return s.place == Place.ROOM


@leads_to("E2", clause="weak", given=in_hall, under=("door", "stroller"))
def strolls_in(s: State, c: Constants) -> bool:
    """False: the door is shut in between."""
    return s.place == Place.ROOM


@leads_to("E3", clause="turning", given=in_room, under=("guest",))
def is_out_of_a_turn(s: State, c: Constants) -> bool:
    """False: the visitor turns round for ever, by steps that change nothing."""
    return s.place == Place.OUTSIDE


@leads_to("E4", clause="turned", given=in_room, under=("guest",), once=("turned",))
def is_out_after_turns(s: State, c: Constants) -> bool:
    """True: when there are no more turns, the visitor leaves."""
    return s.place == Place.OUTSIDE


@leads_to("E5", clause="blinking", given=in_room, under=("winker",), once=("blinked",))
def is_out_winking(s: State, c: Constants) -> bool:
    """False: the visitor winks for ever, though each wink looks like a blink."""
    return s.place == Place.OUTSIDE


@leads_to("E6", clause="resting", given=outside, under=("door", "guest"))
def comes_in(s: State, c: Constants) -> bool:
    """False: the visitor stays outside, where nothing is promised."""
    return s.place != Place.OUTSIDE


@leads_to("E7", clause="edge", given=is_waiting, under=())
def is_answered(s: State, c: Constants) -> bool:
    """Not known: a full queue may want more room."""
    return s.waiting == 0


@infinitely_often("E8", clause="dark", under=("leaver",))
def is_dark(s: State, c: Constants) -> bool:
    """True: who leaves puts out the lamp."""
    return not s.is_lit


ENDLESS = Machine(
    name="endless",
    state=State,
    actions=_those(knock, open_door, shut_door, walk_in, turn_round, leave, wink, blink, call, answer),
    clauses=(),
    witnesses=(),
    forget=forget,
    queues={"waiting": "calls"},
    responses=responses_of(sys.modules[__name__]),
    fairness=FAIRNESS,
)
