"""Streams of random numbers out of one seed, one for each part of a simulation: what one part draws moves no other.

Two simulations of one seed whose brokers have other settings see the same arrivals, local transactions, pauses and
crashes, as far as these do not hang on the broker; so their differences have narrow intervals (common random numbers).
"""

from __future__ import annotations

from random import Random


class RandomStreams:
    """The streams of one seed, by name.

    Examples
    --------
    >>> streams = RandomStreams(7)
    >>> streams.of("arrivals").random() == RandomStreams(7).of("arrivals").random() != streams.of("clients").random()
    True
    """

    def __init__(self, seed: int) -> None:
        self._seed = seed

    def of(self, part: str) -> Random:
        """The stream of a part, from its beginning."""
        return Random(f"{self._seed} {part}")
