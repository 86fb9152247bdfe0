"""``python -m benchmarks.spark [TRACES...]``: runs the pipeline over each number of traces; writes RESULTS.md.

The last number is held against the bars, the others show how time and memory grow. Behind them come smaller worlds and
shorter walks, with one number of traces each.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path

from benchmarks.spark.measured import measure
from benchmarks.spark.report import LONG, USUAL, report

RESULTS = Path(__file__).with_name("RESULTS.md")
SIZES = (1_000_000, 2_000_000, 4_000_000, 8_000_000, 10_000_000)
OTHERS = 2_000_000
WARM_UP = 2_000


def main(sizes: tuple[int, ...]) -> None:
    """Measure, print the tables and write them."""
    others = [(steps, instance) for steps in (LONG, 12) for instance in ("small", "medium")]
    measure(WARM_UP, LONG, (*USUAL, "small"))  # compiles what is not compiled yet
    before = os.getloadavg()[0]
    runs = [measure(size, LONG, USUAL) for size in sizes]
    other_runs = [(steps, instance, measure(min(OTHERS, sizes[-1]), steps, [instance])) for steps, instance in others]
    text = report(runs, other_runs, (before, os.getloadavg()[0]))
    RESULTS.write_text(text, encoding="utf-8")
    print(text)


if __name__ == "__main__":
    main(tuple(int(word.replace(",", "").replace("_", "")) for word in sys.argv[1:]) or SIZES)
