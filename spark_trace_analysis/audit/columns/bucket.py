"""The transactions of one bucket as columns: their records, their op entries, and aggregates of these."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from spark_trace_analysis.records.transaction_record import NOTHING, RecordKind

if TYPE_CHECKING:
    from collections.abc import Iterator


Numbers = np.ndarray[Any, np.dtype[np.int64]]
Flags = np.ndarray[Any, np.dtype[np.bool_]]
_MOST, _LEAST = np.iinfo(np.int64).max, np.iinfo(np.int64).min


class Bucket:
    """The transactions of one bucket, each with its records in the order of the log.

    Parameters
    ----------
    records, ops
        As the stages before wrote them.

    Attributes
    ----------
    count
        How many transactions there are; what follows is by their numbers.
    starts, sizes
        Where the records of each begin, and how many there are.
    op_starts, op_counts
        The same of its op entries, which are in the order of the copies that they name and of the log.
    is_odd, agrees
        Whether only Python understood one of its records, and whether they agree with each other.
    has_shadow, has_namesakes
        Whether another half was written later at the place of one of its copies, or an op message was written for
        another one there; and whether another transaction has its UNIQ_KEY, in another group.
    foreign_ops
        The latter, with the place in the log of the copy that each names as well.
    at, owner
        Where each record stands in the log, and whose it is.
    op_record
        For each op entry the record that it names.
    """

    def __init__(self, records: pa.Table, ops: pa.Table) -> None:
        at = records.column("at").to_numpy()
        key, group = _numbers(records.column("unique_key")), _numbers(records.column("producer_group"))
        order = np.lexsort((at, group, key))
        self._records = records.take(pa.array(order)).combine_chunks()
        self._key, group, self.at = key[order], group[order], at[order]
        is_first = np.ones(len(order), bool)
        is_first[1:] = (np.diff(self._key) != 0) | (np.diff(group) != 0)
        self.starts = np.flatnonzero(is_first)
        self.count = len(self.starts)
        self.owner = np.cumsum(is_first) - 1
        self.sizes = np.diff(np.append(self.starts, len(order)))
        self._join_ops(ops)
        self.is_odd = self.sums(self.column("is_odd")) > 0
        self.agrees = self._agree()
        same = np.diff(self._key[self.starts]) == 0
        self.has_namesakes = np.zeros(self.count, bool)
        self.has_namesakes[1:] |= same
        self.has_namesakes[:-1] |= same

    def _agree(self) -> Flags:
        """Whether the records of each transaction agree in their constant parts."""
        agrees = self._are_one(_numbers(self._records.column("topic")))
        for name in ("born_timestamp", "body_crc", "constants", "real_queue"):
            agrees &= self._are_one(self.column(name))
        prepared = self.column("prepared_queue_offset")
        agrees &= self._are_one(prepared, prepared == NOTHING)
        stays = _whole(self._records.column("stays"))
        repeats = np.ones(len(stays), bool)
        repeats[1:] = pc.equal(stays[1:], stays[:-1]).to_numpy(zero_copy_only=False)
        repeats[self.starts] = True
        return agrees & self.all_of(repeats)

    def _join_ops(self, ops: pa.Table) -> None:
        half_at, is_shadow, is_foreign = (
            ops.column(name).to_numpy() for name in ("half_at", "is_shadow", "is_foreign")
        )
        by_at = np.argsort(self.at, kind="stable")
        record = by_at[np.searchsorted(self.at[by_at], half_at)] if len(half_at) else half_at
        self.shadowed_at = {int(at) for at in half_at[is_shadow]}
        self.has_shadow = np.zeros(self.count, bool)
        self.has_shadow[self.owner[record[is_shadow | is_foreign]]] = True
        self.foreign_ops = ops.filter(pa.array(is_foreign)).to_pylist()
        chosen = np.flatnonzero(~is_shadow & ~is_foreign)
        chosen = chosen[np.lexsort((ops.column("at").to_numpy()[chosen], record[chosen]))]
        self._ops = ops.take(pa.array(chosen)).combine_chunks()
        self.op_record = record[chosen]
        self.op_counts = np.bincount(self.owner[self.op_record], minlength=self.count)
        self.op_starts = np.cumsum(self.op_counts) - self.op_counts

    def column(self, name: str) -> Any:
        """One column of all records."""
        return self._records.column(name).to_numpy()

    def texts(self, name: str, records: Numbers) -> pa.Array:
        """One column of texts of some records."""
        taken = self._records.column(name).take(pa.array(records))
        return _whole(taken)

    def op_column(self, name: str) -> Any:
        """One column of all op entries."""
        return self._ops.column(name).to_numpy()

    def sums(self, values: Any) -> Numbers:
        """The sum over the records of each transaction."""
        return np.add.reduceat(values.astype(np.int64), self.starts) if self.count else np.zeros(0, np.int64)

    def all_of(self, values: Flags) -> Flags:
        """Whether something holds of all records of each transaction."""
        return np.logical_and.reduceat(values, self.starts) if self.count else np.zeros(0, bool)

    def _highest(self, values: Any) -> Numbers:
        return np.maximum.reduceat(values, self.starts) if self.count else np.zeros(0, np.int64)

    def _are_one(self, values: Any, lacks: Flags | bool = False) -> Flags:
        """Whether the records of each transaction have one value, those that lack it aside."""
        high = self._highest(np.where(lacks, _LEAST, values))
        low = -self._highest(-np.where(lacks, _MOST, values))
        return np.asarray(high <= low)

    @property
    def puts_back(self) -> Flags:
        """Whether it has a copy with a check count."""
        return self.sums(self.column("kind") == RecordKind.PUT_BACK) > 0

    def namesakes(self) -> Iterator[list[int]]:
        """The transactions that share a UNIQ_KEY, in the order of their first records."""
        numbers = np.flatnonzero(self.has_namesakes)
        keys = self._key[self.starts[numbers]]
        for part in np.split(numbers, np.flatnonzero(np.diff(keys) != 0) + 1) if len(numbers) else ():
            yield sorted(map(int, part), key=lambda number: int(self.at[self.starts[number]]))

    def birth_hashes(self) -> Numbers:
        """A number for the birth of every transaction; other births may have it."""
        births: Numbers = self.column("birth_hash")[self.starts]
        return births

    def rows_of(self, numbers: Numbers) -> dict[str, list[Any]]:
        """The records of some transactions, one behind the other, by column."""
        rows = ranges(self.starts[numbers], self.sizes[numbers])
        columns: dict[str, list[Any]] = self._records.take(pa.array(rows)).to_pydict()
        return columns

    def ops_of(self, numbers: Numbers) -> dict[str, list[Any]]:
        """Their op entries, by the copy that they name and in the order of the log."""
        rows = ranges(self.op_starts[numbers], self.op_counts[numbers])
        columns: dict[str, list[Any]] = self._ops.take(pa.array(rows)).to_pydict()
        return columns


def _whole(column: pa.ChunkedArray | pa.Array) -> pa.Array:
    """A column in one piece."""
    flat = column.combine_chunks() if isinstance(column, pa.ChunkedArray) else column
    return flat.chunk(0) if isinstance(flat, pa.ChunkedArray) else flat


def _numbers(texts: pa.ChunkedArray) -> Numbers:
    """A number for each text, the same for the same text alone; -1 where there is none."""
    flat = _whole(texts)
    encoded = flat if isinstance(flat, pa.DictionaryArray) else flat.dictionary_encode()
    return np.asarray(encoded.indices.fill_null(-1).to_numpy(zero_copy_only=False).astype(np.int64))


def ranges(starts: Numbers, sizes: Numbers) -> Numbers:
    """All numbers of some ranges, one behind the other.

    Examples
    --------
    >>> ranges(np.array([5, 20]), np.array([3, 2])).tolist()
    [5, 6, 7, 20, 21]
    """
    if not len(starts):
        return np.zeros(0, np.int64)
    ends = np.cumsum(sizes)
    return np.asarray(np.arange(ends[-1]) + np.repeat(starts - (ends - sizes), sizes))
