"""Pairs of successive actions in traces, and the traces whose pairs are rarest."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from math import log
from typing import Final

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.parquet as pq

Pairs = Mapping[tuple[str, str], int]
"""(action, the one after it) → how often."""

MILLIONTHS: Final = 1_000_000
RAREST: Final = 5
"""So many of the rarest traces of each run are listed; of equal ones, those with the lowest number."""


@dataclass(frozen=True)
class RareTrace:
    """A trace, and the mean logarithm of the frequencies of its pairs: the lower, the rarer."""

    trace: int
    mean_log_frequency: float


@dataclass(frozen=True)
class Actions:
    """The column ``action`` of a file.

    Attributes
    ----------
    names
        What the codes stand for.
    code, trace
        One number a row.
    """

    names: tuple[str, ...]
    code: npt.NDArray[np.int16]
    trace: npt.NDArray[np.int64]

    def mask(self, *names: str) -> npt.NDArray[np.bool_]:
        """Whether a row's action is one of these."""
        return np.isin(self.code, [place for place, name in enumerate(self.names) if name in names])


def read_actions(content: pa.Buffer) -> Actions:
    """Read the actions of a file; whole files are small."""
    table = pq.ParquetFile(pa.BufferReader(content)).read(columns=["trace", "action"])
    unified = table.column("action").unify_dictionaries()
    names = tuple(unified.chunk(0).dictionary.to_pylist()) if unified.num_chunks else ()
    codes = [chunk.indices.to_numpy() for chunk in unified.chunks] or [np.empty(0, np.int16)]
    return Actions(names, np.concatenate(codes).astype(np.int16), table.column("trace").to_numpy())


def count_pairs(actions: Actions) -> Iterator[tuple[str, str, int]]:
    """How often each action of a file is followed by each other, within a trace."""
    pairs = _pairs(actions)[_is_within(actions)]
    times = np.bincount(pairs, minlength=1)
    for pair in np.flatnonzero(times).tolist():
        first, second = divmod(pair, len(actions.names))
        yield actions.names[first], actions.names[second], int(times[pair])


def rarest(actions: Actions, pairs: Pairs) -> list[tuple[int, int]]:
    """The traces of a file with the rarest pairs: (trace, millionths of the mean logarithm of a pair's frequency).

    Parameters
    ----------
    actions
        Of the file.
    pairs
        Of the whole run, of which the file is a part. A trace of one event has no pairs, and no rarity.
    """
    total = sum(pairs.values())
    size = len(actions.names)
    logs = np.zeros(size * size)
    for place, first in enumerate(actions.names):
        for other, second in enumerate(actions.names):
            times = pairs.get((first, second))
            logs[place * size + other] = log(times / total) if times else 0.0
    within = np.flatnonzero(_is_within(actions))
    if not within.size:
        return []
    numbers = actions.trace[within]
    starts = np.concatenate(([0], np.flatnonzero(np.diff(numbers)) + 1))
    sums = np.add.reduceat(logs[_pairs(actions)[within]], starts)
    means = sums / np.diff(np.concatenate((starts, [within.size])))
    score = np.rint(means * MILLIONTHS).astype(np.int64)
    order = np.lexsort((numbers[starts], score))[:RAREST]
    return list(zip(numbers[starts][order].tolist(), score[order].tolist(), strict=True))


def _pairs(actions: Actions) -> npt.NDArray[np.int64]:
    codes = actions.code.astype(np.int64)
    pairs: npt.NDArray[np.int64] = codes[:-1] * len(actions.names) + codes[1:]
    return pairs


def _is_within(actions: Actions) -> npt.NDArray[np.bool_]:
    """Whether a row and the next one are of one trace."""
    within: npt.NDArray[np.bool_] = actions.trace[:-1] == actions.trace[1:]
    return within
