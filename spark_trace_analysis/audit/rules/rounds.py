"""The check rounds of a store as its copies show them."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable


class ShownRound(NamedTuple):
    """A round that put something back or discarded something: its first and last record, milliseconds, and how many."""

    began_at: int
    ended_at: int
    records: int


def shown_rounds(times: Iterable[int], interval_ms: int) -> list[ShownRound]:
    """Share the times of copies and discards out into rounds, the earliest first.

    Two rounds lie an interval apart (``TransactionalMessageCheckService#run``); records of one lie closer.

    Examples
    --------
    >>> shown_rounds([5, 3, 90_000], 60_000)
    [ShownRound(began_at=3, ended_at=5, records=2), ShownRound(began_at=90000, ended_at=90000, records=1)]
    """
    found: list[ShownRound] = []
    for time in sorted(times):
        if found and time - found[-1].ended_at < interval_ms // 2:
            found[-1] = ShownRound(found[-1].began_at, time, found[-1].records + 1)
        else:
            found.append(ShownRound(time, time, 1))
    return found
