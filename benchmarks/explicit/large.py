"""``python -m benchmarks.explicit.large [REPEATS [INSTANCE [PROFILE [FAULTS]]]]``: writes RESULTS_LARGE.md.

The whole specification on an instance with at least 50 million states, one thread and two in turn, each search the
first of a fresh process. Compiling is measured once, with an empty cache. Where huge pages were set aside (``sysctl
vm.nr_hugepages=2600`` is enough for the usual world) all is measured twice: with these pages withheld, so that memory
comes from the system page by page, and with them.
"""

from __future__ import annotations

import os
import statistics
import sys
import tempfile
from pathlib import Path
from typing import NamedTuple

from benchmarks.computer import bars, computer
from benchmarks.explicit.check_command import Run, check, given_world
from benchmarks.explicit.warm_memory import GIB, first_touch, huge_pages_withheld
from model_check.world import NO_FAULTS, World

RESULTS = Path(__file__).with_name("RESULTS_LARGE.md")
USUAL = World.of("5.3.3", (), "large")
WANTED = {1: 2e6, 2: 3.5e6}
LEAST_STATES = 50_000_000
MOST_BYTES = 16


class Setting(NamedTuple):
    """How a search runs: its threads, and whether it may take the huge pages that were set aside."""

    threads: int
    is_set_aside: bool

    def __str__(self) -> str:
        threads = f"{self.threads} thread{'s'[: self.threads - 1]}"
        return f"{threads}, huge pages set aside" if self.is_set_aside else threads


def table(
    world: World, words: int, runs: dict[Setting, list[Run]], compile_seconds: float, touch: float, set_aside: int
) -> str:
    """The results as Markdown; `touch` is how fast memory is given, in GiB/s, `set_aside` bytes of huge pages."""
    some = next(iter(runs.values()))
    first = some[0].answer
    lines = [
        "# How fast a large instance is searched",
        "",
        "Written by `make bench-large`.",
        "",
        computer("Numba", "NumPy", with_memory=True),
        f"{world}: {first['distinct']:,} distinct states of {words} words, {first['generated']:,} generated, depth "
        f"{first['depth']}; stored exactly.",
        f"Medians of {len(some)} runs, each the first of a fresh process, one thread and two in turn; in brackets",
        f"the quickest and the slowest. Compiling is not in the seconds; it takes {compile_seconds:.1f} s, once.",
        f"Memory was given at {touch:.2f} GiB/s when it was touched first, which is in the seconds; huge pages that",
        f"were set aside ({set_aside / GIB:.1f} GiB of them here) stay the machine's.",
        "",
        "| Search | Seconds | Distinct/s | Bytes a state beyond words | States and table, bytes | Resident bytes |",
        "|---|--:|--:|--:|--:|--:|",
    ]
    met = [("distinct states", "≥ 50 M", f"{first['distinct'] / 1e6:.1f} M", first["distinct"] >= LEAST_STATES)]
    for setting, some in runs.items():
        seconds = [run.answer["seconds"] for run in some]
        middle = statistics.median(seconds)
        rate = first["distinct"] / middle
        peak = max(run.answer["peak_bytes"] for run in some)
        beyond = peak / first["distinct"] - 8 * words
        resident = max(run.resident_bytes for run in some)
        lines.append(
            f"| {setting} | {middle:.2f} ({min(seconds):.2f} … {max(seconds):.2f}) | {rate / 1e6:.2f} M | {beyond:.1f} "
            f"| {peak:,} | {resident:,} |"
        )
        wanted = WANTED[setting.threads]
        met.append(
            (f"distinct states a second, {setting}", f"≥ {wanted / 1e6:g} M", f"{rate / 1e6:.2f} M", rate >= wanted)
        )
        name = f"bytes a state beyond its words, {setting}"
        met.append((name, f"≤ {MOST_BYTES}", f"{beyond:.1f}", beyond <= MOST_BYTES))
    return "\n".join([*lines, "", *bars(met), ""])


def main(repeats: int, world: World) -> None:
    """Run everything, print the table and write it."""
    from model_check.explicit.code_generation.packing import state_width
    from spec.transactional_messages import TRANSACTIONAL_MESSAGES

    words = state_width(TRANSACTIONAL_MESSAGES, world.under(NO_FAULTS).constants).words
    with tempfile.TemporaryDirectory(prefix="halfcheck_bench_") as cache:
        os.environ["HALFCHECK_CACHE"] = cache
        compile_seconds = check(world, "--max-states", 1000).answer["compile_seconds"]
        with huge_pages_withheld() as set_aside:
            runs = _in_turn(repeats, world, is_set_aside=False)
        if set_aside:
            runs |= _in_turn(repeats, world, is_set_aside=True)
    (_,) = {
        tuple(run.answer[name] for name in ("distinct", "generated", "depth")) for some in runs.values() for run in some
    }
    needed = max(run.resident_bytes for some in runs.values() for run in some)
    text = table(world, words, runs, compile_seconds, first_touch(needed), set_aside)
    RESULTS.write_text(text, encoding="utf-8")
    print(text)


def _in_turn(repeats: int, world: World, *, is_set_aside: bool) -> dict[Setting, list[Run]]:
    runs: dict[Setting, list[Run]] = {Setting(threads, is_set_aside): [] for threads in WANTED}
    for _ in range(repeats):
        for setting, some in runs.items():
            some.append(check(world, "--threads", setting.threads))
    return runs


if __name__ == "__main__":
    given = sys.argv[1:]
    main(int(given[0]) if given else 5, given_world(given[1:], USUAL))
