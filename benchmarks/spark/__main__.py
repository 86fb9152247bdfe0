"""``python -m benchmarks.spark [TRACES...]``: runs the pipeline over each number of traces; writes RESULTS.md.

The last number is held against the bars, the others show how time and memory grow.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path

from benchmarks.spark.measured import measure
from benchmarks.spark.report import report

RESULTS = Path(__file__).with_name("RESULTS.md")
SIZES = (1_000_000, 2_000_000, 4_000_000, 8_000_000, 10_000_000)
WARM_UP = 2_000


def main(sizes: tuple[int, ...]) -> None:
    """Measure, print the tables and write them."""
    measure(WARM_UP)  # compiles what is not compiled yet
    before = os.getloadavg()[0]
    runs = [measure(size) for size in sizes]
    text = report(runs, (before, os.getloadavg()[0]))
    RESULTS.write_text(text, encoding="utf-8")
    print(text)


if __name__ == "__main__":
    main(tuple(int(word.replace(",", "").replace("_", "")) for word in sys.argv[1:]) or SIZES)
