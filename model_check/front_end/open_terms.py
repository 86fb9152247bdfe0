"""The terms of the specification's source as it stands: parameters, calls, loops and constants keep their names.

They are read once for every use: `model_check.tla` makes a text of them that people read, `lower.py` closes them
(`terms.py`) for one instance and one choice of parameters. Truth values, numbers, sets and the members of an
enumeration are different sorts here.
"""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from enum import IntEnum
from typing import TYPE_CHECKING, Any, Literal

from model_check.front_end.terms import Operator, Path, Tick
from spec.language import Kind

if TYPE_CHECKING:
    from collections.abc import Callable

    from model_check.front_end.source import Origin
    from spec.language.fields import Field

Sort = Literal["number", "truth", "set", "long ago"] | type[IntEnum]
Fold = Literal["any", "all", "sum", "set"]


@dataclass(frozen=True, slots=True)
class OpenNumber:
    """A literal number."""

    value: int


@dataclass(frozen=True, slots=True)
class Truth:
    """`True` or `False`."""

    value: bool


@dataclass(frozen=True, slots=True)
class EmptySet:
    """`Bits()`."""


@dataclass(frozen=True, slots=True)
class Member:
    """A member of an enumeration."""

    kind: type[IntEnum]
    name: str


@dataclass(frozen=True, slots=True)
class Named:
    """A number with a name in the source, such as `NONE`."""

    name: str
    value: int


@dataclass(frozen=True, slots=True)
class LongAgo:
    """`LONG_AGO`: an instant older than every constant."""


@dataclass(frozen=True, slots=True)
class Now:
    """The clock."""


@dataclass(frozen=True, slots=True)
class Constant:
    """A constant of the instance, or a switch of the profile or the environment."""

    name: str
    is_truth: bool


@dataclass(frozen=True, slots=True)
class OpenBound:
    """A parameter of the function, the variable of a loop, or a name that the function gave a value."""

    name: str
    sort: Sort


@dataclass(frozen=True, slots=True)
class OpenRead:
    """A field of the state, `index` given when it is an element of an array."""

    path: Path
    index: Term | None
    field: Field
    at: Origin = dataclasses.field(compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class OpenApply:
    """An operator and its arguments. `if` is (test, then, else); `has` is (set, member)."""

    operator: Operator
    arguments: tuple[Term, ...]
    sort: Sort


@dataclass(frozen=True, slots=True)
class Call:
    """The value of a function of the specification; the state and the constants are not among the arguments."""

    function: Callable[..., Any]
    arguments: tuple[Term, ...]
    sort: Sort


@dataclass(frozen=True, slots=True)
class Over:
    """`any`, `all` or `sum` of a truth value, or the `set` of where it is true, over `variable` in a range."""

    fold: Fold
    variable: str
    low: Term
    high: Term
    body: Term
    at: Origin = dataclasses.field(compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class OpenLetIn:
    """A value with a name that `body` uses."""

    name: str
    value: Term
    body: Term


Term = (
    OpenNumber
    | Truth
    | EmptySet
    | Member
    | Named
    | LongAgo
    | Now
    | Constant
    | OpenBound
    | OpenRead
    | OpenApply
    | Call
    | Over
    | OpenLetIn
)


def sort_of_field(field: Field) -> Sort:
    """The sort of a field's values."""
    if field.choices is not None:
        return field.choices
    if field.kind is Kind.FLAG:
        return "truth"
    return "set" if field.kind is Kind.BITS else "number"


def sort_of(term: Term) -> Sort:
    """The sort of a term's value."""
    match term:
        case OpenNumber() | Named() | Now():
            return "number"
        case Truth():
            return "truth"
        case EmptySet():
            return "set"
        case Member(kind=kind):
            return kind
        case LongAgo():
            return "long ago"
        case Constant(is_truth=is_truth):
            return "truth" if is_truth else "number"
        case OpenRead(field=field):
            return sort_of_field(field)
        case Over(fold=fold):
            return "number" if fold == "sum" else "set" if fold == "set" else "truth"
        case OpenLetIn(body=body):
            return sort_of(body)
        case OpenBound(sort=sort) | OpenApply(sort=sort) | Call(sort=sort):
            return sort


@dataclass(frozen=True, slots=True)
class OpenLet:
    """Name a value."""

    name: str
    value: Term


@dataclass(frozen=True, slots=True)
class OpenWrite:
    """Assign to a field of the state."""

    path: Path
    index: Term | None
    field: Field
    value: Term
    at: Origin = dataclasses.field(compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class OpenIf:
    """Do the first statements where the test is true, the others where it is false."""

    test: Term
    then: tuple[Statement, ...]
    otherwise: tuple[Statement, ...]


@dataclass(frozen=True, slots=True)
class Loop:
    """Do the body for each value of the variable from `low` to below `high`, one after the other."""

    variable: str
    low: Term
    high: Term
    body: tuple[Statement, ...]
    at: Origin = dataclasses.field(compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Run:
    """Call a function for its effect, or for its conjuncts of the guard."""

    function: Callable[..., Any]
    arguments: tuple[Term, ...]
    at: Origin = dataclasses.field(compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class OpenConjunct:
    """One rule of a guard: its kind (`require`, `assume`, `within`), its words and its condition."""

    kind: str
    rule: str
    condition: Term
    at: Origin = dataclasses.field(compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class OpenRemove:
    """Take a place out of all arrays whose length is an instance constant."""

    array: str
    place: Term
    at: Origin = dataclasses.field(compare=False, repr=False)


Statement = OpenLet | OpenWrite | OpenIf | Loop | Run | Tick | OpenRemove | OpenConjunct


@dataclass(frozen=True, slots=True)
class OpenFunction:
    """A function of the specification."""

    function: Callable[..., Any]
    parameters: tuple[OpenBound, ...]  # without the state and the constants
    guard: tuple[Statement, ...]  # its conjuncts, in order, the names and the calls between them included
    effect: tuple[Statement, ...]  # the statements behind its guard
    value: Term | None  # the value that it returns

    @property
    def name(self) -> str:
        """Its name in the source."""
        return self.function.__name__
