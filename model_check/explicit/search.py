"""Breadth-first search over packed states, level by level, one thread, exact.

The order of states is the order in which a first-in-first-out search finds them, so that every number and every
counterexample is the same on each run. Parents are not stored: a path is rebuilt backwards through the levels, and of
all shortest ones the first in the order of actions and parameters is given.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from time import perf_counter
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from model_check.errors import EvaluationError
from model_check.explicit.compile import Compiled, compile_machine
from spec.language import Machine, Refused, SpecificationError, Step, successors

if TYPE_CHECKING:
    from collections.abc import Callable

CHUNK = 1 << 15
"""Parents that one call of the kernel expands: how often progress is shown and an interruption is heard."""

LOAD = 0.6
"""How full the hash table may become."""


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
    levels : list of int
        Where each level begins; one more at the end.
    first_seen : array, shape (clauses + witnesses,)
        The first state that violates each clause or is each witness, -1 where there is none.
    complete : bool
        Whether every reachable state was expanded.
    """

    compiled: Compiled
    constants: object
    states: npt.NDArray[np.int64]
    table: npt.NDArray[np.uint64]
    distinct: int
    generated: int
    levels: list[int]
    first_seen: npt.NDArray[np.int64]
    complete: bool
    seconds: float
    compile_seconds: float
    _marks: dict[int, npt.NDArray[np.uint8]] = field(default_factory=dict)

    @property
    def depth(self) -> int:
        """Steps from the initial state to the deepest state found."""
        return max(len(self.levels) - 2, 0)

    @property
    def peak_bytes(self) -> int:
        """Bytes of the states and the hash table."""
        return self.states.nbytes + self.table.nbytes

    def depth_of(self, number: int) -> int:
        """Steps from the initial state to the state with this number."""
        return int(np.searchsorted(self.levels, number, side="right")) - 1

    def path_to(self, bit: int) -> list[Step] | None:
        """The first shortest path to a state that violates the clause (is the witness) with this number.

        The steps are taken in the CPython reading, so that a path is only given if both readings agree on it.
        """
        if self.first_seen[bit] < 0:
            return None
        marks = self._mark(bit)
        state = self.compiled.machine.initial(self.constants)
        path: list[Step] = []
        for level in range(1, self.depth_of(int(self.first_seen[bit])) + 1):
            for step, values in successors(state, self.constants, self.compiled.steps):
                number = self._number_of(values)
                if self.levels[level] <= number < self.levels[level + 1] and marks[number]:
                    path.append(step)
                    state.load(values)
                    break
            else:
                msg = f"the CPython reading finds no step {level} on the way to a state that the compiled reading found"
                raise EvaluationError(msg)
        return path

    def _number_of(self, values: tuple[int, ...]) -> int:
        words = self.compiled.packing.pack(values)
        return int(self.compiled.module.number_of(words, 0, self.states, self.table, _top(self.table)))

    def _mark(self, bit: int) -> npt.NDArray[np.uint8]:
        """Mark all states that lie on a shortest path to the first level where the bit is seen."""
        kernels, switches = self.compiled.module, self.compiled.switches(self.constants)
        marks = np.zeros(self.distinct, dtype=np.uint8)
        goal = self.depth_of(int(self.first_seen[bit]))
        found, steps, parents, _ = _buffers(self.compiled)
        kernels.mark_verdict(self.states, self.levels[goal], self.levels[goal + 1], switches, bit, marks)
        for level in range(goal - 1, -1, -1):
            first, last, end = self.levels[level : level + 3]
            kernels.mark_before(
                self.states, first, last, end, self.table, _top(self.table), switches, found, steps, parents, marks
            )
        return marks


def explore(
    machine: Machine,
    constants: object,
    *,
    most_states: int | None = None,
    report: Callable[[Progress], None] | None = None,
) -> Exploration:
    """Search all reachable states, or until `most_states` are stored or Ctrl-C ends it (`complete` says which).

    Raises
    ------
    EvaluationError
        When a step leaves a declared range; names the step and the state.
    """
    started = perf_counter()
    compiled = compile_machine(machine, constants)
    kernels, switches, width = compiled.module, compiled.switches(constants), compiled.packing.words
    buffers = _buffers(compiled)
    room = len(buffers[1])
    states = np.zeros(max(8 * room, 1 << 14) * width, dtype=np.int64)
    table = np.zeros(1 << 16, dtype=np.uint64)
    seen = np.full(len(machine.clauses) + len(machine.witnesses), -1, dtype=np.int64)
    out = np.zeros(8, dtype=np.int64)
    states[:width] = compiled.packing.pack(machine.initial(constants).canonical())
    kernels.enter(states, 0, 1, table, _top(table))
    kernels.note(states, 0, switches, seen)
    kernels.search(states, 1, 0, 0, 0, table, _top(table), switches, *buffers, seen, out)
    compile_seconds = perf_counter() - started

    started = perf_counter()
    n, x, generated, levels, complete = 1, 0, 1, [0, 1], True
    try:
        while x < n and complete:
            last = levels[-1]
            while x < last:
                limit = min(int(len(table) * LOAD), len(states) // width)
                if n + room > limit:
                    states, table = _grow(kernels, states, table, n, width, room)
                    continue
                kernels.search(
                    states, n, x, min(last, x + CHUNK), limit, table, _top(table), switches, *buffers, seen, out
                )
                x, n, generated = int(out[0]), int(out[1]), generated + int(out[2])
                if out[3] >= 0:
                    raise EvaluationError(_out_of_range(compiled, constants, states, int(out[4]), int(out[3])))
                if report is not None:
                    report(Progress(n, generated, len(levels) - 2, n - x, perf_counter() - started))
                if most_states is not None and n >= most_states and x < n:
                    complete = False
                    break
            if n > levels[-1]:
                levels.append(n)
    except KeyboardInterrupt:
        complete = False
        if n > levels[-1]:
            levels.append(n)
    seconds = perf_counter() - started
    return Exploration(
        compiled, constants, states, table, n, generated, levels, seen, complete, seconds, compile_seconds
    )


def _grow(
    kernels: object,
    states: npt.NDArray[np.int64],
    table: npt.NDArray[np.uint64],
    n: int,
    width: int,
    room: int,
) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.uint64]]:
    if (n + room) * width > len(states):
        grown = np.empty(2 * len(states), dtype=np.int64)
        grown[: n * width] = states[: n * width]
        states = grown
    if n + room > len(table) * LOAD:
        table = np.zeros(4 * len(table), dtype=np.uint64)
        kernels.enter(states, 0, n, table, _top(table))  # type: ignore[attr-defined]
    return states, table


def _top(table: npt.NDArray[np.uint64]) -> int:
    """How far a hash is shifted to give a slot of the table."""
    return 64 - (len(table) - 1).bit_length()


def _buffers(compiled: Compiled) -> tuple[npt.NDArray[np.generic], ...]:
    """Room for the successors of a run of states: words, step numbers, parents, hashes."""
    room = max(4 * len(compiled.steps), 2048)
    return (
        np.zeros(room * compiled.packing.words, dtype=np.int64),
        np.zeros(room, dtype=np.int32),
        np.zeros(room, dtype=np.int64),
        np.zeros(room, dtype=np.uint64),
    )


def _out_of_range(compiled: Compiled, constants: object, states: npt.NDArray[np.int64], number: int, step: int) -> str:
    """Take the step again in the CPython reading, which says which field left its range."""
    width = compiled.packing.words
    words = states[number * width : (number + 1) * width]
    state = compiled.machine.initial(constants).load(compiled.packing.unpack(words))
    try:
        compiled.steps[step].action.function(state, constants, *compiled.steps[step].arguments)
    except (SpecificationError, Refused) as error:
        return f"{compiled.steps[step]}: {error}"
    return f"{compiled.steps[step]}: a value left its declared range in the compiled reading only"
