"""The hash table that all threads of a search share: reserved once, it grows in place.

Slots have 8 bytes. A large table grows by a little over a third, so that it takes 11.4 to 15.8 bytes a state. Growing
reads and writes it once from end to end, all threads at once, and looks at no state.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from model_check.explicit.state_store.regions import MOST_STATES
from model_check.explicit.state_store.reserved_memory import take_huge_pages, zeros_up_to

if TYPE_CHECKING:
    from concurrent.futures import Executor
    from types import ModuleType

LOAD = 0.7  # the most load of the table: states a slot
FIRST_SLOTS = 1 << 16  # slots at the beginning
SMALL, LARGE = 1 << 22, 1 << 24  # slots up to which the table grows four-fold at a time, and two-fold
SLOW_GROWTH = 1.38  # by which it grows beyond, and where memory is scarce
MOST_SLOTS = (1 << 32) - 1  # slots that a hash can name
LINE = 8  # slots that are looked at together; a table has whole lines of them
APART = 1 << 16  # slots at the low end that a growing table empties first
NARROW = 1.02  # the least factor by which the table grows where memory ends


class HashTable:
    """Slots of 64 bits, and how many may be taken.

    It may take `most_bytes` in the end, of them `huge_bytes` in huge pages that were set aside.
    """

    def __init__(self, most_bytes: int, huge_bytes: int = 0) -> None:
        most = _in_lines(min(most_bytes // 8, MOST_SLOTS, int(MOST_STATES / LOAD)))
        self._reserved: npt.NDArray[np.uint64] = zeros_up_to(max(most, FIRST_SLOTS), FIRST_SLOTS, np.uint64)
        take_huge_pages(self._reserved, 0, min(huge_bytes, self._reserved.nbytes))
        self.slots = self._reserved[:FIRST_SLOTS]  # zero where nothing is

    @property
    def bytes(self) -> int:
        """Bytes of the slots."""
        return self.slots.nbytes

    @property
    def states(self) -> int:
        """States that the table may hold before it must grow."""
        return int(LOAD * len(self.slots))

    def slots_for(self, states: int, share: int, most_bytes: int) -> int | None:
        """The slots that the table needs for so many states; None when they take more than `most_bytes`.

        Above its `share` in bytes it grows as little as it can.
        """
        slots = len(self.slots)
        if states <= self.states:
            return slots
        while states > LOAD * slots:
            factor = 4 if slots < SMALL else 2 if slots < LARGE else SLOW_GROWTH
            if factor * slots * 8 > share:
                factor = SLOW_GROWTH
            slots = _in_lines(int(factor * slots))
        slots = _in_lines(min(slots, len(self._reserved), most_bytes // 8))
        return slots if states <= LOAD * slots and slots >= NARROW * len(self.slots) else None

    def grow(self, slots: int, kernels: ModuleType, executor: Executor, threads: int) -> None:
        """Take so many slots, and move the entries to their new places, which are in the order of the old ones.

        From the end down, a stretch at a time whose new places lie behind all entries that have not been moved. Threads
        share it; entries that would leave the new places of a thread's part are inserted last, with the lowest entries,
        for which no such stretch is left.
        """
        before = len(self.slots)
        self.slots = table = self._reserved[:slots]

        def rehash(first: int, last: int, low: int, high: int) -> npt.NDArray[np.uint64]:
            aside = np.empty(last - first, dtype=np.uint64)
            return aside[: kernels.rehash(table, first, last, low, high, aside)]

        end, lowest = before, min(before, APART)
        aside = [rehash(0, lowest, 0, 0)]
        while end > lowest:
            begin = max(lowest, -(-end * before // slots))
            cuts = [begin + (end - begin) * part // threads for part in range(threads + 1)]
            news = [_in_lines(max(end, cut * slots // before) + LINE - 1) for cut in cuts]
            aside += executor.map(rehash, cuts, cuts[1:], news, news[1:])
            end = begin
        kernels.insert_entries(np.concatenate(aside), table)


def _in_lines(slots: int) -> int:
    return slots // LINE * LINE
