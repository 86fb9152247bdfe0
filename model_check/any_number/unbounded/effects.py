"""The effect of a step on queues of any length, from the open terms of the specification's source.

`model_check.symbolic.if_conversion` does the same for the closed terms of one instance. Here loops are not unrolled.
One that changes each place for itself is a function of the place; of one that writes elsewhere, the last turn that
writes to a place counts. That a loop has such a form is to be proved like all else (`QueueEffect.forms`).

Reading or writing where there is nothing, or out of a declared range, is not looked for: where it happens in a search,
the engine stops.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

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
    equal,
    for_all,
    implied,
    negation,
    same,
    within,
)
from model_check.any_number.unbounded.values import LoopWriter, Names, OpenMachine, QueueEffect, TermValues
from model_check.front_end import open_terms
from model_check.front_end.terms import Tick
from spec.language import NONE

Decide = Callable[[Truth], bool]
"""Chooses the branch that is taken."""


def take(
    machine: OpenMachine, function: Callable[..., Any], arguments: Iterable[Number], effect: QueueEffect, decide: Decide
) -> None:
    """Take a step, which joins an effect.

    `decide` is asked of each condition on which a loop is run; only the branch that it chooses is taken, and its
    condition is a rule more. A rule that is plainly false is the last.
    """
    with suppress(_PlainlyFalseError):
        _Run(machine, effect, decide).call(function, arguments)


class _PlainlyFalseError(Exception):
    """A rule of the guard is plainly false: the rest may be undefined."""


@dataclass(frozen=True, slots=True)
class _Write:
    path: Path
    place: Number | None
    conditions: tuple[Truth, ...]
    """Of the branches that were taken to it."""
    value: Value


class _Run(TermValues):
    """One step, or a turn of one of its loops."""

    def __init__(self, machine: OpenMachine, effect: QueueEffect, decide: Decide | None = None, depth: int = 0) -> None:
        super().__init__(machine, effect, depth)
        self.decide = decide
        self.reached: tuple[Truth, ...] = ()
        self.writes: list[_Write] = []

    def call(self, function: Callable[..., Any], arguments: Iterable[Number]) -> None:
        """Call a function for its guard and its effect."""
        opened = self.machine.reader.function(function)
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
        if not isinstance(test, bool) and self.decide is not None and self._has_loop((*then, *otherwise)):
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

    def _has_loop(self, statements: Iterable[open_terms.Statement]) -> bool:
        """Whether some of the statements is a loop, or calls one."""
        for statement in statements:
            match statement:
                case open_terms.Loop():
                    return True
                case open_terms.OpenIf(_, then, otherwise) if self._has_loop((*then, *otherwise)):
                    return True
                case open_terms.Run(function) if self._has_loop(self.machine.reader.function(function).effect):
                    return True
        return False

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
        here, another = z3.Int(self.machine.fresh("turn")), z3.Int(self.machine.fresh("another"))
        writes, after = turns.at(here)
        form = f"the loop in line {loop.at.line}"
        changed: State = {}
        elsewhere = dict(before)
        for path in dict.fromkeys(write.path for write in writes):
            at = [write for write in writes if write.path == path]
            if isinstance(before[path], PlaceSet):
                stays = equal(after[path].has(another), before[path].has(another))
                self.need(form, implied(another != here, stays))
            elif any(write.place is None or same(write.place, here) is not True for write in at):
                (write,) = at
                changed[path] = self._last_written(write, here, turns, low, high)
                elsewhere[path] = _havocked(before[path], None, self.machine.fresh(path[-1]))
                continue
            changed[path] = turns.of_each_place(path, low, high)
            elsewhere[path] = _havocked(before[path], here, self.machine.fresh(path[-1]))
        for write, alone in zip(writes, turns.at(here, elsewhere)[0], strict=True):
            member = here if write.place is None else another
            values = (w.value.has(member) if isinstance(w.value, PlaceSet) else w.value for w in (write, alone))
            conditions = equal(conjunction(write.conditions), conjunction(alone.conditions))
            place = True if write.place is None else same(write.place, alone.place)
            self.need(form, conjunction((place, conditions, equal(*values))))
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
        last = z3.Function(self.machine.fresh("last"), INT, INT)
        writes = z3.Function(self.machine.fresh("writes"), INT, BOOL)
        self.effect.writers.append(LoopWriter(write.path, writes, last))
        is_turn = conjunction((within(low, turn, high), *at(turn).conditions))
        self.effect.definitions.append(for_all(turn, writes(turn) == is_turn, [writes(turn)]))
        written = z3.And(writes(last(place)), at(last(place)).place == place)
        self.effect.facts += [
            for_all(place, z3.Or(last(place) == NONE, written), [last(place)]),
            for_all(turn, z3.Implies(writes(turn), last(at(turn).place) >= turn), [writes(turn)]),
        ]
        return lambda i: choice(last(i) == NONE, before(i), at(last(i)).value)


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
            # The turn is kept, too: an id is given again when its term is gone.
            self._known[turn.get_id()] = (*self._at(turn, self.before), turn)
        return self._known[turn.get_id()][:2]

    def _at(self, turn: Number, before: State) -> tuple[list[_Write], State]:
        effect = QueueEffect(before)
        inner = _Run(self.run.machine, effect, depth=self.run.depth)
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


def _havocked(before: Field, except_at: Number | None, name: str) -> Field:
    """A field of which nothing is known but at one place."""

    def is_known(place: Number) -> Truth:
        return except_at is not None and same(place, except_at)

    if isinstance(before, PlaceSet):
        anything = z3.Function(name, INT, BOOL)
        return PlaceSet(lambda i: choice(is_known(i), before.has(i), anything(i)))
    sample = before(z3.Int("sample")) if is_array(before) else before
    sort = BOOL if isinstance(sample, bool) or z3.is_bool(sample) else INT
    if not is_array(before):
        return z3.Const(name, sort)
    if isinstance(sample, PlaceSet):
        member, condition = z3.Function(f"{name}.member", INT, INT), z3.Function(name, INT, BOOL)
        return lambda i: choice(is_known(i), before(i), PlaceSet.of([(member(i), condition(i))]))
    unknown = z3.Function(name, INT, sort)
    return lambda i: choice(is_known(i), before(i), unknown(i))
