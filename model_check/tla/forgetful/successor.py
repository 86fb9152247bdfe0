"""The effect of a step on a state that is one value: a record with the variables for its fields.

So a definition can be asked of any state, of one that a step reaches before it forgets, or of one that has forgotten in
part. Where a place is removed, the state gets a name, and what follows speaks of that one.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from model_check.tla.effects import TlaEffect
from model_check.tla.loops import carry_out_loop, turn_by_turn
from model_check.tla.pending import Pending
from model_check.tla.values import Binding, Except, Range, TlaLocal, Update, Value, Variable, Without, operation

if TYPE_CHECKING:
    from model_check.front_end.open_terms import Loop, OpenFunction, OpenIf, OpenRemove, Run, Statement
    from model_check.tla.expressions import Meaning


class Successor(TlaEffect):
    """Carries out statements on such a state."""

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
