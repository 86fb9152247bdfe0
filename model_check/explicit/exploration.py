"""The result of a search, and its progress."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from model_check.explicit.checkpoint import Position
from model_check.explicit.collisions import collision_probability
from model_check.explicit.paths import first_shortest_paths

if TYPE_CHECKING:
    from collections.abc import Iterable

    from model_check.explicit.code_generation.compile import Compiled
    from model_check.explicit.state_store.store import StateStore
    from spec.language import Step


@dataclass(frozen=True, slots=True)
class Progress:
    """The progress of a search.

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
    expected : int or None
        States in all, estimated from the sizes of the levels; None when it is too early to say.
    seconds_left : float or None
        The time left, if the estimate is right.
    """

    distinct: int
    generated: int
    depth: int
    queue: int
    seconds: float
    expected: int | None = None
    seconds_left: float | None = None


Report = Callable[[Progress], None]
"""Called now and then with the progress of a search."""


@dataclass
class Exploration:
    """The states that a search has found, its levels and its depths.

    Attributes
    ----------
    store : StateStore
        The states and the hash table.
    levels : list of array, shape (regions,)
        The start of each level in each region; one more at the end.
    claimed : array, shape (16,)
        The first element: parents of the last level that are expanded.
    seen_at : tuple of int or None
        For each clause the depth at which it is first violated, for each witness the depth at which it is first seen.
    complete : bool
        Whether every reachable state was expanded.
    seconds : float
        Of the search, those before a checkpoint from which it was resumed included.
    resumed_from : int
        States of that checkpoint; 0 without one.
    peak_bytes : int
        Most bytes of states and hash table in memory at a time.
    """

    compiled: Compiled
    constants: object
    store: StateStore
    levels: list[npt.NDArray[np.int64]]
    claimed: npt.NDArray[np.int64] = field(default_factory=lambda: np.zeros(16, dtype=np.int64))
    distinct: int = 1
    generated: int = 1
    seen_at: tuple[int | None, ...] = ()
    complete: bool = True
    seconds: float = 0.0
    compile_seconds: float = 0.0
    resumed_from: int = 0
    peak_bytes: int = 0

    @property
    def depth(self) -> int:
        """Steps from the initial state to the deepest state found."""
        return len(self.levels) - 2

    @property
    def sizes(self) -> list[int]:
        """States of each level, the initial state's first."""
        sizes: list[int] = np.diff(np.sum(self.levels, axis=1)).tolist()
        return sizes

    @property
    def disk_bytes(self) -> int:
        """Bytes of the states that have left the memory."""
        return self.store.regions.bytes_on_disk

    @property
    def collision_probability(self) -> float | None:
        """The probability, at most, that a fingerprint stands for two states; None where words are compared."""
        bits = self.store.resources.fingerprint_bits
        return None if self.store.is_exact else collision_probability(self.distinct, bits)

    def full_queues(self) -> tuple[str, ...]:
        """The queues that are full in some state, by the names of their lengths; none where nothing is forgotten."""
        if not self.store.kernels.FORGETS:
            return ()
        return tuple(name for name in self.compiled.machine.queues if self.at_full_queue(name).any())

    def at_full_queue(self, name: str) -> npt.NDArray[np.bool_]:
        """Whether a queue is as long as it may be, for each state; `name` is the field that holds its length."""
        machine, packing = self.compiled.machine, self.compiled.packing
        cells = {slot.label: cell for slot, cell in zip(packing.slots, packing.cells, strict=True)}
        word, shift, mask, low = cells[name]
        lengths = (self.store.all_words()[:, word] >> shift & mask) + low
        return np.asarray(lengths >= machine.room(self.constants, name))

    def path_to(self, bit: int) -> list[Step] | None:
        """The first shortest path to a state that violates the clause (is the witness) with this number.

        The steps are taken in the CPython engine, so that a path is only given if both engines agree on it.
        """
        return self.paths_to([bit])[bit]

    def paths_to(self, bits: Iterable[int]) -> dict[int, list[Step] | None]:
        """The path of `path_to` for each of these numbers; all of them take little longer than one."""
        goals = {bit: self.seen_at[bit] for bit in bits}
        seen = {bit: goal for bit, goal in goals.items() if goal is not None}
        switches = self.compiled.switches(self.constants)
        paths = first_shortest_paths(self.store, self.constants, switches, self.levels, seen)
        return {bit: paths.get(bit) for bit in goals}

    def position(self, seconds: float) -> Position:
        """The content of a checkpoint beside the states."""
        return Position(
            self.store.counts.tolist(),
            [level.tolist() for level in self.levels],
            int(self.claimed[0]),
            self.generated,
            self.store.seen(),
            list(self.seen_at),
            seconds,
            [],
        )
