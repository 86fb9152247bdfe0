"""``make soak-wire``, ``python -m benchmarks.wire.soak [MINUTES [RATE [PROFILE]]]``: whether the broker grows.

The real Java client sends at a steady rate, with rollbacks, transactions that only a check settles, some that are
never answered and so are discarded, and a push consumer. Each minute the broker's own memory, open files and threads
are read; the last quarter of the minutes is held against the first. Prints a line a minute and writes SOAK.md.
"""

from __future__ import annotations

import os
import shutil
import sys
import time
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean, linear_regression
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Final

from benchmarks.computer import computer
from benchmarks.wire.java_load import JavaLoad, Work
from benchmarks.wire.processes import Served, open_files, own_memory, processor, served, stored_bytes, threads
from conformance.errors import ConformanceError
from files.writing import write_whole

if TYPE_CHECKING:
    from collections.abc import Sequence

RESULTS: Final = Path(__file__).with_name("SOAK.md")
BUILT: Final = Path(__file__).parents[2] / "build"
CONF: Final = "transactionTimeOut=3000\ntransactionCheckInterval=5000\n"
BYTES_A_TRANSACTION: Final = 1_500
"""More than the store takes for one: half, message, queue entries and its part of an op message."""
GROWN_BY: Final = 0.05
"""By which part the last quarter's mean may exceed the first's."""
_MINUTE: Final = 60.0
_MIB: Final = 1 << 20


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


def soak(profile: str, minutes: int, rate: float, folder: Path) -> list[Sample]:
    """Let the load run for some minutes; a sample behind each, the first behind one that is not counted."""
    work = Work(rate=rate, rolled_back=100, by_check=50, never=1, has_consumer=True)
    with served(profile, folder, CONF) as broker, JavaLoad(profile, broker.address, folder, work) as load:
        began = time.monotonic()
        samples: list[Sample] = []
        for number in range(1, minutes + 2):
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


def page(profile: str, rate: float, samples: Sequence[Sample], load_before: float) -> str:
    """SOAK.md."""
    memory, files, few = (quarters(samples, of) for of in ("memory", "other_files", "threads"))
    slope = linear_regression([each.minute for each in samples], [each.memory for each in samples]).slope * 60 / _MIB
    a_transaction = (samples[-1].memory - samples[0].memory) / (samples[-1].counts["done"] - samples[0].counts["done"])
    done, seconds = samples[-1].counts["done"] - samples[0].counts["done"], samples[-1].minute * _MINUTE
    grown = grew(samples)
    verdict = f"Grown: {', '.join(grown)}." if grown else "Nothing grew."
    rows = [row(samples[:1]), *(row(samples[place - 1 : place + 1]) for place in range(1, len(samples)))]
    return f"""# Does a broker on the wire grow?

Written by `make soak-wire`.

{computer()} Load before: {load_before:.2f}, behind: {os.getloadavg()[0]:.2f}.
`halfcheck broker --no-record --profile {profile}` with transactionTimeOut=3000 and transactionCheckInterval=5000,
and the Java client of that release: 100 transaction producers with a connection each, together {rate:,.0f}
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


def main(minutes: int = 60, rate: float = 1_000, profile: str = "5.5.1") -> int:
    """Run it; 1 if something grew, 150 if it can't be run."""
    BUILT.mkdir(exist_ok=True)
    wanted = int((minutes + 1) * 60 * rate * BYTES_A_TRANSACTION)
    if minutes < 4 or shutil.disk_usage(BUILT).free < 2 * wanted:
        print(f"soak-wire wants 4 minutes or more, and {2 * wanted / 1e9:.0f} GB free below {BUILT}", file=sys.stderr)
        return 150
    before = os.getloadavg()[0]
    with TemporaryDirectory(prefix="soak-", dir=BUILT) as folder:
        try:
            samples = soak(profile, minutes, rate, Path(folder))
        except ConformanceError as error:
            print(error, file=sys.stderr)
            return error.exit_code
    text = page(profile, rate, samples, before)
    write_whole(RESULTS, text)
    print("\n".join(text.split("\n\n")[3:4]))
    return 1 if grew(samples) else 0


if __name__ == "__main__":
    try:
        sys.exit(main(*(kind(word) for kind, word in zip((int, float, str), sys.argv[1:], strict=False))))
    except KeyboardInterrupt:
        print("interrupted; broker and client are stopped, and SOAK.md is as it was", file=sys.stderr)
        sys.exit(130)
