"""One function of the specification as one definition of the module."""

from __future__ import annotations

import inspect
from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

from model_check.front_end.open_terms import Conjunct, If, Let, LetIn, Loop, OpenFunction, Run, Statement
from model_check.front_end.terms import parts
from model_check.tla.effects import Effect
from model_check.tla.layout import WIDTH, Block, comment, filled, hang, indented, junction
from model_check.tla.values import Binding, Local, Use, Value, Variable, with_local
from model_check.tla.vocabulary import LocalNames

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from model_check.front_end.open_functions import OpenReader
    from model_check.tla.expressions import Meaning
    from model_check.tla.printing import Printer
    from model_check.tla.uses import Uses
    from model_check.tla.vocabulary import Vocabulary

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
        """The parameters and the text of the definition of a function."""
        opened = self.reader.function(function)
        point = Effect(self.reader, self.uses, LocalNames(self.taken))
        meaning: Meaning = {p.name: Local(point.names.give(p.name)) for p in opened.parameters}
        parameters = tuple(self.printer.flat(meaning[p.name]) for p in opened.parameters)
        if opened.value is not None:
            body = self._value(point, opened, meaning)
        else:
            body = self._statements(point, opened, meaning, is_action=function in self.actions)
        head = f"{name}({', '.join(parameters)}) ==" if parameters else f"{name} =="
        return parameters, [*comment(inspect.getdoc(function) or ""), *self._headed(head, body)]

    def _headed(self, head: str, body: Block) -> Block:
        if len(body) == 1 and len(head) + len(body[0]) < WIDTH and not body[0].startswith("/\\"):
            return [f"{head} {body[0]}"]
        return [head, *indented(body)]

    def _value(self, point: Effect, opened: OpenFunction, meaning: Meaning) -> Block:
        term = opened.value
        while isinstance(term, LetIn):
            meaning = {**meaning, term.name: point.named(term.name, point.value(term.value, meaning))}
            term = term.body
        if term is None:
            raise AssertionError(opened)
        body = self.printer.block(point.value(term, meaning), ROOM)
        return self.printer.let(point.bindings, body) if point.bindings else body

    # --- a guard and an effect ----------------------------------------------------------------------------------------

    def _statements(self, point: Effect, opened: OpenFunction, meaning: Meaning, *, is_action: bool) -> Block:
        items = [item for statement in opened.guard for item in self._rule(point, statement, meaning)]
        point.carry_out(opened.effect, meaning, opened)
        changed = {name: p.whole for name, p in point.pending.items() if p.whole != Variable(name)}
        bindings, changed = _tidied(point, changed)
        effect = [[self.printer.flat(use)] for use in point.uses_of_effects]
        effect += [self._next(name, value) for name, value in changed.items()]
        if bindings:
            effect = [self.printer.let(bindings, junction("/\\", effect), ROOM)]
        items += effect
        if is_action:
            items += self._unchanged(point, changed)
        return junction("/\\", items)

    def _rule(self, point: Effect, statement: Statement, meaning: Meaning) -> list[Block]:
        match statement:
            case Let(name=name, value=value):
                meaning[name] = point.value(value, meaning)
                return []
            case Conjunct(kind=kind, rule=rule, condition=condition):
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
                return [[self.printer.flat(Use(function, given))]]
            case If(then=[*inner], otherwise=[*others]):
                _refuse_rules((*inner, *others))
            case Loop(body=[*inner]):
                _refuse_rules(inner)
        raise AssertionError(statement)

    def _note_rules(self, point: Effect, function: Callable[..., Any], arguments: tuple[Value, ...]) -> None:
        """Learn from the conjuncts of a shared guard what they say of indices."""
        opened = self.reader.function(function)
        meaning: Meaning = dict(zip((p.name for p in opened.parameters), arguments, strict=True))
        for statement in opened.guard:
            match statement:
                case Let(name=name, value=value):
                    meaning[name] = point.value(value, meaning)
                case Conjunct(condition=condition):
                    point.note_rule(point.value(condition, meaning))
                case Run(function=inner, arguments=given):
                    self._note_rules(point, inner, tuple(point.value(argument, meaning) for argument in given))

    def _next(self, name: str, value: Value) -> Block:
        block = self.printer.right_side(value, ROOM - len(name) - 4)
        if len(block) == 1:
            return [f"{name}' = {block[0]}"]
        block = self.printer.right_side(value, ROOM - 4)
        return hang(f"{name}' = ", block) if block[0].startswith("[") else [f"{name}' =", *indented(block)]

    def _unchanged(self, point: Effect, changed: dict[str, Value]) -> list[Block]:
        written = {path[0] for use in point.uses_of_effects for path in self.uses.writes(use.function)}
        kept = [v for v in point.pending if v not in changed and v not in written and v not in clocks(self.reader)]
        return [filled(kept, "UNCHANGED <<", ">>")] if kept else []


def _refuse_rules(statements: Iterable[Statement]) -> None:
    for statement in statements:
        match statement:
            case Conjunct(at=at) | Run(at=at):
                at.refuse("a conjunct of the guard stands alone, not in a branch or a loop")
            case If(then=then, otherwise=otherwise):
                _refuse_rules((*then, *otherwise))
            case Loop(body=body):
                _refuse_rules(body)


def clocks(reader: OpenReader) -> frozenset[str]:
    """The members of the state that are no variables, since the clock stands still."""
    members = reader.machine.state.members.items()
    return frozenset(name for name, member in members if getattr(getattr(member, "kind", None), "name", "") == "CLOCK")


def _tidied(point: Effect, changed: dict[str, Value]) -> tuple[list[Binding], dict[str, Value]]:
    """Without names that nothing uses, and with what has no name in the source in the one place that uses it."""
    bindings = list(point.bindings)
    for binding in reversed(point.bindings):
        used = Counter(p for v in [*changed.values(), *(b.value for b in bindings)] for p in parts(v))[
            Local(binding.name)
        ]
        arguments = Counter(p for use in point.uses_of_effects for p in parts(use))[Local(binding.name)]
        if used + arguments == 0:
            bindings.remove(binding)
        elif used == 1 and arguments == 0 and binding.name in point.made_up and binding.variable is None:
            bindings.remove(binding)
            changed = {name: with_local(value, binding.name, binding.value) for name, value in changed.items()}
            bindings = [
                Binding(b.name, with_local(b.value, binding.name, binding.value), b.variable, b.domain)
                for b in bindings
            ]
    return bindings, changed
