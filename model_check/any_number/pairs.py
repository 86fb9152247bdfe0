"""Pairs of projections of a state and its successor, each of them kept once."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from model_check.explicit.code_generation.compile_lock import cached_njit

Words = npt.NDArray[np.int64]

FIRST_ROOM = 1 << 12
"""Pairs for which there is room at first; the hash table has twice as many places."""


class Pairs:
    """All pairs that were met so far, in an open hash table: as words, so that none stands for another."""

    def __init__(self, words: int) -> None:
        self.count = 0
        self._rows = np.empty((FIRST_ROOM, 2 * words), dtype=np.int64)
        self._table = np.zeros(2 * FIRST_ROOM, dtype=np.int64)

    def new(self, before: Words, behind: Words, parents: Words) -> tuple[Words, Words, Words]:
        """Add pairs of different projections, and return those that were not met before.

        Parameters
        ----------
        before, behind
            Projections of states and of their successors, shape (count, transactions, words).
        parents
            From which of the states each successor is.

        Returns
        -------
        tuple
            The successor's number times the transactions, and the transaction; the words before, and behind.
        """
        self._make_room(behind.shape[0] * behind.shape[1])
        places = np.empty(behind.shape[0] * behind.shape[1], dtype=np.int64)
        first = self.count
        self.count = _add(before, behind, parents, self._rows, self._table, first, places)
        rows = self._rows[first : self.count]
        words = before.shape[2]
        return places[: len(rows)], rows[:, :words].copy(), rows[:, words:].copy()

    def _make_room(self, more: int) -> None:
        """Room for so many more pairs."""
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
def _hash(row: Words) -> int:
    """A hash of a row: FNV-1a over words, and the finalizer of splitmix64."""
    found = np.uint64(0xCBF29CE484222325)
    for word in row:
        found = (found ^ np.uint64(word)) * np.uint64(0x100000001B3)
        found ^= found >> np.uint64(29)
    found = (found ^ (found >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    return np.int64((found ^ (found >> np.uint64(27))) >> np.uint64(1))  # type: ignore[return-value]


@cached_njit
def _place(row: Words, rows: Words, table: Words) -> int:
    """The place of a row in the table, or that of the gap in which it belongs."""
    place = _hash(row) % table.shape[0]
    while table[place]:
        known = rows[table[place] - 1]
        same = True
        for i in range(row.shape[0]):
            if known[i] != row[i]:
                same = False
                break
        if same:
            return place  # type: ignore[no-any-return]
        place = (place + 1) % table.shape[0]
    return place  # type: ignore[no-any-return]


@cached_njit
def _enter(rows: Words, count: int, table: Words) -> None:
    """Fill an empty table."""
    for number in range(count):
        table[_place(rows[number], rows, table)] = number + 1


@cached_njit
def _add(before: Words, behind: Words, parents: Words, rows: Words, table: Words, count: int, places: Words) -> int:
    """Add the pairs that differ and are not known; the count behind them."""
    words, first = before.shape[2], count
    for k in range(behind.shape[0]):
        for t in range(behind.shape[1]):
            a, b = before[parents[k], t], behind[k, t]
            differs = False
            for i in range(words):
                if a[i] != b[i]:
                    differs = True
                    break
            if not differs:
                continue
            rows[count, :words] = a
            rows[count, words:] = b
            place = _place(rows[count], rows, table)
            if table[place] == 0:
                places[count - first] = k * behind.shape[1] + t
                count += 1
                table[place] = count
    return count
