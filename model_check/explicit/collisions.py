"""The probability that a search by fingerprints has missed a state."""

from __future__ import annotations

from math import expm1


def collision_probability(distinct: int, bits: int) -> float:
    """The probability that some two of so many states have the same fingerprint, at most.

    Any two states have the same fingerprint with probability 2^-bits (see `hashing.py`), so that n(n - 1)/2^(bits + 1)
    pairs are expected to; n²/2^65 for 64 bits. States are counted as they were found: one that collides is not counted,
    so that the bound is of use while it is small.

    Examples
    --------
    >>> f"{collision_probability(300_000_000, 64):.2g}"
    '0.0024'
    >>> collision_probability(1, 64)
    0.0
    """
    return -expm1(-expected_collisions(distinct, bits))


def expected_collisions(distinct: int, bits: int) -> float:
    """Pairs of so many states that are expected to have the same fingerprint.

    Examples
    --------
    >>> round(expected_collisions(8_832, 20), 1)
    37.2
    """
    return distinct * (distinct - 1) / 2.0 ** (bits + 1)
