"""How fast a running 5.3.3 with a million halves is audited, in how much memory, and what that costs the broker."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Final, Self

import numpy as np

from benchmarks.audit.watched_process import Taken, halfcheck
from benchmarks.audit.written_store import EXPECTED, VERSION, write_store_of_running
from benchmarks.computer import bars, processor
from benchmarks.wire.java_load import JavaLoad, Work, remoting_client
from real_brokers.rocketmq.broker import RealBroker

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

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
_ONLY_WHEN_IDLE: Final = "chrt -i -p 0 $$ > /dev/null"
"""Of a shell and what it starts: ``SCHED_IDLE``, which every other process preempts at once."""
_AUTOGROUP: Final = Path("/proc/sys/kernel/sched_autogroup_enabled")
"""Where sessions share the cores evenly, a policy counts only among the processes of one."""
_AUDITS: Final = "{python} -m halfcheck audit --broker {broker} --json --limit 1"
_SPINS: Final = "{python} -c 'while True: pass'"
_DRAWN: Final = 2_000
_WARM_UP_S, _START_S, _SETTLE_S, _SLOT_S = 40, 20, 0.3, 2.5


@dataclass(frozen=True, slots=True)
class Ratio:
    """Of the transactions in all slots with a process beside to those without; with its bootstrapped 95 % interval."""

    ratio: float
    least: float
    most: float

    @classmethod
    def of(cls, ran: Sequence[float], stood: Sequence[float]) -> Self:
        """Of the rates in neighbouring slots."""
        both, alone = np.array(ran), np.array(stood)
        drawn = np.random.default_rng(7).integers(len(both), size=(_DRAWN, len(both)))
        least, most = np.quantile(both[drawn].sum(axis=1) / alone[drawn].sum(axis=1), [0.025, 0.975])
        return cls(both.sum() / alone.sum(), float(least), float(most))

    def __str__(self) -> str:
        return f"{self.ratio:.3f} ({self.least:.3f} to {self.most:.3f})"


@dataclass(frozen=True, slots=True)
class Audited:
    """The audit of one broker: its traffic, what it took, the bytes of its log, and whether all states were counted."""

    traffic: str
    taken: Taken
    log_bytes: int
    is_right: bool


def main(pairs: int = 20, halves: int = 1_000_000) -> None:
    """Measure, and write the page."""
    load = os.getloadavg()[0]
    audits = [audited(traffic, halves) for traffic in ("pending", "mixed")]
    idle, ratio = (throughput(pairs, command) for command in (_SPINS, _AUDITS))
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
    rows += [
        ("transactions a second beside a process that only computes, of those without it", "", str(idle), None),
        ("the same beside an audit", f"≥ {LEAST_RATIO:.2f}", str(ratio), ratio.ratio >= LEAST_RATIO),
    ]
    text = f"""# What the audit of a running broker takes

Written by `make bench-audit ARGS=running`.

{processor()}, {os.cpu_count()} cores. Load before: {load:.1f}; above {os.cpu_count()}, others shared the cores.
The broker is a real {VERSION} on loopback, and goes on from a store of {halves:,} halves (`OF_RUNNING` of
`written_store.py`): of *pending* traffic none is settled, of *mixed* all but the youngest that nobody answers.
`halfcheck audit --broker` in a fresh process, at its default rate of 20 MB/s. Pages are of the audit's process alone;
the files of libraries (some 140 MB) are among the resident ones, and counted once where other processes map them, too.

The broker's throughput: {_WORK.producers} producers of the Java client send and commit as fast as they can on the same
cores, beside an audit that begins anew whenever it ends. It is stopped and continued every {_SLOT_S} s, {pairs} times
each; the interval is that of 95 %, bootstrapped. It takes the cores only when they are idle (`SCHED_IDLE`, without
autogroups), as what it computes would elsewhere not be taken from the broker's. At the lowest `nice` instead, a loop
that asks nobody anything takes a tenth of a core and costs a fifth of the transactions here: threads wait for it.

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


def throughput(pairs: int, beside: str) -> Ratio:
    """Transactions a second of a load, with a process beside and with that process stopped, in turn.

    It is continued and stopped every few seconds: what a load does varies more from minute to minute than this costs.
    """
    ran: list[float] = []
    stood: list[float] = []
    with (
        TemporaryDirectory(prefix="halfcheck-") as folder,
        RealBroker(VERSION, "load", _SETTINGS, compiles_well=True) as broker,
        JavaLoad(remoting_client(VERSION), str(broker.ports.name_server_address), Path(folder), _WORK) as load,
    ):
        time.sleep(_WARM_UP_S)
        with _beside(beside.format(python=sys.executable, broker=broker.address)) as group:
            time.sleep(_START_S)
            for pair in range(pairs):
                for runs in (True, False) if pair % 2 else (False, True):  # who is first may have it easier
                    os.killpg(group, signal.SIGCONT if runs else signal.SIGSTOP)
                    (ran if runs else stood).append(_rate(load))
    return Ratio.of(ran, stood)


def _rate(load: JavaLoad) -> float:
    time.sleep(_SETTLE_S)
    began, before = time.perf_counter(), load.counts()["done"]
    time.sleep(_SLOT_S)
    return (load.counts()["done"] - before) / (time.perf_counter() - began)


@contextmanager
def _beside(command: str) -> Iterator[int]:
    """A shell command that is begun anew whenever it ends, until the block ends; gives its group."""
    words = ["/bin/sh", "-c", f"{_ONLY_WHEN_IDLE}; while true; do {command}; done"]
    with _without_autogroups(), subprocess.Popen(words, stdout=subprocess.DEVNULL, start_new_session=True) as process:
        try:
            yield process.pid
        finally:
            os.killpg(process.pid, signal.SIGKILL)


@contextmanager
def _without_autogroups() -> Iterator[None]:
    before = _AUTOGROUP.read_text(encoding="ascii")
    _AUTOGROUP.write_text("0", encoding="ascii")
    try:
        yield
    finally:
        _AUTOGROUP.write_text(before, encoding="ascii")
