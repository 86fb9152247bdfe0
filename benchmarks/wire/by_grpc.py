"""``make bench-wire ARGS=grpc``: transactions a second of the real gRPC client, here and before a real proxy; a page.

Runs against this broker and against a real proxy take turns, so that a machine that does other things as well is as
busy for the one as for the other.
"""

from __future__ import annotations

import json
import os
from collections import Counter
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from typing import Final

from benchmarks.computer import computer
from benchmarks.wire import by_empty_call
from benchmarks.wire.by_java import started_by, where_time_goes
from benchmarks.wire.java_load import GRPC_CLIENT, QUEUES, TOPIC, JavaLoad, Work
from benchmarks.wire.measured import COLUMNS, EXPLAINED, RULES, Measured, measured
from benchmarks.wire.processes import served, threads
from files.writing import write_whole
from real_brokers.proxy.real_proxy import VERSION, LocalProxy
from real_brokers.proxy.topics import BrokerOperator
from wire.client.channel import Address

RESULTS: Final = Path(__file__).with_name("RESULTS_GRPC.md")
WANTED_A_SECOND: Final = 1_500
WORK: Final = Work(producers=10, threads=10)
ROUNDS: Final = 3
WARM_UP: Final = 2.0
"""So many times as long as is measured: what the JVMs compile until then is much of their time."""

_AS_RELEASED: Final = dict.fromkeys(
    ("mappedFileSizeCommitLog", "mappedFileSizeConsumeQueue", "maxHashSlotNum", "maxIndexNum", "transactionTimeOut",
     "transactionCheckInterval", "flushConsumerOffsetInterval", "timerWheelEnable", "transactionOpBatchInterval"),
    "",
)  # fmt: skip
"""What runs of the scenarios set otherwise."""


def main(seconds: float) -> None:
    """Measure, print the page and write it."""
    load_before = os.getloadavg()[0]
    ours, real = [], []
    for _ in range(ROUNDS):
        ours.append(measure_ours(seconds))
        real.append(measure_real(seconds))
    empty = by_empty_call.measure(VERSION, seconds / 2)
    text = page(ours, real, sampled(seconds), empty, seconds, load_before)
    print(text)
    write_whole(RESULTS, text)


def measure_ours(seconds: float, sample: Path | None = None) -> Measured:
    """Start a broker with a port for gRPC, and the client, and measure behind the time to warm up."""
    with (
        TemporaryDirectory(prefix="halfcheck-") as folder,
        served(VERSION, Path(folder), before=started_by(sample), with_grpc=True) as broker,
    ):
        return _loaded(broker.pid, Address.of(broker.address), broker.grpc_address, Path(folder), seconds, 1)


def measure_real(seconds: float) -> Measured:
    """The same with a real proxy in local mode, whose broker is in its process, too."""
    with (
        TemporaryDirectory(prefix="halfcheck-") as folder,
        LocalProxy("load", _AS_RELEASED, compiles_well=True) as proxy,
    ):
        of_threads = threads(proxy.pid)
        return _loaded(proxy.pid, proxy.address, proxy.grpc_address, Path(folder), seconds, of_threads)


def _loaded(pid: int, broker: Address, grpc: str, folder: Path, seconds: float, broker_threads: int) -> Measured:
    BrokerOperator(broker).make_topic(TOPIC, queues=QUEUES)
    with JavaLoad(GRPC_CLIENT, grpc, folder, WORK) as load:
        return measured(pid, load, seconds, WARM_UP * seconds, broker_threads)


def sampled(seconds: float) -> Counter[str]:
    """How often the broker was in which file, in a run of its own."""
    with TemporaryDirectory(prefix="halfcheck-") as folder:
        path = Path(folder) / "samples.json"
        measure_ours(seconds, path)
        return Counter(json.loads(path.read_text(encoding="utf-8")))


def page(
    ours: list[Measured],
    real: list[Measured],
    samples: Counter[str],
    empty: tuple[float, float],
    seconds: float,
    load_before: float,
) -> str:
    """RESULTS_GRPC.md."""
    lines = []
    for number, pair in enumerate(zip(ours, real, strict=True), start=1):
        lines += [one.row(who, number) for who, one in zip(("this broker", "the real proxy"), pair, strict=True)]
    middle = [median(one.rate for one in ours), median(one.rate for one in real)]
    most = [median(one.at_most for one in ours), median(one.at_most for one in real)]
    met = sum(one.rate >= WANTED_A_SECOND for one in ours)
    return f"""# How much the gRPC port takes

Written by `make bench-wire ARGS=grpc`; where the machine is calm, that is all it takes to measure again.

{computer("protobuf")} Load before: {load_before:.2f}, behind: {os.getloadavg()[0]:.2f}.
`halfcheck broker --profile {VERSION} --grpc-port 0 --no-record`, and RocketMQ's proxy {VERSION} in local mode with the
settings of the release, each with a new store on this machine's disk. A transaction is SendMessage of a half of
100 bytes, its answer, EndTransaction with COMMIT, and its answer. Microseconds are of processor time.

Wanted: {WANTED_A_SECOND:,} a second on two processors, with the client on the same machine; {met} of {ROUNDS} runs
met it. In the run in the middle this broker did {middle[0]:,.0f}, and would do {most[0]:,.0f} at most with
the two processors to itself; the real proxy, which works on both of them, {middle[1]:,.0f} and {most[1]:,.0f}.
Where the machine does other things as well (the load says how much), the rates are lower bounds.

{WORK.producers} producers of `{GRPC_CLIENT.release.artifacts[0]}` {GRPC_CLIENT.release.base} in one process, each with
a connection of its own; {WORK.threads} threads send on each. {seconds:.0f} s each, behind {WARM_UP * seconds:.0f} s
to warm up; the runs of a round follow each other.

| | round | {COLUMNS} |
|---|--:|{RULES}|
{chr(10).join(lines)}

{EXPLAINED}
this broker on one processor, the real proxy and the client on all.

The port speaks HTTP/2 itself: a call that asks for nothing takes {empty[0]:,.0f} µs in the server of the library grpcio
(asyncio, {by_empty_call.CONNECTIONS} connections), and {empty[1]:,.0f} µs here.

{where_time_goes("this broker", ours[-1].java_threads, samples)}"""
