r"""A machine that forgets what is over behind each step, as a module.

The state is one variable, a record, so that each definition can be asked of any state. An action says what it makes of
`state`; that is `reached`, and what is left of it when it has forgotten is the next `state`. TLC takes `state` for the
whole of a state (`VIEW`): its counts and depths are those of the other engines, and a trace shows both.

A clause is judged twice, as the other engines do. Its invariant is of `state`. What was reached and is forgotten at
once is no part of the view, and TLC asks no invariant of a state whose view it knows; so a property of each step,
`[][clause of reached']_vars`, is of that. TLC judges such a property of all steps, those to known states included, and
needs no graph of behaviours for it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from model_check.tla.declarations import Declarations
from model_check.tla.definitions import ROOM, Definer
from model_check.tla.forgetful.removal import FIRST, PLACE, STATE, removal
from model_check.tla.forgetful.successor import Successor
from model_check.tla.layout import Block, hang, indented, junction, separated
from model_check.tla.text import EVERY, Text
from model_check.tla.tidying import tidied, tidied_within
from model_check.tla.values import Binding, Value, Variable
from model_check.tla.vocabulary import LocalNames

if TYPE_CHECKING:
    from collections.abc import Callable

    from model_check.front_end.open_terms import OpenFunction
    from model_check.tla.effects import TlaEffect
    from model_check.tla.expressions import Meaning
    from spec.language import Machine, Property

LEFT, REACHED = "state", "reached"
"""The variables."""
FULL_QUEUES = (
    "\\* A step may want more room than a full queue has: what is not violated then may be so in a larger instance.",
    "\\* Without these invariants TLC goes on all the same, and finds violations.",
)
BEFORE = "_reached"
"""Behind the name of a clause: the property that speaks of what was reached."""


class DefinerOfStates(Definer):
    """Writes definitions that are asked of a state, actions that say what a step reaches, and what is forgotten."""

    def takes_state(self, function: Callable[..., Any]) -> bool:
        """Whether the first parameter of a definition is a state."""
        return function not in self.actions and bool(self.uses.reads(function) or self.uses.writes(function))

    def point(self, function: Callable[..., Any]) -> TlaEffect:
        """Where a definition begins."""
        names = LocalNames(self.taken)
        state: Value | None = None
        if function in self.actions:
            state = Variable(LEFT)
        elif self.takes_state(function):
            names.give(STATE.name)
            state = STATE
        return Successor(self.reader, self.uses, names, state)

    def statements(self, point: TlaEffect, opened: OpenFunction, meaning: Meaning) -> Block:
        """A guard, and the state that an effect reaches."""
        items = self.guard(point, opened, meaning)
        if not isinstance(point, Successor) or (not opened.effect and opened.function not in self.actions):
            return junction("/\\", items)
        point.carry_out(opened.effect, meaning, opened)
        bindings, changed = tidied(point.bindings, {"": point.whole()}, point.made_up)
        bindings = [Binding(b.name, tidied_within(b.value, point.made_up), b.variable, b.domain) for b in bindings]
        state = tidied_within(changed[""], point.made_up)
        if opened.function not in self.actions:
            body = self.printer.block(state, ROOM)
            return self.printer.let(bindings, body, ROOM) if bindings else body
        reaching = hang("Reach(", self.printer.block(state, ROOM), ")")
        return junction("/\\", [*items, self.printer.let(bindings, reaching, ROOM) if bindings else reaching])


class DeclarationsOfStates(Declarations):
    """Writes what follows from the declaration of the state, where it is one variable, beside which there is another.

    Attributes
    ----------
    beside : tuple of str
        The other variable, what it is, and its first value.
    """

    beside = (REACHED, "what it reached, before anything was forgotten", FIRST.name)

    def variable_list(self) -> Block:
        """The declaration of the variables."""
        sets = [[f"{name} : {self.member_set(member)}"] for name, member in self.members.items()]
        beside, what, _ = self.beside
        return [
            *("State ==", *indented(hang("[", separated(sets), "]")), ""),
            "VARIABLES",
            f"    {LEFT + ',':<20} \\* what is left of what the last step reached",
            f"    {beside:<20} \\* {what}",
            *("", f"vars == <<{LEFT}, {beside}>>"),
            *self.view(),
        ]

    def view(self) -> Block:
        """What TLC takes for a state."""
        return ["", "\\* No step looks at what was reached.", f"View == {LEFT}"]

    def type_invariant(self) -> Block:
        """Each field lies in its declared range."""
        return [
            "\\* Every field lies in its declared range.",
            *(f"TypeOK == {LEFT} \\in State", ""),
            f"TypeOK{BEFORE} == [][{REACHED}' \\in State]_vars",
        ]

    def initial(self) -> Block:
        """Each field holds its lowest value."""
        fields = [hang(f"{name} |-> ", self.first_of(member)) for name, member in self.members.items()]
        beside, _, at_first = self.beside
        first = [f"{LEFT} = {FIRST.name}"], [f"{beside} = {at_first}"]
        lines = ["\\* Nothing, empty, absent, long ago.", "First ==", *indented(hang("[", separated(fields), "]"))]
        return [*lines, "", "Init ==", *indented(junction("/\\", first))]


class TextThatForgets(Text):
    """Writes such a machine.

    Attributes
    ----------
    room : dict
        Queues → the definitions that they are not full, once these are written.
    """

    definer: type[DefinerOfStates] = DefinerOfStates
    declarations = DeclarationsOfStates
    reserved: tuple[str, ...] = (LEFT, REACHED, "State", "View", FIRST.name, "Reach")
    why_no_deadlock = "no clause speaks of it"

    def __init__(self, machine: Machine, constants: object) -> None:
        super().__init__(machine, constants)
        self.room: dict[str, str] = {}

    def functions(self) -> list[Callable[..., Any]]:
        """Those that the machine declares, and what it forgets before all others."""
        return [self.forget, *super().functions()]

    @property
    def forget(self) -> Callable[..., Any]:
        """What happens to a state behind each step."""
        if self._machine.forget is None:
            raise AssertionError(self._machine)
        return self._machine.forget

    def definitions(self) -> Block:
        """All definitions: what is forgotten, what a step is, and the others."""
        forgetting = self.definitions_of([self.forget])
        parts = junction("/\\", self.reaching(self._definitions[self.forget].name))
        reach = ["\\* A step reaches a state, and forgets.", f"Reach({STATE.name}) ==", *indented(parts), ""]
        return [*forgetting, *reach, *self.definitions_of(self.functions())]

    def reaching(self, forget: str) -> list[Block]:
        """What becomes of the variables when a step reaches the state `s`."""
        return [[f"{REACHED}' = {STATE.name}"], [f"{LEFT}' = {forget}({REACHED}')"]]

    def state(self) -> Block:
        """What follows from the declaration of the state."""
        lines = super().state()
        for array, name in self._names.removals.items():
            value = self._printer.block(removal(self._machine, array), ROOM)
            lines += [f"\\* Without a place of {self._names.index_set(array)}, and what refers to it."]
            lines += [f"{name}({STATE.name}, {PLACE.name}) ==", *indented(value), ""]
        for queue, size in self._machine.queues.items():
            self.room[queue] = self._names.names.give(f"{queue}_has_room")
            lines += [f"{self.room[queue]} == {LEFT}.{queue} < {self._names.constant(size)}", ""]
        return lines

    def claim(self, name: str, claim: Property, negated: str) -> Block:
        """What TLC is to check of a clause or a witness: of what is left, and of what was reached."""
        of_reached = self.over(EVERY, claim.parameters, claim.function, negated, f"{REACHED}'")
        return [
            f"{name} == {self.over(EVERY, claim.parameters, claim.function, negated, LEFT)}",
            f"{self._names.names.give(name + BEFORE)} == [][{of_reached}]_vars",
            "",
        ]

    def checks(self, checked: list[str]) -> Block:
        """What a configuration asks of all clauses that are to be checked."""
        lines = ["VIEW View", *super().checks(checked), "PROPERTIES", f"    TypeOK{BEFORE}"]
        lines += [f"    {name}{BEFORE}" for name in checked]
        return [*lines, *self.room_checks()]

    def room_checks(self) -> Block:
        """That no queue is full."""
        if not self.room:
            return []
        return [*FULL_QUEUES, "INVARIANTS", *(f"    {name}" for name in self.room.values())]

    def check(self, name: str) -> str:
        """What it asks of one."""
        return f"PROPERTY {name}{BEFORE}"
