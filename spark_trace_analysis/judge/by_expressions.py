"""The second way of judging: Polars expressions over the rows of whole traces.

A property uses running aggregates of the rows before each row (`running_aggregates`); an aggregate of several
properties is evaluated once. All rows of all traces are judged, but for those by which only time passes.
"""

from collections.abc import Iterator, Mapping, Sequence
from io import BytesIO
from typing import Any

import polars as pl
import pyarrow as pa
from polars import col, when

from spark_trace_analysis.errors import BadTracesError
from spark_trace_analysis.judge.properties import Invariant
from spark_trace_analysis.judge.running_aggregates import Rows, with_all_that_is_known
from spark_trace_analysis.traces import events
from spark_trace_analysis.traces.runs import RunSettings
from spark_trace_analysis.traces.schema import ACTIONS, null_in, out_of_order
from spec.events import EVENTS

_CODES = {"event": EVENTS, "action": ACTIONS}
_MOST = 1 << 62
"""The most that a running aggregate of times can hold: their distance, once for each row."""

_READ = ("trace", "step", "time", "event", "action", "transaction", "half", "copy", "check_times", "outcome")


def judge_file(content: pa.Buffer, invariants: Sequence[Invariant], settings: RunSettings) -> Iterator[dict[str, Any]]:
    """One row a property and piece of the file."""
    for rows in read_pieces(content):
        yield from _judge_rows(rows, invariants, settings)


def _judge_rows(rows: pl.DataFrame, invariants: Sequence[Invariant], settings: RunSettings) -> Iterator[dict[str, Any]]:
    broken = (
        find_broken(rows, invariants, settings)
        .sort("events", "trace")
        .group_by("property")
        .agg(
            pl.len().alias("violations"),
            col("trace").min().alias("first"),
            col("trace").first().alias("shortest"),
            col("events").first().alias("shortest_events"),
        )
    )
    found = {row["property"]: row for row in broken.to_dicts()}
    traces = rows.select(col("trace").n_unique()).item()
    for invariant in invariants:
        name = invariant.property_id
        yield {"traces": traces, "events": rows.height, **found.get(name, {"property": name, "violations": 0})}


def find_broken(rows: pl.DataFrame, invariants: Sequence[Invariant], settings: RunSettings) -> pl.DataFrame:
    """A row for each property and trace that breaks it: ``property``, ``trace``, ``events`` up to the violation."""
    asked = [(each.property_id, each.broken(settings)) for each in invariants]
    known = list({column.name: column for _, broken in asked for column in broken.known}.values())
    rules: dict[Rows, dict[str, pl.Expr]] = {over: {} for over in Rows}
    for name, broken in asked:
        for over, rule in broken.when.items():
            rules[over][name] = rule
    timeless = rows.filter((col("event") != events.time_passed) | (col("copy") >= 0))
    frames = with_all_that_is_known(timeless, known, {over: list(mine.values()) for over, mine in rules.items()})
    found = [_broken_by(frames[over], mine) for over, mine in rules.items() if mine]
    return pl.concat(found).group_by("property", "trace").agg(col("events").min())


ROWS_A_PIECE = 1 << 20


def read_pieces(content: pa.Buffer) -> Iterator[pl.DataFrame]:
    """The rows of a file in pieces of about `ROWS_A_PIECE`, as :func:`read_rows` gives them; none cuts a trace."""
    file = BytesIO(content)
    start, size, before = 0, ROWS_A_PIECE, -1
    while True:
        rows = read_rows(content, file, start, size)
        is_last = rows.height < size
        if rows.height and int(rows["trace"][0]) <= before:
            raise out_of_order(*rows.select("trace", "step").row(0))
        whole = rows if is_last else rows.filter(col("trace") != col("trace").last())
        if whole.height or is_last:
            yield whole
            before = int(whole["trace"][-1]) if whole.height else before
        if is_last:
            return
        start, size = start + whole.height, ROWS_A_PIECE if whole.height else 2 * size


def read_rows(content: pa.Buffer, file: BytesIO | None = None, start: int = 0, size: int | None = None) -> pl.DataFrame:
    """Rows of a file, all or some from a place on, events and actions as their places in the vocabulary.

    Raises `BadTracesError` if it is not readable, rows are out of order, or something is absent that never is.
    """
    try:
        words = pl.scan_parquet(BytesIO(content) if file is None else file).select(_READ).slice(start, size).collect()
    except pl.exceptions.PolarsError as damage:
        message = str(damage).splitlines()[0]
        raise BadTracesError(message) from None
    absent = [name for name, count in words.null_count().row(0, named=True).items() if count]
    if absent:
        raise null_in(absent[0])
    goes_on = col("trace") == col("trace").shift(1)
    is_next = (
        pl.when(goes_on)
        .then(col("step") == col("step").shift(1) + 1)
        .otherwise((col("step") == 0) & (col("trace") > col("trace").shift(1)).fill_null(value=True))
    )
    wrong = words.filter(~is_next)
    if wrong.height:
        raise out_of_order(*wrong.select("trace", "step").row(0))
    times = words["time"].to_numpy()
    span = int(times.max()) - int(times.min()) if words.height else 0
    if span * words.height >= _MOST:
        message = f"its times lie {span} apart; expected are ticks or milliseconds since 1970"
        raise BadTracesError(message)
    return words.with_columns(_codes(words[name], known) for name, known in _CODES.items())


def _codes(words: pl.Series, known: Sequence[str]) -> pl.Series:
    """The place of each word among those that are known, -1 for any other."""
    categorical = words.cast(pl.Categorical)  # held: Polars numbers words anew as soon as none is a category
    spelled = categorical.to_physical()
    spelling = pl.Series(known, dtype=pl.Categorical).to_physical()
    most = int(pl.concat([spelled, spelling]).to_numpy().max())
    places = pl.repeat(-1, most + 1, dtype=pl.Int16, eager=True).scatter(spelling, range(len(known)))
    return places.gather(spelled).alias(words.name)


def _broken_by(rows: pl.DataFrame, rules: Mapping[str, pl.Expr]) -> pl.DataFrame:
    """A row for each property and row that breaks it."""
    events = rows.select("trace", *(when(rule).then(col("step") + 1).alias(name) for name, rule in rules.items()))
    broken = events.filter(pl.any_horizontal(col(list(rules)).is_not_null()))
    return broken.unpivot(index="trace", variable_name="property", value_name="events").drop_nulls()
