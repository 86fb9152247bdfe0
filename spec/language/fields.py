"""State as data: records of bounded integers, sets of indices and instants.

A record class declares its fields once. From the declaration follow the objects of the CPython reading (this file), and
the packed words, the solver's sorts and the TLA+ variables of the other readings. Fields hold integers, so a state is a
flat list of them; a record object is only a named view of that list.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import Enum, IntEnum
from math import inf
from typing import Any, ClassVar, Self, TypeVar, cast

NONE = -1
"""The value of an absent index, count or duration."""

LONG_AGO = 0
"""An instant older than every constant of the instance: what a field holds when nothing happened yet."""


class SpecificationError(Exception):
    """The specification itself is wrong: a value out of its declared range, or a declaration that makes no sense."""

    exit_code: ClassVar[int] = 75


class RangeViolation(SpecificationError):
    """A field was given a value outside its declared range."""


class Kind(Enum):
    """What the integer of a field means."""

    NUMBER = "number"
    FLAG = "flag"
    BITS = "bits"
    INSTANT = "instant"
    CLOCK = "clock"


_OF_TIME = frozenset({Kind.INSTANT, Kind.CLOCK})


@dataclass(frozen=True, slots=True)
class Bound:
    """`constant + offset`: an end of a range, as the name of an instance constant or as a plain number."""

    constant: str | None
    offset: int

    def value(self, constants: object) -> int:
        """The number in this instance."""
        return self.offset if self.constant is None else int(getattr(constants, self.constant)) + self.offset


class Field:
    """The declaration of one integer field: its kind and its range.

    Parameters
    ----------
    kind : Kind
        What the integer means.
    low, high : Bound
        The inclusive range. For `Kind.BITS`, `high` is the number of members that the set may have. For
        `Kind.INSTANT`, `high` is the age from which instants are no longer told apart.
    length : str or None
        The instance constant that gives the length when the field is an array.
    choices : type of IntEnum or None
        The names of the values, for display.
    ahead, slack : str or None
        Of an instant: see `instant`.
    """

    __slots__ = ("ahead", "choices", "high", "is_plain", "kind", "length", "low", "name", "slack")

    def __init__(
        self,
        kind: Kind,
        low: Bound,
        high: Bound,
        length: str | None = None,
        choices: type[IntEnum] | None = None,
        ahead: str | None = None,
        slack: str | None = None,
    ) -> None:
        self.kind = kind
        self.low = low
        self.high = high
        self.length = length
        self.choices = choices
        self.ahead = ahead
        self.slack = slack
        self.is_plain = length is None and kind is not Kind.BITS
        self.name = ""

    def __set_name__(self, owner: type[Record], name: str) -> None:
        self.name = name

    def __get__(self, record: Record | None, owner: type[Record]) -> Any:
        if record is None:
            return self
        position = record.positions[self.name]
        if self.is_plain:
            return record.memory.values[position]
        if self.length is not None:
            return ArrayView(record.memory, position, self)
        return BitsView(record.memory, position, record.memory.values[position])

    def __set__(self, record: Record, value: int | Bits) -> None:
        record.memory.write(record.positions[self.name], value)


@dataclass(frozen=True, slots=True)
class Slot:
    """One integer of a state: where it is declared, its place, and its range in a given instance.

    Attributes
    ----------
    path : tuple of str
        `("half", "check_times")` for a field of a record, `("now",)` for a field of the state itself.
    index : int or None
        The place in the array, if it has one.
    label : str
        The slot as a reader writes it: `half[2].check_times`, `round.removed_by[1]`, `now`.
    low, high : int
        The inclusive range of the stored integer (a mask for `Kind.BITS`).
    slack : str or None
        Of an instant: the switch that moves `low` one tick further back.
    """

    path: tuple[str, ...]
    index: int | None
    label: str
    kind: Kind
    low: int
    high: int
    choices: type[IntEnum] | None
    slack: str | None = None

    def show(self, value: int) -> str:
        """`value` as a reader writes it: a name, a set, `-` for absent."""
        if self.kind is Kind.BITS:
            return "{" + ", ".join(str(i) for i in Bits(value)) + "}"
        if self.kind is Kind.FLAG:
            return "yes" if value else "no"
        if self.choices is not None:
            return self.choices(value).name.lower()
        return "-" if value == NONE and self.low == NONE else str(value)


class Memory:
    """The integers of one state, and the checks on what is written to them.

    Attributes
    ----------
    values : list of int
        One integer a slot; replaced as a whole to look at another state.
    slots : tuple of Slot
        What each integer is.
    lengths : mapping
        The first position of an array field to its length.
    undo : list of (int, int) or None
        When it is a list, each write adds the position and what stood there, so that it can be taken back.
    """

    __slots__ = ("_ranges", "lengths", "slots", "undo", "values")

    def __init__(self, slots: tuple[Slot, ...]) -> None:
        self.slots = slots
        self._ranges = [(0, inf) if slot.kind in _OF_TIME else (slot.low, slot.high) for slot in slots]
        self.values = [slot.low for slot in slots]  # nothing, empty, absent, long ago
        self.lengths = _lengths(slots)
        self.undo: list[tuple[int, int]] | None = None

    def write(self, position: int, value: int | Bits) -> None:
        """Change one slot. Raises `RangeViolation`, which names the slot, when the value is outside its range."""
        number = value.mask if isinstance(value, Bits) else int(value)
        low, high = self._ranges[position]
        if not low <= number <= high:
            slot = self.slots[position]
            wanted = "an instant is never negative" if slot.kind in _OF_TIME else f"declared range is {low}..{high}"
            msg = f"{slot.label} = {number}: {wanted}"
            raise RangeViolation(msg)
        if self.undo is not None:
            self.undo.append((position, self.values[position]))
        self.values[position] = number

    def take_back(self, length: int) -> None:
        """Undo the latest writes until `undo` is no longer than `length`."""
        undo = self.undo or []
        while len(undo) > length:
            position, value = undo.pop()
            self.values[position] = value


def _lengths(slots: tuple[Slot, ...]) -> dict[int, int]:
    first: dict[tuple[str, ...], int] = {}
    lengths: dict[int, int] = {}
    for position, slot in enumerate(slots):
        start = first.setdefault(slot.path, position)
        lengths[start] = lengths.get(start, 0) + 1
    return lengths


class Bits:
    """A set of small indices, as a value."""

    __slots__ = ("mask",)

    def __init__(self, mask: int = 0) -> None:
        self.mask = mask

    @staticmethod
    def only(index: int) -> Bits:
        """The set with one member."""
        return Bits(_bit(index))

    def has(self, index: int) -> bool:
        """Whether `index` is a member; an absent index (`NONE`) never is."""
        return index >= 0 and bool(self.mask >> index & 1)

    def is_empty(self) -> bool:
        """Whether it has no member."""
        return self.mask == 0

    def __or__(self, other: Bits) -> Bits:
        return Bits(self.mask | other.mask)

    def __sub__(self, other: Bits) -> Bits:
        return Bits(self.mask & ~other.mask)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Bits) and self.mask == other.mask

    def __hash__(self) -> int:
        return hash(self.mask)

    def __iter__(self) -> Iterator[int]:
        return (i for i in range(self.mask.bit_length()) if self.mask >> i & 1)

    def add(self, index: int) -> None:
        """Refused: a set that is only a value cannot change."""
        msg = "only a set that is a field of the state can be changed"
        raise SpecificationError(msg)

    def discard(self, index: int) -> None:
        """Refused: a set that is only a value cannot change."""
        msg = "only a set that is a field of the state can be changed"
        raise SpecificationError(msg)


def _bit(index: int) -> int:
    if index < 0:
        msg = f"a member of a set is a place, not {index}"
        raise RangeViolation(msg)
    return 1 << index


class BitsView(Bits):
    """A set that is a field of the state: `add` and `discard` change the state."""

    __slots__ = ("memory", "position")

    def __init__(self, memory: Memory, position: int, mask: int) -> None:
        super().__init__(mask)
        self.memory = memory
        self.position = position

    def add(self, index: int) -> None:
        """Put the member in. Raises `RangeViolation` when it is no place of the array."""
        self.mask |= _bit(index)
        self.memory.write(self.position, self)

    def discard(self, index: int) -> None:
        """Take the member out, if it is in."""
        self.mask &= ~_bit(index)
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
        return self.memory.lengths.get(self.position, 0)


class Record:
    """A group of fields that belong together; subclasses only declare fields."""

    fields: ClassVar[dict[str, Field]] = {}
    memory: Memory
    positions: dict[str, int]

    def __init_subclass__(cls) -> None:
        cls.fields = {name: field for name, field in vars(cls).items() if isinstance(field, Field)}

    @classmethod
    def view(cls, memory: Memory, positions: dict[str, int]) -> Self:
        """The record of these fields that lies at these positions of the state."""
        record = cls.__new__(cls)
        record.memory = memory
        record.positions = positions
        return record


class RecordViews(tuple[Record, ...]):
    """The records of an array; an index out of range is an error of the specification, never a wrap-around."""

    __slots__ = ()

    def __getitem__(self, index: Any) -> Any:
        if 0 <= index < len(self):
            return _item(self, index)
        msg = f"record {index}: there are {len(self)} places"
        raise RangeViolation(msg)


_item = tuple.__getitem__

R = TypeVar("R", bound=Record)


@dataclass(frozen=True, slots=True)
class RecordDeclaration:
    """A member of the state that is a record, or an array of them when `length` names a constant."""

    kind: type[Record]
    length: str | None


def number(low: int, high: str | int, *, names: type[IntEnum] | None = None) -> int:
    """An integer from `low` to `high`, both included; `high` may name an instance constant."""
    top = Bound(None, high) if isinstance(high, int) else Bound(high, 0)
    return cast("int", Field(Kind.NUMBER, Bound(None, low), top, choices=names))


def index(size: str) -> int:
    """A place in an array whose length is the instance constant `size`."""
    return cast("int", Field(Kind.NUMBER, Bound(None, 0), Bound(size, -1)))


def maybe_index(size: str) -> int:
    """A place in an array whose length is the instance constant `size`, or `NONE`."""
    return cast("int", Field(Kind.NUMBER, Bound(None, NONE), Bound(size, -1)))


def count(most: str) -> int:
    """A number from 0 to the instance constant `most`."""
    return number(0, most)


def maybe_count(most: str) -> int:
    """A number from 0 to the instance constant `most`, or `NONE`."""
    return number(NONE, most)


def one_of(choices: type[IntEnum]) -> Any:
    """A member of an enumeration whose values are 0, 1, 2 and so on."""
    return number(0, len(choices) - 1, names=choices)


def flag() -> bool:
    """Yes or no."""
    return cast("bool", Field(Kind.FLAG, Bound(None, 0), Bound(None, 1)))


def bits(size: str) -> Bits:
    """A set of places in an array whose length is the instance constant `size`."""
    return cast("Bits", Field(Kind.BITS, Bound(None, 0), Bound(size, 0)))


def instant(cut: str, ahead: str | None = None, slack: str | None = None) -> int:
    """A moment of the broker's clock.

    Absolute in this reading. An explorer may keep only its age, and treat all ages above a floor as one. No guard may
    compare the age with a number above `cut`.

    Parameters
    ----------
    cut : str
        The instance constant that is the floor.
    ahead : str or None
        The instance constant that says how many ticks the moment may lie ahead of the clock; 0 when not given. Moments
        to come have negative ages, which are kept as they are.
    slack : str or None
        The switch that lets the clock step back; while it is on, the floor is `cut + 1`. Every instant of a machine
        whose clock steps back (`now -= 1`) must have one.

    Notes
    -----
    A step back makes every age one less, also the age that the explorer keeps for an instant at the floor. The true age
    of such an instant is at least `cut + 1`, so that after the step both the true and the kept age are at least `cut`,
    which is all that a guard can tell. That holds as long as the clock never stands more than one tick behind a moment
    that it has shown; the machine must see to that.
    """
    return cast("int", Field(Kind.INSTANT, Bound(None, 0), Bound(cut, 0), ahead=ahead, slack=slack))


def clock() -> int:
    """The broker's clock: what `now` is. Only `now += 1` and `now -= 1` may change it."""
    return cast("int", Field(Kind.CLOCK, Bound(None, 0), Bound(None, 0)))


def array_of(field: int, length: str) -> list[int]:
    """An array of integer fields, as long as the instance constant `length`."""
    declared = cast("Field", field)
    own = (declared.kind, declared.low, declared.high, length, declared.choices, declared.ahead, declared.slack)
    return cast("list[int]", Field(*own))


def record(kind: type[R]) -> R:
    """One record as a member of the state."""
    return cast("R", RecordDeclaration(kind, None))


def records(length: str, kind: type[R]) -> Sequence[R]:
    """An array of records, as long as the instance constant `length`."""
    return cast("Sequence[R]", RecordDeclaration(kind, length))
