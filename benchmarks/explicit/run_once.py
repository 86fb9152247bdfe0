"""``python -m benchmarks.explicit.run_once WORKLOAD THREADS STARTED``: one search, what it cost as a line of JSON."""

from __future__ import annotations

import json
import sys
import time

from benchmarks.explicit.workloads import WORKLOADS
from model_check.explicit.search import Progress, explore


def main(name: str, threads: int, started: float) -> None:
    """Search once; `started` is the time of day at which this process was wanted."""
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
    main(sys.argv[1], int(sys.argv[2]), float(sys.argv[3]))
