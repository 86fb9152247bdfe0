"""One function of the specification as one definition of the module, with the names of a LET that are worth it."""

from __future__ import annotations

import inspect
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

from model_check.front_end.open_terms import (
    Loop,
    OpenConjunct,
    OpenFunction,
    OpenIf,
    OpenLet,
    OpenLetIn,
    Run,
    Statement,
)
from model_check.front_end.terms import parts
from model_check.tla.effects import TlaEffect
from model_check.tla.layout import WIDTH, Block, comment, filled, hang, indented, junction
from model_check.tla.values import Binding, LetIn, TlaLocal, Use, Value, replace, with_local
from model_check.tla.vocabulary import LocalNames, Vocabulary

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Sequence

    from model_check.front_end.open_functions import OpenReader
    from model_check.tla.expressions import Meaning
    from model_check.tla.printing import Printer
    from model_check.tla.uses import Uses

_KINDS: Final = {"require": "", "assume": "environment: ", "within": "instance: "}
ROOM: Final = WIDTH - 8


@dataclass
class Definition:
    """A definition's text, and the functions whose definitions it uses."""

    name: str
    parameters: tuple[str, ...]
    text: Block
    uses: dict[Callable[..., Any], None] = field(default_factory=dict)


@dataclass
class Definer:
    """Writes definitions with the names of a module."""

    reader: OpenReader
    uses: Uses
    names: Vocabulary
    printer: Printer
    taken: frozenset[str]
    actions: frozenset[Callable[..., Any]]

    def define(self, function: Callable[..., Any], name: str) -> tuple[tuple[str, ...], Block]:
        """The parameters, without the state, and the text of the definition of a function."""
        opened = self.reader.function(function)
        point = self.point(function)
        meaning: Meaning = {p.name: TlaLocal(point.names.give(p.name)) for p in opened.parameters}
        given = [self.printer.flat(point.state)] if isinstance(point.state, TlaLocal) else []
        parameters = tuple(self.printer.flat(each) for each in meaning.values())
        if opened.value is not None:
            body = self._value(point, opened, meaning)
        else:
            body = self.statements(point, opened, meaning)
        head = f"{name}({', '.join([*given, *parameters])}) ==" if given or parameters else f"{name} =="
        return parameters, [*comment(inspect.getdoc(function) or ""), *self._headed(head, body)]

    def point(self, function: Callable[..., Any]) -> TlaEffect:
        """Where a definition begins."""
        del function
        return TlaEffect(self.reader, self.uses, LocalNames(self.taken))

    def takes_state(self, function: Callable[..., Any]) -> bool:
        """Whether the first parameter of a definition is a state."""
        del function
        return False

    def _headed(self, head: str, body: Block) -> Block:
        if len(body) == 1 and len(head) + len(body[0]) < WIDTH and not body[0].startswith("/\\"):
            return [f"{head} {body[0]}"]
        return [head, *indented(body)]

    def _value(self, point: TlaEffect, opened: OpenFunction, meaning: Meaning) -> Block:
        term = opened.value
        while isinstance(term, OpenLetIn):
            meaning = {**meaning, term.name: point.named(term.name, point.value(term.value, meaning))}
            term = term.body
        if term is None:
            raise AssertionError(opened)
        body = self.printer.block(point.value(term, meaning), ROOM)
        return self.printer.let(point.bindings, body)

    # --- a guard and an effect ----------------------------------------------------------------------------------------

    def statements(self, point: TlaEffect, opened: OpenFunction, meaning: Meaning) -> Block:
        """A guard and an effect."""
        items = self.guard(point, opened, meaning)
        point.carry_out(opened.effect, meaning, opened)
        changed = {name: p.whole for name, p in point.pending.items() if p.whole != point.origin(name)}
        bindings, changed = tidied(point.bindings, changed, point.made_up, point.uses_of_effects)
        effect = [[self.printer.flat(use)] for use in point.uses_of_effects]
        effect += [self._next(name, value) for name, value in changed.items()]
        if bindings:
            effect = [self.printer.let(bindings, junction("/\\", effect), ROOM)]
        items += effect
        if opened.function in self.actions:
            items += self._unchanged(point, changed)
        return junction("/\\", items)

    def guard(self, point: TlaEffect, opened: OpenFunction, meaning: Meaning) -> list[Block]:
        """The conjuncts of a guard."""
        return [item for statement in opened.guard for item in self._rule(point, statement, meaning)]

    def _rule(self, point: TlaEffect, statement: Statement, meaning: Meaning) -> list[Block]:
        match statement:
            case OpenLet(name=name, value=value):
                meaning[name] = point.value(value, meaning)
                return []
            case OpenConjunct(kind=kind, rule=rule, condition=condition):
                claim = point.value(condition, meaning)
                point.note_rule(claim)
                block = self.printer.block(claim, ROOM)
                if self.uses.branches(condition):
                    block = hang(f"{self.names.note('IsTrue')}(", block, ")")
                return [[*comment(_KINDS[kind] + rule), *block]]
            case Run(function=function, arguments=arguments, at=at):
                if self.reader.function(function).effect:
                    at.refuse(f"{function.__name__} is neither a part of a guard nor an effect")
                given = tuple(point.value(argument, meaning) for argument in arguments)
                self._note_rules(point, function, given)
                return [[self.printer.flat(point.use(function, given))]]
            case OpenIf(then=[*inner], otherwise=[*others]):
                _refuse_rules((*inner, *others))
            case Loop(body=[*inner]):
                _refuse_rules(inner)
        raise AssertionError(statement)

    def _note_rules(self, point: TlaEffect, function: Callable[..., Any], arguments: tuple[Value, ...]) -> None:
        """Learn from the conjuncts of a shared guard what they say of indices."""
        opened = self.reader.function(function)
        meaning: Meaning = dict(zip((p.name for p in opened.parameters), arguments, strict=True))
        for statement in opened.guard:
            match statement:
                case OpenLet(name=name, value=value):
                    meaning[name] = point.value(value, meaning)
                case OpenConjunct(condition=condition):
                    point.note_rule(point.value(condition, meaning))
                case Run(function=inner, arguments=given):
                    self._note_rules(point, inner, tuple(point.value(argument, meaning) for argument in given))

    def _next(self, name: str, value: Value) -> Block:
        block = self.printer.right_side(value, ROOM - len(name) - 4)
        if len(block) == 1:
            return [f"{name}' = {block[0]}"]
        block = self.printer.right_side(value, ROOM - 4)
        return hang(f"{name}' = ", block) if block[0].startswith("[") else [f"{name}' =", *indented(block)]

    def _unchanged(self, point: TlaEffect, changed: dict[str, Value]) -> list[Block]:
        written = {path[0] for use in point.uses_of_effects for path in self.uses.writes(use.function)}
        unchanged = [v for v in point.pending if v not in changed and v not in written and v not in clocks(self.reader)]
        return [filled(unchanged, "UNCHANGED <<", ">>")] if unchanged else []


def _refuse_rules(statements: Iterable[Statement]) -> None:
    for statement in statements:
        match statement:
            case OpenConjunct(at=at) | Run(at=at):
                at.refuse("a conjunct of the guard stands alone, not in a branch or a loop")
            case OpenIf(then=then, otherwise=otherwise):
                _refuse_rules((*then, *otherwise))
            case Loop(body=body):
                _refuse_rules(body)


def clocks(reader: OpenReader) -> frozenset[str]:
    """The members of the state that are no variables, since the clock stands still."""
    members = reader.machine.state.members.items()
    return frozenset(name for name, member in members if getattr(getattr(member, "kind", None), "name", "") == "CLOCK")


# --- names of a LET ---------------------------------------------------------------------------------------------------


def tidied(
    bindings: Sequence[Binding],
    changed: dict[str, Value],
    made_up: Collection[str],
    uses_of_effects: Sequence[Use] = (),
) -> tuple[list[Binding], dict[str, Value]]:
    """Without names that nothing uses, and with what has no name in the source in the one place that uses it."""
    needed = list(bindings)
    for binding in reversed(bindings):
        used = _uses((*changed.values(), *(b.value for b in needed)), binding.name)
        arguments = _uses(uses_of_effects, binding.name)
        if used + arguments == 0:
            needed.remove(binding)
        elif (
            used == 1
            and arguments == 0
            and binding.name in made_up
            and binding.variable is None
            and not _is_bound_around_it(binding, [*changed.values(), *(b.value for b in needed)])
        ):
            needed.remove(binding)
            changed = {name: with_local(value, binding.name, binding.value) for name, value in changed.items()}
            needed = [
                Binding(b.name, with_local(b.value, binding.name, binding.value), b.variable, b.domain) for b in needed
            ]
    return needed, changed


def _uses(values: Iterable[Value], name: str) -> int:
    """How often a name stands in values."""
    return sum(part.__class__ is TlaLocal and part.name == name for value in values for part in parts(value))


def _is_bound_around_it(binding: Binding, values: Sequence[Value]) -> bool:
    """Whether a variable that its value binds is bound where its name stands, too: TLA+ has no name twice."""
    own = {variable for part in parts(binding.value) if (variable := getattr(part, "variable", None))}
    return any(
        getattr(part, "variable", None) in own and _uses((part,), binding.name)
        for value in values
        for part in parts(value)
    )


def tidied_within(value: Value, made_up: Collection[str]) -> Value:
    """A value of which each LET in it is tidy."""

    def tidy(part: Value) -> Value | None:
        if not isinstance(part, LetIn):
            return None
        bindings, changed = tidied(part.bindings, {"": part.body}, made_up)
        body = replace(changed[""], tidy)
        if not bindings:
            return body
        return LetIn(tuple(Binding(b.name, replace(b.value, tidy), b.variable, b.domain) for b in bindings), body)

    return replace(value, tidy)
