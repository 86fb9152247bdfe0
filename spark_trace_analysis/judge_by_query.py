"""The other way of judging: plain Spark SQL over the rows, for all properties at once.

A first scan groups the rows by trace, and tells of which traces a property suspects something. A second one keeps the
rows of these. Windows over them tell what was known at each row, and from which on a trace is broken.

Properties name events and actions by their words. What Spark is asked compares numbers: each word of a row is looked
up once, in place of a hundred comparisons of strings. For the same reason one number, ``key``, is run and trace.
"""

import hashlib
import json
import os
import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F  # noqa: N812 (the name that Spark's own guide uses)

from spark_trace_analysis.found import Found, Verdicts
from spark_trace_analysis.invariants import Invariant, World
from spark_trace_analysis.invariants.so_far import BITS_A_LANE
from spark_trace_analysis.manifest import Manifest, Run, TraceFile
from spark_trace_analysis.schema import ACTIONS
from spark_trace_analysis.world import world_of
from spec.events import EVENTS, FIELDS

EVENTS_A_QUERY = 12_500_000
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

_GLOB = re.compile(r"[][{}*?\\]")
"""What means something else to Spark in the name of a file, unless there is a backslash before it."""

_WINDOWS = """
    WINDOW of_trace AS (PARTITION BY key ORDER BY step ROWS UNBOUNDED PRECEDING),
        before AS (PARTITION BY key ORDER BY step ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING),
        of_transaction AS (PARTITION BY key, transaction ORDER BY step ROWS UNBOUNDED PRECEDING),
        before_in_transaction AS (
            PARTITION BY key, transaction ORDER BY step ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING
        ),
        of_slot AS (PARTITION BY key, slot ORDER BY step ROWS UNBOUNDED PRECEDING)
"""


def judge_by_query(
    spark: SparkSession, runs: Sequence[Run], invariants: Sequence[Invariant], work: Path | None = None
) -> Verdicts:
    """Judge each run by each query."""
    once = list({_place(run): run for run in runs}.values())
    longest = max((run.parameters.steps for run in once), default=0)
    found: dict[tuple[str, str], Found] = defaultdict(Found)
    for batch in batches(once):
        query = query_of(invariants, [world_of(once[number]) for number, _ in batch], longest)
        kept = None if work is None else _Kept(work, query, batch, once)
        told = None if kept is None else kept.find()
        if told is None:
            told = _ask(spark, batch, once, query)
            if kept is not None:
                kept.keep(told)
        for place, name, *fields in told:
            number, _ = batch[place]
            key = _place(once[number]), name
            found[key] = found[key].and_also(Found(*fields))
    return {
        (number, each.property_id): found[_place(run), each.property_id]
        for number, run in enumerate(runs)
        for each in invariants
    }


def event_rows(spark: SparkSession, runs: Sequence[Run]) -> DataFrame:
    """Give all events as one data frame: an event's fields, and ``run``, the place in ``runs``."""
    return _rows_of(spark, [(number, run.manifest.files) for number, run in enumerate(runs)], runs)


def query_of(invariants: Sequence[Invariant], worlds: Sequence[World], longest: int) -> str:
    """What Spark is asked of the view ``events``: a row a property and run that has broken traces.

    ``worlds`` has that of each ``run``, and few traces have more than ``longest`` events.
    """
    suspects = [f"if(coalesce({each.suspect}, false), {1 << place}, 0)" for place, each in enumerate(invariants)]
    so_far, and_then, firsts = _Named("so_far"), _Named("and_then"), []
    for place, each in enumerate(invariants):
        names = {name: so_far.name_of(expression) for name, expression in each.so_far.items()}
        names |= {name: and_then.name_of(_renamed(what, names)) for name, what in each.and_then.items()}
        is_broken = f"suspicions & {1 << place} <> 0 AND ({_renamed(each.broken, names)})"
        firsts.append(f"min(if({is_broken}, step + 1, NULL)) AS {each.property_id}")
    suspected, known, then_known, broken = " | ".join(suspects), so_far.listed(), and_then.listed(), ", ".join(firsts)
    actions = _words(f"{suspected} {known} {then_known} {broken}", "action")
    listed = ", ".join(f"'{each.property_id}', {each.property_id}" for each in invariants)
    plain = ", ".join(name for name in _ROW if name not in _CODES)
    query = f"""
        WITH numbered AS (
            SELECT trace * {len(worlds)} + run AS key, {plain}, event AS word,
                {_code("event", EVENTS)}, {_code("action", actions)} FROM events
        ), suspects AS (
            SELECT * FROM (SELECT key, {_numbered(suspected)} AS suspicions
                FROM numbered WHERE word IN ({_listed(_words(suspected, "event"))}) GROUP BY key)
            WHERE suspicions <> 0
        ), seen AS (
            SELECT /*+ BROADCAST(suspects) */ key, {", ".join(_ROW)}, if(copy >= 0, copy, half) AS slot, suspicions
            FROM numbered JOIN suspects USING (key) WHERE word <> 'time_passed' DISTRIBUTE BY key
        ), known AS (
            SELECT *{_numbered(known)} FROM seen {_WINDOWS}
        ), then_known AS (
            SELECT *{_numbered(then_known)} FROM known {_WINDOWS}
        ), broken AS (
            SELECT key, {_numbered(broken)} FROM then_known GROUP BY key
        ), told AS (
            SELECT property, {_run(worlds)} AS run, key DIV {len(worlds)} AS trace, events
            FROM broken LATERAL VIEW stack({len(invariants)}, {listed}) AS property, events WHERE events IS NOT NULL
        )
        SELECT property, run, count(*) AS violations, min(trace) AS first, min(struct(events, trace)) AS least
        FROM told GROUP BY property, run
    """  # noqa: S608
    settings = {name: _setting([getattr(world, name) for world in worlds], _run(worlds)) for name in World._fields}
    settings["steps_a_bit"] = str(-(-longest // BITS_A_LANE))
    return _renamed(query, settings)


class _Named:
    """Expressions and the names of their columns: what several properties ask is worked out once."""

    def __init__(self, prefix: str) -> None:
        self._prefix = prefix
        self._names: dict[str, str] = {}

    def name_of(self, expression: str) -> str:
        return self._names.setdefault(expression, f"{self._prefix}_{len(self._names)}")

    def listed(self) -> str:
        return "".join(f", {expression} AS {name}" for expression, name in self._names.items())


def _renamed(query: str, names: Mapping[str, str]) -> str:
    """Put something in the place of each of these names; words in quotes are none."""
    return re.sub(r"(?<!')\b[a-z_]+\b", lambda name: names.get(name[0], name[0]), query)


def _run(worlds: Sequence[World]) -> str:
    """The place of a row's run."""
    return f"cast(key % {len(worlds)} AS int)"


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


def _setting(values: Sequence[int], run: str) -> str:
    """What each run was set to; as an array, so that Spark's code for other values is the same and compiled already."""
    return f"element_at(array({', '.join(map(str, values))}), {run} + 1)"


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
    """One scan of all files: a union of scans has code for each of them. A file's folder tells its run."""
    files = [_GLOB.sub(r"\\\g<0>", f"{_place(runs[number])}/{file.name}") for number, files in batch for file in files]
    rows = spark.read.schema(_SCHEMA).parquet(*files)
    places = {_place(runs[number]): place for place, (number, _) in enumerate(batch)}
    folders = {name.rpartition("/")[0] for name in rows.inputFiles()}
    run = F.raise_error(F.lit("a file of no run"))
    for folder in sorted(folders):  # one that has another in it comes before that one, so that it is asked for later
        named = F.col("_metadata.file_path").startswith(f"{folder.replace('://', ':', 1)}/")
        run = F.when(named, places[unquote(urlsplit(folder).path)]).otherwise(run)
    return rows.withColumn("run", run)


def _place(run: Run) -> str:
    """Where a run is, as Spark says it, too: links in it are not followed."""
    return os.path.normpath(run.folder.absolute())


def _ask(spark: SparkSession, batch: Batch, runs: Sequence[Run], query: str) -> _Told:
    _rows_of(spark, batch, runs).createOrReplaceTempView("events")
    return [
        (row["run"], row["property"], row["violations"], row["first"], row["least"]["trace"], row["least"]["events"])
        for row in spark.sql(query).collect()
    ]


class _Kept:
    """What a query has found of a batch, by the query and the files' checksums."""

    def __init__(self, folder: Path, query: str, batch: Batch, runs: Sequence[Run]) -> None:
        told = [query, *(f"{runs[number].folder} {file.sha256}" for number, files in batch for file in files)]
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
