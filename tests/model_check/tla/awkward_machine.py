"""A machine without a meaning: what can go wrong when assignments become next-state values, on few states."""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum
from typing import TYPE_CHECKING

from spec.language import (
    LONG_AGO,
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
    each,
    flag,
    instant,
    maybe_index,
    one_of,
    record,
    records,
    require,
    within,
)

if TYPE_CHECKING:
    from collections.abc import Sequence


@dataclass(frozen=True, kw_only=True)
class Constants:
    """Sizes, a list of choices, and a switch."""

    cells: int = 3
    most: int = 2
    steps: int = 3
    starts: tuple[int, ...] = (-1, 1)
    turbo: bool = False
    cut: int = 2

    @property
    def long_cut(self) -> int:
        """Further back than the other."""
        return max(self.cut, 1) + 1

    @property
    def horizon(self) -> int:
        """No age reaches it."""
        return self.long_cut + 1


class Colour(IntEnum):
    """Three values."""

    RED = 0
    GREEN = 1
    BLUE = 2


class Cell(Record):
    """One of several."""

    number: int = count("most")
    colour: Colour = one_of(Colour)


class Box(Record):
    """One of a kind, with an array and sets in it."""

    link: list[int] = array_of(maybe_index("cells"), "cells")
    members: Bits = bits("cells")
    others: Bits = bits("cells")
    is_open: bool = flag()
    opened_at: int = instant("cut")
    closed_at: int = instant("long_cut")


class State(MachineState):
    """All of it."""

    now: int = clock()
    cell: Sequence[Cell] = records("cells", Cell)
    box: Box = record(Box)
    total: int = count("most")
    step: int = count("steps")
    is_odd: bool = flag()
    is_even: bool = flag()


def has_steps_left(s: State, c: Constants) -> None:
    within(s.step < c.steps, "few states are enough")


def count_step(s: State) -> None:
    s.step += 1


def number_of(s: State, i: int) -> int:
    """Read again after the cell was written."""
    return s.cell[i].number


def is_linked(s: State, c: Constants, i: int) -> bool:
    """Some place links to cell i."""
    return any(s.box.link[k] == i for k in range(c.cells))


def is_small_or_linked(s: State, c: Constants, i: int) -> bool:
    """A disjunction that hides in a function, and a value with a name."""
    number = s.cell[i].number
    if number == 0:
        return is_linked(s, c, i) or number < c.most
    return number < c.most


def paint(s: State, i: int, colour: Colour) -> None:
    """Called where it may stay a call, and where it may not."""
    s.cell[i].colour = colour


def empty(s: State) -> None:
    """Both sets."""
    s.box.members = Bits()
    s.box.others = Bits()


@action(i=each("cells"), j=each("cells"))
def write_two_and_read(s: State, c: Constants, i: int, j: int) -> None:
    """The two cells may be one."""
    has_steps_left(s, c)
    require(is_small_or_linked(s, c, i), "cell i is small, or linked")
    within(s.total < c.most, "there is room")
    s.cell[i].number = 1
    s.cell[j].number = number_of(s, i) + 1
    s.total = s.cell[i].number
    count_step(s)


@action(i=each("cells"), k=each("cells"))
def write_behind_a_link(s: State, c: Constants, i: int, k: int) -> None:
    """The index may be absent where the branch is not taken, and two places of one array may be one."""
    has_steps_left(s, c)
    require(k != i, "the places differ")
    s.box.link[k] = i
    s.cell[i].colour = Colour.GREEN
    if s.box.link[i] != NONE:
        s.cell[s.box.link[i]].colour = Colour.BLUE
        s.box.link[s.box.link[i]] = NONE
    s.box.is_open = s.cell[k].colour == Colour.BLUE
    count_step(s)


@action()
def shift(s: State, c: Constants) -> None:
    """Each turn reads what the one before it wrote."""
    has_steps_left(s, c)
    for i in range(1, c.cells):
        s.cell[i].number = s.cell[i - 1].number
    for i in range(c.cells - 1):
        if s.cell[i].colour == Colour.RED:
            s.cell[i].colour = s.cell[i + 1].colour
    s.is_odd = s.total == 1 or not s.is_odd
    s.is_even = s.total != 1
    count_step(s)


@action(start=among("starts"))
def gather(s: State, c: Constants, start: int) -> None:
    """Sets that grow, one from the other, a number that the last turn decides, and a nested loop."""
    has_steps_left(s, c)
    require(start == NONE or s.total != start, "the choice is none, or not the total")
    s.box.members = s.box.others | Bits.only(0)
    for i in range(c.cells):
        if s.cell[i].number > start:
            s.box.members.add(i)
    for i in range(c.cells):
        s.box.others = s.box.members | Bits.only(i)
        for j in range(i + 1):
            if s.cell[j].colour != Colour.RED and not s.box.others.has(j):
                s.box.others.add(j)
        if s.box.others.has(i) and s.cell[i].number > 0:
            s.total = s.cell[i].number - 1
    if c.turbo:
        s.box.others = s.box.others - s.box.members
    s.box.others.discard(1)
    count_step(s)


@action(i=each("cells"))
def call_in_the_middle(s: State, c: Constants, i: int) -> None:
    """One call may stand for itself, one reads what was written before, one is written over."""
    has_steps_left(s, c)
    require(s.box.is_open or s.cell[i].number > 0, "the box is open, or the cell counts")
    before = s.cell[i].colour
    paint(s, i, Colour.BLUE)
    empty(s)
    after = s.cell[i].colour
    s.box.is_open = before == after
    if before == Colour.RED:
        paint(s, 0, Colour.GREEN)
    else:
        paint(s, i, before)
    if s.cell[0].colour == Colour.GREEN:
        s.box.opened_at = s.now
    else:
        s.box.opened_at = LONG_AGO
    count_step(s)


@action()
def close(s: State, c: Constants) -> None:
    """Instants of different cuts, written from one another."""
    has_steps_left(s, c)
    require(s.now - s.box.closed_at >= c.cut, "it was not closed just now")
    s.box.closed_at = s.box.opened_at
    s.box.opened_at = s.now
    empty(s)
    s.total = sum(s.cell[i].number > 0 for i in range(c.most)) - (1 if s.cell[0].number > 0 else 0)
    for k in range(c.cells):
        s.box.link[k] = k if s.cell[k].colour == Colour.BLUE else NONE
    count_step(s)


@action()
def tick(s: State, c: Constants) -> None:
    """A write comes before the clock goes on."""
    has_steps_left(s, c)
    require(
        all(s.cell[i].number < c.most or s.cell[i].colour != Colour.RED for i in range(c.cells)), "none is full and red"
    )
    s.box.closed_at = s.box.opened_at
    count_step(s)
    s.now += 1


@always("X1", clause="never_blue_and_full", i=each("cells"))
def no_cell_is_blue_and_full(s: State, c: Constants, i: int) -> bool:
    """It is, after some steps."""
    return not (s.cell[i].colour == Colour.BLUE and s.cell[i].number == c.most)


AWKWARD = Machine(
    name="awkward",
    state=State,
    actions=tuple(
        declared_action(f)
        for f in (write_two_and_read, write_behind_a_link, shift, gather, call_in_the_middle, close, tick)
    ),
    clauses=(declared_always(no_cell_is_blue_and_full),),
    witnesses=(),
    switches=("turbo",),
)
