"""``python -m benchmarks.wire [SECONDS]``: prints the table and writes it to RESULTS.md."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

from benchmarks.computer import computer

RESULTS: Final = Path(__file__).with_name("RESULTS.md")
CONNECTIONS: Final = 100
PROFILES: Final = ("4.9.7", "5.5.1")
WINDOWS: Final = (1, 4)
WANTED_A_SECOND: Final = 5_000
_TICKS: Final = os.sysconf("SC_CLK_TCK")


@dataclass(frozen=True, slots=True)
class Measured:
    """One run of a broker."""

    rate: float
    broker_processor: float
    load_processor: float
    memory_before: int
    memory_after: int


def measure(profile: str, window: int, seconds: float) -> Measured:
    """Start a broker, let the load warm it up for a fifth of the time, and measure the rest."""
    with TemporaryDirectory(prefix="halfcheck-") as folder:
        command = [
            sys.executable, "-m", "halfcheck", "broker", "--profile", profile, "--port", "0", "--store",
            f"{folder}/store", "--no-record", "--json",
        ]  # fmt: skip
        process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
        try:
            told_first = process.stdout.readline() if process.stdout is not None else ""
            address = json.loads(told_first)["address"]
            _load(address, window, seconds / 5)
            before, processor = _own_memory(process.pid), _processor(process.pid)
            told = _load(address, window, seconds)
            after, used = _own_memory(process.pid), _processor(process.pid) - processor
        finally:
            process.terminate()
            process.communicate(timeout=120)
    rate, each = told["done"] / told["seconds"], told["processor"] / told["done"]
    return Measured(rate, used / told["done"], each, before, after)


def _load(address: str, window: int, seconds: float) -> dict[str, float]:
    command = [sys.executable, "-m", "benchmarks.wire.load", address, str(CONNECTIONS), str(window), str(seconds)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    return dict(json.loads(done.stdout))


def _own_memory(pid: int) -> int:
    """Bytes that are the process's own, without the pages of the store's files."""
    lines = Path(f"/proc/{pid}/status").read_text(encoding="ascii").splitlines()
    return int(next(line for line in lines if line.startswith("RssAnon:")).split()[1]) * 1_024


def _processor(pid: int) -> float:
    """Seconds of user and system time."""
    fields = Path(f"/proc/{pid}/stat").read_text(encoding="ascii").rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / _TICKS


def main(seconds: float) -> None:
    """Measure, print the table and write it."""
    load = os.getloadavg()[0]
    rows = []
    best = 0.0
    for profile in PROFILES:
        for window in WINDOWS:
            told = measure(profile, window, seconds)
            best = max(best, told.rate)
            grown = (told.memory_after - told.memory_before) / (1 << 20)
            rows.append(
                f"| {profile} | {window} | {told.rate:,.0f} | {told.broker_processor * 1e6:,.0f} "
                f"| {1 / told.broker_processor:,.0f} | {told.load_processor * 1e6:,.0f} | {grown:,.1f} |"
            )
    met = "met" if best >= WANTED_A_SECOND else "not met"
    text = f"""# How much a broker on the wire takes

Written by `make bench-wire`.

{computer()} Load before: {load:.2f}.
`halfcheck broker --no-record`, a new store on this machine's disk, {CONNECTIONS} connections of a load generator in a
process of its own. A transaction is SEND_MESSAGE_V2 of a half of 100 bytes, its answer, and the one-way END_TRANSACTION
that commits it: two records and an entry of an op message. So many halves are under way on each connection;
{seconds:.0f} s each, behind a fifth of that to warm up.

| Profile | under way | Transactions a second | broker, µs each | alone on a processor | load, µs each | grew, MiB |
|---|--:|--:|--:|--:|--:|--:|
{chr(10).join(rows)}

Microseconds are of processor time; what grew is the broker's own memory, without the pages of the store's files.
Wanted: {WANTED_A_SECOND:,} a second on two processors, {met}. The broker has one thread, and where the machine does
other things as well (the load before says how much), no processor of its own.
"""
    print(text)
    RESULTS.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main(float(sys.argv[1]) if len(sys.argv) > 1 else 20.0)
