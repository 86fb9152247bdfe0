"""The draws of a random walk without the compiler: the same as in `explicit/kernel_texts/walks.py`, in Python.

The compiled walk is held against them, and they drive what only Python can do, such as the reference broker.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Sequence

    from model_check.walks.choices import StepTables

_STRIDE: Final = 0x9E3779B97F4A7C15
_MOST: Final = (1 << 64) - 1


def scrambled(z: int) -> int:
    """The output function of SplitMix64."""
    z = ((z ^ (z >> 30)) * 0xBF58476D1CE4E5B9) & _MOST
    z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & _MOST
    return z ^ (z >> 31)


class Dice:
    """The draws of one walk; the tables are those of its choice, for the steps that it chooses from, in their order."""

    def __init__(self, seed: int, number: int, tables: StepTables) -> None:
        self._state = scrambled((seed * _STRIDE + 1) & _MOST) ^ scrambled((number + _STRIDE) & _MOST)
        bits = [
            scrambled(((self._state ^ _MOST) + word * _STRIDE) & _MOST)
            for word in range(-(-(tables.number_of_switches - 1) // 64))
        ]
        self._weights = [
            weight if switch == 0 or bits[(switch - 1) // 64] >> ((switch - 1) % 64) & 1 else 0
            for weight, switch in zip(tables.weights.tolist(), tables.switches.tolist(), strict=True)
        ]

    def choose(self, enabled: Sequence[int]) -> int | None:
        """One of the enabled steps, which are given by number in ascending order; None when none may be taken."""
        self._state = (self._state + _STRIDE) & _MOST
        total = sum(self._weights[number] for number in enabled)
        if total == 0:
            return None
        left = scrambled(self._state) * total >> 64
        for number in enabled:
            left -= self._weights[number]
            if left < 0:
                return number
        raise AssertionError(left)
