"""Times of a transaction, one for each kind of record, as numbers and in the local zone."""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING, Final, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable

    from spark_trace_analysis.audit.rules.transaction_row import HistoryEvent

EARLIEST_MS: Final = -62_135_596_800_000
"""The year 1, and below the year 9999: a time beyond comes from a damaged record and is no date."""
LATEST_MS: Final = 253_370_764_800_000


class Moments(NamedTuple):
    """Times in milliseconds since the epoch; None for what did not happen.

    Attributes
    ----------
    born_at
        When the producer made the message, by its own clock.
    stored_at, last_at
        When its first and its last record was stored.
    delivered_at
        When the first real message was stored: the commit.
    settled_at
        When the first op that names it was stored: the commit or the rollback, up to an op batch later from 5.1 on.
    discarded_at
        When it was given up into TRANS_CHECK_MAX_TIME_TOPIC.
    """

    born_at: int
    stored_at: int | None
    delivered_at: int | None
    settled_at: int | None
    discarded_at: int | None
    last_at: int | None


def moments(born: int, history: Iterable[HistoryEvent]) -> Moments:
    """The times of one transaction, out of its records in the order of the log."""
    events = list(history)
    first: dict[str, int] = {}
    for event in events:
        first.setdefault(event.event, event.time)
    times = [event.time for event in events]
    return Moments(
        born_at=born,
        stored_at=times[0] if times else None,
        delivered_at=first.get("delivered"),
        settled_at=first.get("op"),
        discarded_at=first.get("discarded"),
        last_at=max(times, default=None),
    )


def is_date(milliseconds: int) -> bool:
    """Whether a number of milliseconds is a date, and not what damage left."""
    return EARLIEST_MS <= milliseconds <= LATEST_MS


def local_time(milliseconds: int | None) -> str | None:
    """A time in the local zone (``TZ``), ISO 8601 with its offset; None for none, and for what is no date.

    Examples
    --------
    >>> local_time(1_700_000_000_123)[10:23]
    'T22:13:20.123'
    >>> local_time(-(2**62)), local_time(None)
    (None, None)
    """
    if milliseconds is None or not is_date(milliseconds):
        return None
    seconds, rest = divmod(milliseconds, 1000)
    moment = datetime.fromtimestamp(seconds).astimezone()
    return moment.replace(microsecond=rest * 1000).isoformat(timespec="milliseconds")
