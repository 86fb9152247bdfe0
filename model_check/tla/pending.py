"""The variable during an action: the parts that changed so far, and when two parts are the same one."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal

from model_check.tla.values import (
    Accessors,
    Except,
    Index,
    Mapping,
    Select,
    TlaLocal,
    Update,
    Value,
    operation,
    split_offset,
)

if TYPE_CHECKING:
    from collections.abc import Callable

    from spec.language.fields import Field

Relation = Literal["same", "apart", "covers", "unknown"]


@dataclass(frozen=True)
class PendingPlaces:
    """The relations of an action's indices."""

    apart: frozenset[frozenset[Value]]  # pairs of values that the guard keeps apart
    resolve: Callable[[Value], Value]  # a value with the names in it replaced by what they mean

    def relation(self, first: Accessors, second: Accessors) -> Relation:
        """The relation of a write of the first part to the second: `covers` when the second lies in the first."""
        is_unknown = False
        for a, b in zip(first, second, strict=False):
            if isinstance(a, Index) and isinstance(b, Index):
                one, other = self.resolve(a.place), self.resolve(b.place)
                if one != other:
                    if self._are_apart(one, other):
                        return "apart"
                    is_unknown = True
            elif a != b:
                return "apart"
        if is_unknown or len(first) > len(second):
            return "unknown"
        return "same" if len(first) == len(second) else "covers"

    def _are_apart(self, one: Value, other: Value) -> bool:
        (base, offset), (other_base, other_offset) = split_offset(one), split_offset(other)
        return (base == other_base and offset != other_offset) or frozenset((one, other)) in self.apart


class AliasUnknownError(Exception):
    """It is not known whether a part that is read is one that was written."""


@dataclass(frozen=True, slots=True)
class Pending:
    """A variable during an action: what it was at some point, and the parts that were written since."""

    base: Value
    updates: tuple[Update, ...] = ()

    @property
    def whole(self) -> Value:
        """The variable as it is now."""
        if not self.updates:
            return self.base
        if self.updates[-1].accessors == ():
            return self.updates[-1].value
        return Except(self.base, self.updates)

    def part(self, accessors: Accessors, field: Field | None, places: PendingPlaces) -> Value:
        """A part of the variable as it is now.

        `AliasUnknownError` when it may or may not be a part that was written.
        """
        for update in reversed(self.updates):
            match places.relation(update.accessors, accessors):
                case "same":
                    return update.value
                case "covers" | "unknown":
                    raise AliasUnknownError
                case "apart":
                    pass
        return Select(_untouched(self.base, accessors), accessors, field) if accessors else self.base

    def written(self, accessors: Accessors, value: Value, places: PendingPlaces) -> Pending:
        """The variable with one part written; an earlier write that this one hides is gone."""
        updates = list(self.updates)
        for number in range(len(updates) - 1, -1, -1):
            relation = places.relation(updates[number].accessors, accessors)
            if relation == "same":
                del updates[number]
                break
            if relation != "apart":
                break
        return replace(self, updates=(*updates, Update(accessors, value)))

    def is_touched(self, leading: Accessors) -> bool:
        """Whether some part with these leading fields (indices left out) was written."""
        return any(_fields_agree(update.accessors, leading) for update in self.updates)


def _untouched(array: Value, accessors: Accessors) -> Value:
    """Where a loop has made an array by writing other fields of each place, the array before it."""
    match array, accessors:
        case (
            Mapping(variable, _, Except(Select(before, (Index(TlaLocal(turn)),)), updates)),
            (Index(), str() as name, *_),
        ) if turn == variable and all(update.accessors[:1] not in ((), (name,)) for update in updates):
            return _untouched(before, accessors)
    return array


def _fields_agree(accessors: Accessors, leading: Accessors) -> bool:
    names = tuple(a for a in accessors if isinstance(a, str))
    wanted = tuple(a for a in leading if isinstance(a, str))
    return names[: len(wanted)] == wanted[: len(names)]


def merged(
    test: Value,
    before: Pending,
    then: Pending,
    otherwise: Pending,
    places: PendingPlaces,
    is_safe: Callable[[Accessors], bool],
) -> Pending:
    """The variable after an `if`, from what it is after each branch.

    Each part is decided by itself where that is the same: its index is one in both branches, and no two parts that were
    written may be one. Otherwise the variable is decided as a whole.
    """
    if then == otherwise:
        return then
    shared = _shared(before.updates, then.updates, otherwise.updates)
    parts = list(dict.fromkeys(u.accessors for p in (then, otherwise) for u in p.updates[shared:]))
    try:
        if not all(is_safe(part) for part in parts) or not then.base == otherwise.base == before.base:
            raise AliasUnknownError
        values = [(p, then.part(p, None, places), otherwise.part(p, None, places)) for p in parts]
    except AliasUnknownError:
        return Pending(operation("if", test, then.whole, otherwise.whole))
    result = before
    for part, one, other in values:
        result = result.written(part, operation("if", test, one, other), places)
    return result


def decided(before: Pending, then: Pending, otherwise: Pending) -> int:
    """How many parts an `if` decides."""
    if then == otherwise:
        return 0
    shared = _shared(before.updates, then.updates, otherwise.updates)
    return len({u.accessors for p in (then, otherwise) for u in p.updates[shared:]})


def _shared(*histories: tuple[Update, ...]) -> int:
    """How many writes the histories begin with in common."""
    number = 0
    for updates in zip(*histories, strict=False):
        if len(set(updates)) > 1:
            break
        number += 1
    return number
