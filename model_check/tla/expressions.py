"""Open terms evaluated at some point of a definition: every read becomes what the field is worth there."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING

from model_check.front_end.open_terms import (
    Call,
    Constant,
    EmptySet,
    LongAgo,
    Member,
    Named,
    Now,
    OpenApply,
    OpenBound,
    OpenFunction,
    OpenLetIn,
    OpenNumber,
    OpenRead,
    Over,
    Statement,
    Term,
    Truth,
)
from model_check.tla.pending import AliasUnknownError, Pending, PendingPlaces
from model_check.tla.values import (
    Accessors,
    Aged,
    Binding,
    Index,
    Operation,
    Quantified,
    Range,
    Select,
    SetOf,
    TlaLocal,
    Use,
    Value,
    Variable,
    operation,
    replace,
)
from spec.language.fields import Field, RecordDeclaration

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from typing import Any

    from model_check.front_end.open_functions import OpenReader
    from model_check.front_end.terms import Path
    from model_check.tla.uses import Uses
    from model_check.tla.vocabulary import LocalNames

Meaning = dict[str, Value]


class Point(ABC):
    """A point of a definition: what the variables are worth, and what is known of indices."""

    def __init__(self, reader: OpenReader, uses: Uses, names: LocalNames, state: Value | None = None) -> None:
        self.reader = reader
        self.uses = uses
        self.names = names
        self.state = state  # on which the variables stand, where it is one value with the variables for its fields
        # each variable as it is
        self.pending = {name: Pending(self.origin(name)) for name in reader.machine.state.members}
        self.bindings: list[Binding] = []  # names that the definition gives, in order
        self.apart: set[frozenset[Value]] = set()  # pairs of values that the guard keeps apart
        # a length, and an index that was given on the way here to an array of it
        self.evaluated: set[tuple[str, Value]] = set()
        self.made_up: set[str] = set()  # names of bindings that are not names of the source
        self.gives_names = True  # whether a value may be given a name here
        self._is_lazy = False

    @abstractmethod
    def carry_out(
        self,
        statements: tuple[Statement, ...],
        meaning: Meaning,
        within: OpenFunction,
        following: tuple[Statement, ...] = (),
        is_always_run: bool = True,
    ) -> None:
        """Carry out statements of a function, when those that follow are known."""

    def origin(self, name: str) -> Value:
        """A variable that nothing was written to."""
        return Variable(name) if self.state is None else Select(self.state, (name,))

    def use(self, function: Callable[..., Any], arguments: Iterable[Value]) -> Use:
        """A definition used in the state on which the variables stand."""
        if self.state is not None and self.uses.reads(function):
            return Use(function, (self.state, *arguments))
        return Use(function, tuple(arguments))

    @property
    def places(self) -> PendingPlaces:
        """The relations of indices."""
        return PendingPlaces(frozenset(self.apart), self.resolved)

    def resolved(self, value: Value) -> Value:
        """The value with each name replaced by what it means."""
        known = {b.name: b.value for b in self.bindings if b.variable is None}

        def meaning(part: Value) -> Value | None:
            return self.resolved(known[part.name]) if isinstance(part, TlaLocal) and part.name in known else None

        return replace(value, meaning)

    # --- terms --------------------------------------------------------------------------------------------------------

    def value(self, term: Term, meaning: Meaning) -> Value:
        """The value of a term here."""
        match term:
            case OpenNumber() | Truth() | EmptySet() | Member() | Named() | Now() | Constant():
                return term
            case OpenBound(name=name):
                return meaning[name]
            case LongAgo():
                return Aged("LongAgo", None, "")
            case OpenRead(path=path, index=index, field=field):
                return self.read(path, None if index is None else self.value(index, meaning), field)
            case OpenApply(operator=operator, arguments=(first, *others)):
                is_lazy = operator in ("and", "or", "if")
                values = [self.value(first, meaning), *(self._lazily(each, meaning, is_lazy) for each in others)]
                return operation(operator, *values)
            case Call(function=function, arguments=arguments):
                return self._call(function, [self.value(argument, meaning) for argument in arguments])
            case Over():
                return self._over(term, meaning)
            case OpenLetIn(name=name, value=value, body=body):
                return self.value(body, {**meaning, name: self.value(value, meaning)})
        raise AssertionError(term)

    def _lazily(self, term: Term, meaning: Meaning, is_lazy: bool = True) -> Value:
        """A term that is perhaps not looked at: its indices may lie outside their arrays."""
        before = self._is_lazy
        self._is_lazy = before or is_lazy
        try:
            return self.value(term, meaning)
        finally:
            self._is_lazy = before

    def _call(self, function: Callable[..., Any], arguments: list[Value]) -> Value:
        """A definition used where it speaks of the state before the action, or else what it gives here."""
        if self.is_untouched(self.uses.reads(function)):
            return self.use(function, arguments)
        opened = self.reader.function(function)
        if opened.value is None:
            raise AssertionError(function)
        return self.value(opened.value, dict(zip((p.name for p in opened.parameters), arguments, strict=True)))

    def _over(self, term: Over, meaning: Meaning) -> Value:
        domain = Range(self.value(term.low, meaning), self.value(term.high, meaning))
        name = self.names.enter(term.variable)
        try:
            body = self._lazily(term.body, {**meaning, term.variable: TlaLocal(name)})
        finally:
            self.names.leave()
        return SetOf(name, domain, body) if term.fold == "set" else Quantified(term.fold, name, domain, body)

    # --- the state ----------------------------------------------------------------------------------------------------

    def read(self, path: Path, index: Value | None, field: Field) -> Value:
        """The value of a field here."""
        accessors = self.accessors(path, index)
        if not self._is_lazy:
            self.note_index(path, index)
        try:
            return self.pending[path[0]].part(accessors, field, self.places)
        except AliasUnknownError:
            self.name_variable(path[0])
            return self.pending[path[0]].part(accessors, field, self.places)

    def name_variable(self, name: str) -> None:
        """Give what a variable is worth here a name, so that any part of it can be read."""
        if not self.gives_names:
            raise AliasUnknownError
        local = self.names.give(f"{name}_then")
        self.made_up.add(local)
        self.bindings.append(Binding(local, self.pending[name].whole))
        self.pending[name] = Pending(TlaLocal(local))

    def accessors(self, path: Path, index: Value | None) -> Accessors:
        """The way from a variable to a field of it."""
        place = () if index is None else (Index(index),)
        if len(path) == 1:
            return place
        member = self.reader.machine.state.members[path[0]]
        is_array = isinstance(member, RecordDeclaration) and member.length is not None
        return (*place, path[1]) if is_array else (path[1], *place)

    def length_of(self, path: Path) -> str | None:
        """The constant that is the length of the array that a path goes through."""
        member = self.reader.machine.state.members[path[0]]
        if isinstance(member, RecordDeclaration) and member.length is None:
            return member.kind.fields[path[1]].length
        return member.length

    def note_index(self, path: Path, index: Value | None) -> None:
        """An array is given an index here, so that it lies in it."""
        length = self.length_of(path)
        if index is not None and length is not None:
            self.evaluated.add((length, self.resolved(index)))

    def is_inside(self, path: Path, index: Value | None) -> bool:
        """Whether an index is known to lie in the array."""
        length = self.length_of(path)
        if index is None or length is None:
            return True
        place = self.resolved(index)
        if (length, place) in self.evaluated:
            return True
        if isinstance(place, Select) and isinstance(place.field, Field):
            low, high = place.field.low, place.field.high
            return low.constant is None and low.offset >= 0 and high.constant == length and high.offset < 0
        return False

    def is_untouched(self, paths: frozenset[Path]) -> bool:
        """Whether these fields are what they were before the action."""
        return all(
            self.pending[path[0]].base == self.origin(path[0])
            and not self.pending[path[0]].is_touched(self.accessors(path, None))
            for path in paths
        )

    def note_rule(self, condition: Value) -> None:
        """A conjunct of the guard: it may keep two indices apart."""
        match condition:
            case Operation("and", terms):
                for term in terms:
                    self.note_rule(term)
            case Operation("<" | ">" | "!=", (one, other)):
                self.apart.add(frozenset((self.resolved(one), self.resolved(other))))
