"""The first shortest paths to states, rebuilt backwards through the levels of a search, since no parents are stored.

All states of a level that lie on a shortest path are marked, from the deepest goal's level back to the initial state,
for some goals at once. Then the first successor with the mark of a goal, in the order of actions and parameters, is
taken at each level, in the CPython engine.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

import numpy as np
import numpy.typing as npt

from model_check.errors import EvaluationError
from spec.language import successors

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from model_check.explicit.code_generation.compile import Compiled
    from model_check.explicit.state_store.regions import Counts
    from model_check.explicit.state_store.store import StateStore
    from spec.language import Step

_Bytes = npt.NDArray[np.uint8]

LEAST_SLOTS = 64

AT_ONCE = 8
"""Goals whose paths are marked in one pass: a mark is a byte a state, which comes on top of the search's memory."""


class Marks(Protocol):
    """Which states lie on a shortest path, and to which of at most `AT_ONCE` goals."""

    def goals_of(self, words: npt.NDArray[np.int64], level: int) -> int:
        """The goals, as bits, to which the state with these words lies on a shortest path at this level."""


def first_shortest_paths(
    store: StateStore, constants: object, switches: Counts, levels: Sequence[Counts], goals: Mapping[int, int]
) -> dict[int, list[Step]]:
    """For each bit of `goals` the first path to a state at the bit's level for which `judge` gives the bit.

    Parameters
    ----------
    levels : sequence of array, shape (regions,)
        Where each level begins in each region; one more at the end.
    goals : mapping
        Bit → level.

    Raises
    ------
    EvaluationError
        When the CPython engine does not find the way.
    """
    paths: dict[int, list[Step]] = {}
    by_level = sorted(goals, key=goals.__getitem__)
    for first in range(0, len(by_level), AT_ONCE):
        some = {bit: goals[bit] for bit in by_level[first : first + AT_ONCE]}
        marks: Marks = (Numbers if store.has_numbers else Keys)(store, switches, levels, some)
        paths |= {bit: _path(store.compiled, constants, marks, 1 << place, some[bit]) for place, bit in enumerate(some)}
    return paths


def _path(compiled: Compiled, constants: object, marks: Marks, goal: int, length: int) -> list[Step]:
    state = compiled.machine.initial(constants)
    path: list[Step] = []
    for level in range(1, length + 1):
        for step, values in successors(state, constants, compiled.steps):
            if marks.goals_of(compiled.packing.pack(values), level) & goal:
                path.append(step)
                state.load(values)
                break
        else:
            message = f"the CPython engine finds no step {level} on the way to a state that the compiled engine found"
            raise EvaluationError(message)
    return path


def _mark_goals(
    store: StateStore, switches: Counts, levels: Sequence[Counts], level: int, goals: Mapping[int, int], marks: _Bytes
) -> int:
    """Mark the states at a level that are goals themselves; gives all goals at this level."""
    here = {bit: 1 << place for place, (bit, goal) in enumerate(goals.items()) if goal == level}
    if here:
        bits, masks = np.array(list(here), dtype=np.int64), np.array(list(here.values()), dtype=np.uint8)
        verdict = np.zeros(store.compiled.verdict_words, dtype=np.int64)
        for region in range(store.regions):
            first, last = int(levels[level][region]), int(levels[level + 1][region])
            store.kernels.mark_verdict(*store.place, region, first, last, switches, bits, masks, verdict, marks)
    return sum(here.values())


class Numbers:
    """Marks by the numbers of states, where the table gives these."""

    def __init__(self, store: StateStore, switches: Counts, levels: Sequence[Counts], goals: Mapping[int, int]) -> None:
        self._store = store
        self._levels = levels
        deepest = max(goals.values())
        self._marks = np.zeros(int(levels[deepest + 1].max()) << store.shift, dtype=np.uint8)
        found, steps, parents = store.buffers
        known = _mark_goals(store, switches, levels, deepest, goals, self._marks)
        for level in range(deepest - 1, -1, -1):
            starts, ends, next_ends = levels[level : level + 3]
            for region in range(store.regions):
                store.kernels.mark_before(
                    *store.place, region, int(starts[region]), int(ends[region]), ends, next_ends, store.table.slots,
                    switches, found, steps, parents, known, self._marks,
                )  # fmt: skip
            known |= _mark_goals(store, switches, levels, level, goals, self._marks)

    def goals_of(self, words: npt.NDArray[np.int64], level: int) -> int:
        """The mark of the state, if it belongs to the level."""
        number = int(self._store.kernels.number_of(words, 0, *self._store.place, self._store.table.slots))
        if number < 0:
            return 0
        region, place = number & (self._store.regions - 1), number >> self._store.shift
        is_at_level = self._levels[level][region] <= place < self._levels[level + 1][region]
        return int(self._marks[number]) if is_at_level else 0


class Keys:
    """Marks by what stands for the states in the table, level by level."""

    def __init__(self, store: StateStore, switches: Counts, levels: Sequence[Counts], goals: Mapping[int, int]) -> None:
        self._store = store
        self._marked: list[tuple[npt.NDArray[np.uint64], _Bytes]] = []
        found, steps, parents = store.buffers
        deepest = max(goals.values())
        for level in range(deepest, -1, -1):
            starts, ends = levels[level : level + 2]
            marks = np.zeros(int(ends.max()) << store.shift, dtype=np.uint8)
            for region in range(store.regions):
                if level < deepest:
                    store.kernels.mark_before_keys(
                        *store.place, region, int(starts[region]), int(ends[region]), *self._marked[-1], store.keep,
                        switches, found, steps, parents, marks,
                    )  # fmt: skip
            _mark_goals(store, switches, levels, level, goals, marks)
            self._marked.append(self._table(marks, starts))
        self._marked.reverse()

    def _table(self, marks: _Bytes, starts: Counts) -> tuple[npt.NDArray[np.uint64], _Bytes]:
        """The keys of marked states as a hash table, half full, and the mark beside each."""
        store = self._store
        shown = [
            np.flatnonzero(marks[region :: store.regions][int(starts[region]) :]) + int(starts[region])
            for region in range(store.regions)
        ]
        slots = max(2 * sum(map(len, shown)), LEAST_SLOTS)
        table, beside = np.zeros(slots, dtype=np.uint64), np.zeros(slots, dtype=np.uint8)
        for region, places in enumerate(shown):
            some = np.zeros(len(places), dtype=np.uint64)
            store.kernels.keys(*store.place, region, places, store.keep, some)
            store.kernels.put_marked(some, marks[places << store.shift | region], table, beside)
        return table, beside

    def goals_of(self, words: npt.NDArray[np.int64], level: int) -> int:
        """The mark beside the key of these words."""
        store = self._store
        key = np.zeros(1, dtype=np.uint64)
        store.kernels.keys(words, 1, 0, 0, np.zeros(1, dtype=np.int64), store.keep, key)
        table, beside = self._marked[level]
        return int(np.bitwise_or.reduce(beside[table == key[0]]))
