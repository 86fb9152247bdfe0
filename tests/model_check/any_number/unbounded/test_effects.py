"""A step on queues of any length does to one state what CPython does, if the state is all that is known."""

from __future__ import annotations

import random
from dataclasses import dataclass, replace
from itertools import islice
from typing import TYPE_CHECKING, Any

import pytest
import z3

from model_check.any_number.unbounded.effects import take as take_on_queues
from model_check.any_number.unbounded.formulas import PlaceSet, conjunction, equal, formula, negation
from model_check.any_number.unbounded.obligations import StepProver
from model_check.any_number.unbounded.proofs import COUNTED
from model_check.any_number.unbounded.values import LONG_AGO, QueueEffect
from model_check.explicit.search import explore
from model_check.world import World
from spec import language
from spec.language import Bits, Kind, Step, slots_of_fields, successors, take
from spec.transactional_messages import TRANSACTIONAL_MESSAGES

if TYPE_CHECKING:
    from collections.abc import Iterator

    from spec.constants import Constants

SIZE = replace(COUNTED, half_slots=4, op_slots=3, op_pull_size=2)

SAMPLED = 700
"""States of a search whose steps are looked at."""

OF_EACH = 1
"""Steps of each action that are compared: those that change most, where most op messages name the same half."""

OF_ALL_LOOPS = {"begin_round", "pull_more_ops", "end_round_at_queue_end", "put_back_and_check", "crash"}
"""Actions that are compared always; of the others each third, and all in the sweep."""

FAULTS = ("lose_end", "duplicate_end", "late_end", "slow_local", "crash")

Values = tuple[int, ...]


@dataclass(frozen=True)
class Taken:
    """A step that CPython has taken, with the values of all fields before it and behind it."""

    step: Step
    before: Values
    after: Values
    weight: int


def taken_steps(constants: Constants) -> list[Taken]:
    """The steps that do most, of each action."""
    machine, chance = TRANSACTIONAL_MESSAGES, random.Random(1)
    found = explore(machine, constants, most_states=100_000)
    packing, count = found.compiled.packing, int(found.store.counts[0])
    words = found.store.arrays.states[: count * packing.words].reshape(count, packing.words)
    state, best = machine.initial(constants), dict[str, list[Taken]]()
    for number in chance.sample(range(count), SAMPLED):
        before = packing.unpack(words[number])
        for step, _ in successors(state.load(before), constants, machine.steps(constants)):
            state.load(before)
            assert take(state, constants, step) is None
            after = tuple(state.memory.values)
            names = values_by_path(constants, before)["op", "names"]
            twice = len([name for name in names if name]) - len({name for name in names if name})
            changed = sum(a != b for a, b in zip(before, after, strict=True))
            known = best.setdefault(step.action.name, [])
            known.append(Taken(step, before, after, changed + 10 * twice))
            known.sort(key=lambda one: -one.weight)
            del known[OF_EACH:]
            state.load(before)
    return [each for known in best.values() for each in known]


def values_by_path(constants: Constants, values: Values) -> dict[tuple[str, ...], list[int]]:
    """The values of each field, of an array one for each place."""
    left = iter(values)
    return {p: list(islice(left, len(slots))) for p, slots in slots_of_fields(TRANSACTIONAL_MESSAGES.state, constants)}


def is_value(prover: StepProver, path: tuple[str, ...], of: Any, value: int, constants: Constants) -> Any:
    """Whether a field has a value."""
    slot = prover.slots[path]
    if isinstance(of, PlaceSet):
        places = range(int(getattr(constants, str(slot.places))))
        return conjunction(equal(of.has(z3.IntVal(place)), place in Bits(value)) for place in places)
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


def follows(hypotheses: tuple[Any, ...], goal: Any) -> bool:
    solver = z3.Solver()
    solver.add(*map(formula, hypotheses), formula(negation(goal)))
    return bool(solver.check() == z3.unsat)


@pytest.mark.parametrize(
    ("profile", "every"),
    [
        ("4.9.7", 3),
        pytest.param("4.9.7", 1, marks=pytest.mark.sweep),
        pytest.param("fixed", 1, marks=pytest.mark.sweep),
    ],
)
def test_a_step_does_what_cpython_does(profile: str, every: int) -> None:
    constants = World.of(profile, FAULTS, SIZE).constants
    prover, compared, best = StepProver(constants), set[str](), taken_steps(constants)
    assert len(best) > 20
    chosen = [one for place, one in enumerate(best) if place % every == 0 or one.step.action.name in OF_ALL_LOOPS]
    for taken in chosen:
        effect = QueueEffect(prover.before.fields)
        known = (*constants_are(prover, constants), *are_values(prover, effect.state, taken.before, constants))

        def decide(test: Any, known: tuple[Any, ...] = known) -> bool:
            return follows(known, test)

        take_on_queues(prover.many, taken.step.action.function, map(z3.IntVal, taken.step.arguments), effect, decide)
        given = (*known, *effect.facts, *effect.definitions, *effect.rules())
        assert not follows(given, False), "the state is one, and the step can be taken"
        assert follows(given, conjunction(are_values(prover, effect.state, taken.after, constants))), taken
        changed = next((i for i, value in enumerate(taken.after) if value != taken.before[i]), 0)
        other = tuple(int(value == 0) if i == changed else value for i, value in enumerate(taken.after))
        assert not follows(given, conjunction(are_values(prover, effect.state, other, constants))), taken
        compared.add(taken.step.action.name)
    assert len(compared) > 20 // every
    assert compared >= OF_ALL_LOOPS


def test_what_is_left_open_is_no_field_of_the_state() -> None:
    prover = StepProver(World.of("fixed", FAULTS, COUNTED).constants)
    fields = {str(value) for value in prover.before.fields.values() if z3.is_expr(value)}
    open_constants = {str(value) for value in prover.constants.values() if z3.is_expr(value)}
    assert len(fields) > 15
    assert len(open_constants) > 15
    assert not fields & open_constants


def test_the_initial_state_is_the_lowest() -> None:
    constants = World.of("fixed", FAULTS, COUNTED).constants
    values = values_by_path(constants, tuple(TRANSACTIONAL_MESSAGES.initial(constants).memory.values))
    for path, slot in StepProver(constants).slots.items():
        assert set(values[path]) == {slot.low}, f"an instant is at its floor, all else at its lowest: {path}"
