"""Whether columns of events are walks of the specification: taken again, step by step, in the CPython engine."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from model_check.world import Environment, World
from spec.events import EVENTS, FIELDS
from spec.language import MachineState, Step, take
from spec.transactional_messages import TRANSACTIONAL_MESSAGES

if TYPE_CHECKING:
    from collections.abc import Collection

OBSERVED = ("transaction", "half", "copy", "op", "check_times", "outcome")
ACTIONS = tuple(action.name for action in TRANSACTIONAL_MESSAGES.actions)


def rows(columns: dict[str, Any]) -> list[tuple[Any, ...]]:
    return list(zip(*(columns[field.name].tolist() for field in FIELDS), strict=True))


def illegal_step(columns: dict[str, Any], numbers: Collection[int], profile: str, environment: str) -> str:
    """What is wrong, if not every trace of these numbers, on tiny, is a path with these events, times and fields."""
    constants = World.of(profile, Environment.named(environment), "tiny").constants
    state = TRANSACTIONAL_MESSAGES.initial(constants)
    start = tuple(state.memory.values)
    steps_of: dict[str, list[Step]] = {}
    for step in TRANSACTIONAL_MESSAGES.steps(constants):
        steps_of.setdefault(step.action.name, []).append(step)
    if set(columns["trace"].tolist()) != set(numbers):
        return f"walks {sorted(set(columns['trace'].tolist()) ^ set(numbers))} are missing or too many"
    candidates: set[tuple[int, ...]] = set()
    expected_step = 0
    for trace, number, time, event, action, *observed in rows(columns):
        if number == 0:
            candidates = {start}
            expected_step = 0
        where = f"walk {trace}, step {number}, {ACTIONS[action]}"
        if number != expected_step:
            return f"{where}: step {expected_step} expected"
        expected_step += 1
        after = set()
        for values in candidates:
            for step in steps_of[ACTIONS[action]]:
                if take(state.load(values), constants, step) is None and seen(state, constants, step) == observed:
                    after.add(tuple(state.memory.values))
        if not after:
            return f"{where}: not enabled, or not with {observed}"
        if {values[0] - start[0] for values in after} != {time}:
            return f"{where}: not at {time}"
        if EVENTS[event] != steps_of[ACTIONS[action]][0].action.event:
            return f"{where}: shows no {EVENTS[event]}"
        candidates = after
    return ""


def seen(state: MachineState, constants: object, step: Step) -> list[int]:
    functions = step.action.shows
    absent = {"outcome": 0}
    return [
        int(functions[name](state, constants, *step.arguments[:1])) if name in functions else absent.get(name, -1)
        for name in OBSERVED
    ]
