"""``python -m benchmarks.what_if.sweep [TRANSACTIONS]``: prints the figures, writes RESULTS.md.

A sweep with a point in each of 60 places runs from its beginning to its end; then the same one is begun, loses a Python
worker and, later, its driver to SIGKILL, and is gone on with. Both have to write the same bytes.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from argparse import ArgumentParser
from contextlib import suppress
from pathlib import Path
from tempfile import TemporaryDirectory
from time import monotonic, sleep
from typing import Final

from benchmarks.computer import bars, computer, family

RESULTS: Final = Path(__file__).with_name("RESULTS.md")
WANTED_POINTS: Final = 60
WANTED_TRANSACTIONS: Final = 100_000
WANTED_SECONDS: Final = 600
REPLICATIONS: Final = 10
SWEEP: Final = ("transactionTimeOut=1s..60s:10", "transactionOpBatchInterval=1s,2s,3s,5s,10s,20s")
_WORKER: Final = b"spark_trace_analysis.cluster.worker_daemon"


def command(workload: Path, out: Path, transactions: int) -> list[str]:
    """The sweep as a command of this Python."""
    return [
        sys.executable, "-P", "-m", "halfcheck", "what-if", "--workload", str(workload), "--sweep", *SWEEP,
        "--transactions", str(transactions), "--replications", str(REPLICATIONS), "--master", "local[2]",
        "--out", str(out),
    ]  # fmt: skip


def finished(out: Path) -> int:
    """How many simulations are finished."""
    with suppress(OSError):
        return sum(path.suffix == ".json" for path in (out / "runs").iterdir())
    return 0


def kill_and_go_on(words: list[str], out: Path, total: int) -> int:
    """Kill a worker after a tenth and the driver after a third, then go on; gives how many were finished then."""
    driver = subprocess.Popen(words, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    wait_for(out, total // 10)
    for worker in workers_below(driver.pid):
        os.kill(worker, signal.SIGKILL)
        break
    wait_for(out, total // 3)
    driver.kill()
    driver.wait()
    sleep(2)
    kept = finished(out)
    subprocess.run(words, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=True)
    return kept


def wait_for(out: Path, number: int) -> None:
    """Wait until so many simulations are finished."""
    while finished(out) < number:
        sleep(0.1)


def workers_below(pid: int) -> list[int]:
    """The Python processes of Spark below a process, the workers before the one that forks them."""
    found = []
    for process in family(pid):
        with suppress(OSError):
            if _WORKER in Path(f"/proc/{process}/cmdline").read_bytes():
                found.append(process)
    return found[::-1]


def main(transactions: int) -> None:
    """Measure, print and write."""
    load = os.getloadavg()[0]
    with TemporaryDirectory() as folder:
        workload = Path(folder) / "shop.toml"
        from traffic.workload.example import example_text

        workload.write_text(example_text(), encoding="utf-8")
        whole, cut = Path(folder) / "whole", Path(folder) / "cut"
        began = monotonic()
        subprocess.run(command(workload, whole, transactions), stdout=subprocess.DEVNULL, check=True)
        seconds = monotonic() - began
        total = finished(whole)
        kept = kill_and_go_on(command(workload, cut, transactions), cut, total)
        is_same = all((whole / name).read_bytes() == (cut / name).read_bytes() for name in ("sweep.json", "index.html"))
    points = total // REPLICATIONS
    simulated = points * transactions
    is_full = transactions >= WANTED_TRANSACTIONS
    rate = simulated / seconds
    about = "" if is_full else (
        f" At this pace {WANTED_POINTS} points with {WANTED_TRANSACTIONS:,} transactions each take "
        f"{WANTED_POINTS * WANTED_TRANSACTIONS / rate:,.0f} s: that is not measured, and Spark's start counts in full."
    )  # fmt: skip
    rows = [
        (
            "seconds of the sweep",
            f"≤ {WANTED_SECONDS}",
            f"{seconds:,.0f}",
            seconds <= WANTED_SECONDS if is_full else None,
        ),
        ("same bytes after two kills", "yes", "yes" if is_same else "no", is_same),
    ]
    text = f"""# How long a sweep takes

Written by `make bench-sweep`.

{computer()} Load before: {load:.2f}.
The example of `halfcheck what-if --example`, {points} points ({" x ".join(SWEEP)}, and what the files say) of
{transactions:,} transactions in {REPLICATIONS} replications each, on `local[2]`, with Spark's start, tables and page:
{seconds:,.0f} s, {rate:,.0f} transactions a second.{about}

The same sweep lost a Python worker after a tenth and its driver after a third of its simulations (SIGKILL); {kept} of
{total} were found by the next command.

{chr(10).join(bars(rows))}
"""
    RESULTS.write_text(text, encoding="utf-8")
    print(text)


if __name__ == "__main__":
    parser = ArgumentParser()
    parser.add_argument("transactions", type=int, nargs="?", default=WANTED_TRANSACTIONS)
    main(parser.parse_args().transactions)
