"""The state of a machine: its layout in a given instance, and its canonical form.

A state class declares scalar fields, records and arrays of records. An object of it is one state that the actions read
and change in place; `memory.values` is all there is to it.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator
from dataclasses import replace
from functools import lru_cache
from typing import ClassVar, Self, cast

from spec.language.fields import (
    Field,
    Kind,
    RangeViolation,
    Record,
    RecordDeclaration,
    Slot,
    SpecificationError,
)
from spec.language.memory import Arrangement, Memory, Places, RecordViews, give_access, view


class MachineState(Record):
    """One state of a machine. Subclasses declare its fields with the functions of `spec.language.fields`.

    Parameters
    ----------
    constants : object
        The instance: gives the lengths and ranges that the declarations name, and `horizon` where there is a clock.
    """

    members: ClassVar[dict[str, Field | RecordDeclaration]] = {}

    def __init_subclass__(cls) -> None:
        members = {name: member for name, member in vars(cls).items() if isinstance(member, Field | RecordDeclaration)}
        for name in members:
            if hasattr(MachineState, name) or name in {"memory", "positions", "horizon"}:
                msg = f"{cls.__name__}.{name}: the name is taken by the language"
                raise SpecificationError(msg)
        super().__init_subclass__()
        cls.members = members
        for kind in (cls, *(member.kind for member in members.values() if isinstance(member, RecordDeclaration))):
            give_access(kind)

    def __init__(self, constants: object) -> None:
        arrangement, own = _arrangement(cast("Hashable", type(self)), constants)
        self.horizon = int(getattr(constants, "horizon", 0))
        self.positions = own
        self.memory = Memory(arrangement, [slot.low for slot in arrangement.slots])  # nothing, empty, absent, long ago
        for name, member in arrangement.members.items():
            if isinstance(member, Places):
                vars(self)[name] = view(member, self.memory)
            else:
                records = enumerate(view(places, self.memory) for places in member)
                length = cast("RecordDeclaration", self.members[name]).length
                vars(self)[name] = RecordViews(records, self.memory, str(length))

    def canonical(self) -> tuple[int, ...]:
        """The state with its clock moved to the horizon, and instants older than their floor made equal.

        Guards compare only differences of instants, and never with more than the cut, so that two states with the same
        canonical form have the same futures. This is the quotient that makes the number of states finite. Moments to
        come are kept exactly. `instant` says why this holds where the clock steps back.

        Raises
        ------
        RangeViolation
            When an instant lies further ahead of the clock than its declaration allows.
        """
        arrangement = self.memory.arrangement
        if arrangement.clock is None:
            return tuple(self.memory.values)
        now = self.memory.values[arrangement.clock]
        passed = now - self.horizon
        canonical = list(self.memory.values)
        canonical[arrangement.clock] = self.horizon
        for position, low, high in arrangement.instants:
            value = canonical[position] - passed
            if value > high:
                label, ahead = self.memory.slots[position].label, high - self.horizon
                msg = f"{label} = {value + passed}: at most {ahead} ticks ahead of the clock, which reads {now}"
                raise RangeViolation(msg)
            canonical[position] = max(value, low)
        return tuple(canonical)

    def load(self, values: tuple[int, ...]) -> Self:
        """Make this object the state with these values (as `canonical` gives them) and return it."""
        self.memory.values = list(values)
        return self

    def show(self) -> dict[str, str]:
        """Each slot's label and its value as a reader writes it; instants are ticks since the initial state."""
        return {
            slot.label: self._show_instant(slot, value) if slot.kind is Kind.INSTANT else slot.show(value)
            for slot, value in zip(self.memory.slots, self.memory.values, strict=True)
            if slot.kind is not Kind.CLOCK
        }

    def _show_instant(self, slot: Slot, value: int) -> str:
        return f"tick {value - self.horizon}" if value > slot.low or value == self.horizon else "long ago"


def layout(state: type[MachineState], constants: object) -> tuple[Slot, ...]:
    """The slots of a state in the order of their declaration; the elements of an array field stand side by side.

    Raises
    ------
    SpecificationError
        When a range is empty, or an age cut lies beyond the horizon.
    """
    return tuple(slot for _, slots in slots_of_fields(state, constants) for slot in slots)


def widest_layout(state: type[MachineState], constants: object) -> tuple[Slot, ...]:
    """The same, with the ranges that hold whatever the switches are: the floor of each instant as with its slack."""
    return tuple(
        replace(slot, low=slot.low - (not getattr(constants, slot.slack))) if slot.slack is not None else slot
        for slot in layout(state, constants)
    )


def slots_of_fields(state: type[MachineState], constants: object) -> Iterator[tuple[tuple[str, ...], tuple[Slot, ...]]]:
    """Each field's path with its slots, in the order of their declaration; an array of no places has none."""
    for name, member in state.members.items():
        if isinstance(member, Field):
            yield (name,), _slots_of(member, (name,), None, constants)
        else:
            for field_name, field in member.kind.fields.items():
                yield (name, field_name), _slots_of(field, (name, field_name), member.length, constants)


def _slots_of(field: Field, path: tuple[str, ...], array: str | None, constants: object) -> tuple[Slot, ...]:
    length = None if array is None else int(getattr(constants, array))
    own_length = None if field.length is None else int(getattr(constants, field.length))
    if length is not None and own_length is not None:
        msg = f"{'.'.join(path)}: an array inside an array of records"
        raise SpecificationError(msg)
    places = length if length is not None else own_length
    if places == 0:
        return ()
    low, high = _range_of(field, path, constants)
    own = (field.kind, low, high, field.choices, field.slack, array or field.length, field.places, field.is_position)
    if places is None:
        return (Slot(path, None, ".".join(path), *own),)
    in_record = length is not None
    return tuple(Slot(path, i, _label(path, i, in_record), *own) for i in range(places))


def _range_of(field: Field, path: tuple[str, ...], constants: object) -> tuple[int, int]:
    low, high = field.low.value(constants), field.high.value(constants)
    horizon = int(getattr(constants, "horizon", 0))
    if field.kind is Kind.BITS:
        high = (1 << high) - 1
    elif field.kind is Kind.INSTANT:
        most = high + (field.slack is not None)  # for every value of the switch
        if most >= horizon:
            msg = f"{'.'.join(path)}: ages are cut at {most}, but the horizon is {horizon}"
            raise SpecificationError(msg)
        low = horizon - high - (0 if field.slack is None else int(getattr(constants, field.slack)))
        high = horizon + (0 if field.ahead is None else int(getattr(constants, field.ahead)))
    elif field.kind is Kind.CLOCK:
        low = high = horizon
    if low > high:
        msg = f"{'.'.join(path)}: the range {low}..{high} is empty in this instance"
        raise SpecificationError(msg)
    return low, high


def _label(path: tuple[str, ...], index: int, in_record: bool) -> str:
    return f"{path[0]}[{index}].{path[1]}" if in_record else f"{'.'.join(path)}[{index}]"


@lru_cache(maxsize=64)
def _arrangement(state: type[MachineState], constants: object) -> tuple[Arrangement, tuple[int, ...]]:
    """Where everything lies in the states of an instance, and the positions of the state's own fields."""
    slots: list[Slot] = []
    first: dict[tuple[str, ...], int] = {}
    for path, own in slots_of_fields(state, constants):
        first[path] = len(slots) if own else -1
        slots.extend(own)
    members: dict[str, Places | list[Places]] = {}
    for name, member in state.members.items():
        if isinstance(member, RecordDeclaration):
            begins = [first[(name, field)] for field in member.kind.fields]
            length = 1 if member.length is None else int(getattr(constants, member.length))
            places = [Places(member.kind, tuple(begin + i for begin in begins)) for i in range(length)]
            members[name] = places[0] if member.length is None else places
    return Arrangement(tuple(slots), members), tuple(first[(name,)] for name in state.fields)
