"""The states that a search has found: packed words in one region a thread, and the hash table that all share.

This is the kernels' memory; `model_check.explicit.kernel` says how it is laid out.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from model_check.explicit.memory import physical_bytes, zeros, zeros_up_to

if TYPE_CHECKING:
    from concurrent.futures import Executor

    from model_check.explicit.compile import Compiled

Counts = npt.NDArray[np.int64]
"""One number a region, shape (regions,)."""

MOST_STATES = (1 << 32) - (1 << 20)
"""States whose numbers fit into a slot of the hash table."""

LEAST_ROOM = 1 << 14
"""States for which a region has room, at least; it grows, at the cost of a copy, where the system reserves no more."""

PAGE = 1 << 18
"""A region is a multiple of so many states, so that regions share no page."""

LOAD = 0.6
"""How full the hash table may become."""

FAST_GROWTH = 1 << 24
"""Slots up to which the hash table grows four-fold at a time, and two-fold beyond."""


class StateStore:
    """States, hash table and buffers of one search.

    Parameters
    ----------
    compiled : Compiled
    threads : int
        How many will search; the regions are the next power of two.

    Attributes
    ----------
    counts : array, shape (regions,)
        States in each region.
    outs : array, shape (regions, 8)
        What the last call of the kernel returned for each region.
    """

    def __init__(self, compiled: Compiled, threads: int) -> None:
        self.compiled = compiled
        self.kernels = compiled.module
        self.width = compiled.packing.words
        self.threads = threads
        self.shift = (threads - 1).bit_length()
        self.regions = 1 << self.shift
        self.counts: Counts = np.zeros(self.regions, dtype=np.int64)
        self.outs = np.zeros((self.regions, 8), dtype=np.int64)
        most_room = min(physical_bytes() // (8 * self.width), MOST_STATES) // self.regions // PAGE * PAGE
        size = self.regions * self.width
        self.states: npt.NDArray[np.int64] = zeros_up_to(size * most_room, size * LEAST_ROOM, np.int64)
        self.room = len(self.states) // size
        self.table = np.zeros(1 << 16, dtype=np.uint64)
        self._seen = np.zeros((self.regions, 1), dtype=np.int64)
        most = max(4 * len(compiled.steps), 2048)
        self._buffers = [
            (
                np.zeros(most * self.width, dtype=np.int64),
                np.zeros(most, dtype=np.int32),
                np.zeros(most, dtype=np.int64),
                np.zeros(most, dtype=np.uint64),
            )
            for _ in range(self.regions)
        ]

    @property
    def bytes(self) -> int:
        """Bytes of the states and the hash table; what is reserved but not used does not count."""
        return int(self.counts.sum()) * self.width * 8 + self.table.nbytes

    @property
    def numbers(self) -> int:
        """One more than the largest number that a state may have."""
        return int(self.counts.max()) << self.shift

    @property
    def _top(self) -> int:
        """How far a hash is shifted to give a slot of the table."""
        return 64 - (len(self.table) - 1).bit_length()

    @property
    def _place(self) -> tuple[npt.NDArray[np.int64], int, int]:
        return self.states, self.room, self.shift

    def enter_first(self, words: npt.NDArray[np.int64], switches: Counts) -> None:
        """Store the initial state, words of shape (words,)."""
        self.states[: self.width] = words
        self.counts[0] = 1
        self.kernels.enter(*self._place, 0, 0, 1, self.table, self._top)
        self.kernels.note(self.states, 0, switches, self._seen[0])

    def warm_up(self, switches: Counts) -> None:
        """Compile, or load, what a search calls, so that compiling is not part of its time."""
        nothing = np.zeros(self.regions, dtype=np.int64)
        self.search(0, nothing, nothing, np.zeros(16, dtype=np.int64), 1, 1, switches)

    def seen(self) -> int:
        """The verdict bits of all states found, joined."""
        return int(np.bitwise_or.reduce(self._seen[:, 0]))

    def make_room(self, chunk: int, threads: int, executor: Executor) -> None:
        """Grow the regions and the table until each thread can expand at least one chunk of parents."""
        most = chunk * len(self.compiled.steps)
        while int(self.counts[:threads].max()) + most > self.room:
            grown = zeros(2 * len(self.states), np.int64)
            for region, count in enumerate(self.counts):
                old, new = region * self.room * self.width, 2 * region * self.room * self.width
                grown[new : new + count * self.width] = self.states[old : old + count * self.width]
            self.states, self.room = grown, 2 * self.room
        needed = int(self.counts.sum()) + self.regions * most
        if needed > LOAD * len(self.table):
            slots = len(self.table)
            while needed > LOAD * slots:
                slots *= 4 if slots < FAST_GROWTH else 2
            self.table = zeros(slots, np.uint64)
            for future in [executor.submit(self._enter, region) for region in range(self.regions)]:
                future.result()

    def _enter(self, region: int) -> None:
        self.kernels.enter(*self._place, region, 0, int(self.counts[region]), self.table, self._top)

    def search(
        self,
        region: int,
        starts: Counts,
        ends: Counts,
        claimed: Counts,
        chunk: int,
        chunks: int,
        switches: Counts,
    ) -> None:
        """Expand chunks of the level between starts and ends into a region; see the kernel of the same name."""
        count = int(self.counts[region])
        share = (int(LOAD * len(self.table)) - int(self.counts.sum())) // self.regions
        limit = min(self.room, count + share)
        out = self.outs[region]
        self.kernels.search(
            *self._place, region, count, limit, starts, ends, claimed, chunk, chunks, self.table, self._top, switches,
            *self._buffers[region], self._seen[region], out,
        )  # fmt: skip
        self.counts[region] = out[0]

    def number_of(self, words: npt.NDArray[np.int64]) -> int:
        """The number of the state with these words, or -1."""
        return int(self.kernels.number_of(words, 0, *self._place, self.table, self._top))

    def words_of(self, number: int) -> npt.NDArray[np.int64]:
        """The words of a state, shape (words,)."""
        home = ((number & (self.regions - 1)) * self.room + (number >> self.shift)) * self.width
        return self.states[home : home + self.width]

    def all_words(self) -> npt.NDArray[np.int64]:
        """The words of all states, shape (states, words), region by region."""
        regions = self.states.reshape(self.regions, self.room, self.width)
        return np.concatenate([regions[region, :count] for region, count in enumerate(self.counts)])

    def is_between(self, number: int, starts: Counts, ends: Counts) -> bool:
        """Whether a state belongs to the level between starts and ends."""
        region = number & (self.regions - 1)
        return bool(starts[region] <= number >> self.shift < ends[region])

    def mark_verdict(
        self, starts: Counts, ends: Counts, switches: Counts, bit: int, marks: npt.NDArray[np.uint8]
    ) -> None:
        """Mark, by their numbers, the states of a level for which `judge` gives the bit."""
        for region in range(self.regions):
            first, last = int(starts[region]), int(ends[region])
            self.kernels.mark_verdict(*self._place, region, first, last, switches, bit, marks)

    def mark_before(
        self, starts: Counts, ends: Counts, next_ends: Counts, switches: Counts, marks: npt.NDArray[np.uint8]
    ) -> None:
        """Mark the states of a level that have a marked successor in the next one."""
        for region in range(self.regions):
            first, last = int(starts[region]), int(ends[region])
            found, steps, parents, _ = self._buffers[0]
            self.kernels.mark_before(
                *self._place, region, first, last, ends, next_ends, self.table, self._top, switches,
                found, steps, parents, marks,
            )  # fmt: skip
