"""Moments to come, and a clock that steps back: the same in all readings, and the same as on a clock that runs on.

The numbers of states were obtained by the CPython engine, the compiled one and TLC.
"""

from __future__ import annotations

import random
from dataclasses import dataclass
from typing import TYPE_CHECKING

import pytest

from model_check import cpython
from model_check.counterexample.steps import replay
from model_check.errors import EvaluationError, NotInTheLanguage
from model_check.explicit.code_generation.compile import compile_machine
from model_check.explicit.code_generation.expressions import Function
from model_check.explicit.code_generation.packing import pack_machine
from model_check.explicit.code_generation.statements import emit_tick_back
from model_check.explicit.search import explore
from model_check.front_end.lower import Lowering
from model_check.front_end.terms import If, Let, Statement, Tick, Write
from model_check.symbolic.bounded import BoundedVerdict, search
from model_check.symbolic.if_conversion import Conversion
from model_check.symbolic.relation import relation_of
from model_check.tla.module import export
from spec.language import (
    Kind,
    Machine,
    MachineState,
    RangeViolation,
    SpecificationError,
    action,
    always,
    clock,
    declared_action,
    declared_always,
    holds,
    instant,
    is_witnessed,
    layout,
    successors,
    take,
    widest_layout,
)
from tests.model_check.emitted import emitted, in_cpython, replace_in_emitter
from tests.model_check.stepping_clock import STEPPING_CLOCK, Constants, State
from tests.model_check.symbolic.symbolic_successors import first_difference
from tests.model_check.tla.comparison import disagreements, run_export
from tests.model_check.tla.states_of_tlc import states_of
from tests.model_check.walked import walked_states

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from spec.language import Step

pytestmark = pytest.mark.untraced

Values = tuple[int, ...]

NUMBERS = {False: (94, 246, 9), True: (885, 2_776, 14)}
"""Whether the clock steps back → distinct, generated, depth."""


@pytest.mark.parametrize("steps_back", [False, True])
def test_all_searches_find_the_same_states(steps_back: bool, tmp_path: Path) -> None:
    constants = Constants(steps_back=steps_back)
    judge, compiled = cpython.explore(STEPPING_CLOCK, constants), explore(STEPPING_CLOCK, constants)
    assert (judge.distinct, judge.generated, judge.depth) == NUMBERS[steps_back]
    assert (compiled.distinct, compiled.generated, compiled.depth) == NUMBERS[steps_back]
    packing = compiled.compiled.packing
    assert {packing.unpack(words) for words in compiled.store.all_words()} == set(judge.parents)
    dump = tmp_path / "states.dump"
    told = run_export(export(STEPPING_CLOCK, constants, ()), tmp_path, "-dump", str(dump))
    assert disagreements(told, *NUMBERS[steps_back]) == []
    assert states_of(dump.read_text(), STEPPING_CLOCK, constants) == set(judge.parents)


def test_the_shortest_violation_is_the_same_in_all_searches() -> None:
    constants, clause = Constants(steps_back=True), STEPPING_CLOCK.clauses[0]
    judge, compiled = cpython.explore(STEPPING_CLOCK, constants), explore(STEPPING_CLOCK, constants)
    path = compiled.path_to(0)
    assert path is not None
    assert path == judge.path_to(judge.violations[clause])
    told = search(STEPPING_CLOCK, constants, clause, 10)
    assert (told.verdict, told.path) == (BoundedVerdict.VIOLATED, path)
    events = replay(STEPPING_CLOCK, constants, path).events
    assert [event.time for event in events][-2:] == [1, 0]
    assert STEPPING_CLOCK.clauses[1] not in judge.violations
    assert explore(STEPPING_CLOCK, Constants()).seen_at[:2] == (None, None)


@pytest.mark.parametrize("steps_back", [False, True])
def test_formulas_and_actions_agree_state_by_state(steps_back: bool) -> None:
    constants = Constants(steps_back=steps_back)
    states = list(cpython.explore(STEPPING_CLOCK, constants).parents)
    assert first_difference(relation_of(STEPPING_CLOCK, constants), states[:: 1 + 4 * steps_back]) is None


def test_the_switch_compiles_nothing_and_with_it_off_nothing_is_kept_longer() -> None:
    on, off = (compile_machine(STEPPING_CLOCK, Constants(steps_back=value)) for value in (True, False))
    assert on.module is off.module
    assert on.native is off.native
    assert on.packing == off.packing
    floors = {slot.label: slot.low for slot in layout(State, Constants()) if slot.kind is Kind.INSTANT}
    assert floors["timer[0].fires_at"] == Constants().horizon - Constants().cut
    for slot in layout(State, Constants(steps_back=True)):
        if slot.kind is Kind.INSTANT:
            assert slot.low == floors[slot.label] - 1
    assert widest_layout(State, Constants()) == layout(State, Constants(steps_back=True))
    assert pack_machine(STEPPING_CLOCK, Constants()).slots == widest_layout(State, Constants())


# --- the quotient -----------------------------------------------------------------------------------------------------


FLOORS = [slot.low for slot in layout(State, Constants())]
"""Of instants; any other value is within its range anyway."""


def visible(values: Values) -> Values:
    """A canonical state with instants older than the cut made equal, slack or not: what a guard can tell."""
    return tuple(max(value, floor) for value, floor in zip(values, FLOORS, strict=True))


def futures(state: MachineState, constants: Constants, steps: tuple[Step, ...]) -> list[tuple[Step, Values]]:
    return [(step, visible(after)) for step, after in successors(state, constants, steps)]


def first_divergence(constants: Constants, floor_is_higher_by: int = 0) -> str | None:
    """Walks on a clock that runs on, beside the walk of canonical states with the same steps."""
    chance = random.Random(3)
    steps, tried = STEPPING_CLOCK.steps(constants), State(constants)
    cut = back = 0
    for _ in range(400):
        runs_on, canonical = State(constants), State(constants)
        for position in range(60):
            if futures(runs_on, constants, steps) != futures(canonical, constants, steps):
                return f"after {position} steps"
            for claim, judge in [(c, holds) for c in STEPPING_CLOCK.clauses] + [
                (w, is_witnessed) for w in STEPPING_CLOCK.witnesses
            ]:
                assert judge(runs_on, constants, claim) == judge(canonical, constants, claim)
            here = runs_on.canonical()
            enabled = [step for step in steps if take(tried.load(here), constants, step) is None]
            if not enabled:
                break
            step = chance.choice(enabled)
            assert take(runs_on, constants, step) is take(canonical, constants, step) is None
            back += step.action.name == "step_back"
            values = canonical.canonical()
            cut += values != tuple(canonical.memory.values)
            canonical.load(
                tuple(
                    max(v, slot.low + floor_is_higher_by) if slot.kind is Kind.INSTANT else v
                    for slot, v in zip(canonical.memory.slots, values, strict=True)
                )
            )
    assert cut > 1000
    assert back > 100 or not constants.steps_back
    return None


@pytest.mark.parametrize("steps_back", [True, pytest.param(False, marks=pytest.mark.sweep)])
def test_a_clock_that_runs_on_has_the_futures_of_the_canonical_states(steps_back: bool) -> None:
    assert first_divergence(Constants(steps_back=steps_back)) is None


def test_without_the_slack_a_step_back_would_be_seen() -> None:
    assert first_divergence(Constants(steps_back=True), floor_is_higher_by=1) is not None


# --- what leaves its range --------------------------------------------------------------------------------------------


@dataclass(frozen=True, kw_only=True)
class Small:
    cut: int = 1
    ahead: int = 1
    horizon: int = 4
    steps_back: bool = True


class Alarm(MachineState):
    now: int = clock()
    rings_at: int = instant("cut", ahead="ahead", slack="steps_back")


@action()
def set_alarm(s: Alarm, c: Small) -> None:
    s.rings_at = s.now + c.ahead


@action()
def set_alarm_too_far_ahead(s: Alarm, c: Small) -> None:
    s.rings_at = s.now + c.ahead + 1


@action()
def go_on(s: Alarm, c: Small) -> None:
    s.now += 1


@action()
def go_back(s: Alarm, c: Small) -> None:
    s.now -= 1


@always("T2", clause="near")
def it_rings_soon(s: Alarm, c: Small) -> bool:
    """No moment lies too far ahead."""
    return s.rings_at - s.now <= c.ahead


def alarm(*names: str) -> Machine:
    known = {f.__name__: f for f in (set_alarm, set_alarm_too_far_ahead, go_on, go_back, sets_and_goes_back)}
    actions = tuple(declared_action(known[name]) for name in names)
    clauses = (declared_always(it_rings_soon),)
    return Machine(name="alarm", state=Alarm, actions=actions, clauses=clauses, witnesses=(), switches=("steps_back",))


@pytest.mark.parametrize(
    ("names", "message"),
    [
        (("set_alarm_too_far_ahead",), "rings_at = 6: at most 1 ticks ahead of the clock, which reads 4"),
        (("set_alarm", "go_back"), "rings_at = 5: at most 1 ticks ahead of the clock, which reads 3"),
    ],
)
def test_a_moment_that_lies_too_far_ahead_is_refused_in_all_readings(
    names: tuple[str, ...], message: str, tmp_path: Path
) -> None:
    machine = alarm(*names)
    with pytest.raises(RangeViolation, match=f"^{message}$"):
        cpython.explore(machine, Small())
    with pytest.raises(EvaluationError, match=f"^{names[-1]}: {message}$"):
        explore(machine, Small())
    with pytest.raises(RangeViolation, match=f"^{message}$"):
        replay(machine, Small(), list(machine.steps(Small())))
    with pytest.raises(EvaluationError, match=f"^.*: {message}$"):
        search(machine, Small(), machine.clauses[0], 3)
    told = run_export(export(machine, Small(), ()), tmp_path)
    assert told.violated == "TypeOK"


@pytest.mark.parametrize("steps_back", [False, True])
def test_every_age_is_counted_up_and_down_alike(steps_back: bool) -> None:
    """Each value of the range, also those that leave it."""
    machine, constants = alarm("set_alarm", "go_on", "go_back"), Small(steps_back=steps_back)
    module = emitted(machine, constants)
    state = machine.initial(constants)
    slot = state.memory.slots[1]
    outcomes = []
    for value in range(slot.low, slot.high + 1):
        values = (constants.horizon, value)
        try:
            told: object = list(in_cpython(machine, constants, values))
        except RangeViolation:
            told = "out of range"
        if told == "out of range":
            with pytest.raises(OverflowError, match=r"^go_back$"):
                module.successors(values)
        else:
            assert module.successors(values) == told
        outcomes.append(told)
    assert outcomes.count("out of range") == 1
    assert first_difference(relation_of(machine, constants), [(4, v) for v in range(slot.low, slot.high + 1)]) is None


@action()
def sets_and_goes_back(s: Alarm, c: Small) -> None:
    s.rings_at = s.now
    s.now -= 1


def test_a_step_back_and_a_moment_that_is_written_are_two_actions() -> None:
    machine = alarm("sets_and_goes_back")
    with pytest.raises(NotInTheLanguage, match="sets_and_goes_back: an action that steps the clock back changes no"):
        Lowering(machine, Small()).action(machine.steps(Small())[0])


def test_the_horizon_lies_behind_the_slack_even_when_it_is_off() -> None:
    with pytest.raises(SpecificationError, match=r"^rings_at: ages are cut at 4, but the horizon is 4$"):
        layout(Alarm, Small(cut=3, steps_back=False))
    assert layout(Alarm, Small(cut=2))[1].low == 1


# --- broken on purpose ------------------------------------------------------------------------------------------------


def keep_no_slack(patch: pytest.MonkeyPatch) -> None:
    """The floor is the same whatever the switch is."""
    slack = Function.slack
    patch.setattr(Function, "slack", lambda f, path: None if slack(f, path) is None else "false")


def never_step_back(patch: pytest.MonkeyPatch) -> None:
    """A step back leaves the instants alone."""
    replace_in_emitter(patch, emit_tick_back, lambda _: None)


@pytest.mark.parametrize("mutant", [keep_no_slack, never_step_back])
def test_a_broken_emitter_is_seen(
    mutant: Callable[[pytest.MonkeyPatch], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    constants = Constants(steps_back=True)
    whole = emitted(STEPPING_CLOCK, constants)
    mutant(monkeypatch)
    other = emitted(STEPPING_CLOCK, constants)
    states = walked_states(STEPPING_CLOCK, constants, walks=20, steps=30, seed=1)
    assert all(whole.successors(values) == list(in_cpython(STEPPING_CLOCK, constants, values)) for values in states)
    assert any(whole.successors(values) != other.successors(values) for values in states)


class StepsForward(Conversion):
    """Takes a step back for a step ahead."""

    def _statement(self, statement: Statement) -> None:
        match statement:
            case Tick():
                super()._statement(Tick())
            case Let() | Write() | If():
                super()._statement(statement)


def test_broken_formulas_are_seen() -> None:
    constants = Constants(steps_back=True)
    states = walked_states(STEPPING_CLOCK, constants, walks=20, steps=30, seed=1)
    assert first_difference(relation_of(STEPPING_CLOCK, constants, StepsForward), states) is not None
