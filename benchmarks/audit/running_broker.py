"""How fast a running 5.3.3 with a million halves is audited, in how much memory, and what that costs the broker."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import time
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Final

from benchmarks.audit.watched_process import Taken, halfcheck
from benchmarks.audit.written_store import EXPECTED, VERSION, write_store_of_running
from benchmarks.computer import bars, processor
from benchmarks.wire.java_load import JavaLoad, Work, remoting_client
from real_brokers.rocketmq.broker import RealBroker

if TYPE_CHECKING:
    from collections.abc import Iterator

RESULTS: Final = Path(__file__).with_name("RESULTS_RUNNING.md")
STORES: Final = Path(os.environ.get("HALFCHECK_AUDIT_STORES", "build/audit"))
MOST_SECONDS: Final = 120
MOST_BYTES: Final = 400_000_000
LEAST_RATIO: Final = 0.95

_SETTINGS: Final = {
    "mappedFileSizeCommitLog": str(1 << 30), "mappedFileSizeConsumeQueue": "6000000", "fileReservedTime": "720000",
    "transactionCheckInterval": "36000000", "transactionTimeOut": "6000", "transactionCheckMax": "15",
}  # fmt: skip
"""Files of a broker's usual sizes, and no check round while the broker runs."""

_WORK: Final = Work(producers=20)
_LOWEST_PRIORITY: Final = "renice -n 19 $$ > /dev/null; echo 19 > /proc/self/autogroup 2> /dev/null"
"""Of a shell and of its session: where sessions share the cores evenly (``sched_autogroup_enabled``), ``nice`` counts
only among the processes of one."""
_WARM_UP_S, _START_S, _SLOT_S = 30, 6, 12


@dataclass(frozen=True, slots=True)
class Audited:
    """The audit of one broker: its traffic, what it took, the bytes of its log, and whether all states were counted."""

    traffic: str
    taken: Taken
    log_bytes: int
    is_right: bool


def main(pairs: int = 8, halves: int = 1_000_000) -> None:
    """Measure, and write the page."""
    load = os.getloadavg()[0]
    audits = [audited(traffic, halves) for traffic in ("pending", "mixed")]
    ratios = sorted(both / alone for alone, both in throughputs(pairs))
    ratio = median(ratios)
    rows = [
        (f"{one.traffic}: {what}", wanted, found, is_met)
        for one in audits
        for what, wanted, found, is_met in (
            ("seconds", f"≤ {MOST_SECONDS}", f"{one.taken.seconds:.1f}", one.taken.seconds <= MOST_SECONDS),
            ("CPU seconds of the audit", "", f"{one.taken.cpu_seconds:.1f}", None),
            ("peak MB, shared pages counted once", f"≤ {MOST_BYTES // 10**6}", f"{one.taken.peak_bytes / 1e6:.0f}",
             one.taken.peak_bytes <= MOST_BYTES),
            ("peak MB, all resident pages", "", f"{one.taken.peak_resident_bytes / 1e6:.0f}", None),
            ("log in MB", "", f"{one.log_bytes / 1e6:.0f}", None),
            ("counts as written", "yes", "yes" if one.is_right else "no", one.is_right),
        )
    ]  # fmt: skip
    rows.append((
        "transactions a second beside the audit, of those without it", f"≥ {LEAST_RATIO:.2f}",
        f"{ratio:.3f} ({ratios[0]:.2f} to {ratios[-1]:.2f})", ratio >= LEAST_RATIO,
    ))  # fmt: skip
    text = f"""# What the audit of a running broker takes

Written by `make bench-audit ARGS=running`.

{processor()}, {os.cpu_count()} cores. Load before: {load:.1f}; above {os.cpu_count()}, others shared the cores.
The broker is a real {VERSION} on loopback, and goes on from a store of {halves:,} halves (`OF_RUNNING` of
`written_store.py`): of *pending* traffic none is settled, of *mixed* all but the youngest that nobody answers.
`halfcheck audit --broker` in a fresh process, at its default rate of 20 MB/s. Pages are of the audit's process alone;
the files of libraries (some 140 MB) are among the resident ones, and counted once where other processes map them, too.

The broker's throughput: {_WORK.producers} producers of the Java client send and commit as fast as they can on the same
cores, {_SLOT_S} s without and {_SLOT_S} s beside an audit that begins anew whenever it ends, {pairs} times in turn. The
audit's session runs at the lowest priority, as what it computes would elsewhere not be taken from the broker's cores.
It asks a broker less that answers later (`wire/client/byte_rate.py`), so that it takes longer beside a load.
The median of the ratios of neighbours counts.

{chr(10).join(bars(rows))}
"""
    RESULTS.write_text(text, encoding="utf-8")
    print(text)


def audited(traffic: str, halves: int) -> Audited:
    """Let a broker go on from a store, and audit it."""
    store = STORES / f"{traffic}{halves}"
    if not (store / EXPECTED).is_file():
        shutil.rmtree(store, ignore_errors=True)
        write_store_of_running(store, halves, traffic)
    with RealBroker(VERSION, "audit", _SETTINGS, store, compiles_well=True) as broker:
        out, taken = halfcheck(["audit", "--broker", str(broker.address), "--json", "--limit", "100"])
    told = json.loads(out)
    expected = json.loads((store / EXPECTED).read_text(encoding="utf-8"))
    counts = {state: count for state, count in told["counts"].items() if count}
    listed = len(told["broker"]["pending"]) + told["broker"]["pending_omitted"]
    is_right = counts == expected and not told["corrupt"] and listed == expected["pending"]
    return Audited(traffic, taken, told["broker"]["log_end"] - told["broker"]["log_begin"], is_right)


def throughputs(pairs: int) -> Iterator[tuple[float, float]]:
    """Transactions a second without an audit, and beside one."""
    with (
        TemporaryDirectory(prefix="halfcheck-") as folder,
        RealBroker(VERSION, "load", _SETTINGS, compiles_well=True) as broker,
        JavaLoad(remoting_client(VERSION), str(broker.ports.name_server_address), Path(folder), _WORK) as load,
    ):
        time.sleep(_WARM_UP_S)
        for pair in range(pairs):
            found = {}
            for is_beside in (False, True) if pair % 2 else (True, False):  # who is first may have it easier
                with _auditing(str(broker.address)) if is_beside else _idle():
                    time.sleep(_START_S)
                    found[is_beside] = _rate(load)
            yield found[False], found[True]


def _rate(load: JavaLoad) -> float:
    began, before = time.perf_counter(), load.counts()["done"]
    time.sleep(_SLOT_S)
    return (load.counts()["done"] - before) / (time.perf_counter() - began)


@contextmanager
def _idle() -> Iterator[None]:
    yield


@contextmanager
def _auditing(address: str) -> Iterator[None]:
    """Audits of a broker, one after the other, until the block ends."""
    audits = f"while true; do {sys.executable} -m halfcheck audit --broker {address} --json --limit 1; done"
    command = ["/bin/sh", "-c", f"{_LOWEST_PRIORITY}; {audits}"]
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, start_new_session=True) as process:
        try:
            yield
        finally:
            os.killpg(process.pid, 9)
