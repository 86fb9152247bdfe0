"""``python -m benchmarks.what_if [REPEATS] [TRANSACTIONS] [--python NAME=PATH]``: prints the table, writes RESULTS.md.

A simulation and the broker alone take turns in fresh processes, and processor seconds are compared, so that whatever
else the machine does hits both alike. So do other Pythons, which need no packages for it: a Python that is built
without profile-guided optimization, as pyenv builds it, takes more than those of distributions.
"""

from __future__ import annotations

import json
import os
import platform
import resource
import sys
from argparse import ArgumentParser
from dataclasses import asdict, dataclass
from pathlib import Path
from statistics import median
from time import process_time
from typing import TYPE_CHECKING, Final

from benchmarks.computer import bars, computer
from benchmarks.sources import HERE, run_with

if TYPE_CHECKING:
    from collections.abc import Iterator

RESULTS: Final = Path(__file__).with_name("RESULTS.md")
SCRIPT: Final = "benchmarks/what_if/__main__.py"
PROFILES: Final = ("4.5.1", "4.9.7", "5.3.3", "5.5.1")
CORES: Final = 2
WANTED_A_MINUTE: Final = 1_000_000
MOST_TIMES_THE_BROKER: Final = 2.0
"""The event loop, the clients and the consumer may cost as much as the broker alone."""
MOST_GROWTH: Final = 1.2
LONG: Final = 5, 10
"""So many times more transactions, and twice as many again, show whether the memory grows."""


@dataclass(frozen=True)
class Taken:
    """What one process took: processor seconds, and the most memory that it held."""

    seconds: float
    resident_bytes: int


def simulated(version: str, count: int) -> None:
    """Simulate the example of a workload."""
    from files.content import parse_toml
    from traffic.simulation.simulate import simulate
    from traffic.simulation.simulated_broker import SimulatedBroker
    from traffic.workload.example import example_text
    from traffic.workload.reading import workload_of

    given = workload_of(parse_toml(example_text()), "shop", "shop")
    simulate(SimulatedBroker.of(version, version), given, 7, count)


def settled(version: str, count: int) -> None:
    """The broker alone, with its store in memory: halves, END_TRANSACTIONs, pulls of a message each, check rounds."""
    from benchmarks.broker.workloads import GROUP, OPS_EVERY, send, settle
    from reference.broker.broker_controller import BrokerController
    from reference.broker.broker_settings import BrokerSettings
    from reference.broker.recorder import Recorder
    from reference.broker.transaction.check_outcome import CheckBranch
    from reference.format.record import QueueOffset
    from reference.simulation.virtual_clock import VirtualClock
    from reference.store.memory_disk import MemoryDisk
    from reference.store.message_store import MessageStore
    from reference.versions.versions import VERSIONS

    switches, clock = VERSIONS[version], VirtualClock(1_700_000_000_000)
    store = MessageStore(switches, clock, MemoryDisk(counts_writes=False))
    broker = BrokerController(switches, BrokerSettings(), clock, store, Recorder(clock, is_on=False))
    topic, offsets = GROUP, [0] * 4
    for number in range(count):
        settle(broker, number, send(broker, number, topic).msg_id)
        pulled = store.get_message(topic, number & 3, QueueOffset(offsets[number & 3]), 32)
        offsets[number & 3] = pulled.next_begin_offset if pulled.message_buffers else offsets[number & 3]
        clock.advance(5)
        if number % OPS_EVERY == 0 and switches.batches_ops:
            broker.run_op_batch_service()
        check_round = broker.begin_check_round()
        while check_round is not None and not check_round.is_over:
            if check_round.step().branch is CheckBranch.ASLEEP:
                clock.advance(check_round.wakes_at - clock.elapsed)


def measure(kind: str, version: str, count: int) -> Taken:
    """Measure in this process."""
    from traffic.simulation.simulate import without_collector

    work = {"simulate": simulated, "settle": settled}[kind]
    with without_collector():  # a simulation does without, so the broker alone does
        work(version, 100)
        before = process_time()
        work(version, count)
    return Taken(process_time() - before, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024)


Pairs = list[tuple[Taken, Taken]]
"""Of one Python and release, for each repeat: the simulation, the broker alone."""


def main(repeats: int, transactions: int, pythons: dict[str, str]) -> None:
    """Measure, print the table and write it; the Pythons are paths by what the page calls them."""
    load = os.getloadavg()[0]
    taken: dict[tuple[str, str], Pairs] = {(name, version): [] for version in PROFILES for name in pythons}
    for _ in range(repeats):
        for (name, version), pairs in taken.items():
            python = pythons[name]
            simulation = _measured("simulate", version, transactions, python)
            pairs.append((simulation, _measured("settle", version, transactions, python)))
    short, long = (times * transactions for times in LONG)
    short_mb, long_mb = (
        _measured("simulate", "5.3.3", count, sys.executable).resident_bytes / (1 << 20) for count in (short, long)
    )
    rows = [
        f"| {version} | {name} | {_each(pairs, 0, transactions):.0f} | {_each(pairs, 1, transactions):.0f} "
        f"| {_ratio(pairs):.2f} | {_a_minute(pairs, transactions):,.0f} |"
        for (name, version), pairs in taken.items()
    ]
    text = f"""# How fast traffic is simulated

Written by `make bench-what-if`.

{computer()} Load before: {load:.2f}.
The example of `halfcheck what-if --example`, {transactions:,} transactions, in a process of its own; in turn with it
the reference broker alone with its store in memory: a half, its END_TRANSACTION, a pull for each message, check rounds.
The figures are processor time, medians of {repeats} runs; a minute is that of {CORES} cores with nothing else to do, of
which each simulates by itself. How fast that is depends on how a Python was built: pyenv leaves profile-guided
optimization out unless it is asked for, distributions such as Debian have it.

| Release | Python | simulated, µs a transaction | broker alone, µs | ratio | transactions a minute |
|---|---|--:|--:|--:|--:|
{chr(10).join(rows)}

In one process, {short:,} transactions of 5.3.3 held {short_mb:,.0f} MB at most, {long:,} held {long_mb:,.0f} MB.

{chr(10).join(bars(_bars(taken, transactions, long_mb / short_mb)))}
"""
    RESULTS.write_text(text, encoding="utf-8")
    print(text)


def _bars(
    taken: dict[tuple[str, str], Pairs], transactions: int, growth: float
) -> Iterator[tuple[str, str, str, bool | None]]:
    for (name, version), pairs in taken.items():
        rate, ratio, which = _a_minute(pairs, transactions), _ratio(pairs), f"{version}, {name}"
        yield f"{which}: transactions a minute", f"≥ {WANTED_A_MINUTE:,}", f"{rate:,.0f}", rate >= WANTED_A_MINUTE
        wanted = f"≤ {MOST_TIMES_THE_BROKER}"
        yield f"{which}: times the broker alone", wanted, f"{ratio:.2f}", ratio <= MOST_TIMES_THE_BROKER
    yield "memory of twice as many", f"≤ {MOST_GROWTH}", f"{growth:.2f}", growth <= MOST_GROWTH


def _each(pairs: Pairs, side: int, transactions: int) -> float:
    """Microseconds a transaction."""
    return median(pair[side].seconds for pair in pairs) * 1e6 / transactions


def _ratio(pairs: Pairs) -> float:
    return median(simulation.seconds / alone.seconds for simulation, alone in pairs)


def _a_minute(pairs: Pairs, transactions: int) -> float:
    return CORES * 60e6 / _each(pairs, 0, transactions)


def _measured(kind: str, version: str, count: int, python: str) -> Taken:
    """A measurement in a fresh process."""
    ran = run_with(HERE, SCRIPT, "--measure", kind, version, str(count), python=python)
    ran.check_returncode()
    return Taken(**json.loads(ran.stdout))


if __name__ == "__main__":
    if sys.argv[1:2] == ["--measure"]:
        print(json.dumps(asdict(measure(sys.argv[2], sys.argv[3], int(sys.argv[4])))))
    else:
        parser = ArgumentParser()
        parser.add_argument("repeats", type=int, nargs="?", default=5)
        parser.add_argument("transactions", type=int, nargs="?", default=20_000)
        parser.add_argument("--python", action="append", default=[], metavar="NAME=PATH")
        asked = parser.parse_args()
        others = dict(each.split("=", 1) for each in asked.python)
        main(
            asked.repeats, asked.transactions, {f"{platform.python_version()}, as installed": sys.executable, **others}
        )
