r"""Responses of endless runs as temporal formulas, under the promises of fairness, for TLC.

A response speaks of states, and what was forgotten is in none: beside `state` there is no `reached`. TLA+ takes a step
that changes nothing for no step at all, and fairness there asks for steps that change something. Here such a step is
one like all others: the check service that pulls nothing over and over has gone on. So it turns `again`, and every step
changes `vars`. A state that allows such a step is there twice, all others once.

Steps have no labels in TLA+: of two ways from one state to the same next one, neither is told from the other. A promise
is kept by a step that is one of its steps, whatever else it is; and what comes to an end (`once`) is told by
`<>[][Ending => Lasting]_vars`, that at last each step that shows such an event is also one that shows another.

What follows a state with a full queue is not all known. There nothing is owed.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from model_check.tla.forgetting import LEFT, DeclarationsOfStates, TextThatForgets
from model_check.tla.layout import Block, hang, indented, junction
from model_check.tla.removal import FIRST, STATE
from model_check.tla.text import EVERY, RULE, SOME
from model_check.tla.vocabulary import camel_case

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from spec.language import Action, Fairness, Machine, Property, Response

AGAIN, EDGE = "again", "AtTheEdge"
"""The other variable, and a state in which a queue is full."""
NOT_WHICH = "\\* TLC says that one of these is violated, but not which: leave only one of them here to know."


class DeclarationsOfWhatIsLeft(DeclarationsOfStates):
    """Writes what follows from the declaration of a state that is all that is looked at."""

    beside = (AGAIN, "turned by a step that leaves `state` as it was, so that no step changes nothing", "FALSE")

    def view(self) -> Block:
        """TLC takes all for a state."""
        return []

    def type_invariant(self) -> Block:
        """Each field lies in its declared range."""
        return ["\\* Every field lies in its declared range.", f"TypeOK == {LEFT} \\in State /\\ {AGAIN} \\in BOOLEAN"]


class TextOfResponses(TextThatForgets):
    """Writes a machine that forgets, its promises and its responses.

    Parameters
    ----------
    machine : Machine
    constants : object
    responses : sequence of Response
        What the configuration asks for.
    """

    declarations = DeclarationsOfWhatIsLeft
    reserved = (LEFT, AGAIN, EDGE, "State", FIRST.name, "Reach")
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
        """What becomes of the variables when a step reaches the state `s`."""
        return [[f"{LEFT}' = {forget}({STATE.name})"], [f"{AGAIN}' = ({LEFT}' = {LEFT} /\\ ~{AGAIN})"]]

    def state(self) -> Block:
        """What follows from the declaration of the state."""
        lines = super().state()
        full = [[f"~{room}"] for room in self.room.values()] or [["FALSE"]]
        return [*lines, "\\* What can follow is not all known: a queue is full.", *_defined(EDGE, full), ""]

    def claims(self, clauses: Iterable[Property]) -> tuple[Block, list[str], list[str]]:
        """The promises and the responses; the names of those that are to be checked."""
        del clauses
        lines = [RULE, "\\* Promises: who goes on.", ""]
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
        """What a configuration asks of all responses that are to be checked."""
        lines = ["INVARIANTS", "    TypeOK", *[NOT_WHICH] * (len(checked) > 1), "PROPERTIES"]
        return [*lines, *(f"    {name}" for name in checked), *self.room_checks()]

    # --- parts of a response ------------------------------------------------------------------------------------------

    def _steps(self, actions: Iterable[Action]) -> list[Block]:
        return [[self.over(SOME, action.parameters, action.function)] for action in actions]

    def _promise(self, promise: Fairness) -> Block:
        steps = self._names.names.give(f"StepsOf{camel_case(promise.name)}")
        self._fair[promise.name] = self._names.names.give(f"Fair{camel_case(promise.name)}")
        kind = "SF" if promise.is_strong else "WF"
        lines = [f"\\* {promise.sentence}", *_defined(steps, self._steps(promise.actions))]
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
