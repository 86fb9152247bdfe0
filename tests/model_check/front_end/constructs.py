"""A machine with one small action for each construct of the language."""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum
from typing import TYPE_CHECKING, Any

from spec.language import (
    NONE,
    Bits,
    Machine,
    MachineState,
    Record,
    action,
    always,
    array_of,
    assume,
    bits,
    clock,
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
    within,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence


@dataclass(frozen=True, kw_only=True)
class Sizes:
    places: int = 3
    cut: int = 3
    horizon: int = 4
    switch: bool = False


class Colour(IntEnum):
    RED = 0
    GREEN = 1
    BLUE = 2


class Cell(Record):
    value: int = number(-2, 3)
    members: Bits = bits("places")
    at: int = instant("cut")


class Box(Record):
    first: int = maybe_index("places")
    numbers: list[int] = array_of(number(0, 3), "places")


class State(MachineState):
    now: int = clock()
    a: int = number(0, 3)
    b: int = number(-1, 3)
    place: int = index("places")
    is_on: bool = flag()
    colour: Colour = one_of(Colour)
    left: Bits = bits("places")
    right: Bits = bits("places")
    cell: Sequence[Cell] = records("places", Cell)
    box: Box = record(Box)


def add_in_range(s: State, c: Sizes) -> None:
    require(s.a + s.b <= 3 and s.a + s.b >= 0, "the sum is in range")
    s.a += s.b


def subtract_negative_literal(s: State, c: Sizes) -> None:
    require(s.b < 3, "there is room")
    s.b -= -1


def may_leave_its_range(s: State, c: Sizes) -> None:
    s.a = s.a + s.box.numbers[0] - 1


def wraps_to_the_lowest(s: State, c: Sizes) -> None:
    s.cell[s.place].value = -2 if s.cell[s.place].value == 3 else s.cell[s.place].value + 1


def names_values_before_writes(s: State, c: Sizes) -> None:
    before = s.a
    other = s.box.numbers[1]
    s.a = other
    s.box.numbers[1] = before


def names_between_conjuncts(s: State, c: Sizes) -> None:
    require(s.is_on, "it is on")
    target = s.place
    require(s.box.numbers[target] == 1, "there is a one")
    s.box.numbers[target] = 2


def name_in_a_branch(s: State, c: Sizes) -> None:
    if s.is_on:
        x = s.a
        s.a = 0
        s.box.numbers[0] = x
    else:
        x = s.box.numbers[2]
        s.box.numbers[0] = x


def nested_branches(s: State, c: Sizes) -> None:
    if s.a == 0:
        if s.is_on:
            s.a = 1
        elif s.left.is_empty():
            s.a = 2
        else:
            s.a = 3
    elif s.colour == Colour.BLUE:
        s.colour = Colour.RED


def unrolled_loop(s: State, c: Sizes) -> None:
    for i in range(c.places):
        found = s.box.numbers[i]
        if found == 3 and s.a < 3:
            s.a += 1
            s.cell[i].members.add(i)


def nested_loops(s: State, c: Sizes) -> None:
    for i in range(c.places):
        for j in range(i, c.places):
            if s.left.has(i) and s.right.has(j):
                s.cell[i].members.add(j)


def loop_over_a_part(s: State, c: Sizes) -> None:
    for i in range(1, c.places):
        s.box.numbers[i - 1] = s.box.numbers[i]


def set_operations(s: State, c: Sizes) -> None:
    both = s.left | s.right
    s.left = both - s.cell[s.place].members
    s.right = Bits.only(s.place) | (both if s.is_on else Bits())


def constant_sets(s: State, c: Sizes) -> None:
    s.left = Bits.only(1) - Bits.only(0)
    s.right = Bits()


def add_and_discard(s: State, c: Sizes) -> None:
    s.left.add(s.place)
    s.right.discard(s.place)
    s.cell[s.place].members.discard(0)


def compares_sets(s: State, c: Sizes) -> None:
    s.is_on = s.left == s.right or s.left != s.cell[0].members


def a_set_is_a_value(s: State, c: Sizes) -> None:
    before = s.left
    s.left.add(0)
    s.is_on = before.has(0)


def has_of_nothing(s: State, c: Sizes) -> None:
    s.is_on = s.left.has(s.b)


def any_all_and_sum(s: State, c: Sizes) -> None:
    s.a = sum(s.box.numbers[i] == 1 for i in range(c.places))
    s.is_on = any(s.left.has(i) for i in range(c.places)) and not all(s.right.has(i) for i in range(c.places))


def set_of_the_places_where(s: State, c: Sizes) -> None:
    s.left = Bits.of(i for i in range(c.places) if s.right.has(i) or s.box.numbers[i] == 1)
    s.right = Bits.of(i for i in range(1, c.places) if s.left.has(i - 1)) | s.cell[0].members


def a_comparison_is_compared(s: State, c: Sizes) -> None:
    require((s.a == 1) == (s.b == 2), "both or none")
    require(s.a == 1 or s.is_on, "one of them")
    s.is_on = s.b == 2


def sum_of_flags(s: State, c: Sizes) -> None:
    s.a = sum(s.left.has(i) or s.is_on for i in range(c.places))


def lazy_and_guards_an_index(s: State, c: Sizes) -> None:
    s.is_on = s.b != NONE and s.b < 3 and s.box.numbers[s.b] == 1


def lazy_or_guards_an_index(s: State, c: Sizes) -> None:
    s.is_on = s.b == NONE or s.b == 3 or s.box.numbers[s.b] == 1


def lazy_if_guards_an_index(s: State, c: Sizes) -> None:
    s.a = s.box.numbers[s.b] if s.b >= 0 and s.b < c.places else 0


def previous_place(s: State, c: Sizes, p: int) -> None:
    require(p == 0 or s.box.numbers[p - 1] == 2, "it is the first, or the one before is two")
    s.place = p


def next_place(s: State, c: Sizes, p: int) -> None:
    require(p + 1 < c.places, "there is a next place")
    s.box.numbers[p + 1] = s.box.numbers[p]


def assumes_and_stays_within(s: State, c: Sizes) -> None:
    assume(c.switch or s.a == 1, "the switch is on")
    within(s.b < 2, "there is room")
    s.b += 1


def the_clock_goes_on(s: State, c: Sizes) -> None:
    s.now += 1


def marks_the_time(s: State, c: Sizes) -> None:
    require(s.now - s.cell[s.place].at >= 2, "it is old")
    s.cell[s.place].at = s.now


def copies_the_time(s: State, c: Sizes) -> None:
    s.cell[0].at = s.cell[1].at


def overwrite(s: State, value: int) -> None:
    s.a = 0
    s.box.numbers[0] = value
    s.a = value


def passes_by_value(s: State, c: Sizes) -> None:
    overwrite(s, s.a)


def passes_a_sum_by_value(s: State, c: Sizes) -> None:
    require(s.a < 3, "there is room")
    overwrite(s, s.a + 1)


def overwrite_at(s: State, place: int) -> None:
    s.place = 0
    s.cell[place].value = 1


def passes_an_index_by_value(s: State, c: Sizes) -> None:
    overwrite_at(s, s.place)


def grade(s: State, c: Sizes, p: int) -> int:
    if s.box.numbers[p] == 0:
        return 3
    twice = s.box.numbers[p] + s.box.numbers[p]
    if twice > 3:
        return 0
    return twice


def default_and_override(s: State, c: Sizes) -> int:
    x = 0
    if s.is_on:
        x = 2
    return x


def early_returns(s: State, c: Sizes, p: int) -> None:
    s.a = grade(s, c, p)


def a_name_that_is_overridden_in_a_value(s: State, c: Sizes) -> None:
    s.a = default_and_override(s, c)


def constant_branches(s: State, c: Sizes) -> None:
    if c.places == 3:
        require(s.a == 1, "a is one")
    x = 2 if c.places == 3 else s.box.numbers[7]
    s.a = x


def enumerations(s: State, c: Sizes) -> None:
    s.colour = Colour.GREEN if s.colour == Colour.RED or s.colour == Colour.BLUE else Colour.BLUE


def chained_comparisons(s: State, c: Sizes) -> None:
    require(0 <= s.b <= s.a < 3, "b and a are in order")
    s.is_on = s.left == s.right == s.cell[0].members or -1 < s.cell[0].value < s.a != 2


def a_chain_guards_an_index(s: State, c: Sizes) -> None:
    s.is_on = NONE < s.b < c.places != s.box.numbers[s.b if 0 <= s.b < 3 else 0]


def one_of_some(s: State, c: Sizes) -> None:
    require(s.colour in (Colour.RED, Colour.BLUE), "it is not green")
    s.is_on = s.b not in (NONE, 1, c.places) or s.a in (2, 0)


def least_and_greatest(s: State, c: Sizes) -> None:
    s.a = min(s.a + s.box.numbers[0], 3)
    s.b = max(min(s.cell[s.place].value, -1 + s.a), NONE)


def several_branches(s: State, c: Sizes) -> None:
    if s.colour == Colour.RED:
        s.a = 0
    elif s.colour == Colour.GREEN and not s.is_on:
        overwrite(s, min(s.a, 2))
    elif 0 < s.b <= 2:
        overwrite_at(s, s.b)
    else:
        s.place = 0


def writes_at_a_place_that_may_not_be(s: State, c: Sizes) -> None:
    s.box.numbers[s.b] = 2


def writes_a_record_that_may_not_be(s: State, c: Sizes) -> None:
    s.cell[s.b].value = 1


def adds_a_member_that_may_not_be(s: State, c: Sizes) -> None:
    s.left.add(s.a)


def adds_a_member_that_may_be_absent(s: State, c: Sizes) -> None:
    s.left.add(s.box.first)


def sets_a_member_that_may_be_absent(s: State, c: Sizes) -> None:
    s.left = Bits.only(s.box.first) | s.right


PLACED = (previous_place, next_place, early_returns)
ACTIONS: tuple[Callable[..., None], ...] = (
    add_in_range,
    subtract_negative_literal,
    may_leave_its_range,
    wraps_to_the_lowest,
    names_values_before_writes,
    names_between_conjuncts,
    name_in_a_branch,
    nested_branches,
    unrolled_loop,
    nested_loops,
    loop_over_a_part,
    set_operations,
    constant_sets,
    add_and_discard,
    compares_sets,
    a_set_is_a_value,
    has_of_nothing,
    any_all_and_sum,
    set_of_the_places_where,
    a_comparison_is_compared,
    sum_of_flags,
    lazy_and_guards_an_index,
    lazy_or_guards_an_index,
    lazy_if_guards_an_index,
    previous_place,
    next_place,
    assumes_and_stays_within,
    the_clock_goes_on,
    marks_the_time,
    copies_the_time,
    passes_by_value,
    passes_a_sum_by_value,
    passes_an_index_by_value,
    early_returns,
    a_name_that_is_overridden_in_a_value,
    constant_branches,
    enumerations,
    chained_comparisons,
    a_chain_guards_an_index,
    one_of_some,
    least_and_greatest,
    several_branches,
    writes_at_a_place_that_may_not_be,
    writes_a_record_that_may_not_be,
    adds_a_member_that_may_not_be,
    adds_a_member_that_may_be_absent,
    sets_a_member_that_may_be_absent,
)


@always("P1", clause="numbers", p=each("places"))
def a_clause_with_a_parameter(s: State, c: Sizes, p: int) -> bool:
    """Some sentence."""
    return s.box.numbers[p] < 3 or s.left.has(p)


@sometimes("P1", p=each("places"))
def a_witness_with_a_parameter(s: State, c: Sizes, p: int) -> bool:
    """Some sentence."""
    return s.box.numbers[p] == s.a and not s.is_on


def machine_of(*functions: Callable[..., Any]) -> Machine:
    """A machine with these actions."""
    for function in functions:
        declare = action(p=each("places")) if function in PLACED else action()
        declare(function)
    return Machine(
        name="_".join(function.__name__ for function in functions[:3]),
        state=State,
        actions=tuple(declared_action(function) for function in functions),
        clauses=(declared_always(a_clause_with_a_parameter),),
        witnesses=(declared_sometimes(a_witness_with_a_parameter),),
        switches=("switch",),
    )
