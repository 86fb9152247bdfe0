"""The properties of a message as RocketMQ stores them: one string of key and value pairs, in a HashMap's order.

``MessageDecoder#messageProperties2String`` writes ``key 0x01 value 0x02`` for each pair. 4.5.1 and 5.2.0 onwards keep
the last separator, the versions between drop it. The order is the iteration order of a ``java.util.HashMap``, which
depends on the map's capacity only, so it can be recomputed: a key whose bytes were damaged shows by falling out of it.
"""

from __future__ import annotations

from functools import lru_cache
from itertools import pairwise
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

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
IMMUNITY_SECONDS = "CHECK_IMMUNITY_TIME_IN_SECONDS"
WAIT_STORE_OK = "WAIT"
TAGS = "TAGS"
KEYS = "KEYS"
CLUSTER = "CLUSTER"
MESSAGE_REGION = "MSG_REGION"

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


def format_properties(pairs: Iterable[tuple[str, str]], *, trailing_separator: bool) -> str:
    r"""The stored string of some pairs, in the given order.

    Examples
    --------
    >>> format_properties([("WAIT", "true"), ("TAGS", "d")], trailing_separator=False)
    'WAIT\x01true\x02TAGS\x01d'
    """
    text = PROPERTY_SEPARATOR.join(f"{key}{NAME_VALUE_SEPARATOR}{value}" for key, value in pairs)
    return text + PROPERTY_SEPARATOR if trailing_separator and text else text


@lru_cache(maxsize=4096)
def java_string_hash(text: str) -> int:
    """``String.hashCode`` as a signed 32-bit number, over the string's UTF-16 code units.

    It is also the tags code of a consume queue entry (``MessageExtBrokerInner#tagsString2tagsCode``).

    Examples
    --------
    >>> java_string_hash("d"), java_string_hash("TagA")
    (100, 2598919)
    """
    units = text.encode("utf-16-be", "surrogatepass")
    value = 0
    for index in range(0, len(units), 2):
        value = (31 * value + (units[index] << 8 | units[index + 1])) & 0xFFFFFFFF
    return value - 0x1_0000_0000 if value & 0x8000_0000 else value


def hash_bucket(key: str, capacity: int) -> int:
    """The bucket of ``java.util.HashMap`` that a key falls into (``capacity`` is a power of two)."""
    value = java_string_hash(key) & 0xFFFFFFFF
    return (value ^ value >> 16) & (capacity - 1)


def hash_map_capacity(initial: int, entries: int) -> int:
    """The capacity that a HashMap has after it took in some entries: it doubles beyond three quarters.

    Examples
    --------
    >>> hash_map_capacity(16, 12), hash_map_capacity(16, 13), hash_map_capacity(128, 30)
    (16, 32, 128)
    """
    capacity = initial
    while entries > capacity * 3 // 4:
        capacity *= 2
    return capacity


def is_in_hash_map_order(keys: Sequence[str], initial_capacity: int) -> bool:
    """Whether keys stand in the order in which a HashMap of that initial capacity yields them.

    Keys that share a bucket may stand in either order: it depends on which was put first.
    """
    capacity = hash_map_capacity(initial_capacity, len(keys))
    buckets = [hash_bucket(key, capacity) for key in keys]
    return all(left <= right for left, right in pairwise(buckets))
