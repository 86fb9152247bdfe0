"""The terms into which the specification's source is lowered, with the folding that every engine relies on.

Numbers and booleans are both integers here; sets are `Bits` with their own operators, so that an engine may keep them
sets.
"""

from __future__ import annotations

from dataclasses import dataclass, fields, is_dataclass
from functools import cache
from operator import add, eq, ge, gt, le, lt, ne, not_, or_, sub
from typing import TYPE_CHECKING, Any, Literal

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping

Path = tuple[str, ...]
Operator = Literal[
    "+", "-", "==", "!=", "<", "<=", ">", ">=", "and", "or", "not", "if", "has", "only", "is_empty", "union", "minus"
]
COMPARISONS: dict[str, Callable[[int, int], bool]] = {"==": eq, "!=": ne, "<": lt, "<=": le, ">": gt, ">=": ge}
FUNCTIONS: dict[str, Callable[..., int]] = {
    **COMPARISONS,
    "+": add,
    "-": sub,
    "not": not_,
    "has": lambda members, member: members >> member & 1 if member >= 0 else 0,
    "is_empty": not_,
    "union": or_,
    "minus": lambda left, right: left & ~right,
}
"""Operators on known numbers, but for those that are lazy, and for `only`."""

BOOLEAN: frozenset[str] = frozenset({*COMPARISONS, "and", "or", "not", "has", "is_empty"})


@dataclass(frozen=True, slots=True)
class Int:
    """A number known when the instance is: a literal, a constant, a parameter's choice, `False`, `{}`."""

    value: int


@dataclass(frozen=True, slots=True)
class Switch:
    """A switch of the profile or the environment, known at run time only."""

    name: str


@dataclass(frozen=True, slots=True)
class LocalTerm:
    """A value that a statement of the same action has named."""

    name: str


@dataclass(frozen=True, slots=True)
class Read:
    """A field of the state, `index` given when it is an element of an array."""

    path: Path
    index: Expression | None


@dataclass(frozen=True, slots=True)
class Apply:
    """An operator and its arguments. `if` is (test, then, else); `has` is (set, member)."""

    operator: Operator
    arguments: tuple[Expression, ...]


Expression = Int | Switch | LocalTerm | Read | Apply


@dataclass(frozen=True, slots=True)
class Let:
    """Name a value; each name is given once."""

    name: str
    value: Expression


@dataclass(frozen=True, slots=True)
class Write:
    """Assign to a field of the state."""

    path: Path
    index: Expression | None
    value: Expression


@dataclass(frozen=True, slots=True)
class If:
    """Do the first statements where the test is true, the others where it is false."""

    test: Expression
    then: tuple[Statement, ...]
    otherwise: tuple[Statement, ...]


@dataclass(frozen=True, slots=True)
class Tick:
    """The clock goes on by one tick, or steps back by one."""

    is_back: bool = False


@dataclass(frozen=True, slots=True)
class Remove:
    """Take a place out of all arrays whose length is an instance constant; see `spec.language.remove`."""

    array: str
    place: int


Statement = Let | Write | If | Tick | Remove


@dataclass(frozen=True, slots=True)
class Conjunct:
    """One rule of a guard: its kind (`require`, `assume`, `within`), its words and its condition.

    `place` says where it stands: the line in the action, then the line in each function that the action calls for it.
    """

    kind: str
    rule: str
    condition: Expression
    place: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class LoweredAction:
    """An action with its parameters chosen: the conjuncts in order, then its effect."""

    name: str
    arguments: tuple[int, ...]
    guard: tuple[Conjunct, ...]
    effect: tuple[Statement, ...]


ZERO = Int(0)
TRUE, FALSE, EMPTY = Int(1), ZERO, ZERO


def apply(operator: Operator, *arguments: Expression) -> Expression:
    """The operator applied, folded as far as the arguments are known.

    `and`, `or` and `if` are lazy in the source, so that folding may drop a branch that would be undefined.
    """
    if operator in ("and", "or"):
        return _fold_logic(operator, arguments)
    if operator == "if":
        test, then, otherwise = arguments
        if isinstance(test, Int):
            return then if test.value else otherwise
        return then if then == otherwise else Apply("if", arguments)
    if operator != "only" and all(isinstance(a, Int) for a in arguments):
        return Int(int(FUNCTIONS[operator](*(a.value for a in arguments if isinstance(a, Int)))))
    if operator == "not" and isinstance(arguments[0], Apply) and arguments[0].operator == "not":
        return arguments[0].arguments[0]
    if operator in ("+", "-") and arguments[1] == ZERO:
        return arguments[0]
    if operator == "+" and arguments[0] == ZERO:
        return arguments[1]
    return Apply(operator, arguments)


def _fold_logic(operator: Literal["and", "or"], arguments: tuple[Expression, ...]) -> Expression:
    neutral, absorbing = (TRUE, FALSE) if operator == "and" else (FALSE, TRUE)
    unknown: list[Expression] = []
    for argument in arguments:
        if isinstance(argument, Int):
            if bool(argument.value) == bool(absorbing.value):
                return absorbing  # no term has an effect, so those before it may be dropped, too
            continue
        unknown.append(argument)
    if not unknown:
        return neutral
    return unknown[0] if len(unknown) == 1 else Apply(operator, tuple(unknown))


def with_values(term: Expression, known: Mapping[Any, int]) -> Expression:
    """The term where these fields, by their paths, and these switches, by their names, have these values, folded."""
    done: dict[int, Expression] = {}

    def folded(part: Expression) -> Expression:
        match part:
            case Read(key) | Switch(key) if key in known:
                return Int(known[key])
            case Apply(operator, arguments):
                if id(part) not in done:
                    done[id(part)] = apply(operator, *map(folded, arguments))
                return done[id(part)]
        return part

    return folded(term)


def is_boolean(term: Expression) -> bool:
    """Whether the term is true or false rather than a number (a flag of the state counts as a number)."""
    match term:
        case Switch():
            return True
        case Apply("if", (_, then, otherwise)):
            return is_boolean(then) and is_boolean(otherwise)
        case Apply(operator, _):
            return operator in BOOLEAN
    return False


def parts(term: object, *, once: bool = False) -> Iterator[Any]:
    """A term, or those of a tuple, and everything in them, outermost first; open terms and those of TLA+, too.

    With `once`, an object that is there several times is given, and looked into, the first time only.
    """
    left, seen = [term], set[int]()
    while left:
        part: Any = left.pop()
        if type(part) is tuple:
            left += reversed(part)
        elif (names := _last_fields_first(part.__class__)) and id(part) not in seen:
            yield part
            left += [getattr(part, name) for name in names]
            if once:
                seen.add(id(part))


@cache
def _last_fields_first(kind: type) -> tuple[str, ...]:
    return tuple(field.name for field in reversed(fields(kind))) if is_dataclass(kind) else ()


def statements_of(block: Iterable[Statement]) -> Iterator[Statement]:
    """The statements of a block and of the blocks in it, outermost first."""
    for statement in block:
        yield statement
        if isinstance(statement, If):
            yield from statements_of((*statement.then, *statement.otherwise))
