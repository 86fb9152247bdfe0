"""The values of the specification's open terms in states with queues of any length.

What asks of all places quantifies over them, and a sum over places counts a run of them. That it has this form is to be
proved like all else (`QueueEffect.forms`).
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final, cast

import z3

from model_check.any_number.unbounded.formulas import (
    BOOL,
    INT,
    Number,
    Path,
    PlaceSet,
    State,
    Truth,
    Value,
    bounds,
    choice,
    conjunction,
    disjunction,
    equal,
    exists,
    for_all,
    implied,
    negation,
    within,
)
from model_check.front_end import open_terms

if TYPE_CHECKING:
    from model_check.front_end.open_functions import OpenReader

LONG_AGO: Final = z3.Int("long_ago")
"""An instant of which nothing is known."""

Names = Mapping[str, Value]
"""The values of parameters, loop variables and local names."""

Said = Callable[[str, Number], Truth]
"""Something true of each place of an array, by the constant that is its length: a solver looks at what is named."""


@dataclass(frozen=True, slots=True)
class LoopWriter:
    """The turns of a loop that write to an array, each anywhere."""

    path: Path
    writes: Callable[[Number], Truth]
    """Whether a turn writes."""
    last: Callable[[Number], Number]
    """The last turn that writes to a place, or `NONE`."""


@dataclass
class QueueEffect:
    """The effect of a step, or of several one after the other."""

    state: State
    guard: list[tuple[str, Truth]] = field(default_factory=list)
    """The rules in words, each with its condition; of branches, too."""
    facts: list[Truth] = field(default_factory=list)
    """Of the last writers of loops and the ends of sums: such there are in each state."""
    definitions: list[Truth] = field(default_factory=list)
    """When the turns of loops write."""
    forms: list[tuple[str, Truth]] = field(default_factory=list)
    """That loops and sums have the form that their formulas take for granted."""
    writers: list[LoopWriter] = field(default_factory=list)

    def rules(self) -> list[Truth]:
        """The conditions of its guard."""
        return [condition for _, condition in self.guard]


@dataclass
class OpenMachine:
    """A machine of which steps are taken: its source, its constants, and the names of what its formulas need."""

    reader: OpenReader
    constants: Mapping[str, Number]
    prefix: str
    said: Said
    number: int = 0
    """Names given so far."""

    def __post_init__(self) -> None:
        self.is_end = z3.Function(f"{self.prefix}.is_end", INT, BOOL)
        """True of the ends of sums: a solver tries them wherever something is said of all places."""

    def fresh(self, name: str) -> str:
        """A name that no formula has yet."""
        self.number += 1
        return f"{self.prefix}.{name}.{self.number}"


class TermValues:
    """Gives the value of terms in the state of an effect."""

    def __init__(self, machine: OpenMachine, effect: QueueEffect, depth: int = 0) -> None:
        self.machine, self.effect, self.depth = machine, effect, depth
        self._sums: dict[int, Number] = {}

    def need(self, form: str, goal: Truth) -> None:
        """Note what is to be proved of the form of a loop or a sum."""
        if goal is not True:
            self.effect.forms.append((form, goal))

    def value(self, term: open_terms.Term, names: Names) -> Value:
        """The value of a term in the state."""
        match term:
            case open_terms.Now():
                return self.effect.state["now",]
            case open_terms.Constant(name):
                return self.machine.constants[name]
            case open_terms.OpenBound(name):
                return names[name]
            case open_terms.OpenRead(path, index):
                found = self.effect.state[path]
                return found if index is None else found(self.value(index, names))
            case open_terms.OpenLetIn(name, value, body):
                return self.value(body, {**names, name: self.value(value, names)})
            case open_terms.Call(function, arguments):
                opened = self.machine.reader.function(function)
                given = (self.value(argument, names) for argument in arguments)
                called = dict(zip((parameter.name for parameter in opened.parameters), given, strict=True))
                return self.value(cast("open_terms.Term", opened.value), called)
            case open_terms.Over():
                return self._over(term, names)
            case open_terms.OpenApply("and" | "or" | "if", _):
                return self._lazy(term, names)
            case open_terms.OpenApply(operation, arguments):
                return _applied(operation, [self.value(argument, names) for argument in arguments])
        return _literal(term)

    def _lazy(self, term: open_terms.OpenApply, names: Names) -> Value:
        """An argument behind one that decides may be undefined."""
        if term.operator == "if":
            test, then, otherwise = term.arguments
            condition = self.value(test, names)
            if isinstance(condition, bool):
                return self.value(then if condition else otherwise, names)
            return choice(condition, self.value(then, names), self.value(otherwise, names))
        seen: list[Truth] = []
        for argument in term.arguments:
            seen.append(self.value(argument, names))
            if seen[-1] is (term.operator == "or"):
                break
        return conjunction(seen) if term.operator == "and" else disjunction(seen)

    def _over(self, over: open_terms.Over, names: Names) -> Value:
        low, high = self.value(over.low, names), self.value(over.high, names)

        def at(place: Number) -> Truth:
            return self.value(over.body, {**names, over.variable: place})

        if isinstance(low, int) and isinstance(high, int):
            each = [at(place) for place in range(low, high)]
            if over.fold == "sum":
                return sum(choice(truth, 1, 0) for truth in each)
            return disjunction(each) if over.fold == "any" else conjunction(each)
        place = z3.Int(f"{over.variable}.{self.depth}")
        self.depth += 1
        body = at(place)
        self.depth -= 1
        if over.fold == "sum":
            return self._sum(over, bounds([body], place, low, high)[:2], at, place)
        inside = conjunction((within(low, place, high), self._said(over, place)))
        if over.fold == "any":
            return exists(place, conjunction((inside, body)), [self.machine.is_end(place)])
        return for_all(place, implied(inside, body), also=[self.machine.is_end(place)])

    def _said(self, over: open_terms.Over, place: Number) -> Truth:
        return self.machine.said(over.high.name, place) if isinstance(over.high, open_terms.Constant) else True

    def _sum(
        self, over: open_terms.Over, within_bounds: tuple[Number, Number], at: Callable[[Number], Truth], place: Number
    ) -> Number:
        """For how many places a condition holds: a run of them, from the lowest one on that it lets be."""
        key = at(place).get_id()
        if key not in self._sums:
            first, behind = within_bounds
            end, one, before = (z3.Int(self.machine.fresh(name)) for name in ("end", "one", "before"))
            inside = conjunction((first <= before, before <= one, one < behind, at(one)))
            self.need(f"the sum in line {over.at.line}", implied(inside, at(before)))
            self.effect.facts += [
                first <= end,
                z3.Or(end <= behind, end == first),
                implied(end > first, at(end - 1)),
                negation(conjunction((end < behind, at(end)))),
            ]
            for position in (end - 1, end):
                said = self._said(over, position)
                self.effect.facts += [self.machine.is_end(position), said]
            self._sums[key] = end - first
        return self._sums[key]


def _literal(term: open_terms.Term) -> Value:
    match term:
        case open_terms.OpenNumber(value) | open_terms.Truth(value) | open_terms.Named(value=value):
            return value
        case open_terms.Member(kind, name):
            return int(kind[name])
        case open_terms.LongAgo():
            return LONG_AGO
        case open_terms.EmptySet():
            return PlaceSet.of()
    raise AssertionError(term)


_OPERATORS: Final[dict[str, Callable[[Any, Any], Any]]] = {
    "+": operator.add,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
    "==": equal,
    "!=": lambda left, right: negation(equal(left, right)),
    "has": lambda members, member: members.has(member),
}


def _applied(operation: str, values: list[Value]) -> Value:
    match operation, values:
        case "-", [left, right]:
            return left - right
        case "not", [value]:
            return negation(value)
        case "is_empty", [members] if members.listed is not None:
            return negation(disjunction(condition for _, condition in members.listed))
        case "only", [member]:
            return PlaceSet.of([(member, True)])
        case "union", [left, right]:
            if left.listed is not None and right.listed is not None:
                return PlaceSet.of([*left.listed, *right.listed])
            return PlaceSet(lambda place: disjunction((left.has(place), right.has(place))))
        case "minus", [left, right]:
            if left.listed is not None:
                return PlaceSet.of((m, conjunction((c, negation(right.has(m))))) for m, c in left.listed)
            return PlaceSet(lambda place: conjunction((left.has(place), negation(right.has(place)))))
        case _, [left, right] if operation in _OPERATORS:
            return _OPERATORS[operation](left, right)
    msg = f"{operation} with {len(values)} arguments"
    raise AssertionError(msg)
