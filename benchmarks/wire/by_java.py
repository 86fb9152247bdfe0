"""How many transactions a second the real Java client and a broker do on one machine, and where their time goes."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Final

from benchmarks.wire.java_load import JavaLoad, Work, remoting_client
from benchmarks.wire.measured import COLUMNS, EXPLAINED, RULES, Measured, measured
from benchmarks.wire.processes import served

if TYPE_CHECKING:
    from collections.abc import Mapping

PRODUCERS: Final = 100
RUNS: Final = (("4.9.7", "JSON", 1), ("5.5.1", "JSON", 1), ("5.5.1", "ROCKETMQ", 1), ("5.5.1", "ROCKETMQ", 4))
"""Profile and client, how headers are encoded, and how many threads send on each connection."""
_SHOWN: Final = 12


def measure(profile: str, headers: str, threads: int, seconds: float, sample: Path | None = None) -> Measured:
    """Start a broker and the client, let them warm up for as long as is measured, then measure.

    Parameters
    ----------
    sample
        Where to write what the broker is at, if that is asked for.
    """
    work = Work(PRODUCERS, threads)
    options = [f"-Drocketmq.serialize.type={headers}"]
    with (
        TemporaryDirectory(prefix="halfcheck-") as folder,
        served(profile, Path(folder), before=started_by(sample)) as broker,
        JavaLoad(remoting_client(profile), broker.address, Path(folder), work, options) as load,
    ):
        return measured(broker.pid, load, seconds, seconds)


def started_by(sample: Path | None) -> tuple[str, ...]:
    """What Python runs, so that it notes what it is at if that is asked for."""
    return ("-m", "halfcheck") if sample is None else ("-m", "benchmarks.wire.sampled", str(sample))


def sampled(profile: str, headers: str, threads: int, seconds: float) -> Counter[str]:
    """How often the broker was in which file, in a run of its own."""
    with TemporaryDirectory(prefix="halfcheck-") as folder:
        path = Path(folder) / "samples.json"
        measure(profile, headers, threads, seconds, path)
        return Counter(json.loads(path.read_text(encoding="utf-8")))


def table(rows: list[Measured], samples: Counter[str], seconds: float) -> str:
    """Its part of the page."""
    profile, headers, threads = RUNS[-1]
    lines = [one.row(*run) for run, one in zip(RUNS, rows, strict=True)]
    return f"""## The real Java client on the same machine

{PRODUCERS} transaction producers of the Java client (for 5.5.1 that of 5.5.0) in one process, each with its own
instance name and so with its own connection; so many threads send on each. `sendMessageInTransaction` waits for the
answer to the half, says COMMIT and sends END_TRANSACTION one-way. {seconds:.0f} s each, behind {seconds:.0f} s to warm
up. `batchMaxDelayMs` is 30,000, as producers of 5.x wake 400 times a second each at its default (ProduceAccumulator).

| Profile | headers | threads | {COLUMNS} |
|---|---|--:|{RULES}|
{chr(10).join(lines)}

{EXPLAINED}
the broker on one processor, both on all.

{where_time_goes(f"{profile} with {headers} and {threads} threads", rows[-1].java_threads, samples)}"""


def where_time_goes(run: str, java_threads: Mapping[str, float], samples: Counter[str]) -> str:
    """The part of a page that says it: of the client by its threads, of the broker by its files."""
    of_all = sum(java_threads.values())
    of_java = [(name, used / of_all) for name, used in Counter(java_threads).most_common(_SHOWN)]
    of_broker = [(name, count / samples.total()) for name, count in samples.most_common(_SHOWN)]
    return f"""Where the time goes, {run}.
The client, by the names of its threads:
{", ".join(f"{name} {share:.0%}" for name, share in of_java)}.

The broker, by the file that it is in, from its start on, in a run of its own (what Python does in C counts for the file
that calls it):

| File | share |
|---|--:|
{chr(10).join(f"| `{name}` | {share:.1%} |" for name, share in of_broker)}
"""
