"""States reached by random walks in the CPython engine."""

from __future__ import annotations

import random

from spec.language import Machine, MachineState, take

Values = tuple[int, ...]


def step_at_random(machine: Machine, constants: object, state: MachineState, chance: random.Random) -> bool:
    """Take one of the enabled steps; false when there is none. The clock runs on: the state is not made canonical."""
    steps = list(machine.steps(constants))
    chance.shuffle(steps)
    return any(take(state, constants, step) is None for step in steps)


def walked_states(machine: Machine, constants: object, *, walks: int, steps: int, seed: int) -> list[Values]:
    """The canonical states on some walks, each once, in the order of their discovery."""
    chance = random.Random(seed)
    states: dict[Values, None] = {}
    for _ in range(walks):
        state = machine.initial(constants)
        for _ in range(steps):
            states[state.canonical()] = None
            if not step_at_random(machine, constants, state, chance):
                break
    return list(states)
