"""The eighteen delay levels of the schedule topic (``MessageStoreConfig``, ``messageDelayLevel``)."""

from __future__ import annotations

from typing import Final

from reference.format.properties import parse_properties, tags_code
from reference.format.system_topics import SCHEDULE_TOPIC
from reference.java import get_int

DELAY_TIME_LEVEL: Final = "DELAY"
"""``MessageConst.PROPERTY_DELAY_TIME_LEVEL``"""

_SECOND_MS, _MINUTE_MS, _HOUR_MS = 1_000, 60_000, 3_600_000
DELAYS_MS: Final = (
    *(seconds * _SECOND_MS for seconds in (1, 5, 10, 30)),
    *(minutes * _MINUTE_MS for minutes in (1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 20, 30)),
    *(hours * _HOUR_MS for hours in (1, 2)),
)
"""``1s 5s 10s 30s 1m 2m 3m 4m 5m 6m 7m 8m 9m 10m 20m 30m 1h 2h``, level 1 first."""


def delay_level(text: str | None) -> int:
    """The level in the property DELAY, 0 without it, at most the last one (``getDelayTimeLevel`` of a ``Message``).

    Examples
    --------
    >>> delay_level(None), delay_level("3"), delay_level("99")
    (0, 3, 18)
    """
    return 0 if not text else min(get_int(text), len(DELAYS_MS))


def queue_id_of_level(level: int) -> int:
    """The schedule topic's queue in which messages of a level wait (``ScheduleMessageService#delayLevel2QueueId``)."""
    return level - 1


def queue_tags_code(topic: str, properties_text: str, store_timestamp: int) -> int:
    """The tags code of a consume queue entry (``CommitLog#checkMessageAndReturnSize``).

    The tags code; in the schedule topic it is when the message is due.
    """
    if topic == SCHEDULE_TOPIC:
        level = delay_level(dict(parse_properties(properties_text)).get(DELAY_TIME_LEVEL))
        if level > 0:
            return store_timestamp + DELAYS_MS[level - 1]
    return tags_code(properties_text)
