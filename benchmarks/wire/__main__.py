"""``python -m benchmarks.wire [grpc] [SECONDS]``: prints the page and writes it to RESULTS.md, or RESULTS_GRPC.md."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Final

from benchmarks.computer import computer
from benchmarks.wire import by_bad_bytes, by_generator, by_grpc, by_java
from conformance.errors import ConformanceError
from files.writing import write_whole

RESULTS: Final = Path(__file__).with_name("RESULTS.md")
WANTED_A_SECOND: Final = 5_000


def main(seconds: float) -> None:
    """Measure, print the page and write it."""
    load = os.getloadavg()[0]
    of_java = [by_java.measure(*run, seconds) for run in by_java.RUNS]
    samples = by_java.sampled(*by_java.RUNS[-1], seconds)
    of_generator = [
        by_generator.measure(profile, window, seconds)
        for profile in by_generator.PROFILES
        for window in by_generator.WINDOWS
    ]
    of_bad_bytes = by_bad_bytes.measure(seconds)
    best = max(each.rate for each in of_generator)
    with_java = max(each.rate for each in of_java)
    text = f"""# How much a broker on the wire takes

Written by `make bench-wire`; where the machine is calm, that is all it takes to measure again.

{computer()} Load before: {load:.2f}, behind: {os.getloadavg()[0]:.2f}.
`halfcheck broker --no-record`, a new store on this machine's disk. A transaction is SEND_MESSAGE_V2 of a half of 100
bytes, its answer, and the one-way END_TRANSACTION that commits it: two records and an entry of an op message.
Microseconds are of processor time.

Wanted: {WANTED_A_SECOND:,} a second on two processors. With the Java client on the same machine {with_java:,.0f} were
met, {_met(with_java)}; with a generator {best:,.0f}, {_met(best)}. The broker has one thread, and where the machine
does other things as well (the load says how much), no processor of its own: the figures are lower bounds then.

{by_java.table(of_java, samples, seconds)}
{by_generator.table(of_generator, seconds)}
{by_bad_bytes.table(of_bad_bytes)}"""
    print(text)
    write_whole(RESULTS, text)


def _met(rate: float) -> str:
    return "which is enough" if rate >= WANTED_A_SECOND else "which is not enough"


if __name__ == "__main__":
    try:
        is_grpc = sys.argv[1:2] == ["grpc"]
        seconds = float((sys.argv[1 + is_grpc :] or ["20"])[0])
        (by_grpc.main if is_grpc else main)(seconds)
    except ConformanceError as error:
        print(error, file=sys.stderr)
        sys.exit(error.exit_code)
