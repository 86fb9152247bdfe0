"""``python -m benchmarks.spark [REPEATS] [TRACES]``: prints the tables and writes them to RESULTS.md.

Each measurement is the first of a fresh process, with traces in a new folder. Then ``halfcheck verify`` runs twice.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING, Any

from benchmarks.spark.report import report
from benchmarks.spark.run_once import Phase

if TYPE_CHECKING:
    from benchmarks.spark.report import Measured

RESULTS = Path(__file__).with_name("RESULTS.md")


def main(repeats: int, traces: int) -> None:
    """Measure, print the tables and write them."""
    load_before = os.getloadavg()[0]
    measured: Measured = {}
    for _ in range(repeats):
        with tempfile.TemporaryDirectory(prefix="halfcheck_bench_") as folder:
            for name, phase in _told("benchmarks.spark.run_once", str(traces), folder).items():
                measured.setdefault(name, []).append(Phase(**phase))
    with tempfile.TemporaryDirectory(prefix="halfcheck_bench_") as folder:
        words = ("verify", "--traces", str(traces), "--json", "--work", folder, "--out", f"{folder}/report")
        verify = []
        for _ in range(2):
            began = perf_counter()
            seconds = _told("halfcheck", *words)["seconds"]
            verify.append({**seconds, "in all": perf_counter() - began})
    text = report(measured, verify, repeats, traces, (load_before, os.getloadavg()[0]))
    RESULTS.write_text(text, encoding="utf-8")
    print(text)


def _told(module: str, *words: str) -> dict[str, Any]:
    """What a module printed as JSON, run in a fresh process."""
    ran = subprocess.run([sys.executable, "-m", module, *words], stdout=subprocess.PIPE, env=os.environ, check=True)
    told: dict[str, Any] = json.loads(ran.stdout)
    return told


if __name__ == "__main__":
    given = [int(word) for word in sys.argv[1:]]
    main(given[0] if given else 3, given[1] if len(given) > 1 else 1_000_000)
