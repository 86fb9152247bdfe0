"""Shapes of states of many transactions: what is fixed of a state, so that all else of it can be left open.

A shape fixes how many halves and op messages there are, of which transaction each half is, which half each op message
names, and where a round stands. One solver call speaks of all states of a shape, be they reached or not.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import product
from typing import TYPE_CHECKING, Final

from model_check.any_number import projection
from model_check.symbolic.values import Members, Value, as_members, as_number, as_truth, known
from spec.language import Kind, Slot

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from model_check.front_end.terms import Path
    from model_check.symbolic.if_conversion import State
    from model_check.symbolic.values import Number
    from spec.constants import Constants

Slots = dict[tuple[str, ...], tuple[Slot, ...]]
"""The slots of each field."""

LEFT_OUT: Final = tuple(tuple(name.split(".")) for name in projection.LEFT_OUT)
"""The fields that the projection leaves out."""

AT_REST: Final = ("gone", "lower_end", "flushed", "role", "mishaps")
"""What only faults move that are not asked for."""

NEVER_FILLED: Final = (("batch", "names"), ("batch", "is_open"))
"""A profile that writes each op message at once keeps them empty."""


@dataclass(frozen=True, slots=True)
class Shape:
    """What is fixed of a state."""

    owners: tuple[int, ...]
    """The transaction of each half."""
    names: tuple[int, ...]
    """The half that each op message names."""
    cursor: int | None
    """The half at which the round stands, or their number; None where no round runs."""


@dataclass(frozen=True, slots=True)
class States:
    """The states of a shape, or those after one step from them."""

    owners: tuple[int, ...]
    names: tuple[int, ...]
    runs: bool
    fields: State
    """The elements of each field."""
    constants: Constants

    def number(self, name: str, place: int = 0) -> Number:
        """A field such as `round.cursor`, or its element at a place."""
        return as_number(self.fields[tuple(name.split("."))][place])

    def members(self, name: str, place: int = 0) -> tuple[bool, ...]:
        """The conditions of the members of a set."""
        return as_members(self.fields[tuple(name.split("."))][place]).bits

    def after(self, fields: State) -> States:
        """The states after a step that lets them be of one shape but for the cursor.

        `ValueError` when the step leaves open what a shape fixes.
        """
        halves, ops = (_only_value(as_number(fields[path,][0])) for path in ("half_length", "op_length"))
        owners = tuple(_only_value(as_number(owner)) for owner in fields["half", "transaction"][:halves])
        names = tuple(_only_member(as_members(names)) for names in fields["op", "names"][:ops])
        runs = _only_value(as_number(as_truth(fields["round", "running"][0])))
        return replace(self, owners=owners, names=names, runs=bool(runs), fields=fields)


def _only_value(number: Number) -> int:
    """The value of a number that has one."""
    (value,) = (value for value, condition in number.cases.items() if condition is not False)
    return value


def _only_member(members: Members) -> int:
    """The member of a set that is known and has one."""
    (member,) = (place for place, condition in enumerate(members.bits) if condition is not False)
    return member


def shapes(constants: Constants) -> Iterator[Shape]:
    """All shapes of an instance whose op messages name one half each; transactions are numbered as they are sent."""
    for halves in range(constants.half_slots + 1):
        for owners in product(range(constants.transactions), repeat=halves):
            if tuple(dict.fromkeys(owners)) != tuple(range(len(set(owners)))):
                continue
            for ops in range(constants.op_slots + 1):
                for names in product(range(halves), repeat=ops):
                    for cursor in (None, *range(halves + 1)):
                        yield Shape(owners, names, cursor)


def states_of(shape: Shape, slots: Mapping[Path, tuple[Slot, ...]], anything: State, constants: Constants) -> States:
    """All states of a shape; of `anything`, what the shape leaves open."""
    fixed = States(shape.owners, shape.names, shape.cursor is not None, anything, constants)
    fields = {
        path: tuple(
            _value(slot, shape, fixed, value) for slot, value in zip(slots[path], values, strict=True)
        )
        for path, values in anything.items()
    }  # fmt: skip
    return replace(fixed, fields=fields)


def _value(slot: Slot, shape: Shape, fixed: States, otherwise: Value) -> Value:
    place = slot.index or 0
    match slot.path:
        case ("half_length",):
            return known(len(shape.owners))
        case ("op_length",):
            return known(len(shape.names))
        case ("round", "running"):
            return fixed.runs
        case _ if slot.path in LEFT_OUT or is_lowest(slot, fixed):
            return lowest(slot)
        case ("round", "cursor"):
            return known(shape.cursor or 0)
        case ("half", "transaction"):
            return known(shape.owners[place])
        case ("op", "names"):
            return Members(tuple(half == shape.names[place] for half in range(fixed.constants.half_slots)))
    return otherwise


def is_lowest(slot: Slot, states: States) -> bool:
    """Whether a field is at its lowest as nothing is there: no message, no round, no batch, no fault."""
    is_of_nothing = (slot.array == "half_slots" and (slot.index or 0) >= len(states.owners)) or (
        slot.array == "op_slots" and (slot.index or 0) >= len(states.names)
    )
    is_of_no_round = slot.path[0] in ("round", "pulled_op") and not states.runs
    return is_of_nothing or is_of_no_round or slot.path[0] in AT_REST or slot.path in NEVER_FILLED


def at_rest(slots: Slots, anything: State) -> State:
    """All states that no other fault has touched, whatever their shape."""
    return {
        path: tuple(map(lowest, slots[path])) if path[0] in AT_REST or path in NEVER_FILLED else values
        for path, values in anything.items()
    }


def lowest(slot: Slot) -> Value:
    """The lowest value of a field: an empty set, a flag that is off."""
    return constant(slot, slot.low)


def constant(slot: Slot, value: int) -> Value:
    """A value of a field that is known."""
    if slot.kind is Kind.BITS:
        return Members(tuple(bool(value >> i & 1) for i in range(slot.high.bit_length())))
    return value != 0 if slot.kind is Kind.FLAG else known(value)
