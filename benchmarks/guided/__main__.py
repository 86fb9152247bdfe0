"""``python -m benchmarks.guided [SEEDS] [REPETITIONS]``: guided walks against weighted ones; writes RESULTS.md."""

from __future__ import annotations

import sys
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from itertools import chain
from multiprocessing import get_context
from pathlib import Path
from time import perf_counter

from benchmarks.guided.coverage import FAULTS, covered
from benchmarks.guided.met import asked_of, missed
from benchmarks.guided.report import report

RESULTS = Path(__file__).with_name("RESULTS.md")


def main(seeds: int, repetitions: int) -> None:
    """Measure on two processes, print the tables and write them."""
    began = perf_counter()
    asked = asked_of()
    with ProcessPoolExecutor(2, mp_context=get_context("spawn")) as pool:
        coverage = [pool.submit(covered, fault, range(1000, 1000 + repetitions)) for fault in FAULTS]
        left_out = chain.from_iterable(
            pool.map(partial(missed, seeds=range(1, seeds + 1)), asked.keys(), asked.values())
        )
        text = report(list(left_out), [one for some in coverage for one in some.result()], perf_counter() - began)
    RESULTS.write_text(text, encoding="utf-8")
    print(text)


if __name__ == "__main__":
    given = [int(word) for word in sys.argv[1:]]
    main(given[0] if given else 10, given[1] if len(given) > 1 else 100)
