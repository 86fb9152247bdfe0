"""``make soak-wire``, ``python -m benchmarks.wire.soak [grpc] [MINUTES [RATE [PROFILE]]]``: whether the broker grows.

The real Java client, that for gRPC if it is asked for, sends at a steady rate, with rollbacks, transactions that only a
check settles, some that are never answered and so are discarded, and a push consumer. Each minute the broker's own
memory, open files and threads are read; the last quarter of the minutes is held against the first. Prints a line a
minute and writes SOAK.md, or SOAK_GRPC.md.
"""

from __future__ import annotations

import os
import shutil
import sys
import time
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from statistics import fmean, linear_regression
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Final

from benchmarks.computer import computer
from benchmarks.wire.java_load import GRPC_CLIENT, QUEUES, TOPIC, JavaLoad, Work, remoting_client
from benchmarks.wire.processes import Served, open_files, own_memory, processor, served, stored_bytes, threads
from conformance.errors import ConformanceError
from files.writing import write_whole
from real_brokers.proxy.topics import BrokerOperator
from wire.client.channel import Address

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

BUILT: Final = Path(__file__).parents[2] / "build"
CONF: Final = "transactionTimeOut=3000\ntransactionCheckInterval=5000\n"
BYTES_A_TRANSACTION: Final = 1_500
"""More than the store takes for one: half, message, queue entries and its part of an op message."""
GROWN_BY: Final = 0.05
"""By which part the last quarter's mean may exceed the first's."""
_MINUTE: Final = 60.0
_MIB: Final = 1 << 20


@dataclass(frozen=True, slots=True)
class Soak:
    """A run: so many minutes, transactions a second, and producers, by clients that speak gRPC or remoting."""

    minutes: int
    rate: float
    profile: str
    producers: int = 100
    is_grpc: bool = False

    @property
    def results(self) -> Path:
        """The page."""
        return Path(__file__).with_name("SOAK_GRPC.md" if self.is_grpc else "SOAK.md")

    @property
    def command(self) -> str:
        """What writes it."""
        return "make soak-wire ARGS=grpc" if self.is_grpc else "make soak-wire"

    @property
    def clients(self) -> str:
        """Who sends."""
        client = (
            f"`rocketmq-client-java` {GRPC_CLIENT.release.base}" if self.is_grpc else "the Java client of that release"
        )
        return f"{client}: {self.producers} transaction producers with a connection each"

    @property
    def bytes(self) -> int:
        """What its store takes of the disk, at most."""
        return int((self.minutes + 1) * 60 * self.rate * BYTES_A_TRANSACTION)

    @contextmanager
    def load(self, broker: Served, folder: Path) -> Iterator[JavaLoad]:
        """The clients at work."""
        work = Work(self.producers, rate=self.rate, rolled_back=100, by_check=50, never=1, has_consumer=True)
        client = GRPC_CLIENT if self.is_grpc else remoting_client(self.profile)
        if self.is_grpc:
            BrokerOperator(Address.of(broker.address)).make_topic(TOPIC, queues=QUEUES)
        with JavaLoad(client, broker.grpc_address if self.is_grpc else broker.address, folder, work) as load:
            yield load


def asked_for(words: Sequence[str]) -> Soak:
    """The run that the words of the command line name."""
    is_grpc = words[:1] == ["grpc"]
    minutes, rate, profile, *_ = [*words[is_grpc:], *("", "", "")]
    usual = Soak(60, 300, "5.5.0", 20, is_grpc=True) if is_grpc else Soak(60, 1_000, "5.5.1")
    return replace(
        usual,
        minutes=int(minutes or usual.minutes),
        rate=float(rate or usual.rate),
        profile=profile or usual.profile,
    )


@dataclass(frozen=True, slots=True)
class Sample:
    """What was read at one time.

    Attributes
    ----------
    minute
        Since the load began.
    memory
        Bytes that are the broker's own, without the pages of the store's files.
    store_files, other_files
        What it has open.
    threads
        How many it has.
    processor
        Seconds of its processor time.
    stored
        Bytes of the store on the disk.
    counts
        The client's.
    """

    minute: float
    memory: int
    store_files: int
    other_files: int
    threads: int
    processor: float
    stored: int
    counts: dict[str, int]


def sampled(minute: float, broker: Served, load: JavaLoad) -> Sample:
    """Read everything once."""
    files = open_files(broker.pid, broker.store)
    return Sample(
        minute,
        own_memory(broker.pid),
        *files,
        threads(broker.pid),
        sum(processor(broker.pid)),
        stored_bytes(broker.store),
        load.counts(),
    )


def soaked(run: Soak, folder: Path) -> list[Sample]:
    """Let the load run for some minutes; a sample behind each, the first behind one that is not counted."""
    with served(run.profile, folder, CONF, with_grpc=run.is_grpc) as broker, run.load(broker, folder) as load:
        began = time.monotonic()
        samples: list[Sample] = []
        for number in range(1, run.minutes + 2):
            time.sleep(max(0.0, began + number * _MINUTE - time.monotonic()))
            samples.append(sampled((time.monotonic() - began) / _MINUTE - 1, broker, load))
            print(row(samples[-2:]), flush=True)
        load.end()
    return samples


def row(last: Sequence[Sample]) -> str:
    """The line of a sample, with the rate since the one before."""
    now, done = last[-1], last[-1].counts["done"]
    seconds = (now.minute - last[0].minute) * _MINUTE
    rate = (done - last[0].counts["done"]) / seconds if seconds else 0.0
    used = (now.processor - last[0].processor) / (done - last[0].counts["done"]) if seconds else 0.0
    return (
        f"| {now.minute:.0f} | {rate:,.0f} | {done:,} | {now.counts['checked']:,} | {now.counts['consumed']:,} "
        f"| {now.counts['failed']} | {used * 1e6:,.0f} | {now.memory / _MIB:,.2f} | {now.other_files} "
        f"| {now.store_files} | {now.threads} | {now.stored / _MIB:,.0f} |"
    )


def quarters(samples: Sequence[Sample], of: str) -> tuple[float, float]:
    """The mean of what is named over the first quarter of the samples, and over the last."""
    size = max(1, len(samples) // 4)
    return fmean(getattr(one, of) for one in samples[:size]), fmean(getattr(one, of) for one in samples[-size:])


def grew(samples: Sequence[Sample]) -> list[str]:
    """What of memory, open files beside the store's, and threads has grown; by their names."""
    found = []
    for of in ("memory", "other_files", "threads"):
        first, last = quarters(samples, of)
        if last > first * (1 + GROWN_BY):
            found.append(of.replace("_", " "))
    return found


def page(run: Soak, samples: Sequence[Sample], load_before: float) -> str:
    """SOAK.md."""
    memory, files, few = (quarters(samples, of) for of in ("memory", "other_files", "threads"))
    slope = linear_regression([each.minute for each in samples], [each.memory for each in samples]).slope * 60 / _MIB
    a_transaction = (samples[-1].memory - samples[0].memory) / (samples[-1].counts["done"] - samples[0].counts["done"])
    done, seconds = samples[-1].counts["done"] - samples[0].counts["done"], samples[-1].minute * _MINUTE
    grown = grew(samples)
    verdict = f"Grown: {', '.join(grown)}." if grown else "Nothing grew."
    rows = [row(samples[:1]), *(row(samples[place - 1 : place + 1]) for place in range(1, len(samples)))]
    return f"""# Does a broker on the wire grow?

Written by `{run.command}`.

{computer()} Load before: {load_before:.2f}, behind: {os.getloadavg()[0]:.2f}.
`halfcheck broker --no-record --profile {run.profile}` with transactionTimeOut=3000 and transactionCheckInterval=5000,
and {run.clients}, together {run.rate:,.0f}
transactions a second, and a push consumer. Of 1,000 transactions 100 are rolled back, 50 are committed by the answer
to their check, one is never answered and discarded behind 15 checks. The first minute is not counted.

**{verdict}** {done:,} transactions in {seconds / 60:.0f} minutes, {done / seconds:,.0f} a second.

| | first quarter, mean | last quarter, mean | |
|---|--:|--:|--:|
| own memory, MiB | {memory[0] / _MIB:.2f} | {memory[1] / _MIB:.2f} | {memory[1] / memory[0] - 1:+.1%} |
| open files beside the store's | {files[0]:.1f} | {files[1]:.1f} | {files[1] / files[0] - 1:+.1%} |
| threads | {few[0]:.1f} | {few[1]:.1f} | {few[1] / few[0] - 1:+.1%} |

More than {GROWN_BY:+.0%} is called grown. A straight line through the memory of all minutes rises by {slope:+.2f} MiB
an hour; from the first sample to the last it is {a_transaction:+.2f} bytes a transaction. The broker's own memory is
that without the pages of the store's files; what it has open of these comes with what is stored, as nothing is deleted
before fileReservedTime.

| Minute | a second | done | checks | consumed | failed | broker, µs each | own memory, MiB | files | of the store {""}\
| threads | store, MiB |
|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|
{chr(10).join(rows)}
"""


def main(run: Soak) -> int:
    """Run it; 1 if something grew, 150 if it can't be run."""
    BUILT.mkdir(exist_ok=True)
    if run.minutes < 4 or shutil.disk_usage(BUILT).free < 2 * run.bytes:
        print(
            f"soak-wire wants 4 minutes or more, and {2 * run.bytes / 1e9:.0f} GB free below {BUILT}", file=sys.stderr
        )
        return 150
    before = os.getloadavg()[0]
    with TemporaryDirectory(prefix="soak-", dir=BUILT) as folder:
        try:
            samples = soaked(run, Path(folder))
        except ConformanceError as error:
            print(error, file=sys.stderr)
            return error.exit_code
    text = page(run, samples, before)
    write_whole(run.results, text)
    print("\n".join(text.split("\n\n")[3:4]))
    return 1 if grew(samples) else 0


if __name__ == "__main__":
    asked = asked_for(sys.argv[1:])
    try:
        sys.exit(main(asked))
    except KeyboardInterrupt:
        print(f"interrupted; broker and client are stopped, and {asked.results.name} is as it was", file=sys.stderr)
        sys.exit(130)
