"""The other way of judging: plain Spark SQL over the rows, one scan and one shuffle for all properties.

Each property says which rows it needs, what it asks of the rows before, and from which row on a trace is broken. The
queries of all are put together: rows are brought to their traces once, and the windows go over them there.
"""

import hashlib
import json
import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from functools import reduce
from pathlib import Path
from typing import Any

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F  # noqa: N812 (the name that Spark's own guide uses)

from spark_trace_analysis.found import Found, Verdicts
from spark_trace_analysis.invariants import Invariant, World
from spark_trace_analysis.manifest import Run
from spark_trace_analysis.world import world_of

EVENTS_A_QUERY = 25_000_000
"""So many events are judged by one query, or a single run if it has more: what a query has found is kept."""

_ROW = ("step", "time", "event", "action", "transaction", "half", "copy", "check_times", "outcome", *World._fields)

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
    query = query_of(invariants)
    found: Verdicts = {}
    for numbers in _batches(runs):
        batch = [runs[number] for number in numbers]
        kept = None if work is None else _Kept(work, query, batch)
        told = None if kept is None else kept.find()
        if told is None:
            told = _ask(spark, batch, invariants, query)
            if kept is not None:
                kept.keep(told)
        for place, number in enumerate(numbers):
            for invariant in invariants:
                found[number, invariant.property_id] = Found(*told[place][invariant.property_id])
    return found


def event_rows(spark: SparkSession, runs: Sequence[Run]) -> DataFrame:
    """Give all events as one data frame: an event's fields, ``run`` (the place in ``runs``) and the run's world."""
    frames = []
    for number, run in enumerate(runs):
        frame = spark.read.parquet(*(str(run.folder / file.name) for file in run.manifest.files))
        added = {"run": number, **world_of(run.parameters)._asdict()}
        frames.append(frame.withColumns({name: F.lit(value) for name, value in added.items()}))
    return reduce(DataFrame.unionByName, frames)


def query_of(invariants: Sequence[Invariant]) -> str:
    """Spark SQL over the view ``events``: a row a run, with what is found of each property."""
    so_far = _together([each.so_far for each in invariants])
    and_then = _together([each.and_then for each in invariants])
    names = [each.property_id for each in invariants]
    broken = [f"min(if({each.broken}, step + 1, NULL)) AS {each.property_id}" for each in invariants]
    counted = [
        f"count({name}) AS violations_{name}, min(if({name} IS NULL, NULL, trace)) AS first_{name}, "
        f"min(if({name} IS NULL, NULL, struct({name}, trace))) AS least_{name}"
        for name in names
    ]
    seen = " OR ".join(f"({each.sees})" for each in invariants)
    return f"""
        SELECT run, {", ".join(counted)} FROM (
            SELECT run, trace, {", ".join(broken)} FROM (
                SELECT *{_listed(and_then)} FROM (
                    SELECT *{_listed(so_far)} FROM (
                        SELECT run, trace, {", ".join(_ROW)}, if(copy >= 0, copy, half) AS slot
                        FROM events WHERE {seen}
                    ){_WINDOWS}
                ){_WINDOWS}
            ) GROUP BY run, trace
        ) GROUP BY run
    """  # noqa: S608 (made of constants)


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


def _batches(runs: Sequence[Run]) -> Iterator[list[int]]:
    batch: list[int] = []
    events = 0
    for number, run in enumerate(runs):
        if batch and events + run.manifest.events > EVENTS_A_QUERY:
            yield batch
            batch, events = [], 0
        batch.append(number)
        events += run.manifest.events
    if batch:
        yield batch


_Told = list[dict[str, tuple[Any, ...]]]
"""For each run of a batch, and each property, the fields of a `Found`."""


def _ask(spark: SparkSession, runs: Sequence[Run], invariants: Sequence[Invariant], query: str) -> _Told:
    event_rows(spark, runs).createOrReplaceTempView("events")
    told: _Told = [{each.property_id: () for each in invariants} for _ in runs]
    for row in spark.sql(query).collect():
        for name in told[row["run"]]:
            events, shortest = row[f"least_{name}"] or (None, None)
            told[row["run"]][name] = row[f"violations_{name}"], row[f"first_{name}"], shortest, events
    return told


class _Kept:
    """What a query has found of a batch of runs, by the query and the runs' checksums."""

    def __init__(self, folder: Path, query: str, runs: Sequence[Run]) -> None:
        told = [query, *(f"{run.manifest.checksum} {world_of(run.parameters)}" for run in runs)]
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
