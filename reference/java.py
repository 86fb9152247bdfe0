"""Java's arithmetic and hash maps, where they decide what a property means and in which order properties are stored."""

from __future__ import annotations

import re
from bisect import bisect_right
from functools import lru_cache

_NUMBER = re.compile(r"[+-]?[0-9]+")
_LONG_BITS, _INT_BITS = 64, 32

TREEIFY_THRESHOLD = 8
"""A bucket that would hold more entries than that makes a map of fewer than 64 buckets grow."""

_MIN_TREEIFY_CAPACITY = 64


def get_long(text: str) -> int:
    """The number in a string, or -1 if ``Long.parseLong`` would throw (``TransactionalMessageServiceImpl#getLong``).

    Examples
    --------
    >>> get_long("12"), get_long("+3"), get_long(" 3"), get_long("abc"), get_long("9223372036854775808")
    (12, 3, -1, -1, -1)
    """
    return _parse(text, _LONG_BITS)


def get_int(text: str) -> int:
    """The number in a string, or -1 if ``Integer.parseInt`` would throw.

    Examples
    --------
    >>> get_int("15"), get_int("2147483648")
    (15, -1)
    """
    return _parse(text, _INT_BITS)


def wrap_long(value: int) -> int:
    """The lowest 64 bits of a number, signed, as after an overflow in Java.

    Examples
    --------
    >>> wrap_long(9_223_372_036_854_775_807 * 1000)
    -1000
    """
    return (value + (1 << 63)) % (1 << 64) - (1 << 63)


def _parse(text: str, bits: int) -> int:
    if not _NUMBER.fullmatch(text):
        return -1
    value = int(text)
    return value if -(1 << bits - 1) <= value < 1 << bits - 1 else -1


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


def spread(key: str) -> int:
    """``HashMap#hash``: the hash code with its upper half folded in.

    Examples
    --------
    >>> spread("d")
    100
    """
    value = java_string_hash(key) & 0xFFFFFFFF
    return value ^ value >> 16


@lru_cache(maxsize=4096)
def hash_map_order(keys: tuple[str, ...], initial_capacity: int) -> tuple[str, ...]:
    """Keys, given in the order in which they were put, as a map of that capacity at first yields them.

    Buckets ascending, and in a bucket in the order of putting: it is kept when a map grows. A map doubles beyond three
    quarters, and for a ninth entry in one bucket. That a bucket of a map with 64 buckets and more becomes a tree is not
    followed.

    Examples
    --------
    >>> hash_map_order(("TAGS", "KEYS", "UNIQ_KEY"), 128), hash_map_order(("WAIT", "PGROUP"), 16)
    (('UNIQ_KEY', 'TAGS', 'KEYS'), ('WAIT', 'PGROUP'))
    """
    hashes = {key: spread(key) for key in keys}
    capacity = initial_capacity
    for count, key in enumerate(keys, start=1):
        if capacity < _MIN_TREEIFY_CAPACITY:
            bucket = hashes[key] & (capacity - 1)
            before = sum(hashes[other] & (capacity - 1) == bucket for other in keys[: count - 1])
            if before >= TREEIFY_THRESHOLD:
                capacity *= 2
        if count > capacity * 3 // 4:
            capacity *= 2
    return tuple(sorted(keys, key=lambda key: hashes[key] & (capacity - 1)))


class HashMapKeys:
    """The keys of one large map in the order of :func:`hash_map_order`, as they are put one behind the other.

    It has 64 buckets or more, so that only the number of keys makes the map grow.

    Examples
    --------
    >>> keys = HashMapKeys(64)
    >>> [keys.put(key) for key in ("TAGS", "KEYS", "UNIQ_KEY")]
    [0, 0, 1]
    >>> keys.in_order == list(hash_map_order(("TAGS", "KEYS", "UNIQ_KEY"), 64))
    True
    """

    def __init__(self, initial_capacity: int) -> None:
        self.in_order: list[str] = []
        self._capacity = initial_capacity
        self._hashes: dict[str, int] = {}

    def put(self, key: str) -> int | None:
        """Put a key; gives its place, or None where it is there or the map grew, which orders all of them anew."""
        if key in self._hashes:
            return None
        self._hashes[key] = spread(key)
        if len(self._hashes) > self._capacity * 3 // 4:
            self._capacity *= 2
            self.in_order = sorted(self._hashes, key=self._bucket)
            return None
        place = bisect_right(self.in_order, self._bucket(key), key=self._bucket)
        self.in_order.insert(place, key)
        return place

    def _bucket(self, key: str) -> int:
        return self._hashes[key] & (self._capacity - 1)
