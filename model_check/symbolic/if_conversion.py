"""From the terms of an action to its effect as formulas: both branches of an `if` are taken, and their writes merged.

What the CPython engine would stop at while it runs (an index that is none of the array's, a value out of its declared
range) becomes a condition, too: `Effect.wrong`.
"""

from __future__ import annotations

import operator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from model_check.front_end.terms import (
    COMPARISONS,
    Apply,
    Expression,
    If,
    Int,
    Let,
    LocalTerm,
    LoweredAction,
    Path,
    Read,
    Statement,
    Switch,
    Tick,
    Write,
)
from model_check.symbolic.values import (
    Members,
    Number,
    Truth,
    Value,
    as_members,
    as_number,
    as_truth,
    both,
    combined,
    compared,
    conjunction,
    disjunction,
    either,
    equal_sets,
    has_member,
    joined,
    known,
    negation,
    singleton,
    without,
)
from spec.language import Kind, Slot

if TYPE_CHECKING:
    from collections.abc import Mapping

State = dict[Path, tuple[Value, ...]]
"""The elements of each field; one for a field that is no array."""


@dataclass(frozen=True, slots=True)
class Effect:
    """The effect of one step in a state."""

    guard: Truth  # whether the step is enabled
    after: State  # the state after it, where it is enabled and goes wrong nowhere
    wrong: Truth  # whether it reads or writes where there is nothing, or writes a value out of its declared range


@dataclass
class Conversion:
    """Turns terms into formulas over one symbolic state."""

    slots: Mapping[Path, tuple[Slot, ...]]  # the slots of each field, in the order of its elements
    switches: Mapping[str, bool]  # the value of each switch
    state: State  # the state that the terms read; replaced, never changed, by what they write
    _locals: dict[str, Value] = field(default_factory=dict)
    _reached: Truth = True
    _wrong: list[Truth] = field(default_factory=list)

    def effect(self, action: LoweredAction) -> Effect:
        """The guard and the effect of an action with its parameters chosen."""
        statements = list(action.effect)
        named = 0
        while named < len(statements) and isinstance(statements[named], Let):
            self._statement(statements[named])
            named += 1
        early, self._wrong = self._wrong, []
        for conjunct in action.guard:
            self._reached = both(self._reached, self.truth(conjunct.condition))
        guard = self._reached
        self._wrong += [both(guard, wrong) for wrong in early]  # a name is only looked at where the guard holds
        self._block(tuple(statements[named:]) if guard is not False else ())
        return Effect(guard, self.state, disjunction(self._wrong))

    def claim(self, term: Expression) -> tuple[Truth, Truth]:
        """Whether a claim holds of the state, and whether it reads where there is nothing."""
        return self.truth(term), disjunction(self._wrong)

    # --- statements ---------------------------------------------------------------------------------------------------

    def _block(self, statements: tuple[Statement, ...]) -> None:
        for statement in statements:
            self._statement(statement)

    def _statement(self, statement: Statement) -> None:
        match statement:
            case Let(name, value):
                self._locals[name] = self.value(value)
            case Write(path, index, value):
                self._write(path, index, value)
            case If(test, then, otherwise):
                self._if(self.truth(test), then, otherwise)
            case Tick(is_back):
                for path, slots in self.slots.items():
                    if slots and slots[0].kind is Kind.INSTANT:
                        values = tuple(_aged(as_number(v), slots[0].low, is_back) for v in self.state[path])
                        self.state = {**self.state, path: tuple(self._in_range(path, v) for v in values)}

    def _if(self, test: Truth, then: tuple[Statement, ...], otherwise: tuple[Statement, ...]) -> None:
        before, reached = self.state, self._reached
        ends = []
        for condition, block in ((test, then), (negation(test), otherwise)):
            self.state, self._reached = before, both(reached, condition)
            if condition is not False:
                self._block(block)
            ends.append(self.state)
        self.state, self._reached = before, reached
        first, second = ends
        merged = {
            path: tuple(a if a is b else either(test, a, b) for a, b in zip(first[path], second[path], strict=True))
            for path in before
            if first[path] is not before[path] or second[path] is not before[path]
        }
        self.state = {**before, **merged}

    def _write(self, path: Path, index: Expression | None, value: Expression) -> None:
        if not self.slots[path]:
            self._suspect(condition=True)
            return
        given = self._in_range(path, self.value(value))
        elements = self.state[path]
        at = known(0) if index is None else self._index(path, index)
        changed = tuple(
            either(at.cases[i], given, element) if i in at.cases else element for i, element in enumerate(elements)
        )
        self.state = {**self.state, path: changed}

    def _in_range(self, path: Path, value: Value) -> Value:
        """The value as the field stores it; one out of the declared range is wrong."""
        slot = self.slots[path][0]
        if slot.kind is Kind.BITS:
            size = slot.high.bit_length()
            bits = as_members(value).bits
            self._suspect(disjunction(bits[size:]))
            return Members((*bits[:size], *(False,) * (size - len(bits))))
        number = as_number(value)
        if slot.kind is Kind.INSTANT:
            number = number.mapped(lambda v: max(v, slot.low))
        self._suspect(disjunction(c for v, c in number.cases.items() if not slot.low <= v <= slot.high))
        stored = number.mapped(lambda v: v if slot.low <= v <= slot.high else slot.low)
        return as_truth(stored) if slot.kind is Kind.FLAG else stored

    def _index(self, path: Path, index: Expression) -> Number:
        """An index of an array; a place that it does not have is wrong."""
        number, size = as_number(self.value(index)), len(self.slots[path])
        self._suspect(disjunction(c for i, c in number.cases.items() if not 0 <= i < size))
        return number

    def _suspect(self, condition: Truth) -> None:
        wrong = both(self._reached, condition)
        if wrong is not False:
            self._wrong.append(wrong)

    # --- expressions --------------------------------------------------------------------------------------------------

    def truth(self, term: Expression) -> Truth:
        """The term as a condition."""
        return as_truth(self.value(term))

    def value(self, term: Expression) -> Value:
        """The value of a term in the state."""
        match term:
            case Int(value):
                return known(value)
            case Switch(name):
                return self.switches[name]
            case LocalTerm(name):
                return self._locals[name]
            case Read(path, None):
                return self.state[path][0]
            case Read(path, index) if index is not None:
                return self._element(path, index)
            case Apply("and" | "or" as operation, arguments):
                return self._logic(arguments, is_and=operation == "and")
            case Apply("if", (test, then, otherwise)):
                condition = self.truth(test)
                first = self._where(condition, then)
                return either(condition, first, self._where(negation(condition), otherwise))
            case Apply(operation, arguments):
                return self._apply(operation, [self.value(argument) for argument in arguments])
        raise AssertionError(term)

    def _element(self, path: Path, index: Expression) -> Value:
        """An element of an array; the last one where the index is none of the array's."""
        at, elements = self._index(path, index), self.state[path]
        if not elements:
            return known(0)
        value = elements[-1]
        for i, element in enumerate(elements[:-1]):
            if i in at.cases:
                value = either(at.cases[i], element, value)
        return value

    def _logic(self, arguments: tuple[Expression, ...], *, is_and: bool) -> Truth:
        """`and` and `or` are lazy: an argument behind one that decides is not looked at, and nothing is wrong in it."""
        reached, seen = self._reached, []
        for argument in arguments:
            condition = self.truth(argument)
            seen.append(condition)
            self._reached = both(self._reached, condition if is_and else negation(condition))
            if self._reached is False:
                break
        self._reached = reached
        return conjunction(seen) if is_and else disjunction(seen)

    def _where(self, condition: Truth, term: Expression) -> Value:
        if condition is False:
            return False
        reached, self._reached = self._reached, both(self._reached, condition)
        value = self.value(term)
        self._reached = reached
        return value

    def _apply(self, operation: str, values: list[Value]) -> Value:
        if operation in ("==", "!=") and any(isinstance(v, Members) for v in values):
            same = equal_sets(as_members(values[0]), as_members(values[1]))
            return same if operation == "==" else negation(same)
        if operation in COMPARISONS:
            return compared(COMPARISONS[operation], as_number(values[0]), as_number(values[1]))
        match operation, values:
            case "+", [left, right]:
                return combined(operator.add, as_number(left), as_number(right))
            case "-", [left, right]:
                return combined(operator.sub, as_number(left), as_number(right))
            case "not", [value]:
                return negation(as_truth(value))
            case "has", [members, member]:
                return has_member(as_members(members), as_number(member))
            case "is_empty", [members]:
                return negation(as_truth(as_members(members)))
            case "union", [left, right]:
                return joined(as_members(left), as_members(right))
            case "minus", [left, right]:
                return without(as_members(left), as_members(right))
            case "only", [member]:
                self._suspect(as_number(member).where(lambda i: i < 0))
                return singleton(as_number(member))
        msg = f"{operation} with {len(values)} arguments"
        raise AssertionError(msg)


def _aged(instant: Number, low: int, is_back: bool) -> Number:
    """The clock stays where it is, so that instants move: a tick back as far as `low`, or on where it steps back."""
    return instant.mapped(lambda value: value + 1 if is_back else max(value - 1, low))
