"""Selection of transactions of an audit: by topic, group, state, time or key."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from files.durations import read_duration
from spark_trace_analysis.audit.rules.state import TransactionState
from spark_trace_analysis.errors import BadOptionError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from spark_trace_analysis.audit.columns.bucket import Flags

COLUMNS: Final = ["unique_key", "keys", "group", "topic", "state", "also", "last_at"]
"""The columns of a row by which a selection decides."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Selection:
    """A filter of transactions: each must fit all fields that are given, and one of several values of a field.

    A state may be the gravest or another; a key the UNIQ_KEY, or one of the KEYS. Since a time, in milliseconds since
    the epoch, a record was stored.
    """

    topics: tuple[str, ...] = ()
    groups: tuple[str, ...] = ()
    states: tuple[TransactionState, ...] = ()
    since_ms: int | None = None
    keys: tuple[str, ...] = ()

    @property
    def is_everything(self) -> bool:
        """Whether no field is given, so that all transactions are selected."""
        return self == Selection()

    @property
    def options(self) -> list[str]:
        """The options of ``halfcheck audit`` that give it."""
        given = (self.topics, self.groups, self.states, self.since_ms is not None, self.keys)
        names = ("--topic", "--group", "--state", "--since", "--transaction")
        return [name for name, value in zip(names, given, strict=True) if value]

    @property
    def lists_plain(self) -> bool:
        """Whether it names states or keys, so that plainly delivered transactions are listed, too."""
        return bool(self.states or self.keys)

    def flags(self, table: pa.Table) -> Flags:
        """For each row of a table with `COLUMNS`, whether it is selected."""
        chosen = np.ones(table.num_rows, bool)
        for name, wanted in (("topic", self.topics), ("group", self.groups)):
            if wanted:
                chosen &= _is_one_of(table.column(name), wanted)
        if self.states:
            chosen &= self._has_state(table)
        if self.since_ms is not None:
            last = pc.cast(table.column("last_at"), pa.int64())
            chosen &= np.asarray(pc.fill_null(pc.greater_equal(last, self.since_ms), fill_value=False))
        if self.keys:
            chosen &= self._has_key(table)
        return chosen

    def _has_state(self, table: pa.Table) -> Flags:
        names = [state.value for state in self.states]
        chosen = _is_one_of(table.column("state"), names)
        also = table.column("also").combine_chunks()
        rows = np.asarray(pc.list_parent_indices(also))
        chosen[rows[_is_one_of(pc.list_flatten(also), names)]] = True
        return chosen

    def _has_key(self, table: pa.Table) -> Flags:
        chosen = _is_one_of(table.column("unique_key"), self.keys)
        padded = pc.binary_join_element_wise(" ", table.column("keys"), " ", "")
        for key in self.keys:
            chosen |= np.asarray(pc.match_substring(padded, f" {key} "))
        return chosen


def _is_one_of(column: pa.ChunkedArray | pa.Array, wanted: Sequence[str]) -> Flags:
    values = column.cast(pa.string())
    return np.array(pc.is_in(values, pa.array(wanted, pa.string())))


def states_called(option: str, names: Sequence[str], besides: Sequence[str] = ()) -> tuple[TransactionState, ...]:
    """The states of some names, such as ``rolled back`` or ``rolled_back``, of an option that may have others besides.

    Raises
    ------
    BadOptionError
        There is no such state, or no name; names what there is.

    Examples
    --------
    >>> [state.value for state in states_called("--state", ["Lost", "rolled-back"])]
    ['lost', 'rolled_back']
    """
    known = {state.value: state for state in TransactionState}
    called = {name: known.get(re.sub(r"[\s-]+", "_", name.lower())) for name in names or [""]}
    for name, state in called.items():
        if state is None:
            message = f"{option}: no state {name!r}; there are {', '.join([*known, *besides])}"
            raise BadOptionError(message)
    return tuple(state for state in called.values() if state is not None)


def since(text: str, now: datetime) -> int:
    """A time in milliseconds since the epoch: ISO 8601, in the local zone where it names none; or ``2h`` before now.

    Raises
    ------
    BadOptionError
        It is neither, or is to come.

    Examples
    --------
    >>> now = datetime.fromisoformat("2026-03-01T12:00:00+00:00")
    >>> since("2h", now) == since("2026-03-01T10:00:00Z", now) == since("2026-03-01 11:00+01:00", now)
    True
    """
    ago_ms = read_duration(text)
    if ago_ms is not None:
        return int(now.timestamp() * 1_000) - ago_ms
    try:
        since_ms = int(datetime.fromisoformat(text.strip()).timestamp() * 1_000)
    except (ValueError, OverflowError) as error:
        message = (
            f"--since {text!r}: expected a time such as 2026-03-01T10:00 or 2026-03-01T10:00+08:00, "
            "or how long ago: 30m, 2h, 7d"
        )
        raise BadOptionError(message) from error
    if since_ms > now.timestamp() * 1_000:
        message = (
            f"--since {text!r}: it is to come, and nothing can have been stored since; expected a time that is past"
        )
        raise BadOptionError(message)
    return since_ms
