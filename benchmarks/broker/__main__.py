"""``python -m benchmarks.broker [REPEATS] [TRANSACTIONS] [--before FOLDER]``: prints the table, writes RESULTS.md.

With the sources of another folder (a checkout of an earlier commit) in turn, so that whatever else the machine does
hits both alike.
"""

from __future__ import annotations

import json
import os
from argparse import ArgumentParser
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING

from benchmarks.broker.workloads import Measured
from benchmarks.computer import bars, computer
from benchmarks.sources import HERE, checkout, run_with

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

RESULTS = Path(__file__).with_name("RESULTS.md")
WORKLOADS = "benchmarks/broker/workloads.py"
PROFILES = ("4.5.1", "4.9.7", "5.3.3", "5.4.0", "5.5.1")
PENDING = 100_000
LONG_RUN = 1_000_000
WANTED_A_SECOND, WANTED_SECONDS = 20_000, 10
AS_FAST = 0.95

Seconds = dict[str, dict[Path, list[float]]]
"""For each profile, and for each folder of sources, those of each run."""


def main(repeats: int, transactions: int, before: Path | None) -> None:
    """Measure, print the table and write it."""
    load = os.getloadavg()[0]
    trees = (HERE,) if before is None else (HERE, before)
    settled = _in_turn("settle", transactions, repeats, trees)
    rounds = _in_turn("round", PENDING, repeats, trees)
    long_run = _told("memory", "5.3.3", LONG_RUN)
    heap, resident = (long_run.heap_bytes or 0) / 1024, (long_run.resident_bytes or 0) / (1 << 20)
    rows = []
    for version in PROFILES:
        rates, seconds = sorted(transactions / s for s in settled[version][HERE]), sorted(rounds[version][HERE])
        rows.append(
            f"| {version} | {median(rates):,.0f} ({rates[0]:,.0f} … {rates[-1]:,.0f}) | {1e6 / median(rates):.1f} "
            f"| {median(seconds):.2f} ({seconds[0]:.2f} … {seconds[-1]:.2f}) |"
        )
    text = f"""# How fast the reference broker is

Written by `make bench-broker`.

{computer()} Load before: {load:.2f}.
One thread, store files of RocketMQ's default sizes in a new directory, page cache, recorder off. Medians of {repeats}
runs, each in a fresh process; in brackets the least and the most. A transaction is a half stored, an END_TRANSACTION
that reads it back (three commits to a rollback), the real message and the op message. The round goes over
{PENDING:,} pending halves: each is read, stored once more, and its check request made.

| Profile | Transactions a second | µs each | Round over {PENDING:,} halves, s |
|---|--:|--:|--:|
{chr(10).join(rows)}

{long_run.count:,} transactions of 5.3.3 in a row, watched: after the first tenth Python's memory grew by
{heap:,.0f} KiB, and the process with the mapped pages that it holds by {resident:,.1f} MiB.

{chr(10).join(bars(_bars(transactions, settled, rounds, before)))}
"""
    RESULTS.write_text(text, encoding="utf-8")
    print(text)


def _bars(
    transactions: int, settled: Seconds, rounds: Seconds, before: Path | None
) -> Iterator[tuple[str, str, str, bool | None]]:
    for version in PROFILES:
        rate, seconds = transactions / median(settled[version][HERE]), median(rounds[version][HERE])
        yield f"{version}, transactions a second", f"≥ {WANTED_A_SECOND:,}", f"{rate:,.0f}", rate >= WANTED_A_SECOND
        yield f"{version}, the round, s", f"< {WANTED_SECONDS}", f"{seconds:.2f}", seconds < WANTED_SECONDS
    for what, taken in (("transactions", settled), ("the round", rounds)):
        for version, of_tree in taken.items():
            if before in of_tree:
                ratio = median(b / a for a, b in zip(of_tree[HERE], of_tree[before], strict=True))
                yield f"{version}, {what}, times the folder --before", f"≥ {AS_FAST}", f"{ratio:.2f}", ratio >= AS_FAST


def _in_turn(kind: str, count: int, repeats: int, trees: Sequence[Path]) -> Seconds:
    """The runs of each profile by the sources in each folder; none by those that do not know the profile."""
    taken: Seconds = {
        version: {tree: [] for tree in trees if run_with(tree, WORKLOADS, kind, version, "1").returncode == 0}
        for version in PROFILES
    }
    for _ in range(repeats):
        for version, of_tree in taken.items():
            for tree, seconds in of_tree.items():
                seconds.append(_told(kind, version, count, tree).seconds)
    return taken


def _told(kind: str, version: str, count: int, tree: Path = HERE) -> Measured:
    """A measurement in a fresh process, by the sources in a folder."""
    ran = run_with(tree, WORKLOADS, kind, version, str(count))
    ran.check_returncode()
    return Measured(**json.loads(ran.stdout))


if __name__ == "__main__":
    parser = ArgumentParser()
    parser.add_argument("repeats", type=int, nargs="?", default=5)
    parser.add_argument("transactions", type=int, nargs="?", default=100_000)
    parser.add_argument("--before", type=checkout)
    asked = parser.parse_args()
    main(asked.repeats, asked.transactions, asked.before)
