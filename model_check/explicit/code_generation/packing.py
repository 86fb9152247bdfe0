"""The layout of a packed state: the place of each field in a record of 64-bit words, and the width of all.

A field takes as many bits as its range needs, and is stored as its distance from the range's low end. An array stays
within a word where it fits, so that a place is found by one shift.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from spec.language import Kind, Machine, Slot, slots_of_fields, widest_layout

WORD_BITS = 64
Path = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class PackedPlace:
    """A field, or the part of an array that lies in one word."""

    word: int
    shift: int  # the lowest bit of element `first`
    width: int  # bits an element
    first: int  # which elements of the array lie here; (0, 1) for a field that is no array
    length: int
    low: int  # the declared range of an element
    high: int


@dataclass(frozen=True)
class Packing:
    """The places of all fields of a machine in one instance."""

    words: int  # words a state
    # of each field, in the order of its elements; the clock, the same in every canonical state, is left out
    places: dict[Path, tuple[PackedPlace, ...]]
    slots: tuple[Slot, ...]  # the unpacked layout, with the widest ranges that the switches give
    clock: int

    @property
    def bits(self) -> int:
        """Bits a state, without the unused ones of each word."""
        return sum(place.width * place.length for places in self.places.values() for place in places)

    @property
    def fits_into_a_slot(self) -> bool:
        """Whether a word has room for the state, and for a bit to tell it from an empty slot."""
        return self.words == 1 and self.bits < WORD_BITS

    def pack(self, values: tuple[int, ...]) -> npt.NDArray[np.int64]:
        """A canonical state as words, shape (words,)."""
        words = [0] * self.words
        for slot, (word, shift, _, low), value in zip(self.slots, self.cells, values, strict=True):
            if slot.kind is not Kind.CLOCK:
                words[word] |= (value - low) << shift
        return np.array(words, dtype=np.uint64).view(np.int64)

    def unpack(self, words: npt.NDArray[np.int64]) -> tuple[int, ...]:
        """The canonical state that the words, shape (words,), stand for."""
        unsigned = [int(word) for word in words.view(np.uint64)]
        return tuple((unsigned[word] >> shift & mask) + low for word, shift, mask, low in self.cells)

    def column(self, label: str, states: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
        """The field of this label in packed states, shape (count, words)."""
        slots = [slot.label for slot in self.slots]
        word, shift, mask, low = self.cells[slots.index(label)]
        found: npt.NDArray[np.int64] = (states[:, word] >> shift & mask) + low
        return found

    @cached_property
    def cells(self) -> tuple[tuple[int, int, int, int], ...]:
        """For each slot its word, the shift in it, the mask of its width, and the value that 0 stands for."""
        cells = []
        for slot in self.slots:
            if slot.kind is Kind.CLOCK:
                cells.append((0, 0, 0, slot.low))  # it takes no bits
            else:
                index = slot.index or 0
                place = next(p for p in self.places[slot.path] if p.first <= index < p.first + p.length)
                shift = place.shift + place.width * (index - place.first)
                cells.append((place.word, shift, (1 << place.width) - 1, place.low))
        return tuple(cells)


def pack_machine(machine: Machine, constants: object) -> Packing:
    """Lay the fields out: widest arrays first, each into the first word with room.

    The switches in `constants` do not matter.
    """
    slots = widest_layout(machine.state, constants)
    arrays: dict[Path, list[Slot]] = {path: [] for path, own in slots_of_fields(machine.state, constants) if not own}
    clock = 0
    for slot in slots:
        if slot.kind is Kind.CLOCK:
            clock = slot.low
        else:
            arrays.setdefault(slot.path, []).append(slot)
    pieces: list[tuple[int, int, Path, int, int]] = []
    for order, (path, members) in enumerate(arrays.items()):
        if not members:
            continue
        width = (members[0].high - members[0].low).bit_length()
        most = WORD_BITS // width if width else len(members)
        for first in range(0, len(members), most):
            length = min(most, len(members) - first)
            pieces.append((-width * length, order, path, first, length))
    free: list[int] = []
    places: dict[Path, list[PackedPlace]] = {path: [] for path in arrays}
    for negative_size, _, path, first, length in sorted(pieces):
        size, slot = -negative_size, arrays[path][0]
        word = next((w for w, left in enumerate(free) if left >= size), len(free))
        if word == len(free):
            free.append(WORD_BITS)
        width = (slot.high - slot.low).bit_length()
        places[path].append(PackedPlace(word, WORD_BITS - free[word], width, first, length, slot.low, slot.high))
        free[word] -= size
    ordered = {path: tuple(sorted(parts, key=lambda p: p.first)) for path, parts in places.items()}
    return Packing(max(len(free), 1), ordered, slots, clock)


# --- width ------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class FieldWidth:
    """One field: its values, its elements, its bits in all."""

    name: str
    low: int
    high: int
    elements: int
    bits: int


@dataclass(frozen=True, slots=True)
class StateWidth:
    """The width of a machine's states in one instance."""

    fields: tuple[FieldWidth, ...]  # the widest first
    words: int  # 64-bit words a state
    steps: int  # actions with their parameters chosen, each tried on every state

    @property
    def bits(self) -> int:
        """Bits of all fields."""
        return sum(field.bits for field in self.fields)

    @property
    def unused(self) -> int:
        """Bits of the words that no field takes."""
        return self.words * WORD_BITS - self.bits

    def to_json(self) -> dict[str, Any]:
        """The width as plain data."""
        return {
            "bits": self.bits,
            "words": self.words,
            "unused_bits": self.unused,
            "steps": self.steps,
            "fields": {
                field.name: {"low": field.low, "high": field.high, "elements": field.elements, "bits": field.bits}
                for field in self.fields
            },
        }


def state_width(machine: Machine, constants: object) -> StateWidth:
    """Measure the packed state of a machine in an instance; nothing is compiled."""
    packing = pack_machine(machine, constants)
    fields = [
        FieldWidth(
            ".".join(path),
            places[0].low,
            places[0].high,
            sum(place.length for place in places),
            sum(place.length * place.width for place in places),
        )
        for path, places in packing.places.items()
        if places
    ]
    widest_first = sorted(fields, key=lambda field: (-field.bits, field.name))
    return StateWidth(tuple(widest_first), packing.words, len(machine.steps(constants)))
