r"""Responses of endless runs as temporal formulas, under the promises of fairness, for TLC.

A response speaks of states, and what was forgotten is in none: beside `state` there is no `reached`. TLA+ takes a step
that changes nothing for no step at all, and fairness there asks for steps that change something. Here such a step is
one like all others: the check service that pulls nothing over and over has gone on. So it turns `again`, and every step
changes `vars`. A state that allows such a step is there twice, all others once.

Steps have no labels in TLA+: of two ways from one state to the same next one, neither is told from the other. A promise
is kept by a step that is one of its steps, whatever else it is; and what comes to an end (`once`) is told by
`<>[][Ending => Lasting]_vars`, that at last each step that shows such an event is also one that shows another.

TLC asks whether a promised step is possible (`ENABLED`) by carrying it out, and there it works out each value anew at
each use: it takes long to forget. `Nowhere` spares it that: a next state to which no step leads, since `again` is 0 or
1. As an alternative to the promised steps, where the guard of one is true, it changes nothing in which steps are taken,
nor in when one is possible, and it is found first.

What follows a state with a full queue is not all known. There nothing is owed.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from model_check.tla.forgetful import FIRST, LEFT, STATE, DeclarationsOfStates, DefinerOfStates, TextThatForgets
from model_check.tla.layout import Block, hang, indented, junction
from model_check.tla.text import EVERY, RULE, SOME
from model_check.tla.vocabulary import camel_case

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from model_check.front_end.open_terms import OpenFunction
    from model_check.tla.effects import TlaEffect
    from model_check.tla.expressions import Meaning
    from spec.language import Action, Fairness, Machine, Property, Response

AGAIN, EDGE, NOWHERE = "again", "AtTheEdge", "Nowhere"
"""The other variable, a state in which a queue is full, and a next state that is none."""
NOT_WHICH = "\\* TLC says that one of these is violated, but not which: leave only one of them here to know."


class DefinerWithGuards(DefinerOfStates):
    """Writes the guard of each action as a definition of its own."""

    def __init__(self, *given: Any) -> None:
        super().__init__(*given)
        self.guards: dict[Callable[..., Any], str] = {}
        self._items: dict[Callable[..., Any], list[Block]] = {}

    def define(self, function: Callable[..., Any], name: str) -> tuple[tuple[str, ...], Block]:
        """An action, and its guard in front of it."""
        if function in self.actions:
            self.guards[function] = self.names.names.give(f"May{name}")
        parameters, text = super().define(function, name)
        if function not in self.actions:
            return parameters, text
        guard = junction("/\\", self._items[function]) or ["TRUE"]
        return parameters, [f"{_applied(self.guards[function], parameters)} ==", *indented(guard), "", *text]

    def guard(self, point: TlaEffect, opened: OpenFunction, meaning: Meaning) -> list[Block]:
        """The conjuncts of a guard; of an action's the one that it is true."""
        parameters = [self.printer.flat(meaning[p.name]) for p in opened.parameters]
        items = super().guard(point, opened, meaning)
        if opened.function not in self.actions:
            return items
        self._items[opened.function] = items
        return [[_applied(self.guards[opened.function], parameters)]]


class DeclarationsOfWhatIsLeft(DeclarationsOfStates):
    """Writes what follows from the declaration of a state that is all that is looked at."""

    beside = (AGAIN, "turned by a step that leaves `state` as it was, so that no step changes nothing", "0")

    def view(self) -> Block:
        """TLC takes all for a state."""
        return []

    def type_invariant(self) -> Block:
        """Each field lies in its declared range."""
        return ["\\* Every field lies in its declared range.", f"TypeOK == {LEFT} \\in State /\\ {AGAIN} \\in 0..1"]


class TextOfResponses(TextThatForgets):
    """Writes a machine that forgets, its promises and its responses.

    The configuration asks for `responses`.
    """

    definer = DefinerWithGuards
    declarations = DeclarationsOfWhatIsLeft
    reserved = (LEFT, AGAIN, EDGE, NOWHERE, "State", FIRST.name, "Reach")
    why_no_deadlock = "a run may end"

    def __init__(self, machine: Machine, constants: object, responses: Sequence[Response]) -> None:
        super().__init__(replace(machine, clauses=(), witnesses=()), constants)
        self._asked = responses
        self._fair: dict[str, str] = {}
        self._showing: dict[str, str] = {}
        self._at_last: dict[tuple[str, ...], list[Block]] = {}

    def functions(self) -> list[Callable[..., Any]]:
        """Those that the machine declares, and what responses ask of states."""
        asked = [function for one in self._machine.responses for function in (one.given, one.wanted)]
        return [*super().functions(), *(function for function in asked if function is not None)]

    def reaching(self, forget: str) -> list[Block]:
        """The next values of the variables when a step reaches the state `s`."""
        turned = f"IF {LEFT}' = {LEFT} THEN 1 - {AGAIN} ELSE 0"
        return [[f"{LEFT}' = {forget}({STATE.name})"], [f"{AGAIN}' = {turned}"]]

    def state(self) -> Block:
        """The section of the state."""
        lines = super().state()
        full = [[f"~{room}"] for room in self.room.values()] or [["FALSE"]]
        return [*lines, "\\* What can follow is not all known: a queue is full.", *_defined(EDGE, full), ""]

    def claims(self, clauses: Iterable[Property]) -> tuple[Block, list[str], list[str]]:
        """The promises and the responses; the names of those that are to be checked."""
        del clauses
        lines = [RULE, "\\* No step leads here: TLC need not carry out a step to see that it is possible."]
        lines += [f"{NOWHERE} == {AGAIN}' = 2 /\\ {LEFT}' = {LEFT}", "", RULE, "\\* Promises: who goes on.", ""]
        for promise in self._machine.fairness.values():
            lines += self._promise(promise)
        lines += [RULE, "\\* Steps by the event that they show, and what comes to an end.", ""]
        lines += self._events()
        lines += [RULE, "\\* Responses: what must happen in the end.", ""]
        names: dict[Response, str] = {}
        for one in self._machine.responses:
            names[one] = self._names.names.give(f"{one.identifier}_{one.clause}")
            lines += [f"\\* {one.sentence}", f"{names[one]} ==", *indented(self._formula(one)), ""]
        return lines[:-1], [names[one] for one in self._asked], []

    def checks(self, checked: list[str]) -> Block:
        """The checks of all responses in a configuration."""
        lines = ["INVARIANTS", "    TypeOK", *[NOT_WHICH] * (len(checked) > 1), "PROPERTIES"]
        return [*lines, *(f"    {name}" for name in checked), *self.room_checks()]

    # --- parts of a response ------------------------------------------------------------------------------------------

    def _steps(self, actions: Iterable[Action]) -> list[Block]:
        return [[self.over(SOME, action.parameters, action.function)] for action in actions]

    def _possible(self, action: Action) -> Block:
        if not isinstance(self._definer, DefinerWithGuards):
            raise AssertionError(self._definer)
        guard = _applied(self._definer.guards[action.function], self._definitions[action.function].parameters)
        return [self.quantified(SOME, action.parameters, action.function, guard)]

    def _promise(self, promise: Fairness) -> Block:
        steps = self._names.names.give(f"StepsOf{camel_case(promise.name)}")
        self._fair[promise.name] = self._names.names.give(f"Fair{camel_case(promise.name)}")
        kind = "SF" if promise.is_strong else "WF"
        may = self._names.names.give(f"May{steps}")
        lines = [f"\\* {promise.sentence}", *_defined(may, [self._possible(action) for action in promise.actions])]
        lines += _defined(steps, [[f"{NOWHERE} /\\ {may}"], *self._steps(promise.actions)])
        return [*lines, f"{self._fair[promise.name]} == {kind}_vars({steps})", ""]

    def _events(self) -> Block:
        """For each event the steps that show it; for each set of events what stands for their end."""
        lines: Block = []
        by_event: dict[str, list[Action]] = {}
        for action in self._machine.actions:
            by_event.setdefault(action.event, []).append(action)
        for event, actions in by_event.items():
            self._showing[event] = self._names.names.give(f"Shows{camel_case(event or 'nothing')}")
            lines += [*_defined(self._showing[event], self._steps(actions)), ""]
        for once in dict.fromkeys(one.once for one in self._machine.responses):
            lines += self._end_of(once)
        return lines

    def _end_of(self, once: tuple[str, ...]) -> Block:
        """That at last nothing shows these events, where there is a step that does."""
        ending = [[name] for event, name in self._showing.items() if event in once]
        if not ending:
            self._at_last[once] = []
            return []
        lasting = [[name] for event, name in self._showing.items() if event not in once] or [["FALSE"]]
        own, others = (self._names.names.give(name) for name in ("Ending", "Lasting"))
        self._at_last[once] = [[f"<>[][{own} => {others}]_vars"]]
        events = ", ".join(event for event in self._showing if event in once)
        return [f"\\* {events}; and all others.", *_defined(own, ending), *_defined(others, lasting), ""]

    def _formula(self, one: Response) -> Block:
        parameters = self._definitions[one.wanted].parameters
        wanted = f"({self.use(one.wanted, parameters, LEFT)} \\/ {EDGE})"
        claim = f"[]<>{wanted}" if one.given is None else f"{self.use(one.given, parameters, LEFT)} ~> {wanted}"
        claim = self.quantified(EVERY, one.parameters, one.wanted, claim)
        promised = [[self._fair[name]] for name in one.under] + self._at_last[one.once]
        if not promised:
            return [claim]
        return [*hang("(", junction("/\\", promised), ")"), f"=> {claim}"]


def _defined(name: str, alternatives: Sequence[Block]) -> Block:
    """A definition by a disjunction."""
    if len(alternatives) == 1:
        return hang(f"{name} == ", alternatives[0])
    return [f"{name} ==", *indented(junction("\\/", alternatives))]


def _applied(name: str, parameters: Sequence[str]) -> str:
    return f"{name}({', '.join(parameters)})" if parameters else name
