"""A queue that forgets what its cursor has passed: all kinds of references to places that are taken out."""

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
    array_of,
    bits,
    clock,
    count,
    declared_action,
    declared_always,
    each,
    flag,
    index,
    instant,
    maybe_index,
    one_of,
    position,
    record,
    records,
    remove,
    require,
)

if TYPE_CHECKING:
    from collections.abc import Sequence


@dataclass(frozen=True, kw_only=True)
class Constants:
    """Sizes."""

    cells: int = 3
    most: int = 2
    cut: int = 1
    forgets: int = 1

    @property
    def horizon(self) -> int:
        """No age reaches it."""
        return self.cut + 1


class Colour(IntEnum):
    """Two values."""

    RED = 0
    BLUE = 1


class Item(Record):
    """One of the queue."""

    colour: Colour = one_of(Colour)
    previous: int = maybe_index("cells")
    peers: Bits = bits("cells")
    put_at: int = instant("cut")


class Shadow(Record):
    """Another array of the same length."""

    casts: int = index("cells")
    shade: int = count("most")


class Desk(Record):
    """One of a kind, with arrays of its own."""

    cursor: int = position("cells")
    eye: int = position("cells")
    link: list[int] = array_of(maybe_index("cells"), "cells")
    marked: Bits = bits("cells")


class State(MachineState):
    """All of it."""

    now: int = clock()
    item: Sequence[Item] = records("cells", Item)
    shadow: Sequence[Shadow] = records("cells", Shadow)
    length: int = position("cells")
    latest: int = maybe_index("cells")
    desk: Desk = record(Desk)
    gone: int = count("most")
    is_bare: bool = flag()


def is_kept(s: State, c: Constants, i: int) -> bool:
    """It is marked, or what is marked refers to it."""
    return s.desk.marked.has(i) or any(s.desk.marked.has(k) and s.item[k].previous == i for k in range(c.cells))


def is_over(s: State, c: Constants, i: int) -> bool:
    """The cursor has passed it, and nothing keeps it."""
    return i < s.length and i < s.desk.cursor and not is_kept(s, c, i)


def take_out(s: State, c: Constants, i: int) -> None:
    """It is counted before it goes."""
    if s.gone < c.most:
        s.gone += 1
    remove(s.item, i)


def forget(s: State, c: Constants) -> None:
    """What is over, from the last on; a turn looks at what the one before it left."""
    if c.forgets == 1:
        for i in range(c.cells):
            if is_over(s, c, c.cells - 1 - i):
                take_out(s, c, c.cells - 1 - i)
            elif s.gone == c.most:
                s.gone = 1
        s.is_bare = s.length == 0


@action(i=each("cells"))
def put_red(s: State, c: Constants, i: int) -> None:
    """It refers to the one before it, and to one more."""
    require(s.length < c.cells, "there is room")
    require(i <= s.length, "it refers to what is there, or to itself")
    s.item[s.length].previous = s.latest
    s.item[s.length].peers = s.desk.marked | Bits.only(i)
    s.item[s.length].put_at = s.now
    s.shadow[s.length].casts = i
    s.shadow[s.length].shade = i
    s.desk.link[i] = s.length
    s.latest = s.length
    s.length += 1


@action()
def put_blue(s: State, c: Constants) -> None:
    """It refers to nothing."""
    require(s.length < c.cells, "there is room")
    s.item[s.length].colour = Colour.BLUE
    s.length += 1


@action()
def go_on(s: State, c: Constants) -> None:
    """The cursor passes one."""
    require(s.desk.cursor < s.length, "there is one")
    s.desk.cursor += 1


@action(i=each("cells"))
def mark(s: State, c: Constants, i: int) -> None:
    """It stays."""
    require(i < s.length, "it is there")
    require(not s.desk.marked.has(i), "it is not marked")
    s.desk.marked.add(i)
    s.desk.eye = i


@action()
def unmark(s: State, c: Constants) -> None:
    """They may go."""
    require(not s.desk.marked.is_empty(), "some are marked")
    require(s.latest != NONE, "something was put")
    s.desk.marked = Bits()


@action()
def tick(s: State, c: Constants) -> None:
    """Time passes."""
    s.now += 1


@always("Y1", clause="no_blue_one_goes", i=each("cells"))
def no_blue_one_goes(s: State, c: Constants, i: int) -> bool:
    """False of what a step reaches only: it is forgotten at once."""
    return not (is_over(s, c, i) and s.item[i].colour == Colour.BLUE)


FORGETFUL = Machine(
    name="forgetful",
    state=State,
    actions=tuple(declared_action(f) for f in (put_red, put_blue, go_on, mark, unmark, tick)),
    clauses=(declared_always(no_blue_one_goes),),
    witnesses=(),
    forget=forget,
)
