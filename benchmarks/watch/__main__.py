"""``make soak-watch``, ``python -m benchmarks.watch [MINUTES [RATE [RELEASE]]]``: a watch beside a real broker at work.

The real Java client sends at a steady rate through a real broker, with rollbacks, transactions that only a check
settles, and some that are never answered and so are discarded. A transaction is committed twice now and then. A watch
looks every 30 seconds; a real Prometheus reads its metrics, where ``prometheus`` is on the path. In the end the store
is audited, and held against what was reported: all of it, and how soon. Prints a line a minute, writes RESULTS.md.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import threading
import time
import urllib.request
from dataclasses import dataclass, field
from pathlib import Path
from statistics import fmean, median
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any, Final

import pyarrow as pa

from benchmarks.computer import computer
from benchmarks.wire.java_load import JavaLoad, Work, remoting_client
from benchmarks.wire.processes import own_memory, processor
from conformance.errors import ConformanceError
from files.parquet import parquet_file
from files.writing import write_whole
from halfcheck.watching.news import REPORTED_STATES
from halfcheck.whole_store import audited
from real_brokers.loopback import free_port
from real_brokers.rocketmq.broker import RealBroker
from spark_trace_analysis.audit.rules.transaction_row import TransactionRow
from spark_trace_analysis.audit.selection import Selection
from wire.client.channel import Address, BrokerChannel
from wire.client.transactions import COMMIT, end_transaction, heartbeat, send_half

if TYPE_CHECKING:
    from collections.abc import Sequence

BUILT: Final = Path(__file__).parents[2] / "build"
ROOT: Final = Path(__file__).parents[2]
RESULTS: Final = Path(__file__).with_name("RESULTS.md")
INTERVAL_S: Final = 30
GROWN_BY: Final = 0.05
SETTINGS: Final = {
    "transactionTimeOut": "3000",
    "transactionCheckInterval": "5000",
    "transactionCheckMax": "5",
    "mapedFileSizeCommitLog": str(1 << 28),
}
_MIB: Final = 1 << 20
_TOPIC: Final = "Twice"
_GROUP: Final = "twice"


@dataclass(slots=True)
class Sample:
    """One minute: the watch's memory and processor seconds, its last look, the load's counts."""

    minute: float
    memory: int
    processor: float
    file: int
    look: dict[str, Any]
    counts: dict[str, int]


@dataclass(slots=True)
class Watched:
    """What a watch has printed so far, with the time at which each line came."""

    process: subprocess.Popen[str]
    events: list[tuple[float, dict[str, Any]]] = field(default_factory=list)

    def read(self) -> None:
        """Take in its lines until it ends."""
        for line in self.process.stdout or ():
            self.events.append((time.time(), json.loads(line)))

    @property
    def looks(self) -> list[dict[str, Any]]:
        """The looks among them."""
        return [event for _, event in self.events if event["event"] == "look"]


def commit_twice(address: Address, over: threading.Event, pause_s: float) -> None:
    """Commit each half twice, as a producer does that repeats an END_TRANSACTION (A13)."""
    with BrokerChannel(address) as channel:
        number = 0
        while not over.wait(pause_s):
            heartbeat(channel, "twice@1", _GROUP)  # without one for two minutes, a broker closes the connection
            half = send_half(channel, _GROUP, _TOPIC, f"{number:032X}", b"twice")
            end_transaction(channel, _GROUP, half, COMMIT)
            end_transaction(channel, _GROUP, half, COMMIT)
            number += 1


def soaked(minutes: int, rate: float, release: str, folder: Path) -> tuple[list[Sample], list[str], list[str]]:
    """Run it all; gives the samples, what was reported late or not at all, and sentences on what was seen."""
    port, over = free_port(), threading.Event()
    work = Work(20, rate=rate, rolled_back=100, by_check=50, never=1, has_consumer=True)
    with RealBroker(release, "watched", SETTINGS, compiles_well=True) as broker:
        twice = threading.Thread(target=commit_twice, args=(broker.address, over, 5.0))
        twice.start()
        client = remoting_client(release)
        command = [
            sys.executable, "-m", "halfcheck", "audit", "--broker", str(broker.address), "--watch", f"{INTERVAL_S}s",
            "--memory", str(folder / "memory"), "--metrics-port", str(port), "--hanging", "1h", "--json",
        ]  # fmt: skip
        with JavaLoad(client, str(broker.ports.name_server_address), folder, work) as load:
            watched = Watched(subprocess.Popen(command, stdout=subprocess.PIPE, text=True))
            reading = threading.Thread(target=watched.read)
            reading.start()
            prometheus = _prometheus(folder, port)
            samples = _sampled(minutes, watched, load, folder)
            over.set()
            twice.join()
            load.end()
            time.sleep(2 * INTERVAL_S + 40)
            scraped = _scraped(prometheus)
            watched.process.terminate()
            reading.join()
            watched.process.wait()
        broker.stop_broker()
        late, reported = _held(broker.store, watched, folder)
    return samples, late, [*reported, *scraped]


def _sampled(minutes: int, watched: Watched, load: JavaLoad, folder: Path) -> list[Sample]:
    samples: list[Sample] = []
    began = time.monotonic()
    for number in range(1, minutes + 1):
        time.sleep(max(0.0, began + number * 60 - time.monotonic()))
        pid = watched.process.pid
        size = sum(path.stat().st_size for path in (folder / "memory").iterdir())
        look = watched.looks[-1] if watched.looks else {}
        counts = load.counts()
        samples.append(
            Sample((time.monotonic() - began) / 60, own_memory(pid), sum(processor(pid)), size, look, counts)
        )
        print(row(samples[-2:]), flush=True)
    return samples


def row(last: Sequence[Sample]) -> str:
    """The line of a sample."""
    now, before = last[-1], last[0]
    seconds = max((now.minute - before.minute) * 60, 1)
    counts = now.look.get("counts", {})
    return (
        f"| {now.minute:.0f} | {now.counts['done']:,} "
        f"| {(now.counts['done'] - before.counts['done']) / seconds:,.0f} "
        f"| {sum(counts.values()):,} | {counts.get('doubled', 0)} | {counts.get('parked', 0)} "
        f"| {counts.get('pending', 0):,} | {now.memory / _MIB:.0f} "
        f"| {(now.processor - before.processor) / seconds:.2f} | {now.file / _MIB:.0f} |"
    )


def _held(store: Path, watched: Watched, folder: Path) -> tuple[list[str], list[str]]:
    """Hold what was reported against the audit of the store; what is reported late is named."""
    audited(store, None, folder / "rows", limit=0)
    reported = {
        (event["transaction"]["unique_key"], event["event"]): came
        for came, event in watched.events
        if "transaction" in event
    }
    late: list[str] = []
    delays: dict[str, list[float]] = {"doubled": [], "parked": []}
    unexplained = set(reported)
    chosen = Selection(states=REPORTED_STATES)
    for path in sorted((folder / "rows").glob("transactions-*.parquet")):
        with parquet_file(path) as file:
            for group in range(file.num_row_groups):
                table = file.read_row_group(group)
                for content in table.filter(pa.array(chosen.flags(table))).to_pylist():
                    _hold(TransactionRow.of(content), reported, delays, late, unexplained)
    late += [f"{key} was reported {what}, and the store does not say so" for key, what in sorted(unexplained)]
    sentences = [
        f"{what}: {len(found)} transactions, all reported, {median(found):.0f} s behind their record in the middle, "
        f"{max(found):.0f} s at most"
        for what, found in delays.items()
        if found
    ]
    return late, sentences


def _hold(
    row_of: TransactionRow,
    reported: dict[tuple[str, str], float],
    delays: dict[str, list[float]],
    late: list[str],
    unexplained: set[tuple[str, str]],
) -> None:
    """Hold one row against what was reported of it."""
    events = {"doubled": "delivered", "parked": "discarded"}
    for what, event in events.items():
        if what not in (row_of.state, *row_of.also):
            continue
        times = [one.time for one in row_of.history if one.event == event]
        at = (times[1] if what == "doubled" else times[0]) / 1_000
        came = reported.get((row_of.unique_key, what))
        unexplained.discard((row_of.unique_key, what))
        if came is None:
            late.append(f"{row_of.unique_key} is {what}, and was not reported")
            continue
        delays[what].append(came - at)
        if came - at > 2 * INTERVAL_S:
            late.append(f"{row_of.unique_key} was reported {what} {came - at:.0f} s late")


def _prometheus(folder: Path, port: int) -> tuple[subprocess.Popen[bytes], int] | None:
    """A real Prometheus that reads the metrics, if one is on the path."""
    program = shutil.which("prometheus")
    if program is None:
        return None
    listen = free_port()
    rules = ROOT / "docs" / "monitoring" / "alerts.yml"
    (folder / "prometheus.yml").write_text(
        f"global: {{scrape_interval: 5s, evaluation_interval: 5s}}\nrule_files: [{rules}]\n"
        f"scrape_configs: [{{job_name: halfcheck, static_configs: [{{targets: ['127.0.0.1:{port}']}}]}}]\n",
        encoding="utf-8",
    )
    command = [
        program, f"--config.file={folder}/prometheus.yml", f"--storage.tsdb.path={folder}/tsdb",
        f"--web.listen-address=127.0.0.1:{listen}",
    ]  # fmt: skip
    with (folder / "prometheus.log").open("wb") as log:
        return subprocess.Popen(command, stdout=log, stderr=log), listen


def _scraped(running: tuple[subprocess.Popen[bytes], int] | None) -> list[str]:
    """What Prometheus has read, and its alerts."""
    if running is None:
        return ["no `prometheus` is on the path: the metrics were read by nobody"]
    process, port = running
    try:
        names = _asked(port, "label/__name__/values")
        ours = sorted(name for name in names if name.startswith("halfcheck_"))
        alerts = sorted({alert["labels"]["alertname"] for alert in _asked(port, "alerts")["alerts"]})
        doubled = _asked(port, "query?query=halfcheck_reported_total%7Bevent%3D%22doubled%22%7D")["result"]
    finally:
        process.terminate()
        process.wait()
    return [
        f"Prometheus has read {len(ours)} metrics of the watch: {', '.join(ours)}",
        f'it has halfcheck_reported_total{{event="doubled"}} as {doubled[0]["value"][1] if doubled else "nothing"}',
        f"its alerts at the end: {', '.join(alerts) or 'none'}",
    ]


def _asked(port: int, what: str) -> Any:
    with urllib.request.urlopen(f"http://127.0.0.1:{port}/api/v1/{what}") as answer:
        return json.load(answer)["data"]


def page(minutes: int, rate: float, release: str, samples: Sequence[Sample], late: list[str], seen: list[str]) -> str:
    """RESULTS.md."""
    size = max(1, len(samples) // 4)
    first, last = (fmean(one.memory for one in part) for part in (samples[size : 2 * size], samples[-size:]))
    verdict = "Grown" if last > first * (1 + GROWN_BY) else "Nothing grew"
    rows = [row(samples[max(place - 1, 0) : place + 1]) for place in range(len(samples))]
    lines = "\n".join(f"- {line}" for line in [*seen, *late])
    return f"""# A watch beside a broker at work

Written by `make soak-watch ARGS="{minutes} {rate:.0f} {release}"`. {computer()} Broker, clients and watch share
it. A real {release} with transactionTimeOut=3000, transactionCheckInterval=5000, transactionCheckMax=5; its Java
client sends {rate:,.0f} transactions a second: of 1,000, 100 are rolled back, 50 committed by the answer to their
check, one is never answered. Every 5 seconds one is committed twice. `halfcheck audit --broker --watch {INTERVAL_S}s`.

**{verdict}**: own memory of the watch {first / _MIB:.0f} MiB in the second quarter, {last / _MIB:.0f} MiB in the last,
with {sum(samples[-1].look["counts"].values()):,} transactions; **{len(late)} reported late, or wrongly**.

{lines}

| minute | done | a second | seen | doubled | parked | pending | own memory, MiB | processors | file, MiB |
|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|
{chr(10).join(rows)}
"""


def main(words: Sequence[str]) -> int:
    """Run it; 1 if something grew or was reported late, 150 if it can't be run."""
    minutes, rate, release, *_ = [*words, *("60", "300", "5.3.3")[len(words) :]]
    BUILT.mkdir(exist_ok=True)
    with TemporaryDirectory(prefix="watch-", dir=BUILT) as folder:
        try:
            samples, late, seen = soaked(int(minutes), float(rate), release, Path(folder))
        except ConformanceError as error:
            print(error, file=sys.stderr)
            return error.exit_code
    text = page(int(minutes), float(rate), release, samples, late, seen)
    write_whole(RESULTS, text)
    print(text.split("\n| minute")[0])
    return 1 if late or "**Grown**" in text else 0


if __name__ == "__main__":
    os.environ.setdefault("PYTHONPATH", str(ROOT))
    sys.exit(main(sys.argv[1:]))
