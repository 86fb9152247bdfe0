"""``python -m benchmarks [REPEATS]``: runs every workload and prints what it cost as JSON."""

from __future__ import annotations

import json
import os
import platform
import statistics
import sys

from benchmarks.measure import measure
from benchmarks.workloads import WORKLOADS


def main(repeats: int) -> None:
    """Run each workload ``repeats`` times and print one JSON object."""
    workloads = {}
    for name, words in WORKLOADS.items():
        costs = [measure([sys.executable, "-m", "halfcheck", *words]) for _ in range(repeats)]
        workloads[name] = {
            "command": ["halfcheck", *words],
            "exit_codes": sorted({cost.exit_code for cost in costs}),
            "median_seconds": statistics.median(cost.seconds for cost in costs),
            "seconds": [cost.seconds for cost in costs],
            "peak_bytes": max(cost.peak_bytes for cost in costs),
        }
    machine = {"cores": os.cpu_count(), "system": platform.system(), "python": platform.python_version()}
    print(json.dumps({"machine": machine, "workloads": workloads}, indent=2))


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 5)
