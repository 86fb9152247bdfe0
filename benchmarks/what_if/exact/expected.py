"""A Markov chain with rewards: what a walk gains on the mean until it ends, by sparse linear solving."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from scipy.sparse import csc_array, eye_array
from scipy.sparse.linalg import spsolve

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable, Iterable, Mapping

    Step = tuple[float, Hashable | None, Mapping[str, float]]


def expected_rewards(start: Hashable, steps: Callable[[Hashable], Iterable[Step]]) -> dict[str, float]:
    """What a walk from `start` gains of each reward on the mean.

    `steps` gives for a state each step's probability, the next state or None where the walk ends, and what is gained.

    Examples
    --------
    >>> rewards = expected_rewards("on", lambda _: [(0.25, None, {"ends": 1}), (0.75, "on", {"tries": 1})])
    >>> {name: round(value, 12) for name, value in rewards.items()}
    {'ends': 1.0, 'tries': 3.0}
    """
    numbers, waiting = {start: 0}, [start]
    rows, columns, chances = [], [], []
    gained: dict[str, dict[int, float]] = {}
    while waiting:
        state = waiting.pop()
        for chance, after, gains in steps(state):
            for name, gain in gains.items():
                own = gained.setdefault(name, {})
                own[numbers[state]] = own.get(numbers[state], 0.0) + chance * gain
            if after is None:
                continue
            if after not in numbers:
                numbers[after] = len(numbers)
                waiting.append(after)
            rows.append(numbers[state])
            columns.append(numbers[after])
            chances.append(chance)
    count = len(numbers)
    goes_on = csc_array((chances, (rows, columns)), shape=(count, count))
    at_once = np.zeros((count, len(gained)))
    for column, own in enumerate(gained.values()):
        at_once[list(own), column] = list(own.values())
    found = spsolve(csc_array(eye_array(count) - goes_on), at_once).reshape(count, -1)
    return dict(zip(gained, found[0].tolist(), strict=True))
