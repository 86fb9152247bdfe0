"""Random traces as a Spark job: partitions are ranges of files, tasks write them as Parquet.

A file holds a fixed range of traces, so the files are the same bytes however many tasks made them, and however often
one of them died. Each task writes its files by itself (PyArrow, temporary name, rename, a note of what the manifest
needs), which is several times as fast as sending the events through Spark's own writer; nothing comes back to the
driver. The manifest is written at the end, which makes the folder a run; until then a second job goes on where the
first one died.
"""

from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext, suppress
from dataclasses import dataclass
from time import perf_counter
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
from pyspark.sql import SparkSession

from files.remote_path import Location, RemotePath
from spark_trace_analysis.cluster.file_tasks import make_files
from spark_trace_analysis.cluster.jobs import described, watched
from spark_trace_analysis.errors import BadOptionError, BadTracesError
from spark_trace_analysis.traces.event_source import WALKS, EventSource
from spark_trace_analysis.traces.manifest import (
    Parameters,
    TraceRun,
    make_manifest,
    other_parameter,
    source_fingerprint,
)
from spark_trace_analysis.traces.run_layout import has_manifest
from spark_trace_analysis.traces.runs import open_run
from spark_trace_analysis.traces.same_sources import other_version, sources_here
from spark_trace_analysis.traces.schema import EVENT_SCHEMA, to_batch
from spark_trace_analysis.traces.unfinished_run import (
    UnfinishedRun,
    can_be_made,
    discard,
    is_unfinished,
    is_work_alone,
    locked_run,
    remove_work,
)

LARGEST_SEED = 2**63 - 1
MOST_TRACES, MOST_STEPS = 10**12, 10**6
"""The most that may be asked for: beyond them stands a slip of the finger, and a memory that is full."""

Progress = Callable[[int, int], None]
"""Called now and then, from another thread, with the traces that are written and the traces asked for."""

_TASKS_A_CORE = 3
"""The most: more than one, so that no core waits long for the last task."""

_FILES_A_TASK = 4
"""The fewest, unless a core would have none: a task costs as much as a small file."""

_HOW: Any = {
    "compression": "zstd",
    "compression_level": 1,
    "write_statistics": ["trace"],
    "use_dictionary": [field.name for field in EVENT_SCHEMA if field.name != "trace"],
    "column_encoding": {"trace": "DELTA_BINARY_PACKED"},
}
"""Two bytes an event. Without compression writing takes two thirds of this time, and the files are twice as large."""

_SECONDS_BETWEEN_LOOKS = 0.2


@dataclass(frozen=True)
class Simulation:
    """The result: the run, whether it was there already, how many files were, and the seconds that it took."""

    run: TraceRun
    reused: bool
    seconds: float
    files_found: int = 0


def find_complete(parameters: Parameters, out: Location, source: EventSource = WALKS) -> Simulation | None:
    """Say whether a folder already holds this very run, whole; needs no Spark.

    Returns
    -------
    Simulation or None
        The run to be reused; None if it is still to be made, be it that nothing is there or that it is damaged.

    Raises
    ------
    BadOptionError
        A parameter is out of range; the folder holds something else, which is never overwritten; it can't be written;
        another process writes it; or the beginning of another run is beside it.
    """
    _check(parameters)
    complete = _complete(parameters, out, source)
    if complete is None and not can_be_made(out):
        try:
            with locked_run(out) as unfinished:
                if unfinished.is_begun:
                    unfinished.require_same(parameters, source_fingerprint(parameters.world.instance, source.packages))
                else:
                    discard(unfinished)
        except OSError as failure:
            raise _cannot_write(out, failure) from failure
    return complete


def _complete(parameters: Parameters, out: Location, source: EventSource) -> Simulation | None:
    if not has_manifest(out):
        if not out.exists() or (out.is_dir() and (is_work_alone(out) or is_unfinished(out))):
            return None
        message = f"--out {out}: there is something else in it already; give a new or empty folder"
        raise BadOptionError(message)
    remove_work(out)
    try:
        run = open_run(out)
    except BadTracesError as damage:
        message = f"--out {out}: holds a damaged run ({damage}); remove it or give a new folder"
        raise BadOptionError(message) from None
    if run.manifest.source != source_fingerprint(parameters.world.instance, source.packages):
        message = f"--out {out}: holds a run of another version of the specification; remove it or give a new folder"
        raise BadOptionError(message)
    other = other_parameter(run.parameters, parameters)
    if other:
        message = f"--out {out}: holds another run ({other}); give a new folder"
        raise BadOptionError(message)
    return Simulation(run, reused=True, seconds=0.0, files_found=len(run.manifest.files))


def prepare(parameters: Parameters, source: EventSource = WALKS) -> None:
    """Make the last trace: a name that is not known is found, and the tasks find the compiled kernels on disk.

    Raises `ModelCheckError`; the message says which names there are.
    """
    source.make(parameters, max(parameters.traces - 1, 0), 1)


def simulate(
    spark: SparkSession,
    parameters: Parameters,
    out: Location,
    *,
    source: EventSource = WALKS,
    progress: Progress | None = None,
) -> Simulation:
    """Make, write and describe one run.

    Parameters
    ----------
    spark
        Its workers must see ``out`` under the same path.
    parameters
        The parameters of the traces, which depend on nothing else but the sources.
    out
        A new or empty folder. It is a run when its manifest is written, last of all. What is unfinished stays in it,
        and the next call with the same parameters goes on with it.
    source
        Where the events come from.
    progress
        Called with the number of traces written so far, about five times a second.

    Raises
    ------
    BadOptionError
        As ``find_complete``.
    ModelCheckError
        As ``prepare``.
    """
    _check(parameters)
    complete = _complete(parameters, out, source)
    if complete:
        return complete
    prepare(parameters, source)
    began = perf_counter()
    try:
        with locked_run(out) as unfinished:
            complete = _complete(parameters, out, source)
            if complete:  # by another process, just now
                discard(unfinished)
                return complete
            unfinished.begin(parameters, source_fingerprint(parameters.world.instance, source.packages))
            with _watching(unfinished, parameters, source, progress):
                found = _make_files(spark, parameters, source, unfinished)
            unfinished.remove_unfinished()
            files = unfinished.noted(_name(first) for first in _firsts(parameters, source))
            manifest = make_manifest(parameters, files, source.packages)
            unfinished.commit(manifest)
    except ConnectionError:  # to Spark's Java, which is gone
        raise
    except OSError as failure:
        raise _cannot_write(out, failure) from failure
    return Simulation(TraceRun(out, manifest), reused=False, seconds=perf_counter() - began, files_found=found)


def _check(parameters: Parameters) -> None:
    for name, value, most in (("traces", parameters.traces, MOST_TRACES), ("steps", parameters.steps, MOST_STEPS)):
        if value < 1:
            message = f"--{name} {value}: expected at least 1"
            raise BadOptionError(message)
        if value > most:
            message = f"--{name} {value}: expected at most {most:,}"
            raise BadOptionError(message)
    if not 0 <= parameters.seed <= LARGEST_SEED:
        message = f"--seed {parameters.seed}: expected 0 to {LARGEST_SEED}"
        raise BadOptionError(message)


def _cannot_write(out: Location, failure: OSError) -> BadOptionError:
    message = f"--out {out}: can't be written ({failure.strerror or failure})"
    with suppress(OSError):
        if is_unfinished(out):
            message += "; what is finished is kept, and the same command goes on with it"
    return BadOptionError(message)


def _firsts(parameters: Parameters, source: EventSource) -> range:
    """The first trace of each file."""
    return range(0, parameters.traces, source.traces_a_file(parameters))


def _name(first: int) -> str:
    return f"traces-{first:012d}.parquet"


def _make_files(spark: SparkSession, parameters: Parameters, source: EventSource, unfinished: UnfinishedRun) -> int:
    """Let tasks make the missing files, the same bytes by however many; returns how many files were there.

    Raises `OSError` where a file can't be written, and never will be.
    """
    firsts = _firsts(parameters, source)
    sources, packages = sources_here(source.packages), source.packages
    cores = spark.sparkContext.defaultParallelism
    tasks = min(max(len(firsts) // _FILES_A_TASK, cores), _TASKS_A_CORE * cores, len(firsts))
    with described(
        spark, f"simulate {parameters.traces:,} traces of {parameters.profile}, {parameters.environment_name}"
    ):
        return make_files(
            spark,
            len(firsts),
            lambda place: _find_or_write(parameters, source, unfinished, firsts[place]),
            tasks,
            refuse=lambda: other_version(sources, packages),
            gives_up=isinstance(unfinished.folder, RemotePath),
            settle=unfinished.settle,
        )


def _find_or_write(parameters: Parameters, source: EventSource, unfinished: UnfinishedRun, first: int) -> bool:
    """Write the traces of one file, unless it is finished; says whether it was."""
    name = _name(first)
    if unfinished.find(name):
        return True
    traces = min(source.traces_a_file(parameters), parameters.traces - first)
    content, events = _file_of(parameters, source, first, traces)
    unfinished.write(name, content, first, traces, events)
    return False


def _file_of(parameters: Parameters, source: EventSource, first: int, traces: int) -> tuple[pa.Buffer, int]:
    """A Parquet file of some traces, a block of them a row group, and the number of its events."""
    content, events = pa.BufferOutputStream(), 0
    block = source.traces_a_block(parameters)
    with pq.ParquetWriter(content, EVENT_SCHEMA, **_HOW) as writer:
        for start in range(first, first + traces, block):
            columns, words = source.make(parameters, start, min(block, first + traces - start))
            batch = to_batch(columns, words)
            writer.write_batch(batch, row_group_size=max(batch.num_rows, 1))
            events += batch.num_rows
    return content.getvalue(), events


def _watching(
    unfinished: UnfinishedRun, parameters: Parameters, source: EventSource, progress: Progress | None
) -> AbstractContextManager[None]:
    """Count the finished files while they are made."""
    if progress is None:
        return nullcontext()

    def count() -> None:
        with suppress(OSError):
            written = unfinished.count_finished() * source.traces_a_file(parameters)
            progress(min(written, parameters.traces), parameters.traces)

    return watched(count, _SECONDS_BETWEEN_LOOKS)
