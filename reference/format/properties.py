"""The properties of a message as RocketMQ stores them: one string of key and value pairs, in a HashMap's order.

``MessageDecoder#messageProperties2String`` writes ``key 0x01 value 0x02`` for each pair. 4.5.1 and 5.2.0 onwards keep
the last separator, the versions between drop it. The order is the iteration order of a ``java.util.HashMap``, which
depends on the map's capacity only, so it can be recomputed: a key whose bytes were damaged shows by falling out of it.
"""

from __future__ import annotations

from functools import lru_cache
from itertools import pairwise
from operator import itemgetter
from typing import TYPE_CHECKING

from reference.java import hash_map_order, java_string_hash, spread

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from reference.versions.switches import ReleaseSwitches

NAME_VALUE_SEPARATOR = "\x01"
PROPERTY_SEPARATOR = "\x02"

TRANSACTION_PREPARED = "TRAN_MSG"
PRODUCER_GROUP = "PGROUP"
UNIQUE_KEY = "UNIQ_KEY"
TRANSACTION_ID = "__transactionId__"
REAL_TOPIC = "REAL_TOPIC"
REAL_QUEUE_ID = "REAL_QID"
CHECK_TIMES = "TRANSACTION_CHECK_TIMES"
PREPARED_QUEUE_OFFSET = "TRAN_PREPARED_QUEUE_OFFSET"
ESCAPED_FROM = "ESCAPED_FROM"
"""Broker and queue offset from which a half has escaped; no release has it (a repair of B22)."""
IMMUNITY_SECONDS = "CHECK_IMMUNITY_TIME_IN_SECONDS"
WAIT_STORE_OK = "WAIT"
TAGS = "TAGS"
KEYS = "KEYS"
CLUSTER = "CLUSTER"
MESSAGE_REGION = "MSG_REGION"
RETRY_TOPIC = "RETRY_TOPIC"
"""The topic in which a message was first delivered."""

SMALL_CAPACITY = 16
"""Buckets of the map behind a string in 4.x, in 5.0 and in every op message; it doubles beyond three quarters."""

LARGE_CAPACITY = 128
"""Buckets from 5.1.0 on: ``new HashMap<>(128)`` in ``MessageDecoder#string2messageProperties``."""


def parse_properties(text: str) -> list[tuple[str, str]]:
    r"""The pairs of a stored string, in their stored order.

    An item without a name-value separator is left out, as ``MessageDecoder#string2messageProperties`` does.

    Examples
    --------
    >>> parse_properties("WAIT\x01true\x02TAGS\x01d\x02")
    [('WAIT', 'true'), ('TAGS', 'd')]
    """
    pairs = [item.partition(NAME_VALUE_SEPARATOR) for item in text.split(PROPERTY_SEPARATOR)]
    return [(key, value) for key, separator, value in pairs if separator and key]


def properties_map(text: str) -> dict[str, str]:
    r"""The same pairs as a map; of a name that stands there twice the last value.

    Examples
    --------
    >>> properties_map("WAIT\x01true\x02none\x02\x01nameless\x02WAIT\x01false")
    {'WAIT': 'false'}
    """
    items = text.split(PROPERTY_SEPARATOR)
    if not items[-1]:
        items.pop()
    try:
        pairs = dict([item.split(NAME_VALUE_SEPARATOR, 1) for item in items])
    except ValueError:
        return dict(parse_properties(text))
    pairs.pop("", None)
    return pairs


def message_properties_to_string(
    properties: Mapping[str, str], switches: ReleaseSwitches, *, is_own_message: bool = False
) -> str:
    r"""Each key, 0x01, its value and 0x02; some versions leave the last 0x02 out (``#messageProperties2String``).

    They come in the order of the HashMap that the broker has read them into; the mapping is in the order of putting.

    The map of a message that the broker has made itself began with 16 buckets in every version.

    Examples
    --------
    >>> from reference.versions.versions import V4_9_7, V5_3_3
    >>> message_properties_to_string({"TAGS": "d"}, V5_3_3), message_properties_to_string({"TAGS": "d"}, V4_9_7)
    ('TAGS\x01d\x02', 'TAGS\x01d')
    """
    if not properties:
        return ""
    capacity = LARGE_CAPACITY if switches.has_large_property_map and not is_own_message else SMALL_CAPACITY
    text, values = _string_of_keys(tuple(properties), capacity)
    written = text % values(properties)
    return written + PROPERTY_SEPARATOR if switches.keeps_last_separator else written


@lru_cache(maxsize=4096)
def _string_of_keys(keys: tuple[str, ...], capacity: int) -> tuple[str, Callable[[Mapping[str, str]], object]]:
    """The string of such a map with ``%s`` for each value, and what takes the values out of the map in that order."""
    ordered = hash_map_order(keys, capacity)
    pairs = (f"{key.replace('%', '%%')}{NAME_VALUE_SEPARATOR}%s" for key in ordered)
    return PROPERTY_SEPARATOR.join(pairs), itemgetter(*ordered)


def is_in_hash_map_order(keys: Sequence[str], initial_capacity: int) -> bool:
    """Whether keys stand in the order in which a HashMap of that initial capacity yields them.

    Keys that share a bucket may stand in either order: it depends on which was put first. A map doubles beyond three
    quarters.
    """
    capacity = initial_capacity
    while len(keys) > capacity * 3 // 4:
        capacity *= 2
    buckets = [spread(key) & (capacity - 1) for key in keys]
    return all(left <= right for left, right in pairwise(buckets))


_BEGIN = f"{TAGS}{NAME_VALUE_SEPARATOR}"
_LATER = f"{PROPERTY_SEPARATOR}{_BEGIN}"


def tags_code(properties_text: str) -> int:
    r"""The Java hash of TAGS in a stored property string, 0 without (``MessageExtBrokerInner#tagsString2tagsCode``).

    Examples
    --------
    >>> tags_code("WAIT\x01true\x02TAGS\x01d\x02"), tags_code("TAGS\x01TagA"), tags_code("XTAGS\x01d")
    (100, 2598919, 0)
    """
    start = properties_text.find(_LATER)
    if start >= 0:
        start += len(_LATER)
    elif properties_text.startswith(_BEGIN):
        start = len(_BEGIN)
    else:
        return 0
    end = properties_text.find(PROPERTY_SEPARATOR, start)
    return java_string_hash(properties_text[start:] if end < 0 else properties_text[start:end])


def tags_code_of(properties: Mapping[str, str]) -> int:
    """The same of properties that were parsed already."""
    return java_string_hash(properties.get(TAGS, ""))
