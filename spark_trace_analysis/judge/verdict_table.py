"""The tables ``verdicts`` and ``runs``: for each trace and property whether, and from which event on, it is broken.

They are written after both ways of judging have agreed, by tasks, a file for each file of traces. The manifest of what
is in the folder is written last, when the numbers of broken traces are those judged: it makes the folder an analysis.
"""

import hashlib
import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.parquet as pq
from pyspark.sql import SparkSession

from files.remote_path import Location
from files.writing import remove_folder, remove_unfinished_files, write_whole
from spark_trace_analysis.audit.audit_folders import new_folder
from spark_trace_analysis.cluster.jobs import described
from spark_trace_analysis.errors import BadOptionError, DisagreementError
from spark_trace_analysis.judge.both_ways import TraceJudgement
from spark_trace_analysis.judge.by_kernel import find_violations
from spark_trace_analysis.judge.properties import ALL, Invariant
from spark_trace_analysis.sole_writer import claimed
from spark_trace_analysis.tables.traces import RUNS, VERDICTS
from spark_trace_analysis.traces.manifest import RECORDED, TraceRun, product_version
from spark_trace_analysis.traces.over_files import collected, file_rows
from spark_trace_analysis.traces.run_layout import MANIFEST, run_name
from spark_trace_analysis.traces.runs import RunSettings, can_show, settings_of
from spark_trace_analysis.traces.whole_traces import WholeTraces, read_whole_traces

TRACES_A_ROW_GROUP = 1 << 20
"""Of a property; a task holds a number for each of them and each property."""

_HOW: Any = {
    "compression": "zstd",
    "compression_level": 1,
    "use_dictionary": ["property", "broken_at"],
    "column_encoding": {"trace": "DELTA_BINARY_PACKED"},
}
_OF_FILE = {"file": "string", "rows": "bigint", "size_bytes": "bigint", "sha256": "string"}
_ROW = {**_OF_FILE, "property": "string", "broken": "bigint", "unwritable": "string"}


def write_verdicts(spark: SparkSession, runs: Sequence[TraceRun], judgement: TraceJudgement, out: Location) -> None:
    """Write both tables into a new folder; the workers must see it under the same path.

    Raises
    ------
    BadOptionError
        It is there already, another process writes it, or it can't be written.
    BadTracesError
        A file of the runs is missing, changed or not readable.
    DisagreementError
        The verdicts are not those of the judgement.
    """
    out = out.absolute()
    folders = [out / _place_of(run) for run in runs]
    rows: list[Mapping[str, Any]] = []
    try:
        with (
            claimed("--out", out, out.with_name(f".{out.name}.owners")) as claim,
            new_folder(out, MANIFEST, lambda: json.dumps(_manifest(runs, rows), indent=2) + "\n"),
        ):
            for table in (VERDICTS, RUNS):
                remove_folder(out / table.name)  # what a killed command has left may be of other runs
            for folder in (*folders, out / RUNS.name):
                folder.mkdir(parents=True, exist_ok=True)
            rows += _write_files(spark, runs, folders, out)
            _require_agreement(runs, judgement, rows)
            _write_runs(runs, out / RUNS.name / f"{RUNS.name}.parquet")
            for folder in (*folders, out / RUNS.name):
                remove_unfinished_files(folder)
            claim.require()
    except ConnectionError:  # to Spark's Java, which is gone
        raise
    except OSError as failure:
        raise _cannot_write(out, failure.strerror or str(failure)) from failure


def _place_of(run: TraceRun) -> str:
    return f"{VERDICTS.name}/{VERDICTS.folder(profile=run.parameters.profile.name, run=_name_of(run))}"


def _name_of(run: TraceRun) -> str:
    return run.parameters.file if run.parameters.of == RECORDED else run_name(run.folder)


def _write_files(
    spark: SparkSession, runs: Sequence[TraceRun], folders: Sequence[Location], out: Location
) -> Sequence[Mapping[str, Any]]:
    """Write the verdicts; a row for each file, and one for each property of it."""
    looks = [
        partial(
            _write_file,
            invariants=[each for each in ALL if can_show(run, each.needs)],
            settings=settings_of(run),
            folder=folder,
        )
        for run, folder in zip(runs, folders, strict=True)
    ]
    with described(spark, f"write the verdicts on {sum(run.parameters.traces for run in runs):,} traces"):
        rows = [row.asDict() for row in collected(file_rows(spark, runs, looks, _ROW))]
    refused = sorted(row["unwritable"] for row in rows if row["unwritable"])
    if refused:
        raise _cannot_write(out, refused[0])
    return rows


def _cannot_write(out: Location, why: str) -> BadOptionError:
    return BadOptionError(f"--out {out}: can't be written ({why})")


def _write_file(
    content: pa.Buffer, *, invariants: Sequence[Invariant], settings: RunSettings, folder: Location
) -> Iterator[dict[str, Any]]:
    """Write the verdicts on the traces of one file, which is named by its first trace."""
    sink, rows, first, broken = pa.BufferOutputStream(), 0, 0, Counter[str]()
    with pq.ParquetWriter(sink, VERDICTS.schema, **_HOW) as writer:
        for numbers, found in _judged(content, invariants, settings):
            first = first if rows else int(numbers[0])
            for each, at in zip(invariants, found, strict=True):
                writer.write_batch(_batch(each.property_id, numbers, at), row_group_size=len(numbers))
                broken[each.property_id] += int(np.count_nonzero(at))
            rows += len(numbers) * len(invariants)
    written = sink.getvalue()
    name = f"verdicts-{first:012d}.parquet"
    try:
        write_whole(folder / name, written)
    except OSError as failure:
        yield {"unwritable": failure.strerror}
        return
    digest = hashlib.sha256(written).hexdigest()
    yield {
        "file": f"{folder.parent.name}/{folder.name}/{name}",
        "rows": rows,
        "size_bytes": written.size,
        "sha256": digest,
    }
    for each in invariants:
        yield {"property": each.property_id, "broken": broken[each.property_id]}


_Numbers = npt.NDArray[Any]


def _judged(
    content: pa.Buffer, invariants: Sequence[Invariant], settings: RunSettings
) -> Iterator[tuple[_Numbers, list[_Numbers]]]:
    """Some traces by their numbers, and for each property the events of each up to its violation, 0 where none is."""
    held: list[tuple[_Numbers, list[_Numbers]]] = []
    for traces in read_whole_traces(pa.BufferReader(content)):
        held.append(_numbers_and_violations(traces, invariants, settings))
        if sum(len(numbers) for numbers, _ in held) >= TRACES_A_ROW_GROUP:
            yield _together(held)
            held = []
    if held:
        yield _together(held)


def _numbers_and_violations(
    traces: WholeTraces, invariants: Sequence[Invariant], settings: RunSettings
) -> tuple[_Numbers, list[_Numbers]]:
    return traces.trace[traces.starts[:-1]], [find_violations(traces, each, settings) for each in invariants]


def _together(held: Sequence[tuple[_Numbers, list[_Numbers]]]) -> tuple[_Numbers, list[_Numbers]]:
    numbers, found = zip(*held, strict=True)
    return np.concatenate(numbers), [np.concatenate(column) for column in zip(*found, strict=True)]


def _batch(name: str, numbers: _Numbers, at: _Numbers) -> pa.RecordBatch:
    is_broken = at > 0
    return VERDICTS.batch(
        {
            "property": pa.DictionaryArray.from_arrays(np.zeros(len(numbers), np.int16), pa.array([name])),
            "trace": numbers,
            "is_broken": is_broken,
            "broken_at": pa.array(at - 1, mask=~is_broken),
        }
    )


def _require_agreement(runs: Sequence[TraceRun], judgement: TraceJudgement, rows: Sequence[Mapping[str, Any]]) -> None:
    written: Counter[tuple[int, str]] = Counter()
    for row in rows:
        if row["property"]:
            written[row["run"], row["property"]] += row["broken"]
    places = {id(run.parameters): number for number, run in enumerate(runs)}
    for count in judgement.counts:
        found = written[places[id(count.parameters)], count.property_id]
        if found != count.violations:
            run = runs[places[id(count.parameters)]]
            message = (
                f"{count.property_id} in {run.folder}: {found} traces were written as broken, "
                f"{count.violations} were judged so"
            )
            raise DisagreementError(message)


def _write_runs(runs: Sequence[TraceRun], path: Location) -> None:
    rows = [_row_of(run) for run in runs]
    batch = RUNS.batch({name: [row[name] for row in rows] for name in RUNS.names})
    sink = pa.BufferOutputStream()
    pq.write_table(pa.Table.from_batches([batch]), sink, compression="zstd")
    write_whole(path, sink.getvalue())


def _row_of(run: TraceRun) -> dict[str, Any]:
    manifest, of = run.manifest, run.parameters
    return {
        "profile": of.profile.name,
        "run": _name_of(run),
        "environment": of.environment_name,
        "faults": list(of.faults),
        "instance": of.world.instance.name,
        **{name: getattr(of, name) for name in ("of", "choice", "steps", "seed", "traces")},
        **{name: getattr(manifest, name) for name in ("events", "checksum", "source", "halfcheck", "commit")},
    }


def _manifest(runs: Sequence[TraceRun], rows: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    files = sorted(({name: row[name] for name in _OF_FILE} for row in rows if row["file"]), key=lambda row: row["file"])
    return {
        "tables": {table.name: table.version for table in (VERDICTS, RUNS)},
        "halfcheck": product_version(),
        "of": [run.manifest.checksum for run in runs],
        "files": [row | {"file": f"{VERDICTS.name}/{row['file']}"} for row in files],
    }
