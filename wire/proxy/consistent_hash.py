"""The queue of a message group: Guava's ``Hashing#consistentHash`` of the group's Java hash."""

from __future__ import annotations

from typing import Final

from reference.java import java_string_hash

_MULTIPLIER: Final = 2862933555777941757
_MASK: Final = (1 << 64) - 1


def consistent_hash(text: str, buckets: int) -> int:
    """A bucket from 0 on for a text; few texts change theirs when a bucket is added.

    Examples
    --------
    >>> [consistent_hash("order-7", buckets) for buckets in (1, 2, 4, 8)], consistent_hash("", 8)
    ([0, 0, 0, 4], 0)
    """
    state, candidate = java_string_hash(text) & _MASK, 0
    while True:
        state = (_MULTIPLIER * state + 1) & _MASK
        following = int((candidate + 1) / (((state >> 33) + 1) / (1 << 31)))
        if not 0 <= following < buckets:
            return candidate
        candidate = following
