"""A machine without a meaning, for all that a specification may choose from, and for instances that have nothing."""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum
from typing import TYPE_CHECKING

from spec.language import (
    NONE,
    Bits,
    Machine,
    MachineState,
    Record,
    action,
    always,
    among,
    array_of,
    bits,
    clock,
    count,
    declared_action,
    declared_always,
    declared_sometimes,
    each,
    flag,
    index,
    instant,
    maybe_index,
    number,
    one_of,
    record,
    records,
    require,
    sometimes,
    upto,
    within,
)

if TYPE_CHECKING:
    from collections.abc import Sequence


@dataclass(frozen=True, kw_only=True)
class Constants:
    """Sizes, some of which may be 0, and lists, which may be empty."""

    places: int = 2
    twins: int = 1
    most: int = 2
    extra: int = 1
    steps: int = 3
    cut: int = 1
    horizon: int = 3
    gifts: tuple[int, ...] = (NONE, 1)
    colours: tuple[int, ...] = (0, 2)
    both: tuple[int, ...] = (0, 1)
    strict: bool = False


class Colour(IntEnum):
    """Three values."""

    RED = 0
    GREEN = 1
    BLUE = 2


class Place(Record):
    """One of some."""

    value: int = count("most")
    colour: Colour = one_of(Colour)


class Twin(Record):
    """One of some, or of none."""

    of: int = index("places")
    nearest: int = index("twins")
    seen_at: int = instant("cut")
    is_known: bool = flag()
    marks: Bits = bits("places")


class Box(Record):
    """Fields that have one value in some instances."""

    spare: int = number(0, "extra")
    fixed: int = number(2, 2)
    link: list[int] = array_of(maybe_index("places"), "twins")
    chosen: Bits = bits("twins")
    twin: int = maybe_index("twins")


class State(MachineState):
    """All of it."""

    now: int = clock()
    place: Sequence[Place] = records("places", Place)
    twin: Sequence[Twin] = records("twins", Twin)
    hints: list[int] = array_of(number(0, 1), "twins")
    box: Box = record(Box)
    step: int = count("steps")
    is_late: bool = flag()


def takes_a_step(s: State, c: Constants) -> None:
    """The instance is finite."""
    within(s.step < c.steps, "few states are enough")


def paint(s: State, p: int, colour: Colour, is_late: bool) -> None:
    """An effect that is shared."""
    s.place[p].colour = colour
    s.is_late = is_late or s.place[p].value == 0


@action(p=each("places"), most=upto("most"))
def fill(s: State, c: Constants, p: int, most: int) -> None:
    """Numbers up to a constant, both ends included."""
    takes_a_step(s, c)
    require(s.place[p].value < most <= c.most, "there is room below the choice")
    s.place[p].value = min(most, s.place[p].value + 1)
    s.box.spare = max(s.box.spare - 1, 0)
    s.step += 1


@action(p=each("places"), colour=among("colours"), is_late=among("both"))
def paint_a_place(s: State, c: Constants, p: int, colour: Colour, is_late: bool) -> None:
    """A colour and a truth value are chosen."""
    takes_a_step(s, c)
    require(s.place[p].colour in (Colour.RED, Colour.GREEN) or is_late, "it is not blue, or it is late")
    require(s.place[p].colour != colour or (is_late and not s.is_late), "something changes")
    if is_late and c.strict:
        paint(s, p, Colour.GREEN, True)
    elif s.place[p].value not in (0, c.most):
        paint(s, p, Colour.BLUE if colour == Colour.RED else colour, not is_late)
    else:
        paint(s, p, colour, is_late)
    s.step += 1


@action(t=each("twins"), p=each("places"))
def make_a_twin(s: State, c: Constants, t: int, p: int) -> None:
    """Nothing to choose from where there are no twins."""
    takes_a_step(s, c)
    require(not s.twin[t].is_known, "the twin is not known")
    s.twin[t].of = p
    s.twin[t].is_known = True
    s.twin[t].seen_at = s.now
    s.twin[t].marks.add(p)
    s.box.link[t] = p
    s.box.chosen.add(t)
    s.box.twin = t
    s.step += 1


@action(gift=among("gifts"))
def give(s: State, c: Constants, gift: int) -> None:
    """Nothing is given where nothing is listed."""
    takes_a_step(s, c)
    require(s.box.spare < c.extra, "there is room for a gift")
    s.box.spare += max(gift, 0)
    for t in range(c.twins):
        s.hints[t] = 1 if s.box.chosen.has(t) and s.twin[t].of < c.places else 0
    s.step += 1


@action()
def look_at_the_twin(s: State, c: Constants) -> None:
    """An index that is known at run time only, into an array that may have no places."""
    takes_a_step(s, c)
    require(s.box.twin != NONE and s.now - s.twin[s.box.twin].seen_at >= c.cut, "there is a twin, not seen just now")
    s.twin[s.box.twin].seen_at = s.now
    s.twin[s.box.twin].nearest = s.box.twin
    s.hints[s.box.twin] = 0
    s.step += 1


@action()
def tick(s: State, c: Constants) -> None:
    """All instants become older, if there are any."""
    takes_a_step(s, c)
    s.step += 1
    s.now += 1


@always("W1", clause="full_and_blue", p=each("places"), most=upto("extra"))
def no_place_is_full_and_blue(s: State, c: Constants, p: int, most: int) -> bool:
    """Some is, after some steps."""
    return not 0 < s.place[p].value == c.most - most + c.extra or s.place[p].colour != Colour.BLUE


@always("W1", clause="twins", t=each("twins"))
def a_twin_is_of_what_it_is_linked_to(s: State, c: Constants, t: int) -> bool:
    """True for every twin, and where there is none."""
    return not s.twin[t].is_known or s.box.link[t] == s.twin[t].of


@sometimes("W1", t=each("twins"))
def a_twin_is_seen_again(s: State, c: Constants, t: int) -> bool:
    """Never where there is none."""
    return s.twin[t].is_known and 0 < s.step < c.steps and s.now - s.twin[t].seen_at > 0


WIDE = Machine(
    name="wide",
    state=State,
    actions=tuple(declared_action(f) for f in (fill, paint_a_place, make_a_twin, give, look_at_the_twin, tick)),
    clauses=(declared_always(no_place_is_full_and_blue), declared_always(a_twin_is_of_what_it_is_linked_to)),
    witnesses=(declared_sometimes(a_twin_is_seen_again),),
    switches=("strict",),
)
