"""The table of RESULTS.md."""

from __future__ import annotations

from typing import TYPE_CHECKING

from benchmarks.explicit.workloads import WORKLOADS
from benchmarks.machine import bars, machine

if TYPE_CHECKING:
    from collections.abc import Iterator

    from benchmarks.explicit.runs import Row

MOST_COMPILE, MOST_START, MOST_IMPORT = 60.0, 2.0, 0.5


def report(rows: list[Row], cold: dict[str, float], import_seconds: float, repeats: int) -> str:
    """The results as Markdown."""
    text = [
        "# How fast the explicit search is",
        "",
        "Written by `make bench-explicit`.",
        "",
        machine("Numba", "NumPy"),
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
        *bars(_bars(rows, cold, import_seconds)),
        "",
    ]
    return "\n".join(text)


def _bars(
    rows: list[Row], cold: dict[str, float], import_seconds: float
) -> Iterator[tuple[str, str, str, bool | None]]:
    for workload in WORKLOADS.values():
        for threads, wanted in workload.wanted.items():
            (row,) = (r for r in rows if (r.workload, r.program, r.threads) == (workload.title, "halfcheck", threads))
            name = f"{workload.title}, {threads} thread{'s'[: threads - 1]}, distinct states a second"
            yield name, f"≥ {wanted / 1e6:g} M", f"{row.rate / 1e6:.2f} M", row.rate >= wanted
        for (program, threads), wanted in workload.beside.items():
            of_threads = (row for row in rows if (row.workload, row.threads) == (workload.title, threads))
            seconds = {row.program: row.median for row in of_threads}
            ratio = seconds[program] / seconds["halfcheck"] if program in seconds else None
            found = "not measured" if ratio is None else f"{ratio:.1f}"
            name = f"{workload.title}, {threads} thread{'s'[: threads - 1]}, times {program}"
            yield name, f"≥ {wanted:g}", found, None if ratio is None else ratio >= wanted
    limits = [(f"cold compile of {title}", MOST_COMPILE, seconds) for title, seconds in cold.items()]
    limits += [
        (f"warm start of {row.workload} to the first level", MOST_START, row.first_level_seconds)
        for row in rows
        if row.first_level_seconds is not None and row.threads == 1
    ]
    limits.append(("importing the command line", MOST_IMPORT, import_seconds))
    yield from ((f"{what}, s", f"≤ {most:g}", f"{took:.2f}", took <= most) for what, most, took in limits)
