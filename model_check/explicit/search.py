"""Breadth-first search over packed states, level by level, exact, with one thread or several.

A level is finished before the next begins, so that every number is the same whatever the number of threads. Parents
are not stored: a path is rebuilt backwards through the levels, and of all shortest ones the first in the order of
actions and parameters is given, in whatever order the states were found.
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from itertools import pairwise
from time import perf_counter
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from model_check.errors import EvaluationError
from model_check.explicit.compile import Compiled, compile_machine
from model_check.explicit.store import StateStore
from spec.language import Machine, Refused, SpecificationError, Step, successors

if TYPE_CHECKING:
    from collections.abc import Callable, Collection

CHUNK = 128
"""Parents that a thread takes at a time."""

CHUNKS = 256
"""Chunks that one call of the kernel expands at most: how often progress is shown and an interruption is heard."""

ALONE = 4096
"""A level with fewer states is left to one thread."""


@dataclass(frozen=True, slots=True)
class Progress:
    """How far a search is.

    Attributes
    ----------
    distinct, generated : int
        States found, and successors looked at (the initial state included in both).
    depth : int
        Steps from the initial state to the states that are being expanded.
    queue : int
        States found but not yet expanded.
    seconds : float
        Since the search began, compiling excluded.
    """

    distinct: int
    generated: int
    depth: int
    queue: int
    seconds: float


@dataclass
class Exploration:
    """The states found by a search, and what they say.

    Attributes
    ----------
    store : StateStore
        The states and the hash table.
    levels : list of array, shape (regions,)
        Where each level begins in each region; one more at the end.
    seen_at : tuple of int or None
        For each clause the depth at which it is first violated, for each witness the depth at which it is first seen.
    complete : bool
        Whether every reachable state was expanded.
    """

    compiled: Compiled
    constants: object
    store: StateStore
    levels: list[npt.NDArray[np.int64]]
    distinct: int = 1
    generated: int = 1
    seen_at: tuple[int | None, ...] = ()
    complete: bool = True
    seconds: float = 0.0
    compile_seconds: float = 0.0

    @property
    def depth(self) -> int:
        """Steps from the initial state to the deepest state found."""
        return len(self.levels) - 2

    @property
    def sizes(self) -> list[int]:
        """States of each level, the initial state's first."""
        return [int((ends - starts).sum()) for starts, ends in pairwise(self.levels)]

    @property
    def peak_bytes(self) -> int:
        """Bytes of the states and the hash table."""
        return self.store.bytes

    def path_to(self, bit: int) -> list[Step] | None:
        """The first shortest path to a state that violates the clause (is the witness) with this number.

        The steps are taken in the CPython reading, so that a path is only given if both readings agree on it.
        """
        goal = self.seen_at[bit]
        if goal is None:
            return None
        marks = self._mark(bit, goal)
        state = self.compiled.machine.initial(self.constants)
        path: list[Step] = []
        for level in range(1, goal + 1):
            for step, values in successors(state, self.constants, self.compiled.steps):
                number = self.store.number_of(self.compiled.packing.pack(values))
                if number >= 0 and marks[number] and self.store.is_between(number, *self.levels[level : level + 2]):
                    path.append(step)
                    state.load(values)
                    break
            else:
                message = (
                    f"the CPython reading finds no step {level} on the way to a state that the compiled reading found"
                )
                raise EvaluationError(message)
        return path

    def _mark(self, bit: int, goal: int) -> npt.NDArray[np.uint8]:
        """Mark all states that lie on a shortest path to the first level where the bit is seen."""
        switches = self.compiled.switches(self.constants)
        marks = np.zeros(self.store.numbers, dtype=np.uint8)
        self.store.mark_verdict(self.levels[goal], self.levels[goal + 1], switches, bit, marks)
        for level in range(goal - 1, -1, -1):
            starts, ends, next_ends = self.levels[level : level + 3]
            self.store.mark_before(starts, ends, next_ends, switches, marks)
        return marks


def explore(
    machine: Machine,
    constants: object,
    *,
    threads: int = 1,
    most_states: int | None = None,
    until: Collection[int] = (),
    compiled: Compiled | None = None,
    report: Callable[[Progress], None] | None = None,
) -> Exploration:
    """Search all reachable states, or until `most_states` are stored or Ctrl-C ends it (`complete` says which).

    With `until`, the search also ends behind the first level at which each clause of these numbers has been violated
    (each witness seen): the depths of all that were seen by then are those of the whole search. `compiled` spares a
    caller with many searches of one instance the making of the module.

    Raises
    ------
    EvaluationError
        When a step leaves a declared range; names the step and the state.
    """
    started = perf_counter()
    compiled = compiled or compile_machine(machine, constants)
    store = StateStore(compiled, threads)
    switches = compiled.switches(constants)
    bits = len(machine.clauses) + len(machine.witnesses)
    with ThreadPoolExecutor(threads) as executor:
        store.enter_first(compiled.packing.pack(machine.initial(constants).canonical()), switches)
        store.warm_up(switches)
        found = Exploration(compiled, constants, store, [np.zeros(store.regions, dtype=np.int64), store.counts.copy()])
        found.compile_seconds = perf_counter() - started
        seen = store.seen()
        found.seen_at = tuple(0 if seen >> bit & 1 else None for bit in range(bits))
        started = perf_counter()
        try:
            while found.complete and (found.levels[-1] > found.levels[-2]).any():
                if until and all(found.seen_at[bit] is not None for bit in until):
                    found.complete = False
                    break
                _expand_level(found, executor, switches, most_states, report, started)
                found.levels.append(store.counts.copy())
                seen = store.seen()
                found.seen_at = tuple(
                    len(found.levels) - 2 if at is None and seen >> bit & 1 else at
                    for bit, at in enumerate(found.seen_at)
                )
        except KeyboardInterrupt:
            found.complete = False
            found.levels.append(store.counts.copy())
    if (found.levels[-1] == found.levels[-2]).all():
        found.levels.pop()
    found.distinct = int(store.counts.sum())
    found.seconds = perf_counter() - started
    return found


def _expand_level(
    found: Exploration,
    executor: ThreadPoolExecutor,
    switches: npt.NDArray[np.int64],
    most_states: int | None,
    report: Callable[[Progress], None] | None,
    started: float,
) -> None:
    """Expand the last level; afterwards `complete` is false if it was left early."""
    store, (starts, ends) = found.store, found.levels[-2:]
    size = int((ends - starts).sum())
    claimed = np.zeros(16, dtype=np.int64)
    threads = store.threads if size >= ALONE else 1
    while claimed[0] < size:
        store.make_room(CHUNK, threads, executor)
        calls = [(region, starts, ends, claimed, CHUNK, CHUNKS, switches) for region in range(threads)]
        if threads == 1:
            store.search(*calls[0])
        else:
            for future in [executor.submit(store.search, *call) for call in calls]:
                future.result()
        found.generated += int(store.outs[:threads, 1].sum())
        store.outs[:, 1] = 0
        for out in store.outs[:threads]:
            if out[2] >= 0:
                raise EvaluationError(_out_of_range(found, int(out[3]), int(out[2])))
        distinct = int(store.counts.sum())
        if report is not None:
            depth = len(found.levels) - 2
            queue = distinct - int(starts.sum()) - min(int(claimed[0]), size)
            report(Progress(distinct, found.generated, depth, queue, perf_counter() - started))
        if most_states is not None and distinct >= most_states and (claimed[0] < size or distinct > int(ends.sum())):
            found.complete = False
            return


def _out_of_range(found: Exploration, number: int, step: int) -> str:
    """Take the step again in the CPython reading, which says which field left its range."""
    compiled = found.compiled
    state = compiled.machine.initial(found.constants).load(compiled.packing.unpack(found.store.words_of(number)))
    try:
        compiled.steps[step].action.function(state, found.constants, *compiled.steps[step].arguments)
    except (SpecificationError, Refused) as error:
        return f"{compiled.steps[step]}: {error}"
    return f"{compiled.steps[step]}: a value left its declared range in the compiled reading only"
