"""The check rounds of a store as its copies show them."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from spark_trace_analysis.audit.columns.bucket import Numbers


class ShownRound(NamedTuple):
    """A round that put something back or discarded something: its first and last record, milliseconds, and how many."""

    began_at: int
    ended_at: int
    records: int


def shown_rounds(times: Numbers, interval_ms: int) -> list[ShownRound]:
    """Share the times of copies and discards out into rounds, the earliest first.

    Two rounds lie an interval apart (``TransactionalMessageCheckService#run``); records of one lie closer.

    Examples
    --------
    >>> shown_rounds(np.array([5, 3, 90_000]), 60_000)
    [ShownRound(began_at=3, ended_at=5, records=2), ShownRound(began_at=90000, ended_at=90000, records=1)]
    """
    ordered = np.sort(times)
    begins = np.flatnonzero(np.diff(ordered, prepend=ordered[:1] - interval_ms) >= interval_ms // 2)
    return [ShownRound(int(one[0]), int(one[-1]), len(one)) for one in np.split(ordered, begins[1:]) if len(one)]
