"""A random walk without the compiler, on any state of a machine."""

from __future__ import annotations

from typing import TYPE_CHECKING

from spec.language import take

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from model_check.walks.dice import Dice
    from spec.language import MachineState, Step


def plain_walk(
    state: MachineState, constants: object, steps: Sequence[Step], dice: Dice, length: int
) -> Iterator[Step]:
    """Walk from a state, which is changed in place; gives each step after it was taken, at most so many."""
    for _ in range(length):
        before = tuple(state.memory.values)
        enabled = []
        for number, step in enumerate(steps):
            if take(state, constants, step) is None:
                enabled.append(number)
                state.load(before)
        chosen = dice.choose(enabled)
        if chosen is None:
            return
        take(state, constants, steps[chosen])
        yield steps[chosen]
