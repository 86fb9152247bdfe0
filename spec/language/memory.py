"""How the CPython engine holds a state: a flat list of integers, and the views by which actions read and write it.

What a field is and what it may hold is declared in `fields` and `state`, and the other engines know only that. So this
file decides nothing of what a table of verdicts says, and is no part of the specification's fingerprint.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from math import inf
from types import FunctionType
from typing import Any, cast

from spec.language.fields import Bits, Field, Kind, RangeViolation, Record, Slot

_OF_TIME = frozenset({Kind.INSTANT, Kind.CLOCK})


@dataclass(frozen=True, slots=True)
class Places:
    """A record class, and the first position of each of its fields; -1 for an array of no places."""

    kind: type[Record]
    positions: tuple[int, ...]


class Arrangement:
    """Where everything lies: the same for all states of an instance.

    Attributes
    ----------
    slots : tuple of Slot
        What each integer is.
    lengths : mapping
        The first position of an array field to its length.
    ranges : list of (low, high)
        What may be written to each slot; an instant has a range in canonical states only.
    instants : list of (position, low, high)
        With the ranges of canonical states.
    clock : int or None
        Its position.
    members : mapping
        The name of a member of the state to the places of its record, or of each record of its array.
    """

    def __init__(self, slots: tuple[Slot, ...], members: dict[str, Places | list[Places]]) -> None:
        self.slots = slots
        self.members = members
        self.ranges = [(0, inf) if slot.kind in _OF_TIME else (slot.low, slot.high) for slot in slots]
        self.instants = [(p, slot.low, slot.high) for p, slot in enumerate(slots) if slot.kind is Kind.INSTANT]
        self.clock = next((p for p, slot in enumerate(slots) if slot.kind is Kind.CLOCK), None)
        self.lengths: dict[int, int] = {}
        first: dict[tuple[str, ...], int] = {}
        for position, slot in enumerate(slots):
            start = first.setdefault(slot.path, position)
            self.lengths[start] = self.lengths.get(start, 0) + 1
        self._lows = [slot.low for slot in slots]
        self._arrays: dict[str, list[range]] = {}
        self._referring: dict[str, list[tuple[int, Slot]]] = {}
        for position, slot in enumerate(slots):
            if slot.array is not None and slot.index == 0:
                self._arrays.setdefault(slot.array, []).append(range(position, position + self.lengths[position]))
            if slot.places is not None:
                self._referring.setdefault(slot.places, []).append((position, slot))

    def without(self, values: list[int], array: str, place: int) -> list[int]:
        """A state without a place of the arrays of a length: what is behind it moves up, and what refers there with it.

        What refers to the place itself refers to nothing any more; a position that stood on it stands on the next one.
        """
        left = list(values)
        for member in self._arrays.get(array, ()):
            first = member.start + place
            left[first : member.stop - 1] = values[first + 1 : member.stop]
            left[member.stop - 1] = self._lows[member.stop - 1]
        for position, slot in self._referring.get(array, ()):
            value = left[position]
            if slot.kind is Kind.BITS:
                below = (1 << place) - 1
                left[position] = value & below | value >> 1 & ~below
            elif value > place:
                left[position] = value - 1
            elif value == place and not slot.is_position:
                left[position] = slot.low
        return left


class Memory:
    """The integers of one state, and the checks on what is written to them.

    Attributes
    ----------
    values : list of int
        One integer a slot; replaced as a whole to look at another state.
    undo : list of (int, int) or None
        When it is a list, each write adds the position and what stood there, so that it can be taken back.
    removals : list of (str, int) or None
        When it is a list, each place that is removed from arrays is added.
    """

    __slots__ = ("arrangement", "removals", "slots", "undo", "values")

    def __init__(self, arrangement: Arrangement, values: list[int]) -> None:
        self.arrangement = arrangement
        self.slots = arrangement.slots
        self.values = values
        self.undo: list[tuple[int, int]] | None = None
        self.removals: list[tuple[str, int]] | None = None

    def write(self, position: int, value: int | Bits) -> None:
        """Change one slot. Raises `RangeViolation`, which names the slot, when the value is outside its range."""
        number = value.mask if isinstance(value, Bits) else int(value)
        low, high = self.arrangement.ranges[position]
        if not low <= number <= high:
            slot = self.slots[position]
            wanted = "an instant is never negative" if slot.kind in _OF_TIME else f"declared range is {low}..{high}"
            msg = f"{slot.label} = {number}: {wanted}"
            raise RangeViolation(msg)
        if self.undo is not None:
            self.undo.append((position, self.values[position]))
        self.values[position] = number

    def remove(self, array: str, place: int) -> None:
        """Take a place out of the arrays of a length; see `Arrangement.without`."""
        if self.removals is not None:
            self.removals.append((array, place))
        values = self.arrangement.without(self.values, array, place)
        for position, (before, value) in enumerate(zip(self.values, values, strict=True)):
            if before != value:
                if self.undo is not None:
                    self.undo.append((position, before))
                self.values[position] = value

    def take_back(self, length: int) -> None:
        """Undo the latest writes until `undo` is no longer than `length`."""
        undo = self.undo or []
        while len(undo) > length:
            position, value = undo.pop()
            self.values[position] = value


class BitsView(Bits):
    """A set that is a field of the state: `add` and `discard` change the state."""

    __slots__ = ("memory", "position")

    def __init__(self, memory: Memory, position: int) -> None:
        self.mask = memory.values[position]
        self.memory = memory
        self.position = position

    def add(self, index: int) -> None:
        """Put the member in. Raises `RangeViolation` when it is no place of the array."""
        self.mask |= Bits.only(index).mask
        self.memory.write(self.position, self)

    def discard(self, index: int) -> None:
        """Take the member out, if it is in."""
        self.mask &= ~Bits.only(index).mask
        self.memory.write(self.position, self)


class ArrayView(Sequence[int]):
    """An array of integers that is a field of the state."""

    __slots__ = ("field", "memory", "position")

    def __init__(self, memory: Memory, position: int, field: Field) -> None:
        self.memory = memory
        self.position = position
        self.field = field

    def __getitem__(self, index: Any) -> Any:
        if not 0 <= index < len(self):
            msg = f"{self.field.name}[{index}]: there are {len(self)} places"
            raise RangeViolation(msg)
        return self.memory.values[self.position + index]

    def __setitem__(self, index: int, value: int) -> None:
        if not 0 <= index < len(self):
            msg = f"{self.field.name}[{index}]: there are {len(self)} places"
            raise RangeViolation(msg)
        self.memory.write(self.position + index, value)

    def __len__(self) -> int:
        return self.memory.arrangement.lengths.get(self.position, 0)


class RecordViews(dict[int, Record]):
    """The records of an array; an index out of range is an error of the specification, never a wrap-around."""

    __slots__ = ("array", "memory")

    def __init__(self, records: Iterable[tuple[int, Record]], memory: Memory, array: str) -> None:
        super().__init__(records)
        self.memory = memory
        self.array = array

    def __missing__(self, index: int) -> Record:
        msg = f"record {index}: there are {len(self)} places"
        raise RangeViolation(msg)


def remove(records: Sequence[Record], place: int) -> None:
    """Take a record out of its array: those behind it move up, and the last place is as it was in the beginning.

    So it is in all arrays of the same length. What refers to one of them follows it; what refers to the record that is
    gone is absent, or 0; a position on it is now one on the next.
    """
    cast("RecordViews", records).memory.remove(cast("RecordViews", records).array, place)


def view(places: Places, memory: Memory) -> Record:
    """The record that lies at these places of the state."""
    record = places.kind.__new__(places.kind)
    record.memory = memory
    record.positions = places.positions
    return record


def give_access(kind: type[Record]) -> None:
    """Let the fields of a record class be read and written through the memory of its objects."""
    for number, (name, field) in enumerate(kind.fields.items()):
        setattr(kind, name, _access(field, number))


def _access(field: Field, number: int) -> property:
    def write(record: Record, value: int | Bits) -> None:
        record.memory.write(record.positions[number], value)

    def read(record: Record) -> Any:
        return record.memory.values[record.positions[number]]

    def view_array(record: Record) -> ArrayView:
        return ArrayView(record.memory, record.positions[number], field)

    def view_set(record: Record) -> BitsView:
        return BitsView(record.memory, record.positions[number])

    getter = view_array if field.length is not None else view_set if field.kind is Kind.BITS else read
    # A code object of its own: Python makes code faster that meets one class only, and each field has one.
    own = FunctionType(getter.__code__.replace(), globals(), field.name, None, getter.__closure__)
    return property(own, write)
