"""Random walks of the specification as a Spark job: partitions are ranges of trace numbers, tasks write Parquet files.

A file holds a fixed range of traces, so the files are the same bytes however many tasks made them. Each task writes its
files by itself (PyArrow, temporary name, rename) and hands Spark one row a file; that is several times as fast as
sending the events through Spark's own writer. The run's folder appears by one rename at the end.
"""

import hashlib
import os
import shutil
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, fields
from functools import lru_cache
from pathlib import Path
from time import perf_counter, sleep

import pyarrow as pa
import pyarrow.parquet as pq
from pyspark.sql import SparkSession

from model_check.walk import Walker
from spark_trace_analysis.errors import BadOptionError, BadTracesError
from spark_trace_analysis.manifest import (
    MANIFEST,
    Parameters,
    Run,
    TraceFile,
    make_manifest,
    source_fingerprint,
    write_manifest,
)
from spark_trace_analysis.runs import open_run
from spark_trace_analysis.schema import EVENT_SCHEMA, to_batch

TRACES_A_FILE = 20_000
TRACES_A_BLOCK = 5_000
LARGEST_SEED = 2**63 - 1

Progress = Callable[[int, int], None]
"""Called now and then, from another thread, with the traces that are written and the traces asked for."""

_FILE_ROW = "name string, first bigint, traces bigint, events bigint, size_bytes bigint, sha256 string"


@dataclass(frozen=True)
class Simulation:
    """What came out: the run, whether it was there already, and the seconds that it took."""

    run: Run
    reused: bool
    seconds: float


def find_complete(parameters: Parameters, out: Path) -> Simulation | None:
    """Say whether a folder already holds this very run, whole; needs no Spark.

    Returns
    -------
    Simulation or None
        The run to be reused; None if it is still to be made, be it that nothing is there or that it is damaged.

    Raises
    ------
    BadOptionError
        A parameter is out of range, or the folder holds something else, which is never overwritten.
    """
    _check(parameters)
    if not out.exists() or (out.is_dir() and not any(out.iterdir())):
        return None
    if not (out / MANIFEST).is_file():
        message = f"--out {out}: there is something else in it already; give a new or empty folder"
        raise BadOptionError(message)
    try:
        run = open_run(out)
    except BadTracesError as damage:
        message = f"--out {out}: holds a damaged run ({damage}); remove it or give a new folder"
        raise BadOptionError(message) from None
    if run.manifest.source != source_fingerprint(parameters.instance):
        message = f"--out {out}: holds a run of another version of the specification; remove it or give a new folder"
        raise BadOptionError(message)
    for field in fields(Parameters):
        there, asked = getattr(run.parameters, field.name), getattr(parameters, field.name)
        if there != asked:
            message = f"--out {out}: holds another run ({field.name} {there}, asked for {asked}); give a new folder"
            raise BadOptionError(message)
    return Simulation(run, reused=True, seconds=0.0)


def prepare(parameters: Parameters) -> None:
    """Compile the walk: a name that the specification does not know is found, and the tasks find the kernel on disk.

    Raises
    ------
    ModelCheckError
        The profile, a fault or the instance is unknown; the message says which there are.
    """
    walker = _walker(parameters.profile, parameters.environment, parameters.instance)
    walker.walk(parameters.seed, 0, 1, parameters.steps)


def simulate(
    spark: SparkSession,
    parameters: Parameters,
    out: Path,
    *,
    tasks: int | None = None,
    progress: Progress | None = None,
) -> Simulation:
    """Walk, write and describe one run.

    Parameters
    ----------
    spark
        Its workers must see ``out`` under the same path.
    parameters
        What to walk; the traces depend on nothing else but the source of the specification.
    out
        A new or empty folder. It appears when all is written; what is half done when the block is left is removed.
    tasks
        Number of Spark tasks; the result is the same for any. One a core when not given, because a task costs about
        as much to start as a file to write.
    progress
        Told of the traces written so far, about five times a second.

    Raises
    ------
    BadOptionError
        As ``find_complete``, or ``out`` can't be written.
    ModelCheckError
        As ``prepare``.
    """
    complete = find_complete(parameters, out)
    if complete:
        return complete
    prepare(parameters)
    began = perf_counter()
    partial = out.parent / f".{out.name}.partial"
    _remove(partial)
    try:
        partial.mkdir(parents=True)
        with _watch(partial, parameters.traces, progress):
            files = _write_files(spark, parameters, partial.resolve(), tasks)
        write_manifest(partial, make_manifest(parameters, files))
        partial.replace(out)
    except OSError as failure:
        message = f"--out {out}: can't be written ({failure.strerror})"
        raise BadOptionError(message) from failure
    finally:
        _remove(partial)
    return Simulation(open_run(out), reused=False, seconds=perf_counter() - began)


def _check(parameters: Parameters) -> None:
    for name, value in (("traces", parameters.traces), ("steps", parameters.steps)):
        if value < 1:
            message = f"--{name} {value}: expected at least 1"
            raise BadOptionError(message)
    if not 0 <= parameters.seed <= LARGEST_SEED:
        message = f"--seed {parameters.seed}: expected 0 to {LARGEST_SEED}"
        raise BadOptionError(message)


@lru_cache(maxsize=8)
def _walker(profile: str, environment: tuple[str, ...], instance: str) -> Walker:
    return Walker(profile, environment, instance)


def _remove(folder: Path) -> None:
    """Remove a folder in which a cancelled task may still be writing for a moment."""
    for _ in range(50):
        shutil.rmtree(folder, ignore_errors=True)
        if not folder.exists():
            return
        sleep(0.1)


def _write_files(spark: SparkSession, parameters: Parameters, folder: Path, tasks: int | None) -> tuple[TraceFile, ...]:
    files = -(-parameters.traces // TRACES_A_FILE)

    def write(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            for number in batch.column(0).to_pylist():
                made = _write_file(parameters, folder, number)
                yield pa.RecordBatch.from_pylist([vars(made)])

    rows = (
        spark.range(0, files, 1, min(tasks or spark.sparkContext.defaultParallelism, files))
        .mapInArrow(write, _FILE_ROW)
        .collect()
    )
    return tuple(sorted((TraceFile(**row.asDict()) for row in rows), key=lambda file: file.first))


def _write_file(parameters: Parameters, folder: Path, number: int) -> TraceFile:
    """Walk and write the traces of one file, a block of traces a row group; a trace never crosses one."""
    walker = _walker(parameters.profile, parameters.environment, parameters.instance)
    words = {"event": walker.events, "action": walker.actions}
    first = number * TRACES_A_FILE
    last = min(first + TRACES_A_FILE, parameters.traces)
    name = f"traces-{first:012d}.parquet"
    unfinished = folder / f"{name}.{os.getpid()}.unfinished"
    events = 0
    with pq.ParquetWriter(
        unfinished, EVENT_SCHEMA, compression="zstd", compression_level=1, write_statistics=["trace"]
    ) as writer:
        for start in range(first, last, TRACES_A_BLOCK):
            count = min(TRACES_A_BLOCK, last - start)
            batch = to_batch(walker.walk(parameters.seed, start, count, parameters.steps), words)
            writer.write_batch(batch, row_group_size=max(batch.num_rows, 1))
            events += batch.num_rows
    written = unfinished.read_bytes()
    unfinished.replace(folder / name)
    return TraceFile(name, first, last - first, events, len(written), hashlib.sha256(written).hexdigest())


@contextmanager
def _watch(folder: Path, traces: int, progress: Progress | None, *, every_seconds: float = 0.2) -> Iterator[None]:
    """Count the finished files from beside, because the job itself blocks until it ends."""
    if progress is None:
        yield
        return
    over = threading.Event()

    def count() -> None:
        while not over.wait(every_seconds):
            with suppress(OSError):
                finished = sum(1 for _ in folder.glob("*.parquet"))
                progress(min(finished * TRACES_A_FILE, traces), traces)

    counter = threading.Thread(target=count, daemon=True)
    counter.start()
    try:
        yield
    finally:
        over.set()
        counter.join()
