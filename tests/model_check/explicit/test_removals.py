"""What is forgotten by machine code, whole words of up to 64 states at a time, is what is forgotten field by field."""

from __future__ import annotations

import random
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import pytest

from spec.language import Bits, Machine, SpecificationError, remove
from tests.model_check.emitted import Values, emitted
from tests.model_check.tla.forgetful_machine import FORGETFUL, Colour, Constants, State

if TYPE_CHECKING:
    from collections.abc import Callable

pytestmark = pytest.mark.untraced


def take_out_the_marked(s: State, c: Constants) -> None:
    """All that are marked, and nothing else."""
    for i in range(c.cells):
        if s.desk.marked.has(c.cells - 1 - i):
            remove(s.item, c.cells - 1 - i)


def take_out_by_a_name(s: State, c: Constants) -> None:
    """What is marked and passed is decided of all states at once; then some is noted, without and with a range."""
    passed = s.desk.marked - s.item[0].peers
    before = s.desk.cursor - s.desk.eye
    if not passed.is_empty() and s.length < c.cells:
        if before < 0:
            s.is_bare = True
        if s.gone < c.most:
            s.gone += 1
        for i in range(c.cells):
            if passed.has(c.cells - 1 - i):
                remove(s.item, c.cells - 1 - i)


def take_out_where_the_cursor_is(s: State, c: Constants) -> None:
    """It takes an index that differs from state to state to decide."""
    if s.desk.cursor < c.cells and s.item[s.desk.cursor].previous == s.latest:
        remove(s.item, 0)


@dataclass(frozen=True, kw_only=True)
class Switched(Constants):
    """With switches, which the specification asks to decide what goes."""

    keeps_latest: bool = False
    keeps_blue: bool = False


SWITCHES = ("keeps_latest", "keeps_blue")


def take_out_what_no_switch_keeps(s: State, c: Switched) -> None:
    """One switch or the other may be on, or none, for which there is code of its own."""
    kept = Bits.of(
        i
        for i in range(c.cells)
        if (c.keeps_latest and s.latest == i) or (c.keeps_blue and s.item[i].colour == Colour.BLUE)
    )
    gone = s.desk.marked - kept
    if not gone.is_empty():
        for i in range(c.cells):
            if gone.has(c.cells - 1 - i):
                remove(s.item, c.cells - 1 - i)


def count_too_many(s: State, c: Constants) -> None:
    """In a state that is bare and has counted to the end, the count leaves its range; in others it would only there."""
    some = s.desk.marked
    if not some.is_empty():
        if some.has(0) and s.is_bare:
            s.gone += 1
        elif s.gone < c.most:
            s.gone += 1
            s.shadow[0].shade = s.gone
        if some.has(1):
            remove(s.item, 1)


FORGETTING = [FORGETFUL.forget, take_out_the_marked, take_out_by_a_name, take_out_where_the_cursor_is]


def random_states(machine: Machine, constants: Constants, count: int) -> list[Values]:
    chance = random.Random(count)
    slots = machine.initial(constants).memory.slots
    return [tuple(chance.randint(slot.low, slot.high) for slot in slots) for _ in range(count)]


@pytest.mark.parametrize("cells", [2, 3, 8, 12, 16, 23, 40])
@pytest.mark.parametrize("forget", FORGETTING, ids=lambda f: f.__name__)
@pytest.mark.parametrize("counts", [(1, 64, 65), pytest.param((63, 200), marks=pytest.mark.sweep)], ids=str)
def test_machine_code_forgets_what_the_slow_engine_forgets(
    forget: Callable[..., None], cells: int, counts: tuple[int, ...]
) -> None:
    """Numbers of 8, 16, 32 and 64 bits, arrays over several words, and references at the end of a word."""
    machine, constants = replace(FORGETFUL, forget=forget), Constants(cells=cells)
    code, state = emitted(machine, constants), machine.initial(constants)
    for count in counts:
        states = random_states(machine, constants, count)
        expected = [machine.forgotten(state, constants, values) for values in states]
        left, were = code.forgotten(states)
        assert left == expected
        changed = [values for values, after in zip(states, expected, strict=True) if values != after]
        assert [values for values in were if values in changed] == changed


@pytest.mark.parametrize("on", [(), ("keeps_latest",), ("keeps_blue",), SWITCHES], ids=str)
def test_what_switches_keep_stays(on: tuple[str, ...]) -> None:
    machine = replace(FORGETFUL, forget=take_out_what_no_switch_keeps, switches=SWITCHES)
    constants = Switched(cells=4, **dict.fromkeys(on, True))
    states = random_states(machine, constants, 150)
    state = machine.initial(constants)
    expected = [machine.forgotten(state, constants, values) for values in states]
    assert emitted(machine, constants).forgotten(states)[0] == expected
    assert expected != [machine.forgotten(state, Switched(cells=4), values) for values in states] or not on


@pytest.mark.parametrize("count", [1, 8, 13, 64, 77])
def test_a_value_that_leaves_its_range_is_noticed_in_whichever_state(count: int) -> None:
    machine, constants = replace(FORGETFUL, forget=count_too_many), Constants(cells=3)
    code, state = emitted(machine, constants), machine.initial(constants)
    within: list[Values] = []
    beyond: list[Values] = []
    left: list[Values] = []
    for values in random_states(machine, constants, 500):
        try:
            after = machine.forgotten(state, constants, values)
        except SpecificationError:
            beyond.append(values)
        else:
            within.append(values)
            left.append(after)
    assert code.forgotten(within[:count])[0] == left[:count]
    for at in range(count):
        with pytest.raises(OverflowError):
            code.forgotten([*within[:at], beyond[at % len(beyond)], *within[at + 1 : count]])
