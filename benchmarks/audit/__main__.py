"""``python -m benchmarks.audit [GIGABYTES ...]``: audits stores of 1, 2 and 4 GB on two cores and writes RESULTS.md.

``python -m benchmarks.audit running [PAIRS [HALVES]]`` audits running brokers and writes RESULTS_RUNNING.md.

Stores are written below ``build/audit`` (or ``HALFCHECK_AUDIT_STORES``) and kept: to write them takes longer than to
audit them.
"""

from __future__ import annotations

import json
import os
import shutil
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

from benchmarks.audit import running_broker
from benchmarks.audit.watched_process import halfcheck
from benchmarks.audit.written_store import BODY_BYTES, EXPECTED, write_store
from benchmarks.computer import processor

RESULTS = Path(__file__).with_name("RESULTS.md")
STORES = Path(os.environ.get("HALFCHECK_AUDIT_STORES", "build/audit"))
MASTER = "local[2,3]"
WANTED_MB_A_SECOND = 150
WANTED_GIGABYTES = 4
"""Smaller stores are there to show how time and memory grow: half of their seconds are Spark's start."""
_GB = 1_000_000_000


@dataclass(frozen=True)
class Measured:
    """One audit of one store.

    Attributes
    ----------
    log_bytes
        Of records; what a file holds behind them aside.
    peak_bytes
        The largest sum over all of its processes, shared pages counted once (``Pss``).
    cpu_seconds
        Of all of its processes.
    """

    log_bytes: int
    records: int
    transactions: int
    seconds: float
    cpu_seconds: float
    peak_bytes: int
    is_right: bool


def main(gigabytes: list[int]) -> None:
    """Measure, print the table and write it."""
    load = os.getloadavg()[0]
    rows = []
    measure(_store(gigabytes[0]))  # compiles kernels and bytecode
    for size in gigabytes:
        measured = measure(_store(size))
        rate = measured.log_bytes / measured.seconds / 1e6
        met = "" if size < WANTED_GIGABYTES else "yes" if rate >= WANTED_MB_A_SECOND else "NO"
        rows.append(
            f"| {measured.log_bytes / 1e9:.2f} | {measured.records:,} | {measured.transactions:,} | "
            f"{measured.seconds:.1f} | {measured.cpu_seconds:.1f} | {rate:.0f} | {met} | "
            f"{measured.peak_bytes / (1 << 20):,.0f} | {'yes' if measured.is_right else 'NO'} |"
        )
        print(rows[-1], flush=True)
    head = f"MB/s | ≥ {WANTED_MB_A_SECOND} | Peak MiB | Counts as written"
    text = f"""# How fast a large store is audited

Written by `make bench-audit`.

{processor()}, {os.cpu_count()} cores. Load before: {load:.1f}; above {os.cpu_count()}, others shared the cores.
`halfcheck audit STORE --master {MASTER} --out DIR --json`, each once in a fresh process with its kernels and its
bytecode compiled and the store in the page cache as far as it fits; Spark's start and the rows of all transactions as
Parquet are in the seconds.

The stores are those of `benchmarks/audit/written_store.py`: bodies of {BODY_BYTES[0]} to {BODY_BYTES[1]} bytes, and for
each transaction an ordinary message. Of a hundred transactions 85 are committed at once, 10 rolled back, 3 committed
when a check asks for them, and 2 never answered: put back three times and discarded. A transaction and its ordinary
message take about 4 KB of the log.

The memory is the largest sum over all processes (Java, the driver, Spark's Python workers), pages that they share
counted once, the mapped pages of the log among them. At least {WANTED_MB_A_SECOND} MB/s are wanted of stores of
{WANTED_GIGABYTES} GB and more; in smaller ones Spark's start is what takes the time.

| GB of records | Records | Transactions | Seconds | CPU seconds | {head} |
|--:|--:|--:|--:|--:|--:|---|--:|---|
{chr(10).join(rows)}
"""
    RESULTS.write_text(text, encoding="utf-8")


def _store(gigabytes: int) -> Path:
    """The store of a size, written if it is not there."""
    store = STORES / f"s{gigabytes}"
    if not (store / EXPECTED).is_file():
        shutil.rmtree(store, ignore_errors=True)
        write_store(store, gigabytes * _GB)
    return store


def measure(store: Path) -> Measured:
    """Audit a store in a fresh process."""
    with tempfile.TemporaryDirectory(prefix="halfcheck_bench_") as folder:
        words = ("audit", str(store), "--master", MASTER, "--json", "--out", f"{folder}/rows")
        out, taken = halfcheck(words)
    told = json.loads(out)
    expected = json.loads((store / EXPECTED).read_text(encoding="utf-8"))
    counts = {state: count for state, count in told["counts"].items() if count}
    return Measured(
        sum(path.stat().st_size for path in (store / "commitlog").iterdir()) - _blank_bytes(store),
        told["records"],
        sum(counts.values()),
        taken.seconds,
        taken.cpu_seconds,
        taken.peak_bytes,
        counts == expected and not told["corrupt"],
    )


def _blank_bytes(store: Path) -> int:
    """The zeros behind the last record."""
    last = max((store / "commitlog").iterdir())
    chunk, blank = 1 << 20, 0
    with last.open("rb") as stream:
        for at in range(last.stat().st_size - chunk, -1, -chunk):
            stream.seek(at)
            rest = stream.read(chunk).rstrip(b"\0")
            blank += chunk - len(rest)
            if rest:
                break
    return blank


if __name__ == "__main__":
    if sys.argv[1:2] == ["running"]:
        running_broker.main(*map(int, sys.argv[2:]))
    else:
        main([int(word) for word in sys.argv[1:]] or [1, 2, 4])
