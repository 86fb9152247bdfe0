"""A step on queues of any length does to one state what CPython does, if the state is all that is known."""

from __future__ import annotations

import random
from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING, Any

import pytest
import z3

from model_check.any_number.unbounded.effects import LONG_AGO, QueueEffect
from model_check.any_number.unbounded.formulas import PlaceSet, conjunction, equal, negation
from model_check.any_number.unbounded.obligations import COUNTED, Obligation, StepProver
from model_check.world import World
from spec import language
from spec.language import Bits, Kind, Step, slots_of_fields, successors, take
from spec.transactional_messages import TRANSACTIONAL_MESSAGES

if TYPE_CHECKING:
    from collections.abc import Iterator

    from spec.constants import Constants

STEPS = 60
"""Steps of a walk that are compared."""

FAULTS = ("lose_end", "lose_check", "late_end", "crash")

Values = tuple[int, ...]


@dataclass(frozen=True)
class Taken:
    """A step that CPython has taken, with the values of all fields before it and behind it."""

    step: Step
    before: Values
    after: Values


def walked(constants: Constants, seed: int) -> Iterator[Taken]:
    """Walks from the initial state, each as long as it can be; a step that was rare so far comes first."""
    machine, chance, seen = TRANSACTIONAL_MESSAGES, random.Random(seed), dict[str, int]()
    steps = machine.steps(constants)
    while True:
        state = machine.initial(constants)
        values = state.canonical()
        for _ in range(30):
            enabled = [step for step, _ in successors(state.load(values), constants, steps)]
            if not enabled:
                break
            chance.shuffle(enabled)
            step = min(enabled, key=lambda each: seen.get(each.action.name, 0))
            seen[step.action.name] = seen.get(step.action.name, 0) + 1
            state.load(values)
            assert take(state, constants, step) is None
            yield Taken(step, values, tuple(state.memory.values))
            values = state.canonical()


def values_by_path(constants: Constants, values: Values) -> dict[tuple[str, ...], list[int]]:
    """The values of each field, of an array one for each place."""
    left = iter(values)
    return {p: list(islice(left, len(slots))) for p, slots in slots_of_fields(TRANSACTIONAL_MESSAGES.state, constants)}


def is_value(prover: StepProver, path: tuple[str, ...], of: Any, value: int, constants: Constants) -> Any:
    """Whether a field has a value."""
    slot = prover.slots[path]
    if isinstance(of, PlaceSet):
        places = range(int(getattr(constants, str(slot.places))))
        return conjunction(equal(of.has(place), place in Bits(value)) for place in places)
    return equal(of, bool(value) if slot.kind is Kind.FLAG else value)


def are_values(prover: StepProver, fields: Any, values: Values, constants: Constants) -> Iterator[Any]:
    """Whether all fields have their values; names of op messages that are not there are none."""
    by_path = values_by_path(constants, values)
    for path, listed in by_path.items():
        if path not in prover.slots:
            continue
        for place, value in enumerate(listed):
            if path == ("op", "names") and place >= by_path["op_length",][0]:
                continue
            of = fields[path] if prover.slots[path].array is None else fields[path](z3.IntVal(place))
            yield is_value(prover, path, of, value, constants)


def constants_are(prover: StepProver, constants: Constants) -> Iterator[Any]:
    """Whether what is left open is as in an instance."""
    for name, value in prover.constants.items():
        if not isinstance(value, int):
            yield equal(value, getattr(constants, name))
    yield LONG_AGO == language.LONG_AGO


@pytest.mark.parametrize(("profile", "seed"), [("4.9.7", 1), ("fixed", 2)])
def test_a_step_does_what_cpython_does(profile: str, seed: int) -> None:
    constants = World.of(profile, FAULTS, COUNTED).constants
    prover, compared = StepProver(constants), set[str]()
    for taken in islice(walked(constants, seed), STEPS):
        effect = QueueEffect(prover.before.fields)
        known = (*constants_are(prover, constants), *are_values(prover, effect.state, taken.before, constants))

        def decide(test: Any, known: tuple[Any, ...] = known) -> bool:
            return Obligation("a branch", known, test).is_proved()

        prover.many.take(taken.step.action.function, taken.step.arguments, effect, decide)
        given = (*known, *effect.facts, *effect.definitions)
        is_so = conjunction((*effect.rules(), *are_values(prover, effect.state, taken.after, constants)))
        assert Obligation(str(taken.step), given, is_so).is_proved(), taken
        changed = next((i for i, value in enumerate(taken.after) if value != taken.before[i]), 0)
        other = tuple(value + (i == changed) for i, value in enumerate(taken.after))
        is_other = conjunction(are_values(prover, effect.state, other, constants))
        assert Obligation(str(taken.step), given, negation(is_other)).is_proved(), taken
        compared.add(taken.step.action.name)
    assert {"begin_round", "pull_more_ops", "write_op", "crash", "tick"} <= compared
    assert any(name.startswith("end_round") for name in compared)


def test_the_initial_state_is_the_lowest() -> None:
    constants = World.of("fixed", FAULTS, COUNTED).constants
    values = values_by_path(constants, tuple(TRANSACTIONAL_MESSAGES.initial(constants).memory.values))
    for path, slot in StepProver(constants).slots.items():
        assert set(values[path]) == {slot.low}, f"an instant is at its floor, all else at its lowest: {path}"
