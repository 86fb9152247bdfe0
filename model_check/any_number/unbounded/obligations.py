"""Obligations for ANY number of transactions, halves and op messages, and any times: each step is followed by one.

What `model_check.any_number.obligations` asks of all states of one size is asked here of queues of any length, with
timeout, intervals, limits, checks and the size of a pull left open. From all states that have the invariants, for each
action of many and each case of it, the steps of one among others are enabled, and lead to what the tracked transaction
sees behind the action, field by field. The cases leave nothing out; the invariants hold initially and behind each
action; loops and sums have the form that their formulas take for granted; and each action that is spoken of can occur.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Final

import z3

from model_check.any_number.shapes import LEFT_OUT
from model_check.any_number.unbounded.effects import take
from model_check.any_number.unbounded.following import ManyStep, Way, ways_to_follow
from model_check.any_number.unbounded.formulas import (
    Number,
    PlaceSet,
    State,
    Truth,
    conjunction,
    disjunction,
    equal,
    formula,
    implied,
    negation,
    within,
)
from model_check.any_number.unbounded.invariants import Claim, invariants
from model_check.any_number.unbounded.states import TRACKED, Many, knowing, lowest, slots_of, view
from model_check.any_number.unbounded.values import LoopWriter, OpenMachine, QueueEffect
from model_check.any_number.views import MET
from model_check.front_end.open_functions import shared_reader
from spec.constants import FAULTS
from spec.language import NONE
from spec.transactional_messages import AMONG_OTHERS, TRANSACTIONAL_MESSAGES

if TYPE_CHECKING:
    from spec.constants import Constants
    from spec.language import Action, Machine

LEFT_OPEN: Final = {
    "half_slots": 1,
    "op_slots": 1,
    "timeout": 1,
    "check_interval": 1,
    "round_limit": 1,
    "check_max": 1,
    "op_pull_size": 1,
    "reserved_time": NONE,
    "stray_ends": 0,
    "mishaps": 0,
    "crashes": NONE,
    "reach": NONE,
    "persist_interval": NONE,
}
"""What an instance chooses, and is left open here but for the least that it can be.

Offsets are saved at any time, or before time passes.
"""

EFFORT: Final = 50_000_000
"""Steps of the solver until it gives up on an obligation: half a minute, or more."""

LITTLE_EFFORT: Final = 1_000_000
"""The same where it is asked whether a branch can be taken at all."""

SIZES: Final = ((0, 0), (1, 0), (2, 0), (1, 1), (2, 1))
"""Halves and op messages of the states that are looked for, to see that an action can occur."""


@dataclass(frozen=True, slots=True)
class Obligation:
    """Something that is to follow from hypotheses."""

    name: str
    hypotheses: tuple[Truth, ...]
    goal: Truth

    def is_proved(self, effort: int = EFFORT) -> bool:
        """Whether it follows; False, too, where the solver gives up."""
        if self.goal is True:
            return True
        solver = z3.Solver()
        for option, value in (("random_seed", 1), ("rlimit", effort), ("auto_config", False), ("mbqi", False)):
            solver.set(option, value)
        solver.add(*map(formula, self.hypotheses), formula(negation(self.goal)))
        return bool(solver.check() == z3.unsat)


@dataclass
class StepProof:
    """What was asked, and each obligation that is not proved."""

    obligations: int = 0
    actions: list[str] = field(default_factory=list)
    """Those that can occur."""
    unknown: list[str] = field(default_factory=list)
    longest: float = 0.0
    """Seconds for one obligation."""

    @property
    def is_proved(self) -> bool:
        """Whether something was asked, and all of it is proved."""
        return self.obligations > 0 and not self.unknown

    def __add__(self, other: StepProof) -> StepProof:
        return StepProof(
            self.obligations + other.obligations,
            self.actions + other.actions,
            self.unknown + other.unknown,
            max(self.longest, other.longest),
        )

    def __str__(self) -> str:
        """The counts in one line."""
        return (
            f"{self.obligations:,} obligations of {len(self.actions)} actions, {len(self.unknown)} not proved, "
            f"{self.longest:.0f} s the longest"
        )

    def ask(self, obligation: Obligation) -> None:
        """Enter an obligation."""
        began = time.monotonic()
        self.obligations += 1
        if not obligation.is_proved():
            self.unknown.append(obligation.name)
        self.longest = max(self.longest, time.monotonic() - began)


class StepProver:
    """Asks the solver for the obligations of a world.

    The invariants named in `without` are neither taken for granted nor shown: for seeing that all of them are needed.
    """

    def __init__(self, constants: Constants, machine: Machine = AMONG_OTHERS, without: Collection[str] = ()) -> None:
        one, self.without = replace(constants, transactions=1, crowded=1), frozenset(without)
        self.slots, self.own_slots = slots_of(TRANSACTIONAL_MESSAGES, constants), slots_of(machine, one)
        numbers = {name: z3.Int(f"constant {name}") for name in LEFT_OPEN}
        left_open = {**numbers, **{name: z3.Bool(f"constant {name}") for name in FAULTS if getattr(constants, name)}}
        self.constants = {**_numbers(constants), **left_open, "transactions": z3.Int("constant transactions")}
        of_one = {**_numbers(one), **left_open}
        self.before = Many.anything(self.slots)
        self.many = OpenMachine(shared_reader(TRANSACTIONAL_MESSAGES, constants), self.constants, "many", self._of_all)
        self.one = OpenMachine(shared_reader(machine, one), of_one, "one", self._of_its_own)
        self.seen = view(self.before, self.own_slots)
        self._actions = {action.name: action for action in machine.actions}
        known = [claim.assumed() for claim in self._invariants(self.before)]
        laws = (*self.before.halves.laws(), *self.before.ops.laws())
        is_tracked = within(0, TRACKED, self.constants["transactions"])
        read_next = [self.many.is_end(self.before.fields[name]) for name in (("offsets", "op"), ("round", "next_op"))]
        self._bounds = [number >= LEFT_OPEN[name] for name, number in numbers.items()]
        self._bounds.append(numbers["persist_interval"] <= 0)
        every = (*self._bounds, *laws, is_tracked, *known, *read_next)
        self._hypotheses = tuple(hypothesis for hypothesis in every if hypothesis is not True)

    def prove(self, action: Action) -> StepProof:
        """Ask for the obligations of an action; none where it can't occur."""
        proof = StepProof()
        for step, given in self._steps(action):
            if not proof.actions and self._can_occur(given):
                proof.actions = [action.name]
            for obligation in self._obligations(step, given):
                proof.ask(obligation)
        if proof.obligations and not proof.actions:
            proof.unknown.append(f"{action.name}: it can occur")
        return proof

    def obligations(self, action: Action) -> Iterator[Obligation]:
        """The obligations of an action."""
        return (obligation for step, given in self._steps(action) for obligation in self._obligations(step, given))

    def prove_initially(self) -> StepProof:
        """Ask whether the invariants hold in the initial state."""
        proof = StepProof()
        none = {
            path: lowest(slot) if slot.array is None else _always(lowest(slot)) for path, slot in self.slots.items()
        }
        initial = replace(self.before, fields={**none, ("now",): z3.Int("now")}, named=lambda _: NONE)
        halves = replace(initial.halves, length=0)
        initial = replace(initial, halves=halves, ops=replace(initial.ops, length=0))
        for claim in self._invariants(initial):
            proof.ask(Obligation(f"initially: {claim.name}", tuple(self._bounds), claim.body))
        return proof

    def _invariants(self, many: Many) -> Iterator[Claim]:
        every = invariants(many, self.slots, self.constants)
        return (claim for claim in every if claim.name not in self.without)

    def _of_all(self, array: str, place: Number) -> Truth:
        """Said of a place of the queues of all: an op message names a half."""
        if array != "op_slots":
            return True
        return z3.Or(place < 0, place >= self.before.ops.length, self.before.named(place) >= 0)

    def _of_its_own(self, array: str, number: Number) -> Truth:
        """Said of a place of its own queues: it is one of the queue of all."""
        queue = self.before.queues.get(array)
        return True if queue is None else z3.Or(number < 0, number >= queue.count, queue.nth(number) >= 0)

    # --- steps --------------------------------------------------------------------------------------------------------

    def _steps(self, action: Action) -> Iterator[tuple[ManyStep, tuple[Truth, ...]]]:
        """An action with any parameters, each of its branches by itself, and what is known of the states before it.

        Branches are those that run other loops. One that no state of those with the invariants can take is left out.
        """
        arguments = tuple(z3.Int(f"the {name}") for name in action.parameters)
        ranges = [
            within(0, argument, self.constants[choices.constant] + choices.is_included)
            for choices, argument in zip(action.parameters.values(), arguments, strict=True)
            if not choices.listed
        ]
        left: list[list[bool]] = [[]]
        while left:
            branches = _Branches(left.pop(), left)
            effect = QueueEffect(self.before.fields)
            take(self.many, action.function, arguments, effect, branches.decide)
            given = (*self._hypotheses, *ranges, *effect.rules())
            if not Obligation(action.name, given, False).is_proved(LITTLE_EFFORT):
                yield ManyStep(action, arguments, self.before, effect, self.before.after(effect.state)), given

    def _can_occur(self, given: tuple[Truth, ...]) -> bool:
        """Whether some state of a few messages is as given, so that not everything follows from it."""
        solver = z3.Solver()
        solver.set("random_seed", 1)
        solver.set("rlimit", EFFORT)
        solver.add(*map(formula, given))
        halves, ops = self.before.halves.length, self.before.ops.length
        return any(solver.check(halves == h, ops == o) == z3.sat for h, o in SIZES)

    # --- obligations --------------------------------------------------------------------------------------------------

    def _obligations(self, step: ManyStep, given: tuple[Truth, ...]) -> Iterator[Obligation]:
        name, effect = step.action.name, step.effect
        known = (*given, *effect.facts, *effect.definitions)
        for form, goal in effect.forms:
            yield Obligation(f"{name}: {form} has its form", known, goal)
        for what, goal in _growth(step):
            yield Obligation(f"{name}: {what}", given, goal)
        for claim in self._invariants(step.after):
            yield Obligation(f"{name}: {claim.name} is preserved", known, claim.body)
        ways = list(ways_to_follow(step, self.seen))
        yield Obligation(f"{name}: one of the cases", known, disjunction(way.condition for way in ways))
        for way in ways:
            yield from self._followed(step, way, (*given, way.condition))

    def _followed(self, step: ManyStep, way: Way, given: tuple[Truth, ...]) -> Iterator[Obligation]:
        name = f"{step.action.name}, {way.case}"
        effect = QueueEffect(knowing(self.before, self.seen))

        def decide(test: Truth) -> bool:
            known = (*given, *step.effect.facts, *effect.facts, *effect.rules())
            return Obligation(name, known, test).is_proved(LITTLE_EFFORT)

        for action, arguments in way.steps:
            take(self.one, self._actions[action].function, arguments, effect, decide)
        facts = (*step.effect.facts, *effect.facts)
        definitions = (*given, *step.effect.definitions, *effect.definitions)
        known = (*definitions, *facts)
        for form, goal in effect.forms:
            yield Obligation(f"{name}: {form} has its form", known, goal)
        for words, rule in effect.guard:
            yield Obligation(f"{name}: {words}", known, rule)
        of_writers = [*given, *facts]
        for writer, other in zip(step.effect.writers, (*effect.writers, None, None), strict=False):
            for claim in self._turns(writer, other):
                yield Obligation(f"{name}: {claim.name}", definitions, claim.body)
                of_writers.append(claim.assumed())
            for goal in () if other is None else self._last_turns(writer, other):
                yield Obligation(f"{name}: the same turn is the last to write", tuple(of_writers), goal)
                of_writers.append(goal)
        written = {writer.path for writer in step.effect.writers}
        for path, goal in self._same_fields(effect.state, view(step.after, self.own_slots)):
            yield Obligation(f"{name}: {'.'.join(path)}", tuple(of_writers) if path in written else known, goal)
        claims = conjunction(
            (effect.state["round", "running"], equal(effect.state[MET], effect.state["round", "cursor"] + 1))
        )
        yield Obligation(f"{name}: {'.'.join(MET)}", known, implied(claims, step.after.stands_on_its_own()))

    def _same_fields(self, got: State, wanted: State) -> Iterator[tuple[tuple[str, ...], Truth]]:
        """That two states of one among others are the same, field by field, at any place of an array."""
        number, member = z3.Int("some number"), z3.Int("some member")
        for path, slot in self.own_slots.items():
            if path in LEFT_OUT or path == MET:
                continue
            pair = got[path], wanted[path]
            if slot.array is not None:
                place = 0 if slot.array == "transactions" else number
                pair = pair[0](place), pair[1](place)
            goal = equal(*(value.has(member) if isinstance(value, PlaceSet) else value for value in pair))
            yield path, implied(number >= 0, goal) if slot.array in ("half_slots", "op_slots") else goal

    def _turns(self, of_many: LoopWriter, of_one: LoopWriter | None) -> Iterator[Claim]:
        """Of a loop: its turns at places of its own write on both sides or on none; on none if the one has no loop."""
        turn, number, writes = z3.Int("turn"), z3.Int("number"), of_many.writes
        turns = self.before.queues[self.slots[of_many.path].places]
        is_there = within(0, turn, turns.length)
        if of_one is None:
            name = "no turn of its own writes"
            is_of_another = conjunction((is_there, negation(turns.is_own(turn))))
            yield Claim(name, (turn,), implied(writes(turn), is_of_another), (writes(turn),))
            return
        name, is_number = "the same turns write", within(0, number, turns.count)
        by_one, by_many = of_one.writes(number), writes(turns.nth(number))
        yield Claim(name, (turn,), implied(writes(turn), is_there), (writes(turn),))
        yield Claim(name, (number,), implied(by_one, is_number), (by_one,))
        yield Claim(name, (number,), implied(conjunction((is_number, by_many)), by_one))
        yield Claim(name, (number,), implied(conjunction((is_number, by_one)), by_many))

    def _last_turns(self, of_many: LoopWriter, of_one: LoopWriter) -> Iterator[Truth]:
        """So it is the same turn that writes last to a place of its own."""
        number, slot = z3.Int("some number"), self.slots[of_many.path]
        places, turns = self.before.queues[slot.array], self.before.queues[slot.places]
        last_of_many, last_of_one = of_many.last(places.nth(number)), of_one.last(number)
        is_own = within(0, number, places.count)
        yield implied(conjunction((is_own, last_of_many != NONE)), last_of_one >= turns.rank(last_of_many))
        yield implied(conjunction((is_own, last_of_one != NONE)), last_of_many >= turns.nth(last_of_one))


@dataclass
class _Branches:
    """Takes the branches that were decided, then always the first, and notes the other ones as left to do."""

    decided: list[bool]
    left: list[list[bool]]
    taken: int = 0

    def decide(self, _: Truth) -> bool:
        """Whether the next branch is the one where its test holds."""
        self.taken += 1
        if self.taken > len(self.decided):
            self.left.append([*self.decided, False])
            self.decided.append(True)
        return self.decided[self.taken - 1]


def _growth(step: ManyStep) -> Iterator[tuple[str, Truth]]:
    """What the ranks behind a step take for granted: messages stay, and one more of each at most stands at the end."""
    before, after, place = step.before, step.after, z3.Int("some place")
    for old, new in ((before.halves, after.halves), (before.ops, after.ops)):
        grown = disjunction((equal(new.length, old.length), equal(new.length, old.length + 1)))
        yield "one message more at most", grown
    owner, was = after.fields["half", "transaction"](place), before.fields["half", "transaction"](place)
    yield "halves stay", implied(within(0, place, before.halves.length), equal(owner, was))
    name, listed = after.named(place), after.fields["op", "names"](place).listed
    yield "op messages stay", implied(within(0, place, before.ops.length), equal(name, before.named(place)))
    only_it = [implied(condition, equal(member, name)) for member, condition in listed]
    some = disjunction(condition for _, condition in listed)
    yield "an op message names one half", implied(within(0, place, after.ops.length), conjunction((*only_it, some)))


def _always(value: Any) -> Callable[[Number], Any]:
    return lambda _: value


def _numbers(constants: Constants) -> dict[str, Number]:
    every = {name: getattr(constants, name) for name in dir(constants) if not name.startswith("_")}
    return {name: value for name, value in every.items() if isinstance(value, int)}
