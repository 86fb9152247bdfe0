"""The first shortest path to a state, rebuilt backwards through the levels of a search, since no parents are stored.

All states of a level that lie on a shortest path are marked, from the goal's level back to the initial state. Then the
first marked successor in the order of actions and parameters is taken at each level, in the CPython reading.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

import numpy as np
import numpy.typing as npt

from model_check.errors import EvaluationError
from spec.language import successors

if TYPE_CHECKING:
    from collections.abc import Sequence

    from model_check.explicit.regions import Counts
    from model_check.explicit.store import StateStore
    from spec.language import Step

LEAST_SLOTS = 64


class Marks(Protocol):
    """Which states lie on a shortest path."""

    def are_on(self, words: npt.NDArray[np.int64], level: int) -> bool:
        """Whether the state with these words is one of them, at this level."""


def first_shortest_path(
    store: StateStore, constants: object, switches: Counts, levels: Sequence[Counts], bit: int, goal: int
) -> list[Step]:
    """The first path to a state at the goal's level for which `judge` gives the bit.

    Parameters
    ----------
    levels : sequence of array, shape (regions,)
        Where each level begins in each region; one more at the end.

    Raises
    ------
    EvaluationError
        When the CPython reading does not find the way.
    """
    compiled = store.compiled
    marks: Marks = (Numbers if store.is_exact else Fingerprints)(store, switches, levels, bit, goal)
    state = compiled.machine.initial(constants)
    path: list[Step] = []
    for level in range(1, goal + 1):
        for step, values in successors(state, constants, compiled.steps):
            if marks.are_on(compiled.packing.pack(values), level):
                path.append(step)
                state.load(values)
                break
        else:
            message = f"the CPython reading finds no step {level} on the way to a state that the compiled reading found"
            raise EvaluationError(message)
    return path


class Numbers:
    """Marks by the numbers of states, where the table gives these."""

    def __init__(self, store: StateStore, switches: Counts, levels: Sequence[Counts], bit: int, goal: int) -> None:
        self._store = store
        self._levels = levels
        self._marks = np.zeros(int(levels[goal + 1].max()) << store.shift, dtype=np.uint8)
        place = store.place
        for region in range(store.regions):
            first, last = int(levels[goal][region]), int(levels[goal + 1][region])
            store.kernels.mark_verdict(*place, region, first, last, switches, bit, self._marks)
        found, steps, parents = store.buffers
        for level in range(goal - 1, -1, -1):
            starts, ends, next_ends = levels[level : level + 3]
            for region in range(store.regions):
                store.kernels.mark_before(
                    *place, region, int(starts[region]), int(ends[region]), ends, next_ends, store.table.slots,
                    switches, found, steps, parents, self._marks,
                )  # fmt: skip

    def are_on(self, words: npt.NDArray[np.int64], level: int) -> bool:
        """Whether the state with these words is marked, and belongs to the level."""
        number = int(self._store.kernels.number_of(words, 0, *self._store.place, self._store.table.slots))
        if number < 0:
            return False
        region, place = number & (self._store.regions - 1), number >> self._store.shift
        is_at_level = self._levels[level][region] <= place < self._levels[level + 1][region]
        return bool(is_at_level and self._marks[number])


class Fingerprints:
    """Marks by fingerprints, level by level."""

    def __init__(self, store: StateStore, switches: Counts, levels: Sequence[Counts], bit: int, goal: int) -> None:
        self._store = store
        self._marked: list[npt.NDArray[np.uint64]] = []
        found, steps, parents = store.buffers
        for level in range(goal, -1, -1):
            starts, ends = levels[level : level + 2]
            marks = np.zeros(int(ends.max()) << store.shift, dtype=np.uint8)
            for region in range(store.regions):
                first, last = int(starts[region]), int(ends[region])
                if level == goal:
                    store.kernels.mark_verdict(*store.place, region, first, last, switches, bit, marks)
                else:
                    store.kernels.mark_before_fingerprints(
                        *store.place, region, first, last, self._marked[-1], store.keep, switches, found, steps,
                        parents, marks,
                    )  # fmt: skip
            self._marked.append(self._table(marks, starts))
        self._marked.reverse()

    def _table(self, marks: npt.NDArray[np.uint8], starts: Counts) -> npt.NDArray[np.uint64]:
        """The fingerprints of marked states as a hash table, half full."""
        store = self._store
        all_of_them = []
        for region in range(store.regions):
            places = np.flatnonzero(marks[region :: store.regions][int(starts[region]) :]) + int(starts[region])
            some = np.zeros(len(places), dtype=np.uint64)
            store.kernels.fingerprints(*store.place, region, places, store.keep, some)
            all_of_them.append(some)
        distinct = np.unique(np.concatenate(all_of_them))
        table = np.zeros(max(2 * len(distinct), LEAST_SLOTS), dtype=np.uint64)
        store.kernels.put_all(distinct, table)
        return table

    def are_on(self, words: npt.NDArray[np.int64], level: int) -> bool:
        """Whether the fingerprint of these words is marked at the level."""
        store = self._store
        fingerprint = np.zeros(1, dtype=np.uint64)
        store.kernels.fingerprints(words, 1, 0, 0, np.zeros(1, dtype=np.int64), store.keep, fingerprint)
        return bool((self._marked[level] == fingerprint[0]).any())
