"""From open terms to closed ones: calls inlined, loops and folds unrolled, constants of the instance folded."""

from __future__ import annotations

from contextlib import suppress
from functools import cached_property
from typing import TYPE_CHECKING, Any

from model_check.front_end import open_terms
from model_check.front_end.open_functions import shared_reader
from model_check.front_end.source import Origin, source_of
from model_check.front_end.terms import (
    EMPTY,
    FALSE,
    TRUE,
    Apply,
    Conjunct,
    Expression,
    If,
    Int,
    Let,
    LocalTerm,
    LoweredAction,
    Operator,
    Path,
    Read,
    Remove,
    Statement,
    Switch,
    Tick,
    Write,
    apply,
    statements_of,
)
from spec.language import LONG_AGO, Kind, Machine, Property, Step
from spec.language.fields import Field

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence


Meaning = dict[str, Expression]


class _NeverEnabledError(Exception):
    """A conjunct is false of these parameters: the rest may be undefined."""


class Lowering:
    """Lowers the functions of a machine in one instance, with the machine's switches left open."""

    def __init__(self, machine: Machine, constants: object) -> None:
        self.machine = machine
        self.constants = constants
        self._reader = shared_reader(machine, constants)
        self._guard: list[Conjunct] = []
        self._out: list[list[Statement]] = [[]]
        self._named = 0
        self._calls: list[int] = []
        self._values: dict[tuple[Callable[..., Any], tuple[Expression, ...]], Expression] = {}
        """The value of each call with short arguments."""
        self._interned: dict[tuple[object, ...], Expression] = {}
        """One object of equal terms, so that memo caches can be keyed by identity."""

    def action(self, step: Step) -> LoweredAction:
        """The terms of an action with its parameters chosen.

        Raises
        ------
        NotInTheLanguage
            When the source uses something that is not part of the language, or a conjunct follows a write.
        """
        self._guard, self._out, self._named, self._calls = [], [[]], 0, []
        with suppress(_NeverEnabledError):
            self._run(self._reader.function(step.action.function), [Int(a) for a in step.arguments])
        self._check_step_back(step)
        return LoweredAction(step.action.name, step.arguments, tuple(self._guard), tuple(self._out[0]))

    def forgetting(self) -> tuple[Statement, ...]:
        """The statements with which the machine forgets behind each step; none, where it forgets nothing."""
        self._guard, self._out, self._named, self._calls = [], [[]], 0, []
        if self.machine.forget is not None:
            self._run(self._reader.function(self.machine.forget), [])
        return tuple(self._out[0])

    def claim(self, claim: Property, arguments: tuple[int, ...]) -> Expression:
        """The terms of a property with its parameters chosen."""
        return self._called(claim.function, [Int(a) for a in arguments])

    def observation(self, function: Callable[..., int], arguments: tuple[int, ...]) -> Expression:
        """The terms of an observed field, for the state after an action."""
        return self._called(function, [Int(a) for a in arguments])

    def _check_step_back(self, step: Step) -> None:
        """Refuse a step back beside a write that is cut at the floor: they do not commute."""
        effect = list(statements_of(self._out[0]))
        if Tick(is_back=True) in effect:
            is_time = [isinstance(s, Tick) or (isinstance(s, Write) and self._is_instant(s.path)) for s in effect]
            if sum(is_time) > 1:
                source = source_of(step.action.function)
                source.refuse(
                    source.tree, "an action that steps the clock back changes no instant, and the clock not twice"
                )

    # --- statements ---------------------------------------------------------------------------------------------------

    def _run(self, function: open_terms.OpenFunction, arguments: Sequence[Expression]) -> None:
        """Inline a function for its guard and its effect."""
        self._block((*function.guard, *function.effect), _given(function, arguments))

    def _block(self, statements: Iterable[open_terms.Statement], meaning: Meaning) -> None:
        for statement in statements:
            self._statement(statement, meaning)

    def _statement(self, statement: open_terms.Statement, meaning: Meaning) -> None:
        match statement:
            case open_terms.OpenLet(name=name, value=value):
                known = self._value(value, meaning)
                meaning[name] = known if isinstance(known, Int) else self._let(name, known)
            case open_terms.OpenWrite(path=path, index=index, value=value):
                assigned = self._value(value, meaning)
                self._out[-1].append(Write(path, self._place(path, index, statement.at, meaning), assigned))
            case open_terms.OpenIf(test=test, then=then, otherwise=otherwise):
                self._if(self._value(test, meaning), then, otherwise, meaning)
            case open_terms.Loop(variable=variable, low=low, high=high, body=body):
                for i in self._range(low, high, statement.at, meaning):
                    self._block(body, {**meaning, variable: Int(i)})
            case open_terms.Run(function=function, arguments=arguments):
                given = [self._by_value(self._value(argument, meaning)) for argument in arguments]
                self._calls.append(statement.at.line)
                self._run(self._reader.function(function), given)
                self._calls.pop()
            case open_terms.OpenConjunct(kind=kind, rule=rule, condition=condition, at=at):
                if len(self._out) > 1:
                    at.refuse("a conjunct of the guard stands alone, not in a branch")
                term = self._value(condition, meaning)
                self._guard.append(Conjunct(kind, rule, term, (*self._calls, at.line)))
                if term == FALSE:
                    raise _NeverEnabledError
            case Tick():
                self._out[-1].append(statement)
            case open_terms.OpenRemove(array=array, place=place, at=at):
                known = self._value(place, meaning)
                if not isinstance(known, Int):
                    at.refuse("the place of a record that is removed is a constant of the instance")
                self._out[-1].append(Remove(array, known.value))

    def _if(
        self,
        test: Expression,
        then: tuple[open_terms.Statement, ...],
        otherwise: tuple[open_terms.Statement, ...],
        meaning: Meaning,
    ) -> None:
        if isinstance(test, Int):
            self._block(then if test.value else otherwise, meaning)
            return
        branches: list[tuple[Statement, ...]] = []
        for body in (then, otherwise):
            self._out.append([])
            self._block(body, dict(meaning))
            branches.append(tuple(self._out.pop()))
        self._out[-1].append(If(test, branches[0], branches[1]))

    def _by_value(self, argument: Expression) -> Expression:
        """An argument of a function with an effect, read before the effect begins."""
        return self._let("argument", argument) if isinstance(argument, Read | Apply) else argument

    def _let(self, name: str, value: Expression) -> LocalTerm:
        self._named += 1
        local = LocalTerm(f"{name}_{self._named}")
        self._out[-1].append(Let(local.name, value))
        return local

    # --- values -------------------------------------------------------------------------------------------------------

    def _called(self, function: Callable[..., Any], arguments: Sequence[Expression]) -> Expression:
        """Inline a function for its value: once for the same arguments, if they are short."""
        opened = self._reader.function(function)
        if opened.value is None:
            source = source_of(function)
            source.refuse(source.tree, "it gives no value")
        if not all(isinstance(argument, Int | LocalTerm) for argument in arguments):
            return self._value(opened.value, _given(opened, arguments))
        call = function, tuple(arguments)
        if call not in self._values:
            self._values[call] = self._value(opened.value, _given(opened, arguments))
        return self._values[call]

    def _value(self, term: open_terms.Term, meaning: Meaning) -> Expression:
        match term:
            case open_terms.OpenApply("and" | "or" | "if", _):
                return self._lazy(term, meaning)
            case open_terms.OpenApply(operator, arguments):
                return self._apply(operator, *(self._value(argument, meaning) for argument in arguments))
            case open_terms.OpenRead(path, index):
                return self._intern(Read(path, self._place(path, index, term.at, meaning)))
            case open_terms.OpenBound(name):
                return meaning[name]
            case open_terms.OpenLetIn(name, value, body):
                return self._value(body, {**meaning, name: self._value(value, meaning)})
            case open_terms.Call(function, arguments):
                return self._called(function, [self._value(argument, meaning) for argument in arguments])
            case open_terms.Over():
                return self._over(term, meaning)
            case open_terms.Constant(name):
                return Switch(name) if name in self.machine.switches else Int(int(getattr(self.constants, name)))
            case open_terms.Now():
                return self._intern(Read(self._clock, None))
        return Int(_number(term))

    def _apply(self, operator: Operator, *arguments: Expression) -> Expression:
        return self._intern(apply(operator, *arguments))

    def _intern(self, term: Expression) -> Expression:
        """The object that stands for all equal terms."""
        match term:
            case Apply(operator, arguments):
                return self._interned.setdefault((operator, *map(_intern_key, arguments)), term)
            case Read(path, index):
                return self._interned.setdefault((path, _intern_key(index)), term)
        return term

    def _lazy(self, term: open_terms.OpenApply, meaning: Meaning) -> Expression:
        """Short-circuit evaluation: arguments behind one that decides may be undefined."""
        first, *others = term.arguments
        if term.operator == "if":
            test = self._value(first, meaning)
            if isinstance(test, Int):
                return self._value(others[not test.value], meaning)
            return self._apply("if", test, *(self._value(other, meaning) for other in others))
        absorbing = FALSE if term.operator == "and" else TRUE
        known: list[Expression] = []
        for argument in term.arguments:
            known.append(self._value(argument, meaning))
            if known[-1] == absorbing:
                return absorbing
        return self._apply(term.operator, *known)

    def _over(self, over: open_terms.Over, meaning: Meaning) -> Expression:
        turns = self._range(over.low, over.high, over.at, meaning)
        terms = [self._value(over.body, {**meaning, over.variable: Int(i)}) for i in turns]
        if over.fold == "set":
            members: Expression = EMPTY
            for i, term in zip(turns, terms, strict=True):
                member = self._apply("if", term, self._apply("only", Int(i)), EMPTY)
                members = self._apply("union", members, member)
            return members
        if over.fold != "sum":
            return self._apply("and" if over.fold == "all" else "or", *terms)
        total: Expression = Int(0)
        for term in terms:
            total = self._apply("+", total, self._apply("if", term, Int(1), Int(0)))
        return total

    def _range(self, low: open_terms.Term, high: open_terms.Term, at: Origin, meaning: Meaning) -> range:
        first, end = self._value(low, meaning), self._value(high, meaning)
        if not isinstance(first, Int) or not isinstance(end, Int):
            at.refuse("the bounds of a range are constants of the instance")
        return range(first.value, end.value)

    def _place(self, path: Path, index: open_terms.Term | None, at: Origin, meaning: Meaning) -> Expression | None:
        place = None if index is None else self._value(index, meaning)
        if isinstance(place, Int) and not 0 <= place.value < self._length(path):
            at.refuse(f"the array has no place {place.value} in this instance")
        return place

    # --- the state ----------------------------------------------------------------------------------------------------

    def _length(self, path: Path) -> int:
        """The length of the array on a path."""
        member = self.machine.state.members[path[0]]
        length = member.length or (None if isinstance(member, Field) else member.kind.fields[path[1]].length)
        return int(getattr(self.constants, str(length)))

    def _is_instant(self, path: Path) -> bool:
        member = self.machine.state.members[path[0]]
        return (member if isinstance(member, Field) else member.kind.fields[path[1]]).kind is Kind.INSTANT

    @cached_property
    def _clock(self) -> Path:
        members = self.machine.state.members.items()
        return (next(name for name, member in members if isinstance(member, Field) and member.kind is Kind.CLOCK),)


def _given(function: open_terms.OpenFunction, arguments: Sequence[Expression]) -> Meaning:
    return dict(zip((parameter.name for parameter in function.parameters), arguments, strict=True))


def _intern_key(term: Expression | None) -> object:
    """A short term itself, or the identity of an interned one."""
    return id(term) if isinstance(term, Apply | Read) else term


def _number(term: open_terms.Term) -> int:
    match term:
        case open_terms.OpenNumber(value=value) | open_terms.Truth(value=value) | open_terms.Named(value=value):
            return int(value)
        case open_terms.Member(kind=kind, name=name):
            return int(kind[name])
        case open_terms.LongAgo():
            return LONG_AGO
        case open_terms.EmptySet():
            return EMPTY.value
    raise AssertionError(term)
