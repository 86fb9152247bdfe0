"""State as data: records of bounded integers, sets of indices and instants.

A record class declares its fields once. From the declaration follow the objects of the CPython engine (`memory`), and
the packed words, the solver's sorts and the TLA+ variables of the other engines. Fields hold integers, so a state is a
flat list of them; a record object is only a named view of that list.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from enum import Enum, IntEnum
from typing import TYPE_CHECKING, Any, ClassVar, TypeVar, cast

if TYPE_CHECKING:
    from spec.language.memory import Memory

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
    places : str or None
        The instance constant that is the length of the arrays whose places the number, or the members of the set, are.
    is_position : bool
        It is a position in those arrays, which may lie behind their last place: see `position`.
    """

    __slots__ = ("ahead", "choices", "high", "is_position", "kind", "length", "low", "name", "places", "slack")

    def __init__(
        self,
        kind: Kind,
        low: Bound,
        high: Bound,
        length: str | None = None,
        choices: type[IntEnum] | None = None,
        ahead: str | None = None,
        slack: str | None = None,
        places: str | None = None,
        is_position: bool = False,
    ) -> None:
        self.kind = kind
        self.low = low
        self.high = high
        self.length = length
        self.choices = choices
        self.ahead = ahead
        self.slack = slack
        self.places = places
        self.is_position = is_position
        self.name = ""

    def __set_name__(self, owner: type[Record], name: str) -> None:
        self.name = name


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
    array : str or None
        The instance constant that is the length of the array that it lies in.
    places, is_position
        As of its `Field`.
    """

    path: tuple[str, ...]
    index: int | None
    label: str
    kind: Kind
    low: int
    high: int
    choices: type[IntEnum] | None
    slack: str | None = None
    array: str | None = None
    places: str | None = None
    is_position: bool = False

    def show(self, value: int) -> str:
        """`value` as a reader writes it: a name, a set, `-` for absent."""
        if self.kind is Kind.BITS:
            return "{" + ", ".join(str(i) for i in Bits(value)) + "}"
        if self.kind is Kind.FLAG:
            return "yes" if value else "no"
        if self.choices is not None:
            return self.choices(value).name.lower()
        return "-" if value == NONE and self.low == NONE else str(value)


class Bits:
    """A set of small indices, as a value."""

    __slots__ = ("mask",)

    def __init__(self, mask: int = 0) -> None:
        self.mask = mask

    @staticmethod
    def only(index: int) -> Bits:
        """The set with one member."""
        return Bits(_bit(index))

    @staticmethod
    def of(members: Iterable[int]) -> Bits:
        """The set with these members; a specification gives the numbers of a range for which a condition is true.

        Examples
        --------
        >>> list(Bits.of(i for i in range(4) if i != 2))
        [0, 1, 3]
        """
        return Bits(sum({_bit(index) for index in members}))

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


class Record:
    """A group of fields that belong together; subclasses only declare fields."""

    fields: ClassVar[dict[str, Field]] = {}
    memory: Memory
    positions: tuple[int, ...]

    def __init_subclass__(cls) -> None:
        cls.fields = {name: field for name, field in vars(cls).items() if isinstance(field, Field)}


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
    return cast("int", Field(Kind.NUMBER, Bound(None, 0), Bound(size, -1), places=size))


def maybe_index(size: str) -> int:
    """A place in an array whose length is the instance constant `size`, or `NONE`."""
    return cast("int", Field(Kind.NUMBER, Bound(None, NONE), Bound(size, -1), places=size))


def position(size: str, most: str | None = None) -> int:
    """A place in a queue that is an array of length `size`, or how long the queue is: what comes next is there.

    With `most`, it is at most that constant: 0 where no place is ever noted.

    When a place before it is removed, it moves up with what it stands on; so a distance beyond the end stays as it is.
    """
    return cast("int", Field(Kind.NUMBER, Bound(None, 0), Bound(most or size, 0), places=size, is_position=True))


def count(most: str) -> int:
    """A number from 0 to the instance constant `most`."""
    return number(0, most)


def maybe_count(most: str) -> int:
    """A number from 0 to the instance constant `most`, or `NONE`."""
    return number(NONE, most)


def one_of(choices: type[IntEnum]) -> Any:
    """A member of an enumeration whose values are 0, 1, 2 and so on."""
    return number(0, len(choices) - 1, names=choices)


def flag(where: str | None = None) -> bool:
    """Yes or no; with `where`, always no in an instance in which that constant is 0, and not 1."""
    return cast("bool", Field(Kind.FLAG, Bound(None, 0), Bound(None, 1) if where is None else Bound(where, 0)))


def bits(size: str) -> Bits:
    """A set of places in an array whose length is the instance constant `size`."""
    return cast("Bits", Field(Kind.BITS, Bound(None, 0), Bound(size, 0), places=size))


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
    return cast(
        "list[int]",
        Field(
            declared.kind, declared.low, declared.high, length, declared.choices, declared.ahead, declared.slack,
            declared.places, declared.is_position,
        ),
    )  # fmt: skip


def record(kind: type[R]) -> R:
    """One record as a member of the state."""
    return cast("R", RecordDeclaration(kind, None))


def records(length: str, kind: type[R]) -> Sequence[R]:
    """An array of records, as long as the instance constant `length`."""
    return cast("Sequence[R]", RecordDeclaration(kind, length))
