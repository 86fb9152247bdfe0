"""A small machine with steps that leave a declared range, each in a way of its own and behind a switch of its own."""

from __future__ import annotations

from dataclasses import dataclass

from spec.language import (
    Bits,
    Machine,
    MachineState,
    action,
    always,
    array_of,
    assume,
    bits,
    declared_action,
    declared_always,
    declared_sometimes,
    maybe_index,
    number,
    require,
    sometimes,
)


@dataclass(frozen=True, kw_only=True)
class Sizes:
    places: int = 3
    counts: bool = False
    writes_beside: bool = False
    writes_at_absent: bool = False
    adds_absent: bool = False


class State(MachineState):
    steps: int = number(0, 6)
    place: int = maybe_index("places")
    chosen: Bits = bits("places")
    numbers: list[int] = array_of(number(0, 3), "places")


@action()
def go_on(s: State, c: Sizes) -> None:
    require(s.steps < 4, "there are steps left")
    s.steps += 1


@action()
def count_too_far(s: State, c: Sizes) -> None:
    assume(c.counts, "this step is not taken")
    require(s.steps == 3, "three steps are made")
    s.numbers[1] = s.numbers[1] + s.steps + 1


@action()
def write_beside_the_array(s: State, c: Sizes) -> None:
    assume(c.writes_beside, "this step is not taken")
    require(s.steps == 3, "three steps are made")
    s.numbers[s.steps] = 1


@action()
def write_at_an_absent_place(s: State, c: Sizes) -> None:
    assume(c.writes_at_absent, "this step is not taken")
    require(s.steps == 3, "three steps are made")
    s.numbers[s.place] = 1


@action()
def add_an_absent_member(s: State, c: Sizes) -> None:
    assume(c.adds_absent, "this step is not taken")
    require(s.steps == 3, "three steps are made")
    s.chosen.add(s.place)


@always("P1", clause="few_steps")
def few_steps(s: State, c: Sizes) -> bool:
    """Fewer than four steps are made."""
    return s.steps < 4


@sometimes("P1")
def some_steps(s: State, c: Sizes) -> bool:
    """Three steps are made."""
    return s.steps == 3


BROKEN = {
    "counts": "count_too_far: numbers[1] = 4: declared range is 0..3",
    "writes_beside": "write_beside_the_array: numbers[3]: there are 3 places",
    "writes_at_absent": "write_at_an_absent_place: numbers[-1]: there are 3 places",
    "adds_absent": "add_an_absent_member: a member of a set is a place, not -1",
}
"""Switch → what the search must say when it is on."""

MACHINE = Machine(
    name="broken",
    state=State,
    actions=tuple(
        declared_action(f)
        for f in (go_on, count_too_far, write_beside_the_array, write_at_an_absent_place, add_an_absent_member)
    ),
    clauses=(declared_always(few_steps),),
    witnesses=(declared_sometimes(some_steps),),
    switches=tuple(BROKEN),
)
