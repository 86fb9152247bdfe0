"""``python -m benchmarks.broker [REPEATS] [TRANSACTIONS]``: prints the table and writes it to RESULTS.md."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from dataclasses import asdict
from pathlib import Path
from statistics import median

from benchmarks.broker.workloads import Measured, check_round, store_and_settle
from benchmarks.computer import computer

RESULTS = Path(__file__).with_name("RESULTS.md")
PROFILES = ("4.5.1", "4.9.7", "5.3.3", "5.4.0")
PENDING = 100_000
LONG_RUN = 1_000_000
WANTED_A_SECOND, WANTED_SECONDS = 20_000, 10


def main(repeats: int, transactions: int) -> None:
    """Measure, print the table and write it."""
    load = os.getloadavg()[0]
    rows, bars = [], []
    for version in PROFILES:
        settled = [_told("settle", version, transactions) for _ in range(repeats)]
        rounds = [_told("round", version, PENDING) for _ in range(repeats)]
        rates = sorted(m.count / m.seconds for m in settled)
        seconds = sorted(m.seconds for m in rounds)
        rows.append(
            f"| {version} | {median(rates):,.0f} ({rates[0]:,.0f} … {rates[-1]:,.0f}) | {1e6 / median(rates):.1f} "
            f"| {median(seconds):.2f} ({seconds[0]:.2f} … {seconds[-1]:.2f}) |"
        )
        met = "yes" if median(rates) >= WANTED_A_SECOND and median(seconds) < WANTED_SECONDS else "no"
        bars.append(f"| {version} | {median(rates):,.0f} | {median(seconds):.2f} | {met} |")
    long_run = _told("memory", "5.3.3", LONG_RUN)
    heap, resident = (long_run.heap_bytes or 0) / 1024, (long_run.resident_bytes or 0) / (1 << 20)
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

| Profile | ≥ {WANTED_A_SECOND:,} a second | < {WANTED_SECONDS} s | Met |
|---|--:|--:|---|
{chr(10).join(bars)}
"""
    RESULTS.write_text(text, encoding="utf-8")
    print(text)


def _told(kind: str, version: str, count: int) -> Measured:
    """A measurement in a fresh process."""
    words = [sys.executable, "-m", "benchmarks.broker", kind, version, str(count)]
    ran = subprocess.run(words, stdout=subprocess.PIPE, check=True)
    return Measured(**json.loads(ran.stdout))


def _measure(kind: str, version: str, count: int) -> None:
    with tempfile.TemporaryDirectory(prefix="halfcheck_bench_") as name:
        folder = Path(name)
        if kind == "round":
            measured = check_round(version, folder, count)
        else:
            measured = store_and_settle(version, folder, count, watches_memory=kind == "memory")
    print(json.dumps(asdict(measured)))


if __name__ == "__main__":
    if len(sys.argv) > 3:
        _measure(sys.argv[1], sys.argv[2], int(sys.argv[3]))
    else:
        given = [int(word) for word in sys.argv[1:]]
        main(given[0] if given else 5, given[1] if len(given) > 1 else 100_000)
