"""The files between the stages of an audit: columns by bucket as Arrow files, and a task's small facts as JSON.

A task writes under a name of its own and renames at the end, the JSON file last. So a task that is started twice, or
again after a crash, leaves the same one file; and a JSON file that is there says that the task is done.
"""

from __future__ import annotations

import json
from dataclasses import astuple
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from files.content import parse_json, read_json
from files.reading import read_lines
from files.remote_path import RemotePath
from files.writing import appearing, write_whole
from spark_trace_analysis.audit.rules.damage import DamageFinding

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from files.remote_path import Location


def write_buckets(path: Location, columns: dict[str, Any], buckets: np.ndarray[Any, Any], count: int) -> None:
    """Write rows, NumPy or Arrow arrays by name, as one Arrow file with a batch for each of so many buckets."""
    order = np.argsort(buckets, kind="stable")
    table = pa.table(columns).take(pa.array(order))
    ends = np.searchsorted(buckets[order], np.arange(count + 1))
    with (
        appearing(path) as unfinished,
        pa.OSFile(str(unfinished), "wb") as sink,
        pa.ipc.new_file(sink, table.schema) as file,
    ):
        whole = table.combine_chunks()
        batches = whole.to_batches()
        batch = batches[0] if batches else pa.RecordBatch.from_pylist([], table.schema)
        for bucket in range(count):
            file.write_batch(batch.slice(ends[bucket], ends[bucket + 1] - ends[bucket]))


def read_bucket(paths: Sequence[Location], bucket: int) -> pa.Table:
    """The rows of one bucket out of the files of several tasks, in the order of the files.

    They are read, not mapped: around each batch the system would map pages of the others, too.
    """
    batches = []
    for path in paths:
        with pa.PythonFile(path.open_file()) if isinstance(path, RemotePath) else pa.OSFile(str(path)) as source:
            batches.append(pa.ipc.open_file(source).get_batch(bucket))
    return pa.Table.from_batches(batches).unify_dictionaries()


def write_facts(path: Location, facts: dict[str, Any]) -> None:
    """Write the small facts of a task; with them it is done."""
    write_whole(path, as_facts(facts))


def as_facts(facts: dict[str, Any]) -> str:
    """The text of small facts."""
    return json.dumps(facts, ensure_ascii=False)


def read_facts(path: Location) -> dict[str, Any] | None:
    """The facts of a task; None if it is not done."""
    try:
        facts: dict[str, Any] = read_json(path)
    except FileNotFoundError:
        return None
    return facts


def facts_at(path: Location) -> dict[str, Any]:
    """The facts of a task that is done; raises `RuntimeError` if the file is gone."""
    facts = read_facts(path)
    if facts is None:
        message = f"{path} is missing: the folder was changed during the audit"
        raise RuntimeError(message)
    return facts


def write_findings(path: Location, findings: Iterable[DamageFinding]) -> None:
    """Write what a task found damaged, if anything."""
    listed = list(findings)
    if listed:
        with appearing(path) as unfinished, unfinished.open("w", encoding="utf-8") as stream:
            stream.writelines(json.dumps(astuple(one), ensure_ascii=False) + "\n" for one in listed)


def read_findings(path: Location) -> Iterator[DamageFinding]:
    """The damage that a task found."""
    if path.exists():
        for line in read_lines(path):
            yield DamageFinding(*parse_json(line))
