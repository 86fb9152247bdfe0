"""Whether a state and what forgetting makes of it go on alike: the same steps up to numbering, the same results.

Steps that speak only of what was forgotten must change nothing that is left. A step that the full queue of the plain
instance refuses, and the one that forgets does not, is no difference: that is what forgetting is for.
"""

from __future__ import annotations

import random
from collections import Counter
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from model_check.instances import constants_for, load_instance
from spec.language import Kind, Machine, Refused, Step
from spec.transactional_messages import TRANSACTIONAL_MESSAGES

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from spec.constants import Constants

Values = tuple[int, ...]
Numbering = dict[str, list[int | None]]

SPENDS_A_MISHAP = frozenset({"corrupt_op"})
"""What may happen to the forgotten, and changes nothing but how much may still go wrong."""

SELDOM = frozenset({"crashed", "stopped", "role_changed", "producer_gone", "power_lost"})
"""What sets so much back that a walk that often takes it gets nowhere."""

OF_ALL_RECORDS = frozenset({"lose_power"})
"""Steps whose parameter counts records that were forgotten, too."""


def constants_of_world(profile: str, faults: Sequence[str], **sizes: Any) -> Constants:
    """The smallest instance with two transactions one after the other, and these sizes."""
    usual = {"forgets": 1, "transactions": 2, "half_slots": 5, "op_slots": 4, "persist_interval": 2}
    return constants_for(profile, faults, replace(load_instance("tiny"), **{**usual, **sizes}))


class Comparison:
    """Compares states of one world with what forgetting makes of them.

    Attributes
    ----------
    differences : Counter
        What was different, with the action's name.
    changed : int
        States of which something was forgotten.
    """

    def __init__(self, constants: Constants, forget: Callable[..., None] | None = None) -> None:
        self.machine: Machine = (
            TRANSACTIONAL_MESSAGES if forget is None else replace(TRANSACTIONAL_MESSAGES, forget=forget)
        )
        self.constants = constants
        self.steps = self.machine.steps(constants)
        self._named = {(step.action.name, step.arguments): step for step in self.steps}
        self._state = self.machine.initial(constants)
        self._removals: list[tuple[str, int]] = []
        self._forgetting = self.machine.initial(constants)
        self._forgetting.memory.removals = self._removals
        self._slots = self._state.memory.slots
        self._labels = {slot.label: place for place, slot in enumerate(self._slots)}
        self._sizes = {name: int(getattr(constants, name)) for name in ("half_slots", "op_slots", "transactions")}
        self._claims = [(clause, given) for clause in self.machine.clauses for given in clause.arguments(constants)]
        self.differences: Counter[tuple[str, str]] = Counter()
        self.changed = 0

    def walk(self, seed: int, length: int) -> Iterator[Values]:
        """States on a walk that forgets nothing, until its queues are full."""
        generator = random.Random(seed)
        values = self.machine.initial(self.constants).canonical()
        for _ in range(length):
            yield values
            found = self._successors(values).items()
            ways = [(step.action.event in SELDOM, after) for step, after in found if not isinstance(after, Refused)]
            if not ways:
                return
            weights = [0.05 if is_seldom else 1.0 for is_seldom, _ in ways]
            values = generator.choices([after for _, after in ways], weights)[0]

    def look_at(self, values: Values) -> None:
        """Compare one state with what forgetting makes of it."""
        left, numbering = self._forgotten(values)
        if left == values:
            return
        self.changed += 1
        plain, small = self._successors(values), self._successors(left)
        before, met = self._violated(values), set[Step]()
        for step, after in plain.items():
            if isinstance(after, Refused) or step.action.name in OF_ALL_RECORDS:
                continue
            alike = self._renamed(step, numbering)
            if alike is None:
                is_harmless = step.action.name in SPENDS_A_MISHAP or self._forgotten(after)[0] == left
                self._note(is_harmless, "acts on the forgotten", step)
                continue
            met.add(alike)
            other = small[alike]
            if isinstance(other, Refused):
                self._note(False, "is not enabled any more", step)
            else:
                is_same = self._comparable(self._forgotten(after)[0]) == self._comparable(self._forgotten(other)[0])
                self._note(is_same, "has another result", step)
                of_both, of_one = self._violated(after), self._violated(other)
                self._note(of_one <= of_both and of_both - before <= of_one, "has another verdict", step)
        for step, other in small.items():
            if not isinstance(other, Refused) and step not in met and step.action.name not in OF_ALL_RECORDS:
                self._note(self._had_no_room(step, numbering, plain), "is only enabled now", step)

    def _note(self, is_alike: bool, what: str, step: Step) -> None:
        self.differences[what, step.action.name] += not is_alike

    def _successors(self, values: Values) -> dict[Step, Values | Refused]:
        found: dict[Step, Values | Refused] = {}
        self._state.load(values)
        for step in self.steps:
            try:
                step.action.function(self._state, self.constants, *step.arguments)
            except Refused as refused:
                found[step] = refused
                continue
            found[step] = self._state.canonical()
            self._state.load(values)
        return found

    def _forgotten(self, values: Values) -> tuple[Values, Numbering]:
        self._removals.clear()
        left = self.machine.forgotten(self._forgetting, self.constants, values)
        numbering: Numbering = {name: list(range(size)) for name, size in self._sizes.items()}
        for array, place in self._removals:
            del numbering[array][place]
            numbering[array].append(None)
        return left, numbering

    def _comparable(self, values: Values) -> Values:
        """Without the moments of places that are empty, which nothing reads before it writes them."""
        halves, ops = (values[self._labels[name]] for name in ("half_length", "op_length"))
        return tuple(
            0
            if slot.kind is Kind.INSTANT and (slot.index or 0) >= {"half": halves, "op": ops}.get(slot.path[0], 99)
            else value
            for slot, value in zip(self._slots, values, strict=True)
        )

    def _violated(self, values: Values) -> frozenset[str]:
        state, constants = self._state.load(values), self.constants
        return frozenset(
            f"{clause.identifier}.{clause.clause}"
            for clause, given in self._claims
            if not clause.function(state, constants, *given)
        )

    def _renamed(self, step: Step, numbering: Numbering) -> Step | None:
        """The step as it is after forgetting; None if it speaks of something that was forgotten."""
        given = []
        for choices, value in zip(step.action.parameters.values(), step.arguments, strict=True):
            if choices.constant in numbering:
                if value not in numbering[choices.constant]:
                    return None
                given.append(numbering[choices.constant].index(value))
            else:
                given.append(value)
        return self._named[step.action.name, tuple(given)]

    def _had_no_room(self, step: Step, numbering: Numbering, plain: dict[Step, Values | Refused]) -> bool:
        """Whether the step was refused before only for want of room: of a queue, or of a transaction."""
        given: list[int] = []
        for choices, value in zip(step.action.parameters.values(), step.arguments, strict=True):
            before = numbering[choices.constant][value] if choices.constant in numbering else value
            if before is None:
                return step.action.event == "half_stored"
            given.append(before)
        refused = plain[self._named[step.action.name, tuple(given)]]
        return isinstance(refused, Refused) and refused.kind == "within"
