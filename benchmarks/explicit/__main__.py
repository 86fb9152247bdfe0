"""``python -m benchmarks.explicit [REPEATS] [--without-tlc]``: prints the table and writes it to RESULTS.md.

Every search is the first of a fresh process. The compiled search, one and two threads in turn with Stateright, so that
whatever else the machine does hits all alike.
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path
from typing import Any

from benchmarks.explicit.report import report
from benchmarks.explicit.runs import Row, build_stateright, import_seconds, search, stateright, summed_up, tlc
from benchmarks.explicit.workloads import STATERIGHT, TLC, WORKLOADS

RESULTS = Path(__file__).with_name("RESULTS.md")
THREADS = (1, 2)
WITH_STATERIGHT = ("yardstick", "two_phase_commit")


def main(repeats: int, with_tlc: bool) -> None:
    """Run everything, print the table and write it."""
    with_stateright = build_stateright()
    rows: list[Row] = []
    cold: dict[str, float] = {}
    with tempfile.TemporaryDirectory(prefix="halfcheck_bench_") as cache:
        for name, workload in WORKLOADS.items():
            cold[workload.title] = search(name, 1, Path(cache))["compile_seconds"]
            runs: dict[tuple[str, int], list[dict[str, Any]]] = {}
            for _ in range(repeats):
                for threads in THREADS:
                    runs.setdefault(("halfcheck", threads), []).append(search(name, threads, Path(cache)))
                    if with_stateright and name in WITH_STATERIGHT:
                        runs.setdefault((STATERIGHT, threads), []).append(stateright(name, threads))
            rows += [summed_up(workload.title, program, threads, r) for (program, threads), r in sorted(runs.items())]
    import_took = import_seconds(repeats)
    text = report(rows, cold, import_took, repeats)
    RESULTS.write_text(text, encoding="utf-8")
    if with_tlc:  # which takes minutes
        rows += [tlc(name) for name, work in WORKLOADS.items() if any(program == TLC for program, _ in work.beside)]
        text = report(rows, cold, import_took, repeats)
        RESULTS.write_text(text, encoding="utf-8")
    print(text)


if __name__ == "__main__":
    given = [word for word in sys.argv[1:] if word != "--without-tlc"]
    main(int(given[0]) if given else 5, "--without-tlc" not in sys.argv)
