"""How many transactions a second a broker takes from a generator that costs next to nothing itself."""

from __future__ import annotations

import json
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

from benchmarks.wire.processes import own_memory, processor, served

CONNECTIONS: Final = 100
PROFILES: Final = ("4.9.7", "5.5.1")
WINDOWS: Final = (1, 4)


@dataclass(frozen=True, slots=True)
class Measured:
    """One run of a broker; seconds of processor time are a transaction's, memory is in bytes."""

    profile: str
    window: int
    rate: float
    broker_processor: float
    load_processor: float
    grown: int

    def row(self) -> str:
        """Its line of the table."""
        return (
            f"| {self.profile} | {self.window} | {self.rate:,.0f} | {self.broker_processor * 1e6:,.0f} "
            f"| {1 / self.broker_processor:,.0f} | {self.load_processor * 1e6:,.0f} | {self.grown / (1 << 20):,.1f} |"
        )


def measure(profile: str, window: int, seconds: float) -> Measured:
    """Start a broker, let the load warm it up for a fifth of the time, and measure the rest."""
    with TemporaryDirectory(prefix="halfcheck-") as folder, served(profile, Path(folder)) as broker:
        told_by(load_command(broker.address, window, seconds / 5))
        before, used_before = own_memory(broker.pid), sum(processor(broker.pid))
        told = told_by(load_command(broker.address, window, seconds))
        grown, used = own_memory(broker.pid) - before, sum(processor(broker.pid)) - used_before
    done = told["done"]
    return Measured(profile, window, done / told["seconds"], used / done, told["processor"] / done, grown)


def load_command(address: str, window: int, seconds: float) -> list[str]:
    """What runs the generator."""
    return [sys.executable, "-m", "benchmarks.wire.load", address, str(CONNECTIONS), str(window), str(seconds)]


def told_by(command: list[str]) -> dict[str, float]:
    """What it says at its end."""
    return dict(json.loads(subprocess.run(command, capture_output=True, text=True, check=True).stdout))


def table(rows: list[Measured], seconds: float) -> str:
    """Its part of the page."""
    return f"""## A generator

{CONNECTIONS} connections of a load generator in a process of its own. So many halves are under way on each connection;
{seconds:.0f} s each, behind a fifth of that to warm up.

| Profile | under way | Transactions a second | broker, µs each | alone on a processor | load, µs each | grew, MiB |
|---|--:|--:|--:|--:|--:|--:|
{chr(10).join(each.row() for each in rows)}

What grew is the broker's own memory, without the pages of the store's files.
"""
