"""``python -m benchmarks.spark [TRACES... | worlds]``: runs the pipeline over each number of traces; writes RESULTS.md.

The last number is held against the bars, the others show how time and memory grow. ``worlds`` are smaller worlds and
shorter walks, with one number of traces each, in WORLDS.md. Both without arguments.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path

from benchmarks.spark.measured import measure
from benchmarks.spark.report import LONG, USUAL, results, worlds

RESULTS, WORLDS = (Path(__file__).with_name(name) for name in ("RESULTS.md", "WORLDS.md"))
SIZES = (1_000_000, 2_000_000, 4_000_000, 8_000_000, 10_000_000)
TRACES_OF_A_WORLD = 2_000_000
WARM_UP = 2_000


def main(words: list[str]) -> None:
    """Measure, print the tables and write them."""
    measure(WARM_UP, LONG, (*USUAL, "small"))  # compiles what is not compiled yet
    before = os.getloadavg()[0]
    if words != ["worlds"]:
        sizes = tuple(int(word.replace(",", "").replace("_", "")) for word in words) or SIZES
        runs = [measure(size, LONG, USUAL) for size in sizes]
        _write(RESULTS, results(runs, (before, os.getloadavg()[0])))
    if words in ([], ["worlds"]):
        kinds = [(steps, instance) for steps in (LONG, 12) for instance in ("small", "medium")]
        found = [(steps, instance, measure(TRACES_OF_A_WORLD, steps, [instance])) for steps, instance in kinds]
        _write(WORLDS, worlds(found, (before, os.getloadavg()[0])))


def _write(page: Path, text: str) -> None:
    page.write_text(text, encoding="utf-8")
    print(text)


if __name__ == "__main__":
    main(sys.argv[1:])
