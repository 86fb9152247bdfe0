"""``python -m benchmarks.liveness [REPEATS]``: what graphs of millions of states take; writes RESULTS.md.

All responses of a world are decided, each run in a fresh process whose machine code is compiled: the search, the graph
of all its states, fair cycles, and lassos that CPython takes twice round.
"""

from __future__ import annotations

import json
import resource
import subprocess
import sys
import time
from pathlib import Path
from statistics import median
from typing import Any

from benchmarks.computer import bars, computer

RESULTS = Path(__file__).with_name("RESULTS.md")
WORLDS = (
    ("5.3.3", "offline_producer", "endless"),
    ("5.3.3", "offline_producer,slow_round", "endless"),
)
HELD = WORLDS[1]
"""The world that is held against the bars: more than five million states, with violations among its verdicts."""

LEAST_STATES, MOST_SECONDS, MOST_GIB = 5_000_000, 60, 8


def measured(profile: str, faults: str, instance: str) -> dict[str, Any]:
    """Decide all responses of a world in this process."""
    from model_check.finding import Verdict
    from model_check.liveness.check import check_responses
    from model_check.world import World

    began = time.perf_counter()
    finding = check_responses([World.of(profile, faults.split(","), instance)])
    seconds = time.perf_counter() - began
    return {
        "distinct": finding.numbers.distinct,
        "edges": finding.numbers.generated - 1,
        "seconds": seconds,
        "search_seconds": finding.numbers.seconds,
        "gib": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / (1 << 20),
        "violated": len(finding.violated),
        "unknown": sum(row.verdict is Verdict.UNKNOWN for row in finding.rows),
    }


def report(repeats: int) -> str:
    """Measure all worlds, and say it as Markdown."""
    text = [
        "# What must happen in the end: the cost of deciding it",
        "",
        "Written by `make bench-liveness`.",
        "",
        computer("NumPy", "SciPy", "Numba", with_memory=True),
        f"All ten responses of a world, medians of {repeats} runs, in brackets the quickest and the slowest; each",
        "run in a fresh process, one thread, compiled before. Seconds are those of the whole question: the search,",
        "which is the next column, the graph, its fair cycles, and the lassos of what is violated.",
        "",
        "| Profile | Faults | Instance | States | Edges | Seconds | Search | Peak GiB | Violated | Unknown |",
        "|---|---|---|--:|--:|--:|--:|--:|--:|--:|",
    ]
    compared: list[tuple[str, str, str, bool | None]] = []
    for world in WORLDS:
        runs = [_told(*world) for _ in range(repeats + 1)][1:]
        first, seconds = runs[0], sorted(run["seconds"] for run in runs)
        middle, gib = median(seconds), max(run["gib"] for run in runs)
        text.append(
            f"| {' | '.join(world)} | {first['distinct']:,} | {first['edges']:,} "
            f"| {middle:.0f} ({seconds[0]:.0f} … {seconds[-1]:.0f}) "
            f"| {median(run['search_seconds'] for run in runs):.1f} | {gib:.1f} "
            f"| {first['violated']} | {first['unknown']} |"
        )
        if world == HELD:
            states = first["distinct"]
            compared = [
                ("states", f"≥ {LEAST_STATES:,}", f"{states:,}", states >= LEAST_STATES),
                ("seconds", f"≤ {MOST_SECONDS}", f"{middle:.0f}", middle <= MOST_SECONDS),
                ("peak GiB", f"≤ {MOST_GIB}", f"{gib:.1f}", gib <= MOST_GIB),
            ]
    return "\n".join([*text, "", f"Of {HELD[0]} with {HELD[1]}:", "", *bars(compared), ""])


def _told(*world: str) -> dict[str, Any]:
    words = [sys.executable, "-m", "benchmarks.liveness", *world]
    ran = subprocess.run(words, stdout=subprocess.PIPE, check=True)
    told: dict[str, Any] = json.loads(ran.stdout)
    return told


if __name__ == "__main__":
    if len(sys.argv) > 2:
        print(json.dumps(measured(*sys.argv[1:])))
    else:
        written = report(int(sys.argv[1]) if len(sys.argv) > 1 else 3)
        RESULTS.write_text(written, encoding="utf-8")
        print(written)
