"""Every write is checked against its field's declared range, and every index against its array."""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum
from typing import TYPE_CHECKING, Any

import pytest

from model_check.world import World
from spec.language import (
    NONE,
    Bits,
    Kind,
    MachineState,
    RangeViolation,
    Record,
    SpecificationError,
    array_of,
    bits,
    clock,
    count,
    flag,
    index,
    instant,
    layout,
    maybe_count,
    maybe_index,
    number,
    one_of,
    record,
    records,
)
from spec.transactional_messages import TRANSACTIONAL_MESSAGES

if TYPE_CHECKING:
    from collections.abc import Sequence


@dataclass(frozen=True, kw_only=True)
class Sizes:
    places: int = 3
    most: int = 4
    cut: int = 2
    horizon: int = 5


class Colour(IntEnum):
    RED = 0
    GREEN = 1


class Cell(Record):
    value: int = number(-2, 2)


class State(MachineState):
    now: int = clock()
    some_number: int = number(1, 3)
    some_count: int = count("most")
    some_maybe_count: int = maybe_count("most")
    some_index: int = index("places")
    some_maybe_index: int = maybe_index("places")
    some_flag: bool = flag()
    colour: Any = one_of(Colour)
    chosen: Bits = bits("places")
    at: int = instant("cut")
    numbers: list[int] = array_of(number(0, 7), "places")
    cell: Sequence[Cell] = records("places", Cell)
    one: Cell = record(Cell)


RANGES = {
    "some_number": (1, 3),
    "some_count": (0, 4),
    "some_maybe_count": (-1, 4),
    "some_index": (0, 2),
    "some_maybe_index": (-1, 2),
    "some_flag": (0, 1),
    "colour": (0, 1),
}


@pytest.mark.parametrize(("field", "low", "high"), [(k, *v) for k, v in RANGES.items()])
def test_a_number_outside_its_range_is_refused_by_the_name_of_its_field(field: str, low: int, high: int) -> None:
    state = State(Sizes())
    assert getattr(state, field) == low, "the initial value is the lowest"
    for value in range(low, high + 1):
        setattr(state, field, value)
        assert getattr(state, field) == value
    for value in (low - 1, high + 1):
        with pytest.raises(RangeViolation, match=rf"^{field} = {value}: declared range is {low}\.\.{high}$"):
            setattr(state, field, value)
    assert getattr(state, field) == high, "a refused write changes nothing"


def test_a_set_takes_only_the_places_of_its_array() -> None:
    state = State(Sizes())
    state.chosen.add(2)
    assert list(state.chosen) == [2]
    with pytest.raises(RangeViolation, match=r"^chosen = 12: declared range is 0\.\.7$"):
        state.chosen.add(3)
    with pytest.raises(RangeViolation, match=r"^chosen = 8: declared range is 0\.\.7$"):
        state.chosen = Bits.only(3)
    with pytest.raises(SpecificationError, match="a member of a set is a place, not -1"):
        state.chosen.add(NONE)
    with pytest.raises(SpecificationError, match="a member of a set is a place, not -1"):
        state.chosen.discard(NONE)
    with pytest.raises(SpecificationError, match="a member of a set is a place, not -1"):
        Bits.only(NONE)


def test_an_instant_is_never_negative_and_may_be_of_any_age() -> None:
    state = State(Sizes())
    state.at = 1_000_000
    with pytest.raises(RangeViolation, match=r"^at = -1: an instant is never negative$"):
        state.at = -1
    with pytest.raises(RangeViolation, match=r"^now = -1: an instant is never negative$"):
        state.now = -1


@pytest.mark.parametrize("place", [-1, 3])
def test_an_index_outside_its_array_is_refused_for_reading_and_writing(place: int) -> None:
    state = State(Sizes())
    with pytest.raises(RangeViolation, match=rf"^numbers\[{place}\]: there are 3 places$"):
        _ = state.numbers[place]
    with pytest.raises(RangeViolation, match=rf"^numbers\[{place}\]: there are 3 places$"):
        state.numbers[place] = 1
    with pytest.raises(RangeViolation, match=rf"^record {place}: there are 3 places$"):
        _ = state.cell[place].value
    with pytest.raises(RangeViolation, match=rf"^record {place}: there are 3 places$"):
        state.cell[place].value = 1


def test_elements_have_ranges_too_and_are_named_with_their_index() -> None:
    state = State(Sizes())
    with pytest.raises(RangeViolation, match=r"^numbers\[2\] = 8: declared range is 0\.\.7$"):
        state.numbers[2] = 8
    with pytest.raises(RangeViolation, match=r"^cell\[1\]\.value = 3: declared range is -2\.\.2$"):
        state.cell[1].value = 3
    with pytest.raises(RangeViolation, match=r"^one\.value = -3: declared range is -2\.\.2$"):
        state.one.value = -3


def test_every_slot_of_the_protocol_refuses_what_lies_beside_its_range() -> None:
    constants = World.of("5.3.3", (), "small").constants
    state = TRANSACTIONAL_MESSAGES.initial(constants)
    for position, slot in enumerate(state.memory.slots):
        is_time = slot.kind in (Kind.INSTANT, Kind.CLOCK)
        for value in (-1,) if is_time else (slot.low - 1, slot.high + 1):
            with pytest.raises(RangeViolation) as caught:
                state.memory.write(position, value)
            assert str(caught.value).startswith(f"{slot.label} = {value}: ")


def test_a_set_that_is_no_field_cannot_be_changed() -> None:
    with pytest.raises(SpecificationError, match="only a set that is a field"):
        Bits.only(1).add(2)
    with pytest.raises(SpecificationError, match="only a set that is a field"):
        Bits.only(1).discard(1)


def test_sets_are_values() -> None:
    state = State(Sizes())
    before = state.chosen
    state.chosen.add(1)
    assert list(before) == []
    assert list(state.chosen | Bits.only(0)) == [0, 1]
    assert list((state.chosen | Bits.only(0)) - Bits.only(1)) == [0]
    assert state.chosen == Bits.only(1)
    assert hash(state.chosen) == hash(Bits.only(1))
    assert not state.chosen.has(NONE)


def test_states_of_one_instance_share_no_value() -> None:
    one, other, small = State(Sizes()), State(Sizes()), State(Sizes(places=1))
    one.numbers[2] = 7
    one.cell[2].value = 2
    assert (other.numbers[2], other.cell[2].value, len(small.numbers), len(small.cell)) == (0, -2, 1, 1)


def test_a_declaration_that_makes_no_sense_in_an_instance_is_refused() -> None:
    with pytest.raises(SpecificationError, match=r"^at: ages are cut at 5, but the horizon is 5$"):
        layout(State, Sizes(cut=5))
    with pytest.raises(SpecificationError, match=r"^some_index: the range 0\.\.-1 is empty in this instance$"):
        layout(State, Sizes(places=0))


@pytest.mark.parametrize("name", ["members", "fields", "memory", "positions", "horizon", "canonical", "load", "show"])
def test_a_field_cannot_take_a_name_that_the_language_uses(name: str) -> None:
    with pytest.raises(SpecificationError, match=rf"^Mine\.{name}: the name is taken by the language$"):
        type("Mine", (MachineState,), {name: flag()})


def test_a_state_shows_values_as_a_reader_writes_them() -> None:
    state = State(Sizes())
    state.chosen.add(0)
    state.chosen.add(2)
    state.some_flag = True
    state.colour = Colour.GREEN
    state.at = state.now
    assert state.show() == {
        "some_number": "1",
        "some_count": "0",
        "some_maybe_count": "-",
        "some_index": "0",
        "some_maybe_index": "-",
        "some_flag": "yes",
        "colour": "green",
        "chosen": "{0, 2}",
        "at": "tick 0",
        **{f"numbers[{i}]": "0" for i in range(3)},
        **{f"cell[{i}].value": "-2" for i in range(3)},
        "one.value": "-2",
    }
