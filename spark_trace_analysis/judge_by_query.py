"""The other way of judging: plain Spark SQL over the rows, for all properties at once.

A first scan groups the rows by trace, and leaves those traces of which a property suspects something. A second one
brings their rows together: windows tell what was known at each, and from which row on a trace is broken.
"""

import hashlib
import json
import os
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from functools import reduce
from itertools import groupby
from operator import itemgetter
from pathlib import Path
from typing import Any

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F  # noqa: N812 (the name that Spark's own guide uses)

from spark_trace_analysis.found import Found, Verdicts
from spark_trace_analysis.invariants import Invariant, World
from spark_trace_analysis.manifest import Run, TraceFile
from spark_trace_analysis.world import world_of
from spec.events import FIELDS

EVENTS_A_QUERY = 25_000_000
"""So many events are judged by one query, or a single file if it has more: what a query has found is kept, and Spark
hands the suspects of no more traces than that to all tasks."""

_KINDS = {"int8": "tinyint", "int32": "int", "int64": "bigint", "string": "string"}

_ROW = ("step", "time", "event", "action", "transaction", "half", "copy", "check_times", "outcome")

_SCHEMA = ", ".join(f"{field.name} {_KINDS[field.kind]}" for field in FIELDS)

_WINDOWS = """
    WINDOW of_trace AS (PARTITION BY run, trace ORDER BY step ROWS UNBOUNDED PRECEDING),
        before AS (PARTITION BY run, trace ORDER BY step ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING),
        of_transaction AS (PARTITION BY run, trace, transaction ORDER BY step ROWS UNBOUNDED PRECEDING),
        before_in_transaction AS (
            PARTITION BY run, trace, transaction ORDER BY step ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING
        ),
        of_slot AS (PARTITION BY run, trace, slot ORDER BY step ROWS UNBOUNDED PRECEDING)
"""


def judge_by_query(
    spark: SparkSession, runs: Sequence[Run], invariants: Sequence[Invariant], work: Path | None = None
) -> Verdicts:
    """Judge each run by each query."""
    query = query_of(invariants, [world_of(run) for run in runs])
    found: Verdicts = {(number, each.property_id): Found() for number in range(len(runs)) for each in invariants}
    for batch in _batches(runs):
        kept = None if work is None else _Kept(work, query, batch, runs)
        told = None if kept is None else kept.find()
        if told is None:
            told = _ask(spark, batch, runs, query)
            if kept is not None:
                kept.keep(told)
        for number, name, *fields in told:
            found[number, name] = found[number, name].and_also(Found(*fields))
    return found


def event_rows(spark: SparkSession, runs: Sequence[Run]) -> DataFrame:
    """Give all events as one data frame: an event's fields, and ``run``, the place in ``runs``."""
    return _rows_of(spark, [(number, file) for number, run in enumerate(runs) for file in run.manifest.files], runs)


def query_of(invariants: Sequence[Invariant], worlds: Sequence[World]) -> str:
    """Spark SQL over the view ``events``: a row a run, with what is found of each property.

    Parameters
    ----------
    worlds
        Of each ``run``.

    Raises
    ------
    ValueError
        Two properties mean different things by one name.
    """
    so_far = _together([each.so_far for each in invariants])
    and_then = _together([each.and_then for each in invariants])
    names = [each.property_id for each in invariants]
    broken = [f"min(if({each.broken}, step + 1, NULL)) AS {each.property_id}" for each in invariants]
    counted = [
        f"count({name}) AS violations_{name}, min(if({name} IS NULL, NULL, trace)) AS first_{name}, "
        f"min(if({name} IS NULL, NULL, struct({name}, trace))) AS least_{name}"
        for name in names
    ]
    suspect = " OR ".join(f"({each.suspect})" for each in invariants)
    query = f"""
        WITH suspects AS (SELECT run, trace FROM events GROUP BY run, trace HAVING {suspect})
        SELECT run, {", ".join(counted)} FROM (
            SELECT run, trace, {", ".join(broken)} FROM (
                SELECT *{_listed(and_then)} FROM (
                    SELECT *{_listed(so_far)} FROM (
                        SELECT /*+ BROADCAST(suspects) */ run, trace, {", ".join(_ROW)},
                            if(copy >= 0, copy, half) AS slot
                        FROM events LEFT SEMI JOIN suspects USING (run, trace) WHERE event <> 'time_passed'
                    ){_WINDOWS}
                ){_WINDOWS}
            ) GROUP BY run, trace
        ) GROUP BY run
    """  # noqa: S608 (made of constants)
    for name in World._fields:
        query = re.sub(rf"\b{name}\b", _by_run([getattr(world, name) for world in worlds]), query)
    return query


def _by_run(values: Sequence[int]) -> str:
    """What each run was set to: one number, where all were set to the same."""
    if len(set(values)) == 1:
        return str(values[0])
    return f"element_at(array({', '.join(map(str, values))}), run + 1)"


def _listed(columns: Mapping[str, str]) -> str:
    return "".join(f", {expression} AS {name}" for name, expression in columns.items())


def _together(parts: Sequence[Mapping[str, str]]) -> dict[str, str]:
    """All columns, each once.

    Raises
    ------
    ValueError
        Two properties mean different things by one name.
    """
    columns: dict[str, str] = {}
    for name, expression in (item for part in parts for item in part.items()):
        if columns.setdefault(name, expression) != expression:
            message = f"two queries mean different things by {name!r}"
            raise ValueError(message)
    return columns


_Batch = Sequence[tuple[int, TraceFile]]
"""Files, each with the place of its run."""

_Told = list[tuple[Any, ...]]
"""For each run and property that a batch has traces of: the place of the run, the property, the fields of a `Found`."""


def _batches(runs: Sequence[Run]) -> Iterator[_Batch]:
    batch: list[tuple[int, TraceFile]] = []
    events = 0
    for number, run in enumerate(runs):
        for file in run.manifest.files:
            if batch and events + file.events > EVENTS_A_QUERY:
                yield batch
                batch, events = [], 0
            batch.append((number, file))
            events += file.events
    if batch:
        yield batch


def _rows_of(spark: SparkSession, batch: _Batch, runs: Sequence[Run]) -> DataFrame:
    frames = []
    for number, files in groupby(batch, key=itemgetter(0)):
        paths = [str(runs[number].folder / file.name) for _, file in files]
        frames.append(spark.read.schema(_SCHEMA).parquet(*paths).withColumn("run", F.lit(number)))
    return reduce(DataFrame.unionByName, frames)


def _ask(spark: SparkSession, batch: _Batch, runs: Sequence[Run], query: str) -> _Told:
    _rows_of(spark, batch, runs).createOrReplaceTempView("events")
    told: _Told = []
    for row in spark.sql(query).collect():
        for column in row.__fields__:
            if column.startswith("violations_"):
                name = column.removeprefix("violations_")
                events, shortest = row[f"least_{name}"] or (None, None)
                told.append((row["run"], name, row[column], row[f"first_{name}"], shortest, events))
    return told


class _Kept:
    """What a query has found of a batch, by the query and the files' checksums."""

    def __init__(self, folder: Path, query: str, batch: _Batch, runs: Sequence[Run]) -> None:
        told = [query, *(f"{number} {runs[number].folder} {file.sha256}" for number, file in batch)]
        self._place = folder / f"query-{hashlib.sha256(chr(0).join(told).encode()).hexdigest()[:32]}.json"

    def find(self) -> _Told | None:
        try:
            told: _Told = json.loads(self._place.read_bytes())
        except (OSError, ValueError):
            return None
        return told

    def keep(self, told: _Told) -> None:
        with suppress(OSError):
            unfinished = self._place.with_suffix(f".{os.getpid()}.unfinished")
            unfinished.write_text(json.dumps(told))
            unfinished.replace(self._place)
