"""The result of a search, its progress, and two estimates: of the states to come, and of the states missed.

The sizes of levels grow at first by a factor that falls from level to level, until it is below one. The logarithm of
this factor falls about linearly; a line is fitted to the last levels and followed until a level would be empty. Where
the levels shrink but the line rises, they are taken to shrink by the last factor from then on.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from math import exp, expm1, log
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from model_check.explicit.checkpoint import Position
from model_check.explicit.paths import first_shortest_paths

if TYPE_CHECKING:
    from model_check.explicit.code_generation.compile import Compiled
    from model_check.explicit.state_store.store import StateStore
    from spec.language import Step


LEAST_LEVELS = 12  # levels before which there is no estimate
FITTED = 6  # growth factors to which the line is fitted
MOST_GROWTH = 1.2  # while levels grow by more than this factor, the end is not in sight

MOST_LEVELS = 1000


@dataclass(frozen=True, slots=True)
class Progress:
    """The progress of a search."""

    distinct: int  # states found, the initial one included
    generated: int  # successors looked at, the initial state included
    depth: int  # steps from the initial state to the states that are being expanded
    queue: int  # states found but not yet expanded
    seconds: float  # since the search began, compiling excluded
    expected: int | None = None  # states in all, estimated from the levels; None when it is too early to say
    seconds_left: float | None = None  # the time left, if the estimate is right


Report = Callable[[Progress], None]
"""Called now and then with the progress of a search."""


@dataclass
class Exploration:
    """The states that a search has found, its levels and its depths."""

    compiled: Compiled
    constants: object
    store: StateStore  # the states and the hash table
    levels: list[npt.NDArray[np.int64]]  # shape (regions,): the start of each level in each region; one more at the end
    # the first element: parents of the last level that are expanded
    claimed: npt.NDArray[np.int64] = field(default_factory=lambda: np.zeros(16, dtype=np.int64))
    distinct: int = 1
    generated: int = 1
    seen_at: tuple[int | None, ...] = ()  # for each clause and witness the depth at which it is first violated or seen
    complete: bool = True  # whether every reachable state was expanded
    seconds: float = 0.0  # of the search, those before a checkpoint from which it was resumed included
    compile_seconds: float = 0.0
    resumed_from: int = 0  # states of that checkpoint; 0 without one
    peak_bytes: int = 0  # most bytes of states and hash table in memory at a time

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
        lengths = self.compiled.packing.column(name, self.store.all_words())
        return np.asarray(lengths >= self.compiled.machine.room(self.constants, name))

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


# --- estimates --------------------------------------------------------------------------------------------------------


def expected_states(sizes: Sequence[int]) -> int | None:
    """States in all, from the sizes of the finished levels; None when it is too early to say.

    Examples
    --------
    >>> binomial = [1]
    >>> for i in range(20):
    ...     binomial.append(binomial[-1] * (20 - i) // (i + 1))
    >>> expected_states(binomial[:8]) is None
    True
    >>> [round((expected_states(binomial[:n]) or 0) / 2**20, 2) for n in (12, 16, 21)]
    [0.99, 1.0, 1.0]
    """
    if len(sizes) < LEAST_LEVELS or min(sizes[-FITTED - 1 :]) < 1:
        return None
    growth = [log(b / a) for a, b in zip(sizes[-FITTED - 1 :], sizes[-FITTED:], strict=False)]
    slope, last = _line(growth)
    if last > log(MOST_GROWTH) or (slope >= 0 and last >= 0):
        return None
    slope = min(slope, 0.0)
    states, size = float(sum(sizes)), float(sizes[-1])
    for _ in range(MOST_LEVELS):
        last += slope
        size *= exp(last)
        if size < 1:
            break
        states += size
    return round(states)


def _line(values: Sequence[float]) -> tuple[float, float]:
    """The least squares line through values at 0, 1, …: its slope, and its value at the last."""
    n = len(values)
    mean = sum(values) / n
    middle = (n - 1) / 2
    slope = sum((i - middle) * value for i, value in enumerate(values)) / sum((i - middle) ** 2 for i in range(n))
    return slope, mean + slope * (n - 1 - middle)


def collision_probability(distinct: int, bits: int) -> float:
    """The probability that some two of so many states have the same fingerprint, at most.

    Any two states have the same fingerprint with probability 2^-bits (see `hashing.py`), so that n(n - 1)/2^(bits + 1)
    pairs are expected to; n²/2^65 for 64 bits. States are counted as they were found: one that collides is not counted,
    so that the bound is of use while it is small.

    Examples
    --------
    >>> f"{collision_probability(300_000_000, 64):.2g}"
    '0.0024'
    >>> collision_probability(1, 64)
    0.0
    """
    return -expm1(-expected_collisions(distinct, bits))


def expected_collisions(distinct: int, bits: int) -> float:
    """Pairs of so many states that are expected to have the same fingerprint.

    Examples
    --------
    >>> round(expected_collisions(8_832, 20), 1)
    37.2
    """
    return distinct * (distinct - 1) / 2.0 ** (bits + 1)
