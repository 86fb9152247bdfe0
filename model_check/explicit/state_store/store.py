"""The states that a search has found: packed words in one region a thread, and the hash table that all share.

This is the kernels' memory; `kernel_texts/kernel.py` says how it is laid out, `regions.py` and `hash_table.py` how it
grows.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from model_check.errors import OutOfRoom
from model_check.explicit.code_generation.emit import CLAIMS_A_WORD
from model_check.explicit.state_store.hash_table import LOAD, HashTable
from model_check.explicit.state_store.regions import MOST_STATES, Regions
from model_check.explicit.state_store.reserved_memory import huge_pages, written
from model_check.explicit.state_store.resources import EXACT, Resources

if TYPE_CHECKING:
    from concurrent.futures import Executor

    from model_check.explicit.code_generation.compile import Compiled
    from model_check.explicit.state_store.regions import Counts

PART_FOR_STATES = 8
"""At least one part of so many of the memory is for states, and not for the table."""

LEAST_FOR_HUGE_PAGES = 1 << 30
"""Bytes of memory below which a search takes no huge pages that were set aside: they leave it in coarse pieces."""

EXPANDED_TOGETHER = 256
"""Parents that are expanded together at most: more, and their successors would leave the nearest caches."""

APART = 32
"""Words between the verdicts of two threads, which they write all the time: no line of the cache holds both."""


class StateStore:
    """States, hash table and buffers of one search.

    Parameters
    ----------
    compiled : Compiled
    threads : int
        How many will search; the regions are the next power of two, or `least_regions` if that is more.
    resources : Resources
        The memory that is never exceeded, and where states go when it ends.

    Attributes
    ----------
    outs : array, shape (regions, 8)
        What the last call of the kernel returned for each region.
    keep : int
        The bits of a hash that are the fingerprint, where fingerprints are kept.
    """

    def __init__(
        self, compiled: Compiled, threads: int, resources: Resources | None = None, least_regions: int = 1
    ) -> None:
        self.compiled = compiled
        self.kernels = compiled.module
        self.width = compiled.packing.words
        self.threads = threads
        self.resources = resources or Resources()
        self.memory = self.resources.memory_bytes()
        self.shift = max((threads - 1).bit_length(), (least_regions - 1).bit_length())
        self.outs = np.zeros((1 << self.shift, 8), dtype=np.int64)
        set_aside = min(huge_pages(), self.memory) if self.memory >= LEAST_FOR_HUGE_PAGES else 0
        for_table = int(set_aside * self._for_table()[0] / self.memory)
        self.table = HashTable(self.memory, for_table)
        self.found = Regions(1 << self.shift, self.width, self.resources, set_aside - for_table)
        bits = self.resources.fingerprint_bits
        self.keep = np.uint64(0 if self.is_exact else (1 << 64) - (1 << 64 - bits))
        self._seen = np.zeros((self.regions, APART), dtype=np.int64)[:, : compiled.verdict_words]
        most = max(EXPANDED_TOGETHER * len(compiled.steps), 2048)
        room_before = most + self.kernels.JUDGED_AT_ONCE if self.kernels.FORGETS else 0
        self._buffers = [
            (
                np.zeros(most * self.width, dtype=np.int64),
                np.zeros(most, dtype=np.int32),
                np.zeros(most, dtype=np.int64),
                np.zeros(most, dtype=np.uint64),
                np.zeros(most, dtype=np.int64),
                np.zeros(self.kernels.RECENT * self.width, dtype=np.int64),
                np.zeros(room_before * self.width, dtype=np.int64),
            )
            for _ in range(self.regions)
        ]

    @property
    def regions(self) -> int:
        """The number of regions, a power of two."""
        return 1 << self.shift

    @property
    def counts(self) -> Counts:
        """States in each region."""
        return self.found.counts

    @property
    def is_exact(self) -> bool:
        """Whether no two states can be taken for one another."""
        return self.resources.fingerprint_bits == EXACT

    @property
    def has_numbers(self) -> bool:
        """Whether the slots of the table hold the numbers of states, and not what stands for the states."""
        return bool(self.kernels.NUMBERED)

    @property
    def bytes(self) -> int:
        """Bytes in memory of the states and the hash table; what is reserved but not used does not count."""
        return self.found.bytes_in_memory + self.table.bytes

    @property
    def place(self) -> tuple[npt.NDArray[np.int64], int, int]:
        """The states, and how a number says where they are, as the kernels want it."""
        return self.found.states, self.found.room, self.shift

    @property
    def buffers(
        self,
    ) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int32], npt.NDArray[np.int64], npt.NDArray[np.int64]]:
        """Where `expand` may write successors, steps and parents, and `forget` what was, while no search runs."""
        found, steps, parents, _, _, _, before = self._buffers[0]
        return found, steps, parents, before

    # --- filling ------------------------------------------------------------------------------------------------------

    def enter_first(self, words: npt.NDArray[np.int64], switches: Counts) -> None:
        """Store the initial state, words of shape (words,)."""
        self.found.states[: self.width] = words
        self.counts[0] = 1
        self._enter(0)
        self._remember_first()
        self.kernels.judge(self.found.states, 0, switches, self._seen[0])

    def restore(self, counts: Counts, checksums: list[int], seen: int, executor: Executor) -> None:
        """Take the states of a checkpoint from its files, and put them into the table again.

        Raises
        ------
        BadFile
            When a file is too short, or its checksum is another.
        OutOfRoom
            When the memory is too small for them.
        """
        for place in range(self._seen.shape[1]):
            self._seen[0, place] = seen >> (CLAIMS_A_WORD * place) & ((1 << CLAIMS_A_WORD) - 1)
        states = int(counts.sum())
        what = f"for a checkpoint of {states:,} states"
        slots = self.table.slots_for(states, *self._for_table())
        if slots is None:
            raise self._out_of_room(what)
        size = states * self.width * 8
        most_bytes = self.memory - slots * 8
        if size > most_bytes:
            if not self.resources.spill:
                raise self._out_of_room(what)
            most_bytes //= 2
        self.found.restore(counts, checksums, most_bytes)
        self.table.grow(slots, self.kernels, executor, self.threads)
        for future in [executor.submit(self._enter, region) for region in range(self.regions)]:
            future.result()
        self._remember_first()

    def warm_up(self, switches: Counts, executor: Executor) -> None:
        """Compile, or load, what a search calls, so that compiling is not part of its time."""
        nothing = np.zeros(self.regions, dtype=np.int64)
        self.search(nothing, nothing, np.zeros(16, dtype=np.int64), 1, 1, 0, 0, switches, executor)

    def seen(self) -> int:
        """The verdict bits of all states found, joined."""
        words = np.bitwise_or.reduce(self._seen, axis=0)
        return sum(int(word) << (CLAIMS_A_WORD * place) for place, word in enumerate(words))

    def make_room(self, chunk: int, executor: Executor) -> None:
        """Let each thread have room to expand at least one chunk of parents.

        Raises
        ------
        OutOfRoom
            When the memory, or the disk, is full.
        """
        most = chunk * len(self.compiled.steps)
        states = int(self.counts.sum())
        if int(self.counts[: self.threads].max()) + most > self.found.room:
            message = f"{states:,} states: this system reserves addresses for no more, or there are {MOST_STATES:,}"
            raise OutOfRoom(message)
        slots = self.table.slots_for(states + self.threads * most, *self._for_table())
        if slots is None:
            raise self._out_of_room(what="for the hash table")
        needed = chunk * self.most_bytes
        for_states = self.memory - slots * 8
        if self.found.bytes_in_memory + needed > for_states:
            if not self.resources.spill:
                raise self._out_of_room(what="for the states")
            self.found.spill(for_states // 2 - needed)
            if self.found.bytes_in_memory + needed > for_states:
                raise self._out_of_room(what="for the states that are being expanded")
        if slots > len(self.table.slots):
            self.table.grow(slots, self.kernels, executor, self.threads)
        if self.found.bytes_on_disk:
            self.found.trim(max(self.memory - self.bytes - needed, 0))

    @property
    def most_bytes(self) -> int:
        """Bytes of the words of all successors that one parent a thread may have."""
        return self.threads * len(self.compiled.steps) * self.width * 8

    def _for_table(self) -> tuple[int, int]:
        """Bytes that the table may take gladly, and at most: its share, and nearly all where states can go to disk."""
        share = int(self.memory / (1 + LOAD * self.width))
        return share, max(self.memory - self.memory // PART_FOR_STATES, share) if self.resources.spill else share

    def _out_of_room(self, what: str) -> OutOfRoom:
        """What the search held, and what to do."""
        ways = ["give more (--memory)"]
        if not self.resources.spill:
            ways.append("let states go to the disk (no --disk none)")
        if self.has_numbers:
            ways.append("keep fingerprints only (--engine fingerprints)")
        held = int(self.counts.sum())
        return OutOfRoom(
            f"{written(self.memory)} of memory are too little {what}: {held:,} states were found, "
            f"{written(self.found.bytes_in_memory)} of them in memory, and {written(self.table.bytes)} of hash table; "
            + ", or ".join(ways)
        )

    def _remember_first(self) -> None:
        """Let every thread have seen the initial state last: what a filter holds at its start must be stored."""
        for buffers in self._buffers:
            buffers[5].reshape(-1, self.width)[:] = self.words_of(0)

    def _enter(self, region: int) -> None:
        count, hashes = int(self.counts[region]), self._buffers[region][3]
        self.kernels.enter(*self.place, region, 0, count, self.table.slots, self.keep, hashes)

    def search(
        self,
        first: Counts,
        last: Counts,
        claimed: Counts,
        chunk: int,
        at_once: int,
        levels: int,
        enough: int,
        switches: Counts,
        executor: Executor,
    ) -> list[Counts]:
        """Expand the level between `first` and `last`, and at most `levels` in all; the ends of those behind them.

        They expand some `at_once` parents, each thread at most `chunk` at a time; see the kernel of the same name.
        """
        in_table = self.table.states - int(self.counts.sum())
        in_memory = (self.memory - self.bytes) // (8 * self.width)
        starts, ends, bounds = first.copy(), last.copy(), np.zeros((levels, self.regions), dtype=np.int64)
        meeting = np.zeros(16, dtype=np.int64)
        meeting[self.kernels.LEFT] = at_once
        self._seen[:] = np.bitwise_or.reduce(self._seen, axis=0)  # news is what no thread has seen
        self.outs[:, 0], self.outs[:, 1] = self.counts, 0

        def search_into(region: int) -> None:
            limit = min(self.found.room, int(self.counts[region]) + min(in_table, in_memory) // self.threads)
            self.kernels.search(
                self.place, region, limit, starts, ends, claimed, chunk, bounds, enough, meeting, self.threads,
                self.table.slots, self.keep, switches, self._buffers[region], self._seen[region], self.outs,
            )  # fmt: skip

        waiting = [executor.submit(search_into, region) for region in range(1, self.threads)]
        search_into(0)
        for future in waiting:
            future.result()
        self.counts[:] = self.outs[:, 0]
        return list(bounds[: meeting[self.kernels.FINISHED]])

    # --- reading ------------------------------------------------------------------------------------------------------

    def words_of(self, number: int) -> npt.NDArray[np.int64]:
        """The words of a state, shape (words,)."""
        home = ((number & (self.regions - 1)) * self.found.room + (number >> self.shift)) * self.width
        return self.found.states[home : home + self.width]

    def all_words(self) -> npt.NDArray[np.int64]:
        """The words of all states, shape (states, words), region by region."""
        size = self.found.room * self.width
        regions = [self.found.states[r * size : r * size + n * self.width] for r, n in enumerate(self.counts)]
        return np.concatenate(regions).reshape(-1, self.width)
