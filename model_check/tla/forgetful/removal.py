"""A state without a place of the arrays of a length, as the declarations say: see `spec.language.remove`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from model_check.front_end.open_terms import Constant, Named, OpenNumber
from model_check.tla.uses import is_moved
from model_check.tla.values import Except, Index, Mapping, Noted, Range, Select, TlaLocal, Update, Value
from spec.language import NONE, Kind
from spec.language.fields import Field

if TYPE_CHECKING:
    from model_check.tla.values import Accessors
    from spec.language import Machine

STATE, PLACE, TURN, FIRST = TlaLocal("s"), TlaLocal("place"), TlaLocal("i"), TlaLocal("First")


def removal(machine: Machine, array: str) -> Value:
    """The state `s` without `place`; `First` is the initial state."""
    updates: list[Update] = []
    for name, member in machine.state.members.items():
        own = (name,)
        if isinstance(member, Field):
            if is_moved(machine, own, member, array):
                updates.append(Update(own, _field(own, member, array)))
            continue
        moved = {n: f for n, f in member.kind.fields.items() if is_moved(machine, (name, n), f, array)}
        if member.length is None:
            updates += [Update((name, n), _field((name, n), f, array)) for n, f in moved.items()]
        elif moved:
            records = _moved_up(own) if member.length == array else Select(STATE, own)
            record = Select(records, (Index(TURN),))
            inner = [Update((n,), _followed(Select(record, (n,)), f)) for n, f in moved.items() if f.places == array]
            updates.append(Update(own, _each(member.length, Except(record, tuple(inner))) if inner else records))
    return Except(STATE, tuple(updates))


def _field(way: Accessors, field: Field, array: str) -> Value:
    own: Value = _moved_up(way) if field.length == array else Select(STATE, way)
    if field.places != array:
        return own
    if field.length is None:
        return _followed(own, field)
    return _each(field.length, _followed(Select(own, (Index(TURN),)), field))


def _moved_up(way: Accessors) -> Value:
    return Noted("MovedUp", (Select(STATE, way), PLACE, Select(FIRST, way)))


def _each(length: str, body: Value) -> Value:
    return Mapping(TURN.name, Range(OpenNumber(0), Constant(length, is_truth=False)), body)


def _followed(reference: Value, field: Field) -> Value:
    if field.kind is Kind.BITS:
        return Noted("FollowMembers", (reference, PLACE))
    if field.is_position:
        return Noted("FollowPosition", (reference, PLACE))
    gone = Named("NONE", NONE) if field.low.offset == NONE else OpenNumber(field.low.offset)
    return Noted("Follow", (reference, PLACE, gone))
