"""The other way of judging: plain Spark SQL over the rows, for all properties at once.

A first scan groups the rows by trace, and tells of which traces a property suspects something. A second one keeps the
rows of these. Then, for each property, windows go over the rows of its suspects: they tell what was known at each row,
and from which on a trace is broken.

Properties name events and actions by their words. What Spark is asked compares numbers: each word of a row is looked
up once, in place of a hundred comparisons of strings.
"""

import hashlib
import json
import os
import re
from collections.abc import Iterator, Sequence
from contextlib import suppress
from functools import reduce
from pathlib import Path
from typing import Any, NamedTuple

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F  # noqa: N812 (the name that Spark's own guide uses)

from spark_trace_analysis.found import Found, Verdicts
from spark_trace_analysis.invariants import Invariant, World
from spark_trace_analysis.invariants.so_far import BITS_A_LANE
from spark_trace_analysis.manifest import Manifest, Run, TraceFile
from spark_trace_analysis.schema import ACTIONS
from spark_trace_analysis.world import world_of
from spec.events import EVENTS, FIELDS

EVENTS_A_QUERY = 25_000_000
"""About so many events are judged by one query: what a query has found is kept, and Spark hands the suspects of no more
traces than that to all tasks."""

_KINDS = {"int8": "tinyint", "int32": "int", "int64": "bigint", "string": "string"}

_ROW = ("step", "time", "event", "action", "transaction", "half", "copy", "check_times", "outcome")

_CODES = {
    "event": {word: code for code, word in enumerate(EVENTS)},
    "action": {"": -1, **{word: code for code, word in enumerate(ACTIONS)}},
}

_OF_NO_INTEREST = -2
"""The number of all words that nothing asks about."""

_COMPARED = re.compile(r"\b(event|action)(\s*(?:=|<>|IN|NOT IN)\s*)('\w*'|\([^()]*\))")
_WORD = re.compile(r"'(\w*)'")

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
    longest = max((run.parameters.steps for run in runs), default=0)
    found: Verdicts = {(number, each.property_id): Found() for number in range(len(runs)) for each in invariants}
    for batch in batches(runs):
        queries = queries_of(invariants, [world_of(runs[number]) for number, _ in batch], longest)
        kept = None if work is None else _Kept(work, queries, batch, runs)
        told = None if kept is None else kept.find()
        if told is None:
            told = _ask(spark, batch, runs, queries)
            if kept is not None:
                kept.keep(told)
        for place, name, *fields in told:
            number, _ = batch[place]
            found[number, name] = found[number, name].and_also(Found(*fields))
    return found


def event_rows(spark: SparkSession, runs: Sequence[Run]) -> DataFrame:
    """Give all events as one data frame: an event's fields, and ``run``, the place in ``runs``."""
    return _rows_of(spark, [(number, run.manifest.files) for number, run in enumerate(runs)], runs)


class Queries(NamedTuple):
    """Spark SQL, one after the other.

    Attributes
    ----------
    suspects
        Over the view ``events``: the traces of which some property suspects something, and which ones do.
    seen
        Over ``events`` and ``suspects``: the rows of those traces.
    found
        Over ``seen``: a row a property and run that has broken traces.
    """

    suspects: str
    seen: str
    found: str


def queries_of(invariants: Sequence[Invariant], worlds: Sequence[World], longest: int) -> Queries:
    """What Spark is asked; ``worlds`` has that of each ``run``, and few traces have more than ``longest`` events."""
    flags = ", ".join(f"coalesce({each.suspect}, false) AS suspect_{each.property_id}" for each in invariants)
    some = " OR ".join(f"suspect_{each.property_id}" for each in invariants)
    broken = " UNION ALL ".join(_query(each) for each in invariants)
    actions = _words(flags + broken, "action")
    suspects = f"""
        SELECT * FROM (SELECT run, trace, {_numbered(flags)} FROM ({_rows(actions)}
            WHERE event IN ({_listed(_words(flags, "event"))})) GROUP BY run, trace) WHERE {some}
    """  # noqa: S608
    seen = f"""
        SELECT /*+ BROADCAST(suspects) */ run, trace, {", ".join(_ROW)}, if(copy >= 0, copy, half) AS slot,
            {", ".join(f"suspect_{each.property_id}" for each in invariants)}
        FROM ({_rows(actions)} WHERE event <> 'time_passed') JOIN suspects USING (run, trace) DISTRIBUTE BY run, trace
    """  # noqa: S608
    found = f"""
        SELECT property, run, count(*) AS violations, min(trace) AS first, min(struct(events, trace)) AS least
        FROM ({_numbered(broken)}) GROUP BY property, run
    """  # noqa: S608
    settings = {name: _by_run([getattr(world, name) for world in worlds]) for name in World._fields}
    settings["steps_a_bit"] = str(-(-longest // BITS_A_LANE))
    names = re.compile(rf"\b({'|'.join(settings)})\b")
    return Queries(*(names.sub(lambda name: settings[name[0]], each) for each in (suspects, seen, found)))


def _rows(actions: Sequence[str]) -> str:
    """All rows, events and actions as numbers; actions that are not among these have the same one."""
    plain = ", ".join(name for name in _ROW if name not in _CODES)
    return f"SELECT run, trace, {plain}, {_code('event', EVENTS)}, {_code('action', actions)} FROM events"  # noqa: S608


def _code(column: str, words: Sequence[str]) -> str:
    cases = " ".join(f"WHEN '{word}' THEN {_CODES[column][word]}S" for word in words)
    return (
        f"CASE {column} {cases} ELSE {_OF_NO_INTEREST}S END AS {column}" if words else f"{_OF_NO_INTEREST}S AS {column}"
    )


def _words(query: str, column: str) -> list[str]:
    """The words with which a query compares a column, in the order of their numbers."""
    compared = {word for found in _COMPARED.finditer(query) if found[1] == column for word in _WORD.findall(found[3])}
    return [word for word in _CODES[column] if word in compared]


def _numbered(query: str) -> str:
    """Say the same with numbers in place of the words of events and actions."""
    return _COMPARED.sub(
        lambda found: found[1] + found[2] + _WORD.sub(lambda word: f"{_CODES[found[1]][word[1]]}S", found[3]), query
    )


def _listed(words: Sequence[str]) -> str:
    return ", ".join(f"'{word}'" for word in words)


def _query(invariant: Invariant) -> str:
    columns = f"run, trace, slot, {', '.join(_ROW)}"
    rows = f"SELECT {columns} FROM seen WHERE suspect_{invariant.property_id}"  # noqa: S608
    for added in (invariant.so_far, invariant.and_then):
        if added:
            listed = ", ".join(f"{expression} AS {name}" for name, expression in added.items())
            rows = f"SELECT *, {listed} FROM ({rows}){_WINDOWS}"  # noqa: S608
    return f"""
        SELECT '{invariant.property_id}' AS property, run, trace, min(step + 1) AS events
        FROM ({rows}) WHERE {invariant.broken} GROUP BY run, trace
    """  # noqa: S608


def _by_run(values: Sequence[int]) -> str:
    """What each run was set to; as an array, so that Spark's code for other values is the same and compiled already."""
    return f"element_at(array({', '.join(map(str, values))}), run + 1)"


Batch = Sequence[tuple[int, Sequence[TraceFile]]]
"""The places of some runs, each with files of it. In its queries ``run`` is the place in the batch."""

_Told = list[tuple[Any, ...]]
"""For each run and property of which traces are broken: the place in the batch, the property, the fields of `Found`."""


def batches(runs: Sequence[Run]) -> Iterator[Batch]:
    """Small runs together; each large one by itself, in parts of about the same size.

    So queries over many events differ in few shapes: Spark compiles each shape once.
    """
    small: list[tuple[int, Sequence[TraceFile]]] = []
    events = 0
    for number, run in enumerate(runs):
        if run.manifest.events > EVENTS_A_QUERY // 2:
            for files in _parts(run.manifest):
                yield [(number, files)]
            continue
        if events + run.manifest.events > EVENTS_A_QUERY:
            yield small
            small, events = [], 0
        small.append((number, run.manifest.files))
        events += run.manifest.events
    if small:
        yield small


def _parts(manifest: Manifest) -> Iterator[Sequence[TraceFile]]:
    wanted = manifest.events / -(-manifest.events // EVENTS_A_QUERY)
    part: list[TraceFile] = []
    events = 0
    for file in manifest.files:
        part.append(file)
        events += file.events
        if events >= wanted:
            yield part
            part, events = [], 0
    if part:
        yield part


def _rows_of(spark: SparkSession, batch: Batch, runs: Sequence[Run]) -> DataFrame:
    frames = []
    for place, (number, files) in enumerate(batch):
        paths = [str(runs[number].folder / file.name) for file in files]
        frames.append(spark.read.schema(_SCHEMA).parquet(*paths).withColumn("run", F.lit(place)))
    return reduce(DataFrame.unionByName, frames)


def _ask(spark: SparkSession, batch: Batch, runs: Sequence[Run], queries: Queries) -> _Told:
    _rows_of(spark, batch, runs).createOrReplaceTempView("events")
    spark.sql(queries.suspects).createOrReplaceTempView("suspects")
    seen = spark.sql(queries.seen).persist()
    try:
        seen.createOrReplaceTempView("seen")
        rows = spark.sql(queries.found).collect()
    finally:
        seen.unpersist()
    return [
        (row["run"], row["property"], row["violations"], row["first"], row["least"]["trace"], row["least"]["events"])
        for row in rows
    ]


class _Kept:
    """What a query has found of a batch, by the query and the files' checksums."""

    def __init__(self, folder: Path, queries: Queries, batch: Batch, runs: Sequence[Run]) -> None:
        told = [*queries, *(f"{runs[number].folder} {file.sha256}" for number, files in batch for file in files)]
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
