"""The last word on a schedule: the CPython engine takes its steps with a clock of milliseconds and the real times."""

from __future__ import annotations

from typing import TYPE_CHECKING

from model_check.broker_conf.timed_path import TICK, NoInstantsError, place_of_clock
from spec.language import Kind, Machine, MachineState, Property, Step, holds, take

if TYPE_CHECKING:
    from collections.abc import Sequence


def judge(
    machine: Machine, constants: object, path: Sequence[Step], times: Sequence[int]
) -> tuple[Property, ...] | NoInstantsError:
    """Take the steps at their instants, and say which clauses the state at the end violates.

    A stretch of time is as many `now += 1` as it has milliseconds. Guards compare differences of instants with
    constants, so that what they say can change only where a difference passes a constant: the clock is set to each of
    those instants, and to the first and the last, and the `tick` must be accepted at every one.

    Parameters
    ----------
    machine
    constants
        With the real times, in milliseconds.
    path, times
        The steps, and when each happens (a `tick`: when it ends) in milliseconds since the start.

    Returns
    -------
    tuple of Property, or NoInstantsError
        The violated clauses; or the step that the real guards refuse.
    """
    state = machine.initial(constants)
    clock = place_of_clock(state)
    lengths = _numbers_of(constants)
    for number, (step, time) in enumerate(zip(path, times, strict=True), start=1):
        end = state.horizon + time
        if step.action.event == TICK:
            for now in _critical_instants(state, state.memory.values[clock], end, lengths):
                state.memory.values[clock] = now
                refused = take(state, constants, step)
                if refused is not None:
                    return NoInstantsError(number, step, f"{now - state.horizon} ms: {refused.rule}")
            state.memory.values[clock] = end
            continue
        if state.memory.values[clock] != end:
            return NoInstantsError(number, step, f"it happens at {time} ms, but only a tick makes time pass")
        refused = take(state, constants, step)
        if refused is not None:
            return NoInstantsError(number, step, refused.rule)
    return tuple(clause for clause in machine.clauses if not holds(state, constants, clause))


def _critical_instants(state: MachineState, first: int, end: int, lengths: frozenset[int]) -> list[int]:
    """The instants from `first` to before `end` at which some instant's age passes a constant, and both ends."""
    seen = {
        value for slot, value in zip(state.memory.slots, state.memory.values, strict=True) if slot.kind is Kind.INSTANT
    }
    near = {instant + length + step for instant in seen for length in lengths for step in (-1, 0, 1)}
    return sorted({first, end - 1} | {now for now in near if first < now < end - 1})


def _numbers_of(constants: object) -> frozenset[int]:
    """Every number that the constants hold or derive, and zero."""
    found = {0}
    for name in dir(constants):
        value = None if name.startswith("_") else getattr(constants, name)
        found.update(v for v in (value if isinstance(value, tuple) else (value,)) if type(v) is int)
    return frozenset(found)
