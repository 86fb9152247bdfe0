"""What one transaction sees of many, as formulas: `model_check.any_number.projection` for all states of a shape."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from model_check.any_number import projection
from model_check.any_number.invariants import equivalent
from model_check.any_number.shapes import LEFT_OUT, Slots, States, lowest
from model_check.symbolic.relation import conditions_of
from model_check.symbolic.values import (
    Members,
    Truth,
    Value,
    as_members,
    as_number,
    both,
    conjunction,
    disjunction,
    known,
    negation,
    number_of_cases,
)
from spec.language import Kind, Slot

if TYPE_CHECKING:
    from model_check.symbolic.if_conversion import State

MET: Final = ("round", "met")
"""The field with which one among others knows that the round stands on its own half."""

OF_OTHERS: Final = tuple(tuple(name.split(".")) for name in projection.OF_OTHERS)


@dataclass(frozen=True, slots=True)
class OwnView:
    """Some states as one transaction sees them."""

    fields: State
    """Of one among others; `round.met` is at its lowest."""
    is_met: Truth
    """Whether the round stands on a half of its own."""

    def knowing(self) -> State:
        """The fields, and that the round stands on a half of its own where it does."""
        ((cursor, is_there),) = as_number(self.fields["round", "cursor"][0]).cases.items()
        return {**self.fields, MET: (known(cursor + 1),)} if both(self.is_met, is_there) is True else self.fields


@dataclass(frozen=True, slots=True)
class _Places:
    """The places of one array that are the transaction's own, in their order, and of how many there may be."""

    own: tuple[int, ...]
    size: int

    def rank(self, position: int) -> int:
        """How many of its own stand before a position."""
        return sum(place < position for place in self.own)

    def convert(self, slot: Slot, value: Value) -> Value:
        """A place, a position or a set of places, as the transaction numbers them."""
        if slot.kind is Kind.BITS:
            bits = as_members(value).bits
            return Members((*(bits[place] for place in self.own), *(False,) * (self.size - len(self.own))))
        cases = as_number(value).cases.items()
        if slot.is_position:
            return number_of_cases((self.rank(position), condition) for position, condition in cases)
        number = {place: i for i, place in enumerate(self.own)}
        return number_of_cases((number.get(place, slot.low), condition) for place, condition in cases)


@dataclass(frozen=True)
class Views:
    """Views of states of many; each converted value and each equation is made once, while they are of one shape."""

    many: Slots
    one: Slots
    _converted: dict[tuple[object, ...], tuple[Value, Value]] = field(default_factory=dict)
    _equations: dict[tuple[int, int], tuple[Truth, Value, Value]] = field(default_factory=dict)

    def of(self, states: States, t: int) -> OwnView:
        """The view of transaction `t`."""
        halves = tuple(h for h, owner in enumerate(states.owners) if owner == t)
        ops = tuple(o for o, name in enumerate(states.names) if name in halves)
        places = {
            "half_slots": _Places(halves, states.constants.half_slots),
            "op_slots": _Places(ops, states.constants.op_slots),
        }
        sources = {"half_slots": halves, "op_slots": ops, "transactions": (t,), None: (0,)}
        fields: State = {}
        for path, slots in self.one.items():
            values = []
            for slot in slots:
                source, place = sources[slot.array], slot.index or 0
                if path in LEFT_OUT or path in OF_OTHERS or slot.places == "transactions" or place >= len(source):
                    values.append(lowest(slot))
                else:
                    value = states.fields[path][source[place]]
                    values.append(self._convert(slot, value, places.get(slot.places or "")))
            fields[path] = tuple(values)
        cursor = states.number("round.cursor")
        is_met = disjunction(condition for h, condition in cursor.cases.items() if h in halves)
        return OwnView(fields, both(states.runs, is_met))

    def is_view(self, fields: State, view: OwnView) -> Truth:
        """Whether a state of one among others is a view, and claims to stand on a half of its own only if it does."""
        equations = []
        for path, slots in self.one.items():
            if path in LEFT_OUT or path == MET:
                continue
            for slot, left, right in zip(slots, fields[path], view.fields[path], strict=True):
                equation = left is right or self._equation(slot, left, right)
                if equation is False:
                    return False
                equations.append(equation)
        met, cursor = as_number(fields[MET][0]).cases, as_number(fields["round", "cursor"][0]).cases
        claims = disjunction(both(condition, met.get(place + 1, False)) for place, condition in cursor.items())
        return conjunction([*equations, disjunction((negation(claims), view.is_met))])

    def _convert(self, slot: Slot, value: Value, places: _Places | None) -> Value:
        if places is None:
            return value
        key = id(value), slot.kind, slot.is_position, slot.low, places
        if key not in self._converted:
            self._converted[key] = places.convert(slot, value), value
        return self._converted[key][0]

    def _equation(self, slot: Slot, left: Value, right: Value) -> Truth:
        key = id(left), id(right)
        if key not in self._equations:
            self._equations[key] = same(slot, left, right), left, right
        return self._equations[key][0]


def same(slot: Slot, left: Value, right: Value) -> Truth:
    """Whether two values of a field are the same."""
    pairs = zip(conditions_of(slot, left), conditions_of(slot, right), strict=True)
    return conjunction(equivalent(a, b) for a, b in pairs)
