"""Rows of words, each kept once in an open hash table: as words, so that none stands for another."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from model_check.explicit.code_generation.compile_lock import cached_njit

Words = npt.NDArray[np.int64]

FIRST_ROOM = 1 << 12
"""Rows for which there is room at first; the hash table has twice as many places."""


class DistinctRows:
    """All rows that were met so far, numbered in the order in which they came."""

    def __init__(self, words: int) -> None:
        self.count = 0
        self._rows = np.empty((FIRST_ROOM, words), dtype=np.int64)
        self._table = np.zeros(2 * FIRST_ROOM, dtype=np.int64)

    def add(self, rows: Words) -> tuple[Words, Words]:
        """Add rows, shape (count, words): the number of each, and which of them are new, in the order of theirs."""
        self._make_room(len(rows))
        numbers, new = np.empty(len(rows), dtype=np.int64), np.empty(len(rows), dtype=np.int64)
        first = self.count
        self.count = _add(np.ascontiguousarray(rows), self._rows, self._table, first, numbers, new)
        return numbers, new[: self.count - first]

    def of(self, numbers: Words) -> Words:
        """The rows of these numbers."""
        found: Words = self._rows[numbers]
        return found

    def clear(self) -> None:
        """Forget all of them."""
        self.count = 0
        self._table[:] = 0

    def _make_room(self, more: int) -> None:
        """Room for so many more rows."""
        room = len(self._rows)
        while room < self.count + more:
            room *= 2
        if room == len(self._rows):
            return
        rows = np.empty((room, self._rows.shape[1]), dtype=np.int64)
        rows[: self.count] = self._rows[: self.count]
        self._rows, self._table = rows, np.zeros(2 * room, dtype=np.int64)
        _enter(self._rows, self.count, self._table)


@cached_njit
def _hash(row: Words) -> np.int64:
    """A hash of a row: FNV-1a over words, and the finalizer of splitmix64."""
    found = np.uint64(0xCBF29CE484222325)
    for word in row:
        found = (found ^ np.uint64(word)) * np.uint64(0x100000001B3)
        found ^= found >> np.uint64(29)
    found = (found ^ (found >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    return np.int64((found ^ (found >> np.uint64(27))) >> np.uint64(1))


@cached_njit
def _place(row: Words, rows: Words, table: Words) -> int:
    """The place of a row in the table, or that of the gap in which it belongs."""
    place = int(_hash(row) % table.shape[0])
    while table[place] and not np.array_equal(rows[table[place] - 1], row):
        place = (place + 1) % table.shape[0]
    return place


@cached_njit
def _enter(rows: Words, count: int, table: Words) -> None:
    """Fill an empty table."""
    for number in range(count):
        table[_place(rows[number], rows, table)] = number + 1


@cached_njit
def _add(given: Words, rows: Words, table: Words, count: int, numbers: Words, new: Words) -> int:
    """Add the rows that are not known; the count behind them."""
    first = count
    for k in range(given.shape[0]):
        place = _place(given[k], rows, table)
        if table[place] == 0:
            rows[count] = given[k]
            new[count - first] = k
            count += 1
            table[place] = count
        numbers[k] = table[place] - 1
    return count
