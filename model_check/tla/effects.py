"""The effect of an action as next values of variables: assignments, branches and calls, carried out on values.

Assignments follow one another in the source; in TLA+ each variable has one next value. A call of another function with
an effect stays a use of its definition where it speaks of nothing that the action wrote before or writes afterwards;
everywhere else its assignments are carried out in place.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from model_check.errors import NotInTheLanguage
from model_check.front_end.open_terms import (
    Constant,
    Loop,
    Now,
    OpenFunction,
    OpenIf,
    OpenLet,
    OpenNumber,
    OpenRemove,
    OpenWrite,
    Run,
    Statement,
)
from model_check.front_end.source import source_of
from model_check.front_end.terms import Path, Tick
from model_check.tla.expressions import Meaning, Point
from model_check.tla.loops import carry_out_loop
from model_check.tla.pending import Pending, decided, merged
from model_check.tla.values import (
    Accessors,
    Aged,
    Binding,
    Except,
    Index,
    Mapping,
    Operation,
    Range,
    Select,
    TlaLocal,
    Update,
    Use,
    Value,
    Variable,
    operation,
    plus,
    size,
)
from spec.language import Kind
from spec.language.fields import Field

if TYPE_CHECKING:
    from collections.abc import Callable

    Aging = Callable[[Value, Field], Value]

LARGE = 9
"""A value of more parts than this gets a name rather than to be written more than once."""


class TlaEffect(Point):
    """Carries out statements."""

    def __init__(self, *given: object) -> None:
        super().__init__(*given)  # type: ignore[arg-type]
        self.uses_of_effects: list[Use] = []  # calls that stay uses of definitions
        self._has_ticked = False

    def carry_out(
        self,
        statements: tuple[Statement, ...],
        meaning: Meaning,
        within: OpenFunction,
        following: tuple[Statement, ...] = (),
        is_always_run: bool = True,
    ) -> None:
        """Carry out statements of a function, when those that follow are known."""
        for number, statement in enumerate(statements):
            if self._has_ticked:
                source = source_of(within.function)
                msg = f"{source.file}:{source.first_line}: {within.name}: the clock goes on last, or not at all"
                raise NotInTheLanguage(msg)
            rest = (*statements[number + 1 :], *following)
            match statement:
                case OpenLet(name=name, value=value):
                    meaning[name] = self.named(name, self.value(value, meaning))
                case OpenWrite(path=path, index=index, field=field, value=value):
                    place = None if index is None else self.value(index, meaning)
                    self.write(path, place, field, self.value(value, meaning))
                case OpenIf():
                    self.branch(statement, meaning, within)
                case Loop():
                    self.loop(statement, meaning, within)
                case Run():
                    self._call_effect(statement, meaning, rest, is_always_run)
                case Tick(is_back=is_back):
                    self._let_time_pass(younger if is_back else older)
                case OpenRemove():
                    self.remove(statement, meaning)
                case _:
                    raise AssertionError(statement)

    def named(self, name: str, value: Value) -> Value:
        """A value by the name that the source gives it."""
        if isinstance(value, TlaLocal | OpenNumber | Constant | Variable | Now) or not self.gives_names:
            return value
        for binding in self.bindings:
            if binding.value == value and binding.variable is None:
                return TlaLocal(binding.name)
        self.bindings.append(Binding(self.names.give(name), value))
        return TlaLocal(self.bindings[-1].name)

    # --- assignments --------------------------------------------------------------------------------------------------

    def write(self, path: Path, index: Value | None, field: Field, value: Value) -> None:
        """Assign to a field."""
        if field.kind is Kind.INSTANT:
            value = cut_at_floor(value, field)
        self.note_index(path, index)
        self.pending[path[0]] = self.pending[path[0]].written(self.accessors(path, index), value, self.places)

    def remove(self, statement: OpenRemove, meaning: Meaning) -> None:
        """Take a place out of the arrays of a length."""
        del meaning
        statement.at.refuse("a step removes no record; only what a machine forgets is removed")

    def _let_time_pass(self, aged: Aging) -> None:
        """Each instant is a tick further back, down to its floor; or a tick less far back."""
        for name, member in self.reader.machine.state.members.items():
            if isinstance(member, Field):
                if member.kind is Kind.INSTANT and member.length is None:
                    self._age(name, (), member, aged)
                elif member.kind is Kind.INSTANT:
                    self.pending[name] = Pending(self._each_aged(self.pending[name].whole, member, aged))
                continue
            instants = {n: f for n, f in member.kind.fields.items() if f.kind is Kind.INSTANT}
            if member.length is not None and instants:
                self.pending[name] = Pending(self._records_aged(name, member.length, instants, aged))
                continue
            for field_name, field in instants.items():
                if field.length is None:
                    self._age(name, (field_name,), field, aged)
                else:
                    current = self.pending[name].part((field_name,), None, self.places)
                    each = self._each_aged(current, field, aged)
                    self.pending[name] = self.pending[name].written((field_name,), each, self.places)
        self._has_ticked = True

    def _age(self, name: str, accessors: Accessors, field: Field, aged: Aging) -> None:
        current = self.pending[name].part(accessors, field, self.places)
        self.pending[name] = self.pending[name].written(accessors, aged(current, field), self.places)

    def _each_aged(self, array: Value, field: Field, aged: Aging) -> Value:
        place = TlaLocal(self.names.enter("i"))
        self.names.leave()
        body = aged(Select(array, (Index(place),), field), field)
        return Mapping(place.name, Range(OpenNumber(0), Constant(str(field.length), is_truth=False)), body)

    def _records_aged(self, name: str, length: str, instants: dict[str, Field], aged: Aging) -> Value:
        if self.pending[name].updates:
            self.name_variable(name)
        place = TlaLocal(self.names.enter(name[0]))
        self.names.leave()
        record = Select(self.pending[name].base, (Index(place),))
        updates = tuple(
            Update((n,), aged(Select(record.base, (*record.accessors, n), f), f)) for n, f in instants.items()
        )
        return Mapping(place.name, Range(OpenNumber(0), Constant(length, is_truth=False)), Except(record, updates))

    # --- branches and calls -------------------------------------------------------------------------------------------

    def loop(self, loop: Loop, meaning: Meaning, within: OpenFunction) -> None:
        """Carry out a loop."""
        carry_out_loop(self, loop, meaning, within)

    def branch(self, statement: OpenIf, meaning: Meaning, within: OpenFunction) -> None:
        """Carry out an `if`."""
        self._name_large_values(statement)
        test = self.value(statement.test, meaning)
        before, known = dict(self.pending), set(self.evaluated)
        self.carry_out(statement.then, dict(meaning), within, is_always_run=False)
        then, self.pending, self.evaluated = self.pending, dict(before), set(known)
        self.carry_out(statement.otherwise, dict(meaning), within, is_always_run=False)
        otherwise, self.evaluated = self.pending, known
        count = sum(decided(before[name], then[name], otherwise[name]) for name in before)
        if self.gives_names and count > 1 and size(test) > LARGE:
            test = self.named("when", test)
        self.pending = {
            name: merged(test, pending, then[name], otherwise[name], self.places, partial(self._is_safe, name))
            for name, pending in before.items()
        }
        for name in before if self.gives_names else ():
            if isinstance(self.pending[name].base, Operation):
                self.name_variable(name)

    def _name_large_values(self, statement: OpenIf) -> None:
        """Name what a branch reads or may leave as it is: it would be written more than once."""
        reads, writes = self.uses.of([statement])
        fields = {self.accessors(path, None) for path in reads | writes}
        for name, pending in self.pending.items() if self.gives_names else ():
            updates = list(pending.updates)
            for number, update in enumerate(updates):
                leading = tuple(a for a in update.accessors if isinstance(a, str))
                if size(update.value) > LARGE and leading in fields and update.accessors:
                    local = self.named(f"{leading[-1] if leading else name}_then", update.value)
                    updates[number] = Update(update.accessors, local)
                    self.made_up.add(str(getattr(local, "name", "")))
            self.pending[name] = Pending(pending.base, tuple(updates))

    def _is_safe(self, name: str, accessors: Accessors) -> bool:
        """Whether a part may be looked at even where a branch is not taken."""
        path = (name, *(a for a in accessors if isinstance(a, str)))
        return all(self.is_inside(path, a.place) for a in accessors if isinstance(a, Index))

    def _call_effect(self, call: Run, meaning: Meaning, following: tuple[Statement, ...], is_always_run: bool) -> None:
        opened = self.reader.function(call.function)
        arguments = [self.value(argument, meaning) for argument in call.arguments]
        if is_always_run and self.may_stand_apart(call, following):
            self.uses_of_effects.append(Use(call.function, tuple(arguments)))
            return
        names = (parameter.name for parameter in opened.parameters)
        self.carry_out(opened.effect, dict(zip(names, arguments, strict=True)), opened, following, is_always_run)

    def may_stand_apart(self, call: Run, following: tuple[Statement, ...]) -> bool:
        """Whether a call can stay a use of its definition."""
        reads, writes = self.uses.reads(call.function), self.uses.writes(call.function)
        later_reads, later_writes = self.uses.of(following)
        variables = {path[0] for path in writes}
        return (
            all(self.pending[name] == Pending(self.origin(name)) for name in variables)
            and self.is_untouched(reads)
            and not later_reads & writes
            and variables.isdisjoint(path[0] for path in later_writes)
        )


def older(instant: Value, field: Field) -> Value:
    """An instant when a tick has passed."""
    cut = str(field.high.constant)
    if instant == Aged("LongAgo", None, cut, field.slack):
        return instant
    return Aged("Older", instant, cut, field.slack)


def younger(instant: Value, _: Field) -> Value:
    """An instant when the clock has stepped back a tick."""
    return plus(instant, 1)


def cut_at_floor(value: Value, field: Field) -> Value:
    """A value as an instant that is no further back than its field allows."""
    cut = str(field.high.constant)
    match value:
        case Now():
            return value
        case Aged("LongAgo", _, _) | OpenNumber(0):
            return Aged("LongAgo", None, cut, field.slack)
        case Select(field=Field() as read) if read.kind is Kind.INSTANT and read.high.constant == cut:
            if read.slack == field.slack:
                return value
        case Operation("if", (test, then, otherwise)):
            return operation("if", test, cut_at_floor(then, field), cut_at_floor(otherwise, field))
    return Aged("NotBefore", value, cut, field.slack)
