"""Obligations for a solver: for ALL states of a small size, each step of many is followed by one among others.

The comparison of `model_check.any_number.simulation`, for states that are reached or not: for each shape, each step and
each transaction, from all states that have the invariants the step changes nothing of what the transaction sees, or is
one step of one among others, before which an op message of another may be found undone. And the invariants hold in the
initial state, and behind each step of states that have them.

`python -m model_check.any_number.obligations` asks for `fixed` with crashes, of which the quiet world is a part. It
ends with exit code 1 when the solver refutes an obligation, or gives up on one.
"""

from __future__ import annotations

import sys
import time
from dataclasses import dataclass, field, replace
from functools import cache, cached_property
from itertools import combinations
from typing import TYPE_CHECKING, Final

import z3

from model_check.any_number.invariants import INVARIANTS
from model_check.any_number.shapes import (
    LEFT_OUT,
    Shape,
    States,
    at_rest,
    constant,
    is_lowest,
    lowest,
    shapes,
    states_of,
)
from model_check.any_number.views import OwnView, Views, same
from model_check.front_end.lower import Lowering
from model_check.instances import load_instance
from model_check.processes import on_all_cores
from model_check.symbolic.if_conversion import Conversion, Effect, State
from model_check.symbolic.relation import is_one_hot, switches_of, variables_of
from model_check.symbolic.values import Formula, Truth, both, conjunction, disjunction, negation
from model_check.world import World
from spec.language import Step, slots_of_fields
from spec.transactional_messages import AMONG_OTHERS, TRANSACTIONAL_MESSAGES

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator

    from model_check.front_end.terms import LoweredAction
    from spec.constants import Constants
    from spec.language import Machine

SMALL: Final = replace(load_instance("small"), name="typed", transactions=2, half_slots=3, op_slots=2)
"""The instance of which all states are spoken of."""

PATIENCE: Final = 60_000
"""Milliseconds until the solver gives up on an obligation."""

SHAPES_AT_ONCE: Final = 4
"""So many shapes are one task of a process."""


@dataclass
class Proof:
    """How many obligations were asked, and which are not proved, each as a line."""

    followed: int = 0
    """Of a step and a transaction: it is followed."""
    preserved: int = 0
    """Of a step: the invariants hold behind it."""
    refuted: list[str] = field(default_factory=list)
    unknown: list[str] = field(default_factory=list)

    @property
    def is_proved(self) -> bool:
        """Whether nothing is refuted, nothing is unknown, and something was asked."""
        return self.followed > 0 and not self.refuted and not self.unknown

    def __add__(self, other: Proof) -> Proof:
        return Proof(
            self.followed + other.followed,
            self.preserved + other.preserved,
            self.refuted + other.refuted,
            self.unknown + other.unknown,
        )

    def __str__(self) -> str:
        """The counts in one line."""
        return (
            f"{self.followed:,} obligations, {self.preserved:,} that the invariants are preserved; "
            f"{len(self.refuted):,} refuted, {len(self.unknown):,} unknown"
        )


class _Side:
    """The steps of a machine in an instance, as terms, and a state of which nothing is known."""

    def __init__(self, machine: Machine, constants: Constants, context: z3.Context) -> None:
        self.machine, self.context = machine, context
        self.slots = dict(slots_of_fields(machine.state, constants))
        self.switches = switches_of(machine, constants)
        made = {path: [variables_of(slot, context) for slot in slots] for path, slots in self.slots.items()}
        self.anything: State = {path: tuple(value for value, _ in pairs) for path, pairs in made.items()}
        self.typed = [
            rule
            for path, slots in self.slots.items()
            for slot, (_, variables) in zip(slots, made[path], strict=True)
            if is_one_hot(slot)
            for rule in (z3.Or(variables), *(z3.Not(z3.And(pair)) for pair in combinations(variables, 2)))
        ]
        lowering, resting = Lowering(machine, constants), at_rest(self.slots, self.anything)
        every = [(step, lowering.action(step)) for step in machine.steps(constants)]
        self.steps = [(step, action) for step, action in every if self.effect(action, resting).guard is not False]

    def effect(self, action: LoweredAction, state: State) -> Effect:
        """The effect of a step in a state."""
        return Conversion(self.slots, self.switches, state).effect(action)


def _one_of(machine: Machine, constants: Constants, context: z3.Context) -> _Side:
    return _Side(machine, replace(constants, transactions=1, crowded=1), context)


@dataclass(frozen=True)
class Prover:
    """Asks the solver for the obligations of shapes.

    The one takes no step of the actions named in `without`, and the invariants named there are neither taken for
    granted nor shown: for seeing that all of them are needed.
    """

    constants: Constants
    many: _Side
    one: _Side
    without: tuple[str, ...] = ()

    @classmethod
    def of(cls, constants: Constants) -> Prover:
        """That of an instance that is not crowded and forgets nothing."""
        many = _Side(TRANSACTIONAL_MESSAGES, constants, z3.Context())
        return cls(constants, many, _one_of(AMONG_OTHERS, constants, many.context))

    def with_one_of(self, machine: Machine) -> Prover:
        """The same with a one of another machine: for seeing that a lemma that says more is refuted."""
        return replace(self, one=_one_of(machine, self.constants, self.many.context))

    @cached_property
    def others(self) -> frozenset[str]:
        """The names of the actions of others."""
        return frozenset(action.name for action in self.one.machine.actions) - {
            action.name for action in TRANSACTIONAL_MESSAGES.actions
        }

    def holds_initially(self) -> bool:
        """Whether the invariants hold in the initial state."""
        values = iter(TRANSACTIONAL_MESSAGES.initial(self.constants).canonical())
        initial: State = {
            path: tuple(constant(slot, next(values)) for slot in slots) for path, slots in self.many.slots.items()
        }
        states = states_of(Shape((), (), None), self.many.slots, initial, self.constants)
        return self._holds(replace(states, fields=initial)) is True

    def prove(self, shape: Shape, only: Collection[str] = ()) -> Proof:
        """Ask for the obligations of steps from the states of one shape; none where no state has the invariants.

        Of all steps, or of those of the actions named.
        """
        proof = Proof()
        states = states_of(shape, self.many.slots, self.many.anything, self.constants)
        solver = z3.SolverFor("QF_FD", ctx=self.many.context)
        solver.set("timeout", PATIENCE)
        solver.add(*self.many.typed, self._formula(self._holds(states)))
        if solver.check() == z3.unsat:
            return proof
        views = Views(self.many.slots, self.one.slots)
        seen = [_WaysToFollow(self, views.of(states, t)) for t in range(self.constants.transactions)]
        for step, action in self.many.steps:
            if only and step.action.name not in only:
                continue
            effect = self.many.effect(action, states.fields)
            if effect.guard is False:
                continue
            after = states.after(effect.after)
            enabled = both(effect.guard, negation(effect.wrong))
            proof.preserved += 1
            self._ask(proof, solver, enabled, [self._holds(after)], f"{shape} {step}: the invariants are preserved")
            for t, one in enumerate(seen):
                proof.followed += 1
                ways = one.ways(step, views.of(after, t), views)
                self._ask(proof, solver, enabled, ways, f"{shape} {step}: {t} follows")
        return proof

    def _holds(self, states: States) -> Truth:
        """Whether the invariants hold, and what is not there is at its lowest."""
        invariants = [invariant for invariant in INVARIANTS if invariant.__name__ not in self.without]
        nothing = [
            same(slot, value, lowest(slot))
            for path, slots in self.many.slots.items()
            for slot, value in zip(slots, states.fields[path], strict=True)
            if path not in LEFT_OUT and is_lowest(slot, states)
        ]
        return conjunction([*nothing, *(each for invariant in invariants for each in invariant(states))])

    def _ask(self, proof: Proof, solver: z3.Solver, condition: Truth, goals: Iterable[Truth], name: str) -> None:
        """Whether the last of some goals holds in all states that meet a condition, entered in the proof.

        Each goal follows from the one before it, which may be easier to make.
        """
        answer = z3.unsat
        for goal in goals:
            exception = both(condition, negation(goal))
            if exception is False:
                return
            solver.push()
            solver.add(self._formula(exception))
            answer = solver.check()
            solver.pop()
            if answer == z3.unsat:
                return
        (proof.refuted if answer == z3.sat else proof.unknown).append(name)

    def _formula(self, condition: Truth) -> Formula:
        return z3.BoolVal(condition, self.many.context) if isinstance(condition, bool) else condition


class _WaysToFollow:
    """The steps of one among others from what one transaction sees of the states of a shape."""

    def __init__(self, prover: Prover, view: OwnView) -> None:
        self.prover, self.view = prover, view
        self._effects: dict[tuple[Step, Step | None], Effect] = {}
        taken = [(step, action) for step, action in prover.one.steps if step.action.name not in prover.without]
        self._steps = dict(taken)
        self._leaving = [step for step in self._steps if step.action.name == "leave_op_of_another"]

    def ways(self, step: Step, after: OwnView, views: Views) -> Iterator[Truth]:
        """Whether the one gets to what the transaction sees behind a step of many, first by the ways made at once."""
        found = views.is_view(self.view.knowing(), after)
        for first in (None, *self._leaving) if step.action.event == "round_ended" else (None,):
            if found is not True:
                found = disjunction((found, *self._by_one_step(step, after, views, first)))
            yield found

    def _by_one_step(self, step: Step, after: OwnView, views: Views, first: Step | None) -> Iterator[Truth]:
        ends_round = step.action.event == "round_ended"
        for own in self._steps:
            is_alike = own.action.name == step.action.name or (ends_round and own.action.event == "round_ended")
            if is_alike or (own.action.name in self.prover.others and first is None):
                effect = self._effect(own, first)
                if effect.guard is not False:
                    yield conjunction((effect.guard, negation(effect.wrong), views.is_view(effect.after, after)))

    def _effect(self, step: Step, first: Step | None) -> Effect:
        """The effect of a step, or of two."""
        if (step, first) not in self._effects:
            begun = Effect(True, self.view.knowing(), False) if first is None else self._effect(first, None)
            effect = begun if begun.guard is False else self.prover.one.effect(self._steps[step], begun.after)
            guard, wrong = both(begun.guard, effect.guard), disjunction((begun.wrong, effect.wrong))
            self._effects[step, first] = Effect(guard, effect.after, wrong)
        return self._effects[step, first]


@cache
def _prover() -> Prover:
    """The prover of the repaired protocol with crashes, made once in each process."""
    return Prover.of(World.of("fixed", faults=["crash"], instance=SMALL).constants)


def _proved(part: tuple[Shape, ...]) -> Proof:
    return sum((_prover().prove(shape) for shape in part), Proof())


def main() -> int:
    """Ask for the obligations of all shapes, on all processors; 1 when one is not proved, 130 after Ctrl-C."""
    began = time.monotonic()
    prover, proof = _prover(), Proof()
    every = tuple(shapes(prover.constants))
    count = -(-len(every) // SHAPES_AT_ONCE)
    parts = [every[first::count] for first in range(count)]
    try:
        with on_all_cores() as spread:
            for number, one in enumerate(spread(_proved, parts), start=1):
                proof += one
                print(f"{number} of {count}: {proof}; {time.monotonic() - began:.0f} s", file=sys.stderr, flush=True)
    except KeyboardInterrupt:
        return 130
    if not prover.holds_initially():
        proof.refuted.append("the invariants hold initially")
    print(*proof.refuted, *proof.unknown, f"{len(every)} shapes: {proof}; {time.monotonic() - began:.0f} s", sep="\n")
    return 0 if proof.is_proved else 1


if __name__ == "__main__":
    sys.exit(main())
