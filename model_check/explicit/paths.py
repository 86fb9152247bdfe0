"""The first shortest paths to states, rebuilt backwards through the levels of a search, since no parents are stored.

All states of a level that lie on a shortest path are marked, from the deepest goal's level back to the initial state,
for some goals at once. Then the first successor with the mark of a goal, in the order of actions and parameters, is
taken at each level, in the CPython engine.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from model_check.errors import EvaluationError
from spec.language import Machine, MachineState, Step, holds, is_witnessed, successors

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from model_check.explicit.state_store.regions import Counts
    from model_check.explicit.state_store.store import StateStore

_Bytes = npt.NDArray[np.uint8]

LEAST_SLOTS = 64

GOALS_A_PASS = 8
"""Goals whose paths are marked in one pass: a mark is a byte a state, which comes on top of the search's memory."""


def first_shortest_paths(
    store: StateStore, constants: object, switches: Counts, levels: Sequence[Counts], goals: Mapping[int, int]
) -> dict[int, list[Step]]:
    """For each bit of `goals` the first path to a state at the bit's level for which `judge` gives the bit.

    Parameters
    ----------
    levels : sequence of array, shape (regions,)
        The start of each level in each region; one more at the end.
    goals : mapping
        Bit → level.

    Raises
    ------
    EvaluationError
        When the CPython engine does not find the way.
    """
    paths: dict[int, list[Step]] = {}
    by_level = sorted(goals, key=goals.__getitem__)
    if store.kernels.FORGETS:  # the initial state forgets nothing, and nothing leads to it
        paths = {bit: [] for bit in by_level if goals[bit] == 0}
        by_level = by_level[len(paths) :]
    for first in range(0, len(by_level), GOALS_A_PASS):
        of_pass = {bit: goals[bit] for bit in by_level[first : first + GOALS_A_PASS]}
        marks = (MarksByNumber if store.has_numbers else MarksByKey)(store, switches, levels, of_pass)
        for place, bit in enumerate(of_pass):
            paths[bit] = _path(store, constants, marks, (bit, 1 << place), of_pass[bit])
    return paths


def _path(
    store: StateStore, constants: object, marks: MarksByNumber | MarksByKey, wanted: tuple[int, int], length: int
) -> list[Step]:
    """A path to a state where the bit is seen, of which `wanted` also has the goal's mark."""
    compiled, (bit, goal) = store.compiled, wanted
    machine, packing = compiled.machine, compiled.packing
    state, forgetting = machine.initial(constants), machine.initial(constants)
    path: list[Step] = []
    for level in range(1, length + 1):
        for step, values in successors(state, constants, compiled.steps):
            if store.kernels.FORGETS and level == length:
                is_on_path = _is_seen(machine, forgetting.load(values), constants, bit)
            else:
                left = machine.forgotten(forgetting, constants, values) if store.kernels.FORGETS else values
                is_on_path = bool(marks.goals_of(packing.pack(left), level) & goal)
            if is_on_path:
                path.append(step)
                state.load(machine.forgotten(forgetting, constants, values))
                break
        else:
            message = f"the CPython engine finds no step {level} on the way to a state that the compiled engine found"
            raise EvaluationError(message)
    return path


def _is_seen(machine: Machine, state: MachineState, constants: object, bit: int) -> bool:
    """Whether a state violates the clause, or is the witness, of a bit."""
    if bit < len(machine.clauses):
        return not holds(state, constants, machine.clauses[bit])
    return is_witnessed(state, constants, machine.witnesses[bit - len(machine.clauses)])


def _mark_goals(
    store: StateStore, switches: Counts, levels: Sequence[Counts], level: int, goals: Mapping[int, int], marks: _Bytes
) -> int:
    """Mark the states at a level that are goals themselves; gives all goals at this level.

    Where the machine forgets, they are the states from which a step leads to a goal of the next level.
    """
    is_ahead = store.kernels.FORGETS
    here = {bit: 1 << place for place, (bit, goal) in enumerate(goals.items()) if goal == level + is_ahead}
    if here:
        bits, masks = np.array(list(here), dtype=np.int64), np.array(list(here.values()), dtype=np.uint8)
        verdict = np.zeros(store.compiled.verdict_words, dtype=np.int64)
        for region in range(store.region_count):
            first, last = int(levels[level][region]), int(levels[level + 1][region])
            if is_ahead:
                store.kernels.mark_last_steps(
                    store.arrays, region, first, last, switches, store.buffers, bits, masks, verdict, marks
                )
            else:
                store.kernels.mark_verdict(store.arrays, region, first, last, switches, bits, masks, verdict, marks)
    return sum(here.values())


class MarksByNumber:
    """The marks of the states on shortest paths, by their numbers, where the table has these."""

    def __init__(self, store: StateStore, switches: Counts, levels: Sequence[Counts], goals: Mapping[int, int]) -> None:
        self._store = store
        self._levels = levels
        deepest = max(goals.values()) - store.kernels.FORGETS
        self._marks = np.zeros(int(levels[deepest + 1].max()) << store.shift, dtype=np.uint8)
        known = _mark_goals(store, switches, levels, deepest, goals, self._marks)
        for level in range(deepest - 1, -1, -1):
            starts, ends, next_ends = levels[level : level + 3]
            for region in range(store.region_count):
                store.kernels.mark_before(
                    store.arrays, region, int(starts[region]), int(ends[region]), ends, next_ends, switches,
                    store.buffers, known, self._marks,
                )  # fmt: skip
            known |= _mark_goals(store, switches, levels, level, goals, self._marks)

    def goals_of(self, words: npt.NDArray[np.int64], level: int) -> int:
        """The goals, as bits, to which the state with these words lies on a shortest path at this level."""
        number = int(self._store.kernels.number_of(words, 0, self._store.arrays))
        if number < 0:
            return 0
        region, place = number & (self._store.region_count - 1), number >> self._store.shift
        is_at_level = self._levels[level][region] <= place < self._levels[level + 1][region]
        return int(self._marks[number]) if is_at_level else 0


class MarksByKey:
    """The marks of the states on shortest paths, by their keys, level by level."""

    def __init__(self, store: StateStore, switches: Counts, levels: Sequence[Counts], goals: Mapping[int, int]) -> None:
        self._store = store
        self._marked: list[tuple[npt.NDArray[np.uint64], _Bytes]] = []
        deepest = max(goals.values()) - store.kernels.FORGETS
        for level in range(deepest, -1, -1):
            starts, ends = levels[level : level + 2]
            marks = np.zeros(int(ends.max()) << store.shift, dtype=np.uint8)
            for region in range(store.region_count):
                if level < deepest:
                    store.kernels.mark_before_keys(
                        store.arrays, region, int(starts[region]), int(ends[region]), *self._marked[-1], switches,
                        store.buffers, marks,
                    )  # fmt: skip
            _mark_goals(store, switches, levels, level, goals, marks)
            self._marked.append(self._table(marks, starts))
        self._marked.reverse()

    def _table(self, marks: _Bytes, starts: Counts) -> tuple[npt.NDArray[np.uint64], _Bytes]:
        """The keys of marked states as a hash table, half full, and the mark beside each."""
        store = self._store
        marked = [
            np.flatnonzero(marks[region :: store.region_count][int(starts[region]) :]) + int(starts[region])
            for region in range(store.region_count)
        ]
        slots = max(2 * sum(map(len, marked)), LEAST_SLOTS)
        table, beside = np.zeros(slots, dtype=np.uint64), np.zeros(slots, dtype=np.uint8)
        for region, places in enumerate(marked):
            keys = np.zeros(len(places), dtype=np.uint64)
            store.kernels.keys(store.arrays, region, places, keys)
            store.kernels.insert_marked(keys, marks[places << store.shift | region], table, beside)
        return table, beside

    def goals_of(self, words: npt.NDArray[np.int64], level: int) -> int:
        """As in `MarksByNumber`."""
        store = self._store
        key = np.zeros(1, dtype=np.uint64)
        alone = store.arrays._replace(states=words, room=1, shift=0)
        store.kernels.keys(alone, 0, np.zeros(1, dtype=np.int64), key)
        table, beside = self._marked[level]
        return int(np.bitwise_or.reduce(beside[table == key[0]]))
