"""The hash table that all threads of a search share: reserved once, it grows in place.

Slots have 8 bytes. A large table grows by a quarter, so that it takes 12.3 to 15.4 bytes a state. Growing reads and
writes it once from end to end, and looks at no state.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from model_check.explicit.memory import zeros_up_to
from model_check.explicit.regions import MOST_STATES

if TYPE_CHECKING:
    from collections.abc import Callable

LOAD = 0.65
"""How full the table may become."""

FIRST_SLOTS = 1 << 16
"""Slots at the beginning."""

FAST_GROWTH = 1 << 24
"""Slots up to which the table grows four-fold at a time, and by `SLOW_GROWTH` beyond."""

SLOW_GROWTH = 1.25

MOST_SLOTS = (1 << 32) - 1
"""Slots that a hash can name."""

NARROW = 1.02
"""The least factor by which the table grows where memory ends."""


class HashTable:
    """Slots of 64 bits, and how many may be taken.

    Parameters
    ----------
    most_bytes : int
        What the table may take in the end.

    Attributes
    ----------
    slots : array, shape (slots,)
        Zero where nothing is.
    """

    def __init__(self, most_bytes: int) -> None:
        most = min(most_bytes // 8, MOST_SLOTS, int(MOST_STATES / LOAD))
        self._reserved: npt.NDArray[np.uint64] = zeros_up_to(max(most, FIRST_SLOTS), FIRST_SLOTS, np.uint64)
        self.slots = self._reserved[:FIRST_SLOTS]

    @property
    def bytes(self) -> int:
        """Bytes of the slots."""
        return self.slots.nbytes

    @property
    def states(self) -> int:
        """How many states the table may hold before it must grow."""
        return int(LOAD * len(self.slots))

    def slots_for(self, states: int, gladly: int, most_bytes: int) -> int | None:
        """How many slots the table needs for so many states; None when they take more than `most_bytes`.

        Above `gladly` bytes it grows as little as it can.
        """
        slots = len(self.slots)
        if states <= self.states:
            return slots
        while states > LOAD * slots:
            is_fast = slots < FAST_GROWTH and 4 * slots * 8 <= gladly
            slots = 4 * slots if is_fast else int(SLOW_GROWTH * slots)
        slots = min(slots, len(self._reserved), most_bytes // 8)
        return slots if states <= LOAD * slots and slots >= NARROW * len(self.slots) else None

    def grow(self, slots: int, spread: Callable[..., None]) -> None:
        """Take so many slots; `spread`, the kernel of that name, moves the entries to their new places."""
        before = len(self.slots)
        self.slots = self._reserved[:slots]
        spread(self.slots, before)
