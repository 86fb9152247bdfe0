from __future__ import annotations

import random
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import pytest

from model_check.explicit.code_generation.packing import Packing, pack_machine
from model_check.instances import instance_names
from model_check.world import World
from spec.constants import FAULTS
from spec.language import (
    Bits,
    Kind,
    Machine,
    MachineState,
    Record,
    array_of,
    bits,
    clock,
    instant,
    maybe_index,
    number,
    record,
    records,
)
from spec.transactional_messages import TRANSACTIONAL_MESSAGES

if TYPE_CHECKING:
    from collections.abc import Sequence


@dataclass(frozen=True, kw_only=True)
class Sizes:
    many: int = 40
    few: int = 3
    none: int = 0
    wide: int = 63
    cut: int = 2
    horizon: int = 9


class Cell(Record):
    value: int = number(-5, 6)
    constant: int = number(4, 4)  # takes no bits


class Pair(Record):
    members: Bits = bits("few")
    places: list[int] = array_of(maybe_index("many"), "many")


class Odd(MachineState):
    """Arrays over several words, fields without bits, negative low ends, a set that fills its word."""

    now: int = clock()
    cell: Sequence[Cell] = records("many", Cell)
    pair: Pair = record(Pair)
    nothing: int = number(0, "none")
    everything: Bits = bits("wide")
    at: int = instant("cut")
    bit: int = number(0, 1)


ODD = Machine(name="odd", state=Odd, actions=(), clauses=(), witnesses=())


def random_values(packing: Packing, chance: random.Random) -> tuple[int, ...]:
    return tuple(chance.randint(slot.low, slot.high) for slot in packing.slots)


def test_any_state_in_range_survives_packing() -> None:
    packing = pack_machine(ODD, Sizes())
    chance = random.Random(7)
    for _ in range(300):
        values = random_values(packing, chance)
        assert packing.unpack(packing.pack(values)) == values


@pytest.mark.parametrize("instance", instance_names())
def test_any_state_of_each_instance_survives_packing(instance: str) -> None:
    packing = pack_machine(TRANSACTIONAL_MESSAGES, World.of("5.3.3", (), instance).constants)
    chance = random.Random(11)
    for _ in range(100):
        values = random_values(packing, chance)
        assert packing.unpack(packing.pack(values)) == values


def test_the_lowest_and_the_highest_state_survive_packing_with_bit_63_in_use() -> None:
    packing = pack_machine(ODD, Sizes())
    lowest, highest = (tuple(getattr(slot, end) for slot in packing.slots) for end in ("low", "high"))
    assert packing.unpack(packing.pack(lowest)) == lowest
    assert packing.unpack(packing.pack(highest)) == highest
    assert not packing.pack(lowest).any()
    assert (packing.pack(highest) < 0).any()


def test_no_bit_belongs_to_two_places_and_no_place_leaves_its_word() -> None:
    packing = pack_machine(ODD, Sizes())
    taken = [
        (place.word, place.shift + place.width * i + bit)
        for places in packing.places.values()
        for place in places
        for i in range(place.length)
        for bit in range(place.width)
    ]
    assert len(taken) == len(set(taken)) == packing.bits
    assert {word for word, _ in taken} == set(range(packing.words))
    assert all(0 <= bit < 64 for _, bit in taken)


@pytest.mark.parametrize("instance", ["tiny", "skewed", "pair"])
def test_no_fault_changes_how_states_are_packed(instance: str) -> None:
    """What is compiled for an instance serves all environments."""
    quiet = pack_machine(TRANSACTIONAL_MESSAGES, World.of("5.5.1", (), instance).constants)
    for fault in FAULTS:
        packing = pack_machine(TRANSACTIONAL_MESSAGES, World.of("5.5.1", (fault,), instance).constants)
        assert (fault, packing.places) == (fault, quiet.places)


def test_an_array_that_is_too_long_for_a_word_lies_in_several() -> None:
    packing = pack_machine(ODD, Sizes())
    parts = packing.places["pair", "places"]
    assert [(part.first, part.length, part.width) for part in parts] == [
        (0, 10, 6),
        (10, 10, 6),
        (20, 10, 6),
        (30, 10, 6),
    ]
    assert len({part.word for part in parts}) == 4


def test_fields_with_one_value_take_no_bits_and_the_clock_no_place() -> None:
    packing = pack_machine(ODD, Sizes())
    assert packing.places["nothing",][0].width == 0
    assert packing.places["cell", "constant"][0].width == 0
    assert ("now",) not in packing.places
    assert packing.unpack(packing.pack(tuple(slot.low for slot in packing.slots)))[0] == 9
    assert packing.slots[0].kind is Kind.CLOCK


def test_two_states_are_packed_alike_only_if_they_are_the_same() -> None:
    packing = pack_machine(ODD, Sizes())
    base = tuple(slot.low for slot in packing.slots)
    seen = {packing.pack(base).tobytes()}
    for position, slot in enumerate(packing.slots):
        if slot.low < slot.high:
            packed = packing.pack((*base[:position], slot.low + 1, *base[position + 1 :]))
            assert packed.dtype == np.int64
            seen.add(packed.tobytes())
    assert len(seen) == 1 + sum(slot.low < slot.high for slot in packing.slots)
