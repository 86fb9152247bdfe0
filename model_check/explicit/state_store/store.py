"""The memory of a search: packed states in one region a thread, the hash table that all share, and buffers.

`kernel_texts/records.py` has its layout, `regions.py` and `hash_table.py` its growth.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from model_check.errors import OutOfRoom
from model_check.explicit.code_generation.emit import CLAIMS_A_WORD
from model_check.explicit.kernel_texts.records import FINISHED, GENERATED, LEFT, STATES, Buffers, Shared, Store
from model_check.explicit.state_store.hash_table import LOAD, HashTable
from model_check.explicit.state_store.regions import MOST_STATES, Counts, Regions
from model_check.explicit.state_store.reserved_memory import huge_pages, size_text
from model_check.explicit.state_store.resources import EXACT, Resources

if TYPE_CHECKING:
    from concurrent.futures import Executor

    from model_check.explicit.code_generation.compile import Compiled

PART_FOR_STATES = 8
"""At least one part of so many of the memory is for states, and not for the table."""

LEAST_FOR_HUGE_PAGES = 1 << 30
"""Bytes of memory below which a search takes no huge pages that were set aside: they leave it in coarse pieces."""

EXPANSION_BATCH = 256
"""Parents that are expanded together at most: more, and their successors would leave the nearest caches."""

VERDICT_STRIDE = 32
"""Words between the verdicts of two threads, which they write all the time: no line of the cache holds both."""


class StateStore:
    """States, hash table and buffers of one search.

    The regions are the next power of two above the threads, or `least_regions` if that is more.
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
        self.outs = np.zeros((1 << self.shift, 8), dtype=np.int64)  # results of the last call of the kernel
        set_aside = min(huge_pages(), self.memory) if self.memory >= LEAST_FOR_HUGE_PAGES else 0
        for_table = int(set_aside * self._for_table()[0] / self.memory)
        self.table = HashTable(self.memory, for_table)
        self.regions = Regions(1 << self.shift, self.width, self.resources, set_aside - for_table)
        bits = self.resources.fingerprint_bits
        # the bits of a hash that are the fingerprint
        self.keep = np.uint64(0 if self.is_exact else (1 << 64) - (1 << 64 - bits))
        self._seen = np.zeros((self.region_count, VERDICT_STRIDE), dtype=np.int64)[:, : compiled.verdict_words]
        self._buffers = [self._new_buffers() for _ in range(self.region_count)]

    def _new_buffers(self) -> Buffers:
        """The room of one thread."""
        most = max(EXPANSION_BATCH * len(self.compiled.steps), 2048)
        most_before = most + self.kernels.JUDGE_BATCH if self.kernels.FORGETS else 0
        return Buffers(
            successors=np.zeros(most * self.width, dtype=np.int64),
            steps=np.zeros(most, dtype=np.int32),
            parents=np.zeros(most, dtype=np.int64),
            before=np.zeros(most_before * self.width, dtype=np.int64),
            hashes=np.zeros(most, dtype=np.uint64),
            slots=np.zeros(most, dtype=np.int64),
            recent=np.zeros(self.kernels.RECENT * self.width, dtype=np.int64),
        )

    @property
    def region_count(self) -> int:
        """The number of regions, a power of two."""
        return 1 << self.shift

    @property
    def counts(self) -> Counts:
        """States in each region."""
        return self.regions.counts

    @property
    def is_exact(self) -> bool:
        """Whether no two states can be taken for one another."""
        return self.resources.fingerprint_bits == EXACT

    @property
    def has_numbers(self) -> bool:
        """Whether the slots of the table hold the numbers of states, and not their keys."""
        return bool(self.kernels.NUMBERED)

    @property
    def bytes(self) -> int:
        """Bytes in memory of the states and the hash table; reserved memory that is not used does not count."""
        return self.regions.bytes_in_memory + self.table.bytes

    @property
    def arrays(self) -> Store:
        """The states and the hash table, as kernels take them; they change when the table grows."""
        return Store(self.regions.states, self.regions.room, self.shift, self.table.slots, self.keep)

    @property
    def buffers(self) -> Buffers:
        """Room for kernels that run while no search does."""
        return self._buffers[0]

    # --- filling ------------------------------------------------------------------------------------------------------

    def enter_first(self, words: npt.NDArray[np.int64], switches: Counts) -> None:
        """Store the initial state, words of shape (words,)."""
        self.regions.states[: self.width] = words
        self.counts[0] = 1
        self._enter(0)
        self._fill_recent()
        self.kernels.judge(self.regions.states, 0, switches, self._seen[0])

    def restore(self, counts: Counts, checksums: list[int], seen: int, executor: Executor) -> None:
        """Take the states of a checkpoint from its files, and put them into the table again.

        `BadFile` when a file is too short, or its checksum is another; `OutOfRoom` when the memory is too small.
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
        self.regions.restore(counts, checksums, most_bytes)
        self.table.grow(slots, self.kernels, executor, self.threads)
        for future in [executor.submit(self._enter, region) for region in range(self.region_count)]:
            future.result()
        self._fill_recent()

    def warm_up(self, switches: Counts, executor: Executor) -> None:
        """Compile, or load, the kernel of a search, so that compiling is not part of its time."""
        nothing = np.zeros(self.region_count, dtype=np.int64)
        self.search(nothing, nothing, np.zeros(16, dtype=np.int64), 1, 1, 0, 0, switches, executor)

    def seen(self) -> int:
        """The verdict bits of all states found, joined."""
        words = np.bitwise_or.reduce(self._seen, axis=0)
        return sum(int(word) << (CLAIMS_A_WORD * place) for place, word in enumerate(words))

    def make_room(self, chunk: int, executor: Executor) -> None:
        """Let each thread have room to expand at least one chunk of parents.

        `OutOfRoom` when the memory, or the disk, is full.
        """
        most = chunk * len(self.compiled.steps)
        states = int(self.counts.sum())
        if int(self.counts[: self.threads].max()) + most > self.regions.room:
            message = f"{states:,} states: this system reserves addresses for no more, or there are {MOST_STATES:,}"
            raise OutOfRoom(message)
        slots = self.table.slots_for(states + self.threads * most, *self._for_table())
        if slots is None:
            raise self._out_of_room(what="for the hash table")
        needed = chunk * self.most_bytes
        for_states = self.memory - slots * 8
        if self.regions.bytes_in_memory + needed > for_states:
            if not self.resources.spill:
                raise self._out_of_room(what="for the states")
            self.regions.spill(for_states // 2 - needed)
            if self.regions.bytes_in_memory + needed > for_states:
                raise self._out_of_room(what="for the states that are being expanded")
        if slots > len(self.table.slots):
            self.table.grow(slots, self.kernels, executor, self.threads)
        if self.regions.bytes_on_disk:
            self.regions.trim(max(self.memory - self.bytes - needed, 0))

    @property
    def most_bytes(self) -> int:
        """Bytes of the words of all successors that one parent a thread may have."""
        return self.threads * len(self.compiled.steps) * self.width * 8

    def _for_table(self) -> tuple[int, int]:
        """Bytes that the table should take, and may take: its share, and nearly all where states can go to disk."""
        share = int(self.memory / (1 + LOAD * self.width))
        return share, max(self.memory - self.memory // PART_FOR_STATES, share) if self.resources.spill else share

    def _out_of_room(self, what: str) -> OutOfRoom:
        """The error, with the states that the search holds and the remedies."""
        ways = ["give more (--memory)"]
        if not self.resources.spill:
            ways.append("let states go to the disk (without --disk none)")
        if self.has_numbers:
            ways.append("keep fingerprints only (--engine fingerprints)")
        in_memory, of_table = size_text(self.regions.bytes_in_memory), size_text(self.table.bytes)
        return OutOfRoom(
            f"{size_text(self.memory)} of memory are too little {what}: {int(self.counts.sum()):,} states were found, "
            f"{in_memory} of them in memory, and {of_table} of hash table; " + ", or ".join(ways)
        )

    def _fill_recent(self) -> None:
        """Let every thread have seen the initial state lately: the states of this filter must be stored ones."""
        for buffers in self._buffers:
            buffers.recent.reshape(-1, self.width)[:] = self.words_of(0)

    def _enter(self, region: int) -> None:
        self.kernels.enter(self.arrays, region, 0, int(self.counts[region]), self._buffers[region].hashes)

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
        bounds = np.zeros((levels, self.region_count), dtype=np.int64)
        barrier = np.zeros(16, dtype=np.int64)
        barrier[LEFT] = at_once
        self._seen[:] = np.bitwise_or.reduce(self._seen, axis=0)  # new bits are those that no thread has seen
        self.outs[:, STATES], self.outs[:, GENERATED] = self.counts, 0
        shared = Shared(first.copy(), last.copy(), claimed, bounds, barrier, self.outs)

        def search_into(region: int) -> None:
            limit = min(self.regions.room, int(self.counts[region]) + min(in_table, in_memory) // self.threads)
            self.kernels.search(
                self.arrays, region, limit, shared, chunk, enough, self.threads, switches,
                self._buffers[region], self._seen[region],
            )  # fmt: skip

        waiting = [executor.submit(search_into, region) for region in range(1, self.threads)]
        search_into(0)
        for future in waiting:
            future.result()
        self.counts[:] = self.outs[:, STATES]
        return list(bounds[: barrier[FINISHED]])

    # --- reading ------------------------------------------------------------------------------------------------------

    def words_of(self, number: int) -> npt.NDArray[np.int64]:
        """The words of a state, shape (words,)."""
        region, place = number & (self.region_count - 1), number >> self.shift
        offset = (region * self.regions.room + place) * self.width
        return self.regions.states[offset : offset + self.width]

    def all_words(self) -> npt.NDArray[np.int64]:
        """The words of all states, shape (states, words), region by region."""
        size = self.regions.room * self.width
        regions = [self.regions.states[r * size : r * size + n * self.width] for r, n in enumerate(self.counts)]
        return np.concatenate(regions).reshape(-1, self.width)
