"""What is searched.

``python -m benchmarks.explicit.workloads WORKLOAD THREADS STARTED`` searches once and prints what that cost, as JSON.
"""

from __future__ import annotations

import json
import sys
import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from benchmarks.machines import two_phase_commit
from benchmarks.machines.small_check_service.machine import SMALL_CHECK_SERVICE
from benchmarks.machines.small_check_service.state import Constants
from benchmarks.machines.two_phase_commit import TWO_PHASE_COMMIT
from model_check.explicit.search import Progress, explore
from model_check.world import World
from spec.transactional_messages import TRANSACTIONAL_MESSAGES

if TYPE_CHECKING:
    from spec.language import Machine


@dataclass(frozen=True, slots=True)
class Workload:
    """A machine in an instance, and what is wanted of its search.

    Attributes
    ----------
    wanted : dict
        Threads to distinct states a second.
    beside : dict
        Another program and threads to how many times as fast this search shall be.
    gibibytes : int
        Memory that the search takes at the most.
    """

    title: str
    machine: Machine
    constants: object
    wanted: dict[int, float] = field(default_factory=dict)
    beside: dict[tuple[str, int], float] = field(default_factory=dict)
    gibibytes: int = 2


STATERIGHT, TLC = "Stateright 0.30.2", "TLC 2.15"
BEFORE = "halfcheck of the folder --before"
TLC_WORKERS = 2
AS_FAST = {(BEFORE, 1): 0.95, (BEFORE, 2): 0.95}

WORKLOADS = {
    "yardstick": Workload(
        "small check service",
        SMALL_CHECK_SERVICE,
        Constants(),
        {1: 4e6, 2: 6e6},
        {(STATERIGHT, 1): 8.5, (STATERIGHT, 2): 8.5},
    ),
    "two_phase_commit": Workload(
        "two-phase commit, 9",
        TWO_PHASE_COMMIT,
        two_phase_commit.Constants(resource_managers=9),
        beside={(STATERIGHT, 1): 8.0, (STATERIGHT, 2): 8.0},
    ),
    "core": Workload(
        "medium 5.3.3 crash",
        TRANSACTIONAL_MESSAGES,
        World.of("5.3.3", ["crash"], "medium").constants,
        {1: 2.5e6, 2: 4e6},
        AS_FAST,
    ),
    "exported": Workload(
        "medium 5.3.3 quiet",
        TRANSACTIONAL_MESSAGES,
        World.of("5.3.3", [], "medium").constants,
        beside={(TLC, TLC_WORKERS): 100.0},
    ),
    "large": Workload(
        "large 5.3.3 quiet",
        TRANSACTIONAL_MESSAGES,
        World.of("5.3.3", [], "large").constants,
        beside=AS_FAST,
        gibibytes=6,
    ),
    **{
        f"{instance}_{release}": Workload(
            f"{instance} {release} quiet",
            TRANSACTIONAL_MESSAGES,
            World.of(release, [], instance).constants,
            beside=AS_FAST,
        )
        for instance, release in (("medium", "4.5.1"), ("medium", "4.9.7"), ("medium", "5.4.0"), ("pair", "5.3.3"))
    },
}


def search_once(name: str, threads: int, started: float) -> None:
    """Search once, and print what that cost; `started` is the time of day at which this process was wanted."""
    first_level: list[float] = []

    def report(_: Progress) -> None:
        if not first_level:
            first_level.append(time.time() - started)

    workload = WORKLOADS[name]
    found = explore(workload.machine, workload.constants, threads=threads, report=report)
    numbers = {
        "distinct": found.distinct,
        "generated": found.generated,
        "depth": found.depth + 1,
        "seconds": found.seconds,
        "compile_seconds": found.compile_seconds,
        "first_level_seconds": first_level[0],
        "state_bytes": found.peak_bytes,
    }
    print(json.dumps(numbers))


if __name__ == "__main__":
    search_once(sys.argv[1], int(sys.argv[2]), float(sys.argv[3]))
