"""Values of fields and of whole variables at some point of an action, in terms of the state before it.

Open terms (`model_check.front_end.open_terms`) speak of the state as it is where they stand. These have no such place,
so that they may be moved, and they have the functions and records of TLA+.
"""

from __future__ import annotations

from dataclasses import dataclass, fields, is_dataclass
from functools import cache
from typing import TYPE_CHECKING, Any, Final, Literal, cast

from model_check.front_end.open_terms import Constant, EmptySet, Fold, Member, Named, Now, OpenNumber, Truth
from model_check.front_end.terms import Operator, parts

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence


@dataclass(frozen=True, slots=True)
class Index:
    """The way from a function to one of its elements; a plain string is the way from a record to a field."""

    place: Value


Accessors = tuple["str | Index", ...]


@dataclass(frozen=True, slots=True)
class Variable:
    """A variable in the state before the action."""

    name: str


@dataclass(frozen=True, slots=True)
class TlaLocal:
    """A parameter, a bound variable, or a name that a `Binding` gives."""

    name: str


@dataclass(frozen=True, slots=True)
class Select:
    """A part of a record or a function; `field` is its declaration (a `Field`) when it is a field of the state."""

    base: Value
    accessors: Accessors
    field: object = None


@dataclass(frozen=True, slots=True)
class Update:
    """A part of a record or a function, and what it becomes."""

    accessors: Accessors
    value: Value


@dataclass(frozen=True, slots=True)
class Except:
    """A record or a function in which some parts are others, one after the other."""

    base: Value
    updates: tuple[Update, ...]


@dataclass(frozen=True, slots=True)
class Range:
    """The whole numbers from `low` to below `high`."""

    low: Value
    high: Value


@dataclass(frozen=True, slots=True)
class Mapping:
    """A function, given by what it is at each place."""

    variable: str
    domain: Range
    body: Value


@dataclass(frozen=True, slots=True)
class SetOf:
    """The members of a range for which a condition is true."""

    variable: str
    domain: Range
    condition: Value


@dataclass(frozen=True, slots=True)
class RecordOf:
    """A record, given by its fields."""

    entries: tuple[tuple[str, Value], ...]


@dataclass(frozen=True, slots=True)
class Aged:
    """An instant no further back than the constant `cut`, and a tick more where `slack` is on.

    `LongAgo` takes nothing and is the oldest one; `NotBefore` takes any instant; `Older` takes an instant and is a tick
    older.
    """

    how: Literal["LongAgo", "NotBefore", "Older"]
    instant: Value | None
    cut: str
    slack: str | None = None


@dataclass(frozen=True, slots=True)
class Noted:
    """One of the definitions that every module may have, used with arguments."""

    note: str
    arguments: tuple[Value, ...]


@dataclass(frozen=True, slots=True)
class Without:
    """A state without a place of all arrays whose length is the constant `array`."""

    state: Value
    array: str
    place: Value


@dataclass(frozen=True, slots=True)
class Operation:
    """An operator and its arguments, as in `Apply`."""

    operator: Operator
    arguments: tuple[Value, ...]


@dataclass(frozen=True, slots=True)
class Use:
    """A definition of the module, used with arguments; the state, too, where it is a value."""

    function: Callable[..., Any]
    arguments: tuple[Value, ...]


@dataclass(frozen=True, slots=True)
class Quantified:
    """`any`, `all` or `sum` over a range."""

    fold: Fold
    variable: str
    domain: Range
    body: Value


@dataclass(frozen=True, slots=True)
class Binding:
    """A name for a value, or for a function of a whole number when a variable and its range are given."""

    name: str
    value: Value
    variable: str | None = None
    domain: Range | None = None


@dataclass(frozen=True, slots=True)
class LetIn:
    """A value in which some names stand for others; each may use those before it."""

    bindings: tuple[Binding, ...]
    body: Value


Atom = OpenNumber | Truth | EmptySet | Member | Named | Now | Constant | Variable | TlaLocal
Value = (
    Atom | Select | Except | Mapping | SetOf | RecordOf | Aged | Noted | Without | Operation | Use | Quantified | LetIn
)


_ATOMS: Final = (Member, Constant, OpenNumber, Truth, Named)


def replace(value: Value, change: Callable[[Value], Value | None]) -> Value:
    """The value in which each part for which `change` gives another is that one, outermost parts first."""
    return cast("Value", _replace(value, change))


def _replace(part: Any, change: Callable[[Value], Value | None]) -> Any:
    members: Sequence[Any]
    if part.__class__ is tuple:
        members = part
    elif (names := _names_of_fields(part.__class__)) is None:
        return part
    else:
        changed = change(part)
        if changed is not None:
            return changed
        members = [getattr(part, name) for name in names]
    rebuilt = [_replace(member, change) for member in members]
    if all(new is old for new, old in zip(rebuilt, members, strict=True)):
        return part
    return tuple(rebuilt) if part.__class__ is tuple else part.__class__(*rebuilt)


@cache
def _names_of_fields(kind: type) -> tuple[str, ...] | None:
    """Those fields in which other values may stand; None where it is no value."""
    if not is_dataclass(kind):
        return None
    return () if issubclass(kind, _ATOMS) else tuple(field.name for field in fields(kind))


def size(value: Value) -> int:
    """How many parts a value has."""
    return sum(1 for _ in parts(value))


def with_local(value: Value, name: str, meaning: Value) -> Value:
    """The value in which a name is what it means."""
    return replace(value, lambda part: meaning if part == TlaLocal(name) else None)


# --- folding ----------------------------------------------------------------------------------------------------------

_OPPOSITE: dict[Operator, Operator] = {"==": "!=", "!=": "==", "<": ">=", "<=": ">", ">": "<=", ">=": "<"}


def operation(operator: Operator, *arguments: Value) -> Value:
    """The operator applied, in the form that reads best."""
    match operator, arguments:
        case ("+" | "-" as sign, (first, OpenNumber(value))):
            return plus(first, value if sign == "+" else -value)
        case "+", (OpenNumber(value), second):
            return plus(second, value)
        case "not", (Truth(value),):
            return Truth(not value)
        case "not", (Operation("not", (inner,)),):
            return inner
        case "not", (Operation(compared, inner),) if compared in _OPPOSITE:
            return Operation(_OPPOSITE[compared], inner)
        case "if", (Truth(value), then, otherwise):
            return then if value else otherwise
        case "if", (_, then, otherwise) if then == otherwise:
            return then
        case (("and" | "or" as joined), terms):
            return _joined(joined, terms)
    return Operation(operator, arguments)


def _joined(operator: Literal["and", "or"], terms: tuple[Value, ...]) -> Value:
    flat: list[Value] = []
    for term in terms:
        match term:
            case Truth(value=value):
                if value != (operator == "and"):
                    return term if not flat else Operation(operator, (*flat, term))
            case Operation(inner, arguments) if inner == operator:
                flat += arguments
            case _:
                flat.append(term)
    if not flat:
        return Truth(operator == "and")
    return flat[0] if len(flat) == 1 else Operation(operator, tuple(flat))


def plus(value: Value, change: int) -> Value:
    """A number and a known change of it."""
    base, offset = split_offset(value)
    offset += change
    if isinstance(base, OpenNumber):
        return OpenNumber(base.value + offset)
    if offset == 0:
        return base
    return Operation("+" if offset > 0 else "-", (base, OpenNumber(abs(offset))))


def split_offset(value: Value) -> tuple[Value, int]:
    """A number as what is not known, and what is."""
    match value:
        case OpenNumber(value=number):
            return OpenNumber(0), number
        case Operation("+", (base, OpenNumber(value=number))):
            return base, number
        case Operation("-", (base, OpenNumber(value=number))):
            return base, -number
    return value, 0
