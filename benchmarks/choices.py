"""``python -m benchmarks.choices [TRACES] [STEPS]``: what walks of each choice reach; the table of docs/simulation.md.

The share of walks that deliver a transaction twice (S1), or deliver one that was rolled back or discarded (S2), and the
distinct states that they see, on the instance ``small``.
"""

from __future__ import annotations

import sys
from time import process_time
from typing import TYPE_CHECKING, Final

import numpy as np

from model_check.walks.choices import CHOICES
from model_check.walks.walk import Walker
from model_check.world import QUIET, World
from spec.events import EVENTS

if TYPE_CHECKING:
    from collections.abc import Iterator

WORLDS: Final = (
    World.of("5.3.3", (), "small"),
    World.of("5.3.3", ("crash",), "small"),
    World.of("5.3.3", ("crash", "lose_end", "duplicate_end", "slow_local"), "small"),
    World.of("4.9.7", ("crash", "op_write_failure", "put_failure", "slow_round"), "small"),
    World.of("4.5.1", ("late_end", "wrong_end", "power_loss"), "small"),
)
SEED: Final = 7
_MOST_TRANSACTIONS: Final = 64


def shares(walker: Walker, traces: int, steps: int) -> tuple[float, float]:
    """The shares of walks that violate S1 and S2."""
    columns = walker.walk(SEED, 0, traces, steps)
    event = columns["event"]
    transaction = columns["transaction"].astype(np.int64)
    whose = columns["trace"].astype(np.int64) * _MOST_TRANSACTIONS + transaction

    def of(*names: str) -> np.ndarray[tuple[int], np.dtype[np.int64]]:
        return whose[np.isin(event, [EVENTS.index(name) for name in names]) & (transaction >= 0)]

    delivered, times = np.unique(of("message_delivered"), return_counts=True)
    both = np.intersect1d(delivered, of("half_rolled_back", "half_discarded"))
    violating = (np.unique(some // _MOST_TRANSACTIONS).size for some in (delivered[times > 1], both))
    doubled, disagreeing = violating
    return doubled / traces, disagreeing / traces


def table(traces: int, steps: int) -> Iterator[str]:
    """The lines of the table."""
    yield "| world | choice | S1 violated | S2 violated | states seen | CPU s for a million events |"
    yield "|---|---|--:|--:|--:|--:|"
    for world in WORLDS:
        for choice in CHOICES:
            walker = Walker(world, choice)
            walker.walk(SEED, 0, 1, steps)
            began = process_time()
            events = len(walker.walk(SEED, 0, traces, steps)["trace"])
            seconds = (process_time() - began) / events * 1e6
            doubled, disagreeing = shares(walker, traces, steps)
            seen = walker.visited(SEED, 0, traces, steps).size
            name = f"{world.profile} {', '.join(world.environment) or QUIET}"
            yield f"| {name} | {choice} | {doubled:.3%} | {disagreeing:.3%} | {seen:,} | {seconds:.2f} |"


if __name__ == "__main__":
    given = [int(word) for word in sys.argv[1:]]
    for line in table(given[0] if given else 20_000, given[1] if len(given) > 1 else 40):
        print(line, flush=True)
