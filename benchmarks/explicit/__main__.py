"""``python -m benchmarks.explicit [REPEATS] [--without-tlc] [--before FOLDER]``: prints the table, writes RESULTS.md.

Every search is the first of a fresh process. The compiled search, one and two threads in turn with Stateright and with
the sources of another folder (a checkout of an earlier commit), so that whatever else the machine does hits all alike.
"""

from __future__ import annotations

import tempfile
from argparse import ArgumentParser
from pathlib import Path
from typing import TYPE_CHECKING, Any

from benchmarks.computer import bars, computer
from benchmarks.explicit.programs import Row, build_stateright, import_seconds, search, stateright, summed_up, tlc
from benchmarks.explicit.workloads import BEFORE, STATERIGHT, TLC, WORKLOADS
from benchmarks.sources import checkout

if TYPE_CHECKING:
    from collections.abc import Iterator

RESULTS = Path(__file__).with_name("RESULTS.md")
THREADS = (1, 2)
WITH_STATERIGHT = ("yardstick", "two_phase_commit")
MOST_COMPILE, MOST_START, MOST_IMPORT = 60.0, 2.0, 0.5


def main(repeats: int, with_tlc: bool, before: Path | None) -> None:
    """Run everything, print the table and write it."""
    with_stateright = build_stateright()
    rows: list[Row] = []
    cold: dict[str, float] = {}
    with tempfile.TemporaryDirectory(prefix="halfcheck_bench_") as cache:
        for name, workload in WORKLOADS.items():
            cold[workload.title] = search(name, 1, Path(cache))["compile_seconds"]
            if before is not None:
                cold[f"{workload.title}, {BEFORE}"] = search(name, 1, Path(cache), before)["compile_seconds"]
            runs: dict[tuple[str, int], list[dict[str, Any]]] = {}
            for _ in range(repeats):
                for threads in THREADS:
                    runs.setdefault(("halfcheck", threads), []).append(search(name, threads, Path(cache)))
                    if with_stateright and name in WITH_STATERIGHT:
                        runs.setdefault((STATERIGHT, threads), []).append(stateright(name, threads))
                    if before is not None:
                        runs.setdefault((BEFORE, threads), []).append(search(name, threads, Path(cache), before))
            rows += [summed_up(workload.title, program, threads, r) for (program, threads), r in sorted(runs.items())]
    import_took = import_seconds(repeats)
    text = report(rows, cold, import_took, repeats)
    RESULTS.write_text(text, encoding="utf-8")
    if with_tlc:  # which takes minutes
        rows += [tlc(name) for name, work in WORKLOADS.items() if any(program == TLC for program, _ in work.beside)]
        text = report(rows, cold, import_took, repeats)
        RESULTS.write_text(text, encoding="utf-8")
    print(text)


def report(rows: list[Row], cold: dict[str, float], import_took: float, repeats: int) -> str:
    """The results as Markdown."""
    text = [
        "# How fast the explicit search is",
        "",
        "Written by `make bench-explicit`.",
        "",
        computer("Numba", "NumPy"),
        f"Medians of {repeats} runs, each the first of a fresh process, the programs in turn; in brackets the quickest",
        "and the slowest. Compiling is not in the seconds, neither Numba's nor cargo's. TLC runs once with 2 workers,",
        "and its seconds are those of its whole process. The search stores every state exactly; Stateright and TLC",
        "store hashes of them. Bytes a state are those of states and hash table, for Stateright those of its whole",
        "process. The host had lent its memory to this machine before each of them (`warm_memory.py`).",
        "",
        "| Machine | Program | Threads | Distinct | Generated | Depth | Seconds | Distinct/s | Bytes a state | Ratio |",
        "|---|---|--:|--:|--:|--:|--:|--:|--:|--:|",
    ]
    for row in rows:
        own = next(r for r in rows if (r.workload, r.program, r.threads) == (row.workload, "halfcheck", row.threads))
        spread = f" ({min(row.seconds):.2f} … {max(row.seconds):.2f})" if len(row.seconds) > 1 else ""
        each = "" if row.bytes_a_state is None else f"{row.bytes_a_state:.0f}"
        text.append(
            f"| {row.workload} | {row.program} | {row.threads} | {row.distinct:,} | {row.generated:,} | {row.depth} "
            f"| {row.median:.2f}{spread} | {row.rate / 1e6:.2f} M | {each} | {row.median / own.median:.2f} |"
        )
    text += [
        "",
        "Depth is the number of states on the longest shortest path; Stateright with two threads does not search level",
        "by level. The ratio is that of the seconds to those of this search with as many threads.",
        "",
        *bars(_bars(rows, cold, import_took)),
        "",
    ]
    return "\n".join(text)


def _bars(rows: list[Row], cold: dict[str, float], import_took: float) -> Iterator[tuple[str, str, str, bool | None]]:
    for workload in WORKLOADS.values():
        for threads, wanted in workload.wanted.items():
            (row,) = (r for r in rows if (r.workload, r.program, r.threads) == (workload.title, "halfcheck", threads))
            name = f"{workload.title}, {threads} thread{'s'[: threads - 1]}, distinct states a second"
            yield name, f"≥ {wanted / 1e6:g} M", f"{row.rate / 1e6:.2f} M", row.rate >= wanted
        for (program, threads), wanted in workload.beside.items():
            of_threads = (row for row in rows if (row.workload, row.threads) == (workload.title, threads))
            seconds = {row.program: row.median for row in of_threads}
            ratio = seconds[program] / seconds["halfcheck"] if program in seconds else None
            found = "not measured" if ratio is None else f"{ratio:.2f}"
            name = f"{workload.title}, {threads} thread{'s'[: threads - 1]}, times {program}"
            yield name, f"≥ {wanted:g}", found, None if ratio is None else ratio >= wanted
    limits = [(f"cold compile of {title}", MOST_COMPILE, seconds) for title, seconds in cold.items()]
    limits += [
        (f"warm start of {row.workload} to the first level", MOST_START, row.first_level_seconds)
        for row in rows
        if row.first_level_seconds is not None and row.threads == 1
    ]
    limits.append(("importing the command line", MOST_IMPORT, import_took))
    yield from ((f"{what}, s", f"≤ {most:g}", f"{took:.2f}", took <= most) for what, most, took in limits)


if __name__ == "__main__":
    parser = ArgumentParser()
    parser.add_argument("repeats", type=int, nargs="?", default=5)
    parser.add_argument("--without-tlc", action="store_true")
    parser.add_argument("--before", type=checkout)
    asked = parser.parse_args()
    main(asked.repeats, not asked.without_tlc, asked.before)
