"""The effect of a step on queues of any length, from the open terms of the specification's source.

`model_check.symbolic.if_conversion` does the same for the closed terms of one instance. Here loops and folds are not
unrolled: what asks of all places quantifies over them. A loop that changes each place for itself is a function of the
place; of one that writes elsewhere, the last turn that writes to a place counts; a sum over places counts a run of
them. That a loop or a sum has such a form is to be proved like all else (`QueueEffect.forms`).

Reading or writing where there is nothing, or out of a declared range, is not looked for: where it happens in a search,
the engine stops.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final, cast

import z3

from model_check.any_number.unbounded.formulas import (
    BOOL,
    INT,
    Field,
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
    same,
    within,
)
from model_check.front_end import open_terms
from model_check.front_end.terms import Tick
from spec.language import NONE

if TYPE_CHECKING:
    from model_check.front_end.open_functions import OpenReader

LONG_AGO: Final = z3.Int("long_ago")
"""An instant of which nothing is known."""

Names = Mapping[str, Value]
"""The values of parameters, loop variables and local names."""

Said = Callable[[str, Number], Truth]
"""Something true of each place of an array, by the constant that is its length: a solver looks at what is named."""

Decide = Callable[[Truth], bool]
"""Chooses the branch that is taken."""


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


class Steps:
    """Takes steps of a machine."""

    def __init__(
        self, reader: OpenReader, constants: Mapping[str, Number], prefix: str, said: Said, said_of_ends: Said
    ) -> None:
        self.reader, self.constants, self.prefix = reader, constants, prefix
        self.said, self.said_of_ends = said, said_of_ends
        self.is_end: Final = z3.Function(f"{prefix}.is_end", INT, BOOL)
        """True of the ends of sums: a solver tries them wherever something is said of all places."""
        self._number = 0

    def take(
        self, function: Callable[..., Any], arguments: Iterable[Number], effect: QueueEffect, decide: Decide
    ) -> None:
        """Take a step, which joins an effect.

        `decide` is asked of each condition on which a loop is run; only the branch that it chooses is taken, and its
        condition is a rule more. A rule that is plainly false is the last.
        """
        with suppress(_PlainlyFalseError):
            _Run(self, effect, decide).call(function, arguments)

    def fresh(self, name: str) -> str:
        """A name that no formula has yet."""
        self._number += 1
        return f"{self.prefix}.{name}.{self._number}"

    def has_loop(self, statements: Iterable[open_terms.Statement]) -> bool:
        """Whether some of the statements is a loop, or calls one."""
        return any(map(self._has_loop, statements))

    def _has_loop(self, statement: open_terms.Statement) -> bool:
        match statement:
            case open_terms.Loop():
                return True
            case open_terms.OpenIf(_, then, otherwise):
                return self.has_loop((*then, *otherwise))
            case open_terms.Run(function):
                return self.has_loop(self.reader.function(function).effect)
        return False


class _PlainlyFalseError(Exception):
    """A rule of the guard is plainly false: the rest may be undefined."""


@dataclass(frozen=True, slots=True)
class _Write:
    path: Path
    place: Number | None
    conditions: tuple[Truth, ...]
    """Of the branches that were taken to it."""
    value: Value


class _Run:
    """One step, or a turn of one of its loops."""

    def __init__(self, steps: Steps, effect: QueueEffect, decide: Decide | None = None, depth: int = 0) -> None:
        self.steps, self.effect, self.decide, self.depth = steps, effect, decide, depth
        self.reached: tuple[Truth, ...] = ()
        self.writes: list[_Write] = []
        self._sums: dict[int, Number] = {}

    def call(self, function: Callable[..., Any], arguments: Iterable[Number]) -> None:
        """Call a function for its guard and its effect."""
        opened = self.steps.reader.function(function)
        names = dict(zip((parameter.name for parameter in opened.parameters), arguments, strict=True))
        self.block((*opened.guard, *opened.effect), names)

    # --- statements ---------------------------------------------------------------------------------------------------

    def block(self, statements: Iterable[open_terms.Statement], names: Names) -> None:
        """Take statements one after the other."""
        known = dict(names)
        for statement in statements:
            if isinstance(statement, open_terms.OpenLet):
                known[statement.name] = self.value(statement.value, known)
            else:
                self._statement(statement, known)

    def _statement(self, statement: open_terms.Statement, names: Names) -> None:
        match statement:
            case open_terms.OpenWrite(path, index, value=value):
                assigned = self.value(value, names)
                self._write(path, None if index is None else self.value(index, names), assigned)
            case open_terms.OpenIf(test, then, otherwise):
                self._if(self.value(test, names), then, otherwise, names)
            case open_terms.Loop():
                self._loop(statement, names)
            case open_terms.Run(function, arguments):
                self.call(function, [self.value(argument, names) for argument in arguments])
            case open_terms.OpenConjunct(_, rule, condition):
                self.effect.guard.append((rule, self.value(condition, names)))
                if self.effect.guard[-1][1] is False:
                    raise _PlainlyFalseError
            case Tick(is_back):
                now = self.effect.state["now",]
                self.effect.state = {**self.effect.state, ("now",): now - 1 if is_back else now + 1}
            case _:
                raise AssertionError(statement)

    def _if(
        self,
        test: Truth,
        then: tuple[open_terms.Statement, ...],
        otherwise: tuple[open_terms.Statement, ...],
        names: Names,
    ) -> None:
        if not isinstance(test, bool) and self.decide is not None and self.steps.has_loop((*then, *otherwise)):
            is_so = self.decide(test)
            self.effect.guard.append(("the branch is taken", test if is_so else negation(test)))
            test = is_so
        if isinstance(test, bool):
            self.block(then if test else otherwise, names)
            return
        before, reached = self.effect.state, self.reached
        ends = []
        for condition, block in ((test, then), (negation(test), otherwise)):
            self.effect.state, self.reached = before, (*reached, condition)
            self.block(block, names)
            ends.append(self.effect.state)
        first, second = ends
        merged = {path: _merged(test, first[path], second[path]) for path in before if first[path] is not second[path]}
        self.effect.state, self.reached = {**before, **merged}, reached

    def _write(self, path: Path, place: Number | None, value: Value) -> None:
        self.writes.append(_Write(path, place, self.reached, value))
        before = self.effect.state[path]
        after = value if place is None else (lambda i: choice(same(i, place), value, before(i)))
        self.effect.state = {**self.effect.state, path: after}

    # --- loops --------------------------------------------------------------------------------------------------------

    def _loop(self, loop: open_terms.Loop, names: Names) -> None:
        low, high = self.value(loop.low, names), self.value(loop.high, names)
        if isinstance(low, int) and isinstance(high, int):
            for turn in range(low, high):
                self.block(loop.body, {**names, loop.variable: turn})
            return
        listed = self._listed_turns(loop, names)
        if listed is None:
            self._many_turns(loop, low, high, names)
            return
        for turn, condition in listed:
            inside = conjunction((within(low, turn, high), condition))
            self._if(inside, loop.body, (), {**names, loop.variable: turn})

    def _listed_turns(self, loop: open_terms.Loop, names: Names) -> tuple[tuple[Number, Truth], ...] | None:
        """The turns that do something, where only members of a set do, of which there is one at most."""
        match loop.body:
            case (
                open_terms.OpenIf(
                    open_terms.OpenApply(
                        "and", (open_terms.OpenApply("has", (members, open_terms.OpenBound(loop.variable))), *_)
                    ),
                    otherwise=(),
                ),
            ):
                listed: tuple[tuple[Number, Truth], ...] | None = self.value(members, names).listed
                return listed if listed is not None and len(listed) <= 1 else None
        return None

    def _many_turns(self, loop: open_terms.Loop, low: Number, high: Number, names: Names) -> None:
        """All turns of a loop at once."""
        turns, before = _Turns(self, loop, names), self.effect.state
        here, another = z3.Int(self.steps.fresh("turn")), z3.Int(self.steps.fresh("another"))
        writes, after = turns.at(here)
        form = f"the loop in line {loop.at.line}"
        changed: State = {}
        elsewhere = dict(before)
        for path in dict.fromkeys(write.path for write in writes):
            at = [write for write in writes if write.path == path]
            if isinstance(before[path], PlaceSet):
                stays = equal(after[path].has(another), before[path].has(another))
                self._need(form, implied(another != here, stays))
            elif any(write.place is None or same(write.place, here) is not True for write in at):
                (write,) = at
                changed[path] = self._last_written(write, here, turns, low, high)
                elsewhere[path] = _havocked(before[path], None, self.steps.fresh(path[-1]))
                continue
            changed[path] = turns.of_each_place(path, low, high)
            elsewhere[path] = _havocked(before[path], here, self.steps.fresh(path[-1]))
        for write, alone in zip(writes, turns.at(here, elsewhere)[0], strict=True):
            member = here if write.place is None else another
            values = (w.value.has(member) if isinstance(w.value, PlaceSet) else w.value for w in (write, alone))
            conditions = equal(conjunction(write.conditions), conjunction(alone.conditions))
            place = True if write.place is None else same(write.place, alone.place)
            self._need(form, conjunction((place, conditions, equal(*values))))
        self.effect.state = {**before, **changed}

    def _last_written(self, write: _Write, here: Number, turns: _Turns, low: Number, high: Number) -> Field:
        """A field of which the last turn that writes counts, at each place."""
        before = turns.before[write.path]

        def at(turn: Number) -> _Write:
            return next(each for each in turns.at(turn)[0] if each.path == write.path)

        if write.place is None:
            first, behind, left = bounds(write.conditions[len(self.reached) :], here, low, high)
            if left:
                msg = f"{left} do not bound {here}"
                raise AssertionError(msg)
            return choice(first < behind, at(behind - 1).value, before)
        place, turn = z3.Ints("place turn")
        last = z3.Function(self.steps.fresh("last"), INT, INT)
        writes = z3.Function(self.steps.fresh("writes"), INT, BOOL)
        self.effect.writers.append(LoopWriter(write.path, writes, last))
        is_turn = conjunction((within(low, turn, high), *at(turn).conditions))
        self.effect.definitions.append(for_all(turn, writes(turn) == is_turn, [writes(turn)]))
        written = z3.And(writes(last(place)), at(last(place)).place == place)
        self.effect.facts += [
            for_all(place, z3.Or(last(place) == NONE, written), [last(place)]),
            for_all(turn, z3.Implies(writes(turn), last(at(turn).place) >= turn), [writes(turn)]),
        ]
        return lambda i: choice(last(i) == NONE, before(i), at(last(i)).value)

    def _need(self, form: str, goal: Truth) -> None:
        if goal is not True:
            self.effect.forms.append((form, goal))

    # --- expressions --------------------------------------------------------------------------------------------------

    def value(self, term: open_terms.Term, names: Names) -> Value:
        """The value of a term in the state."""
        match term:
            case open_terms.Now():
                return self.effect.state["now",]
            case open_terms.Constant(name):
                return self.steps.constants[name]
            case open_terms.OpenBound(name):
                return names[name]
            case open_terms.OpenRead(path, index):
                found = self.effect.state[path]
                return found if index is None else found(self.value(index, names))
            case open_terms.OpenLetIn(name, value, body):
                return self.value(body, {**names, name: self.value(value, names)})
            case open_terms.Call(function, arguments):
                opened = self.steps.reader.function(function)
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
        inside = conjunction((within(low, place, high), _said_of(self.steps.said, over, place)))
        if over.fold == "any":
            return exists(place, conjunction((inside, body)), [self.steps.is_end(place)])
        return for_all(place, implied(inside, body), also=[self.steps.is_end(place)])

    def _sum(
        self, over: open_terms.Over, within_bounds: tuple[Number, Number], at: Callable[[Number], Truth], place: Number
    ) -> Number:
        """For how many places a condition holds: a run of them, from the lowest one on that it lets be."""
        key = at(place).get_id()
        if key not in self._sums:
            first, behind = within_bounds
            end, one, before = (z3.Int(self.steps.fresh(name)) for name in ("end", "one", "before"))
            inside = conjunction((first <= before, before <= one, one < behind, at(one)))
            self._need(f"the sum in line {over.at.line}", implied(inside, at(before)))
            self.effect.facts += [
                first <= end,
                z3.Or(end <= behind, end == first),
                implied(end > first, at(end - 1)),
                negation(conjunction((end < behind, at(end)))),
            ]
            for position in (end - 1, end):
                said = _said_of(self.steps.said_of_ends, over, position)
                self.effect.facts += [self.steps.is_end(position), said]
            self._sums[key] = end - first
        return self._sums[key]


class _Turns:
    """The turns of a loop, each from the state before all of them."""

    def __init__(self, run: _Run, loop: open_terms.Loop, names: Names) -> None:
        self.run, self.loop, self.names, self.before = run, loop, names, run.effect.state
        self._known: dict[int, tuple[list[_Write], State, Number]] = {}

    def at(self, turn: Number, before: State | None = None) -> tuple[list[_Write], State]:
        """What a turn writes, and the state behind it."""
        if before is not None:
            return self._at(turn, before)
        if turn.get_id() not in self._known:
            self._known[turn.get_id()] = *self._at(turn, self.before), turn  # whose id is kept by keeping it
        return self._known[turn.get_id()][:2]

    def _at(self, turn: Number, before: State) -> tuple[list[_Write], State]:
        effect = QueueEffect(before)
        inner = _Run(self.run.steps, effect, depth=self.run.depth)
        inner.reached = self.run.reached
        inner.block(self.loop.body, {**self.names, self.loop.variable: turn})
        if effect.facts or effect.forms or effect.guard:
            msg = "a turn of a loop has a loop, a sum or a rule"
            raise AssertionError(msg)
        return inner.writes, effect.state

    def of_each_place(self, path: Path, low: Number, high: Number) -> Field:
        """A field of which each place is changed by its own turn."""
        before = self.before[path]
        if isinstance(before, PlaceSet):
            return PlaceSet(lambda i: choice(within(low, i, high), self.at(i)[1][path].has(i), before.has(i)))
        return lambda i: choice(within(low, i, high), self.at(i)[1][path](i), before(i))


def is_array(value: Field) -> bool:
    """Whether a field is an array."""
    return callable(value) and not z3.is_expr(value)


def _merged(test: Truth, first: Field, second: Field) -> Field:
    return (lambda i: choice(test, first(i), second(i))) if is_array(first) else choice(test, first, second)


def _havocked(before: Field, kept: Number | None, name: str) -> Field:
    """A field of which nothing is known but at one place."""

    def is_kept(place: Number) -> Truth:
        return kept is not None and same(place, kept)

    if isinstance(before, PlaceSet):
        anything = z3.Function(name, INT, BOOL)
        return PlaceSet(lambda i: choice(is_kept(i), before.has(i), anything(i)))
    sample = before(z3.Int("sample")) if is_array(before) else before
    sort = BOOL if isinstance(sample, bool) or z3.is_bool(sample) else INT
    if not is_array(before):
        return z3.Const(name, sort)
    if isinstance(sample, PlaceSet):
        member, condition = z3.Function(f"{name}.member", INT, INT), z3.Function(name, INT, BOOL)
        return lambda i: choice(is_kept(i), before(i), PlaceSet.of([(member(i), condition(i))]))
    unknown = z3.Function(name, INT, sort)
    return lambda i: choice(is_kept(i), before(i), unknown(i))


def _said_of(said: Said, over: open_terms.Over, place: Number) -> Truth:
    return said(over.high.name, place) if isinstance(over.high, open_terms.Constant) else True


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
