r"""A machine that forgets what is over behind each step, as a module.

The state is one variable, a record, so that each definition can be asked of any state. An action says what it makes of
`state`; that is `reached`, and what is left of it when it has forgotten is the next `state`. TLC takes `state` for the
whole of a state (`VIEW`): its counts and depths are those of the other engines, and a trace shows both.

A clause is judged twice, as the other engines do. Its invariant is of `state`. What was reached and is forgotten at
once is no part of the view, and TLC asks no invariant of a state whose view it knows; so a property of each step,
`[][clause of reached']_vars`, is of that. TLC judges such a property of all steps, those to known states included, and
needs no graph of behaviours for it.

Where a place is removed, the state gets a name, and what follows speaks of that one.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from model_check.front_end.open_terms import Constant, Named, OpenNumber
from model_check.tla.declarations import Declarations
from model_check.tla.definitions import ROOM, Definer, tidied, tidied_within
from model_check.tla.effects import TlaEffect
from model_check.tla.layout import Block, hang, indented, junction, separated
from model_check.tla.loops import carry_out_loop, turn_by_turn
from model_check.tla.pending import Pending
from model_check.tla.text import EVERY, Text
from model_check.tla.uses import is_moved
from model_check.tla.values import (
    Accessors,
    Binding,
    Except,
    Index,
    Mapping,
    Noted,
    Range,
    Select,
    TlaLocal,
    Update,
    Value,
    Variable,
    Without,
    operation,
)
from model_check.tla.vocabulary import LocalNames
from spec.language import NONE, Kind, Machine, Property
from spec.language.fields import Field

if TYPE_CHECKING:
    from collections.abc import Callable

    from model_check.front_end.open_terms import Loop, OpenFunction, OpenIf, OpenRemove, Run, Statement
    from model_check.tla.expressions import Meaning

STATE, PLACE, TURN, FIRST = TlaLocal("s"), TlaLocal("place"), TlaLocal("i"), TlaLocal("First")
LEFT, REACHED = "state", "reached"
"""The variables."""
FULL_QUEUES = (
    "\\* A step may want more room than a full queue has: what is not violated then may be so in a larger instance.",
    "\\* Without these invariants TLC goes on all the same, and finds violations.",
)
BEFORE = "_reached"
"""Behind the name of a clause: the property that speaks of what was reached."""


class Successor(TlaEffect):
    """Carries out statements on a state that is one value: a record with the variables for its fields."""

    def whole(self) -> Value:
        """The state as it is here."""
        if self.state is None:
            raise AssertionError
        updates: list[Update] = []
        for name, pending in self.pending.items():
            if pending.base == self.origin(name):
                updates += [Update((name, *update.accessors), update.value) for update in pending.updates]
            else:
                updates.append(Update((name,), pending.whole))
        return Except(self.state, tuple(updates)) if updates else self.state

    def stand_on(self, state: Value) -> None:
        """Go on in another state, by a name."""
        if not isinstance(state, TlaLocal | Variable):
            local = self.names.give("s")
            self.made_up.add(local)
            self.bindings.append(Binding(local, state))
            state = TlaLocal(local)
        self.state = state
        self.pending = {name: Pending(self.origin(name)) for name in self.pending}

    def may_stand_apart(self, call: Run, following: tuple[Statement, ...]) -> bool:
        """No call can: it would give a state."""
        del call, following
        return False

    def remove(self, statement: OpenRemove, meaning: Meaning) -> None:
        """Take a place out of the arrays of a length."""
        self.stand_on(Without(self.whole(), statement.array, self.value(statement.place, meaning)))

    def branch(self, statement: OpenIf, meaning: Meaning, within: OpenFunction) -> None:
        """Carry out an `if`; where something is removed, it decides between two states."""
        if not self.uses.removes([statement]):
            super().branch(statement, meaning, within)
            return
        self.stand_on(self.whole())
        test = self.value(statement.test, meaning)
        before, known = self.state, set(self.evaluated)
        ends: list[Value] = []
        for body in (statement.then, statement.otherwise):
            self.carry_out(body, dict(meaning), within, is_always_run=False)
            ends.append(self.whole())
            self.state, self.evaluated = before, set(known)
            self.pending = {name: Pending(self.origin(name)) for name in self.pending}
        self.stand_on(operation("if", test, *ends))

    def loop(self, loop: Loop, meaning: Meaning, within: OpenFunction) -> None:
        """Carry out a loop; where something is removed, each turn gives a state to the next."""
        if not self.uses.removes(loop.body):
            carry_out_loop(self, loop, meaning, within)
            return
        domain = Range(self.value(loop.low, meaning), self.value(loop.high, meaning))
        self.stand_on(turn_by_turn(self, loop, domain, meaning, within, self.whole, self.stand_on))


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
            return self.printer.let(bindings, self.printer.block(state, ROOM), ROOM)
        reaching = hang("Reach(", self.printer.block(state, ROOM), ")")
        return junction("/\\", [*items, self.printer.let(bindings, reaching, ROOM)])


class DeclarationsOfStates(Declarations):
    """Writes what follows from the declaration of the state, where it is one variable beside another one."""

    # the other variable, what it is, and its first value
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
        """The part of the variables that TLC takes for a state."""
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
    """Writes such a machine."""

    definer: type[DefinerOfStates] = DefinerOfStates
    declarations = DeclarationsOfStates
    reserved: tuple[str, ...] = (LEFT, REACHED, "State", "View", FIRST.name, "Reach")
    why_no_deadlock = "no clause speaks of it"

    def __init__(self, machine: Machine, constants: object) -> None:
        super().__init__(machine, constants)
        self.room: dict[str, str] = {}  # queues → the definitions that they are not full

    def functions(self) -> list[Callable[..., Any]]:
        """Those that the machine declares, and what it forgets before all others."""
        return [self.forget, *super().functions()]

    @property
    def forget(self) -> Callable[..., Any]:
        """The function that changes a state behind each step."""
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
        """The next values of the variables when a step reaches the state `s`."""
        return [[f"{REACHED}' = {STATE.name}"], [f"{LEFT}' = {forget}({REACHED}')"]]

    def state(self) -> Block:
        """The section of the state."""
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
        """The definitions that TLC is to check of a clause or a witness: of what is left, and of what was reached."""
        of_reached = self.over(EVERY, claim.parameters, claim.function, negated, f"{REACHED}'")
        return [
            f"{name} == {self.over(EVERY, claim.parameters, claim.function, negated, LEFT)}",
            f"{self._names.names.give(name + BEFORE)} == [][{of_reached}]_vars",
            "",
        ]

    def checks(self, checked: list[str]) -> Block:
        """The checks of all clauses in a configuration."""
        lines = ["VIEW View", *super().checks(checked), "PROPERTIES", f"    TypeOK{BEFORE}"]
        lines += [f"    {name}{BEFORE}" for name in checked]
        return [*lines, *self.room_checks()]

    def room_checks(self) -> Block:
        """That no queue is full."""
        if not self.room:
            return []
        return [*FULL_QUEUES, "INVARIANTS", *(f"    {name}" for name in self.room.values())]

    def check(self, name: str) -> str:
        """The check of one."""
        return f"PROPERTY {name}{BEFORE}"


# --- a state without a place ------------------------------------------------------------------------------------------


def removal(machine: Machine, array: str) -> Value:
    """The state `s` without `place`, see `spec.language.remove`; `First` is the initial state."""
    updates: list[Update] = []
    for name, member in machine.state.members.items():
        own = (name,)
        if isinstance(member, Field):
            if is_moved(machine, own, member, array):
                updates.append(Update(own, _field(own, member, array)))
            continue
        moved = {n: f for n, f in member.kind.fields.items() if is_moved(machine, (name, n), f, array)}
        if member.length is None:
            updates += [Update((name, n), _field((name, n), f, array)) for n, f in moved.items()]
        elif moved:
            records = _moved_up(own) if member.length == array else Select(STATE, own)
            record = Select(records, (Index(TURN),))
            inner = [Update((n,), _followed(Select(record, (n,)), f)) for n, f in moved.items() if f.places == array]
            updates.append(Update(own, _each(member.length, Except(record, tuple(inner))) if inner else records))
    return Except(STATE, tuple(updates))


def _field(way: Accessors, field: Field, array: str) -> Value:
    own: Value = _moved_up(way) if field.length == array else Select(STATE, way)
    if field.places != array:
        return own
    if field.length is None:
        return _followed(own, field)
    return _each(field.length, _followed(Select(own, (Index(TURN),)), field))


def _moved_up(way: Accessors) -> Value:
    return Noted("MovedUp", (Select(STATE, way), PLACE, Select(FIRST, way)))


def _each(length: str, body: Value) -> Value:
    return Mapping(TURN.name, Range(OpenNumber(0), Constant(length, is_truth=False)), body)


def _followed(reference: Value, field: Field) -> Value:
    if field.kind is Kind.BITS:
        return Noted("FollowMembers", (reference, PLACE))
    if field.is_position:
        return Noted("FollowPosition", (reference, PLACE))
    gone = Named("NONE", NONE) if field.low.offset == NONE else OpenNumber(field.low.offset)
    return Noted("Follow", (reference, PLACE, gone))
