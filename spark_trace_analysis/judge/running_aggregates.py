"""Running aggregates: what an expression may ask of the rows before it, of a trace, a transaction or a half.

They are Polars expressions over rows that lie side by side: a running aggregate of each group is one of all rows, of
which what it was when the group began is taken away. Polars' own windows do the same and take several times as long.
"""

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from typing import Literal

import polars as pl
from polars import col, lit, when

from spark_trace_analysis.traces.schema import action_code
from spec.events import EVENTS, OUTCOMES

COMMIT, ROLLBACK = OUTCOMES.index("commit"), OUTCOMES.index("rollback")

FILLED = len(EVENTS)
"""The event of the rows that `Over.HALF` has besides: one for each copy, under the queue offset that it fills."""


class Over(Enum):
    """The rows that belong together.

    Attributes
    ----------
    TRACE
        All rows of a trace but those by which only time passes.
    TRANSACTION
        The rows of a trace that name one transaction.
    HALF
        The rows of a trace that name one queue offset of the half topic as ``half``; and, before the other fields of
        the same event count, a row whose event is `FILLED` where a ``copy`` has this offset.
    """

    TRACE = "trace"
    TRANSACTION = "transaction"
    HALF = "half"


@dataclass(frozen=True, eq=False)
class Known:
    """One column: what is known at each row of those that belong together.

    Attributes
    ----------
    name
        Its name; one name is one column, whichever properties ask for it.
    of
        An expression over the fields of an event and over columns that are known already. A trace may ask for a column
        of a transaction or half; where a row has none, it is null.
    aggregate
        Of what is not null, up to and with the row; or the value of the row ``itself``.
    is_before
        Whether the row itself is left out.
    """

    name: str
    over: Over
    of: pl.Expr
    aggregate: Literal["sum", "last", "first", "max", "min", "itself"]
    is_before: bool = False


@dataclass(frozen=True)
class Broken:
    """From which row on a trace is broken.

    Attributes
    ----------
    when
        For some ways in which rows belong together, an expression that is true of the rows which break the trace.
    known
        What these expressions ask for, each behind what it asks for itself.
    """

    when: dict[Over, pl.Expr]
    known: tuple[Known, ...]


def is_event(*places: int) -> pl.Expr:
    """Whether a row is one of these events."""
    return _is_among("event", places)


def is_action(*actions: Callable[..., None]) -> pl.Expr:
    """Whether a row is the work of one of these actions of the specification."""
    return _is_among("action", map(action_code, actions))


def _is_among(column: str, codes: Iterable[int]) -> pl.Expr:
    return pl.any_horizontal([col(column) == lit(code, pl.Int16) for code in codes])


def count(name: str, over: Over, rows: pl.Expr) -> Known:
    """How many such rows there were."""
    return total(name, over, rows)


def total(name: str, over: Over, values: pl.Expr) -> Known:
    """The sum of the values."""
    return Known(name, over, values.cast(pl.Int32).fill_null(0), "sum")


def last(name: str, over: Over, values: pl.Expr, *, is_before: bool = False) -> Known:
    """The last value that is not null."""
    return Known(name, over, values, "last", is_before)


def first(name: str, over: Over, values: pl.Expr) -> Known:
    """The first value that is not null."""
    return Known(name, over, values, "first")


def most(name: str, over: Over, values: pl.Expr, *, is_before: bool = False) -> Known:
    """The largest value."""
    return Known(name, over, values, "max", is_before)


def least(name: str, over: Over, values: pl.Expr) -> Known:
    """The smallest value."""
    return Known(name, over, values, "min")


def mark(name: str, over: Over, rows: pl.Expr) -> Known:
    """True at such rows and null at the others, so that a trace can ask which rows these are."""
    return Known(name, over, when(rows).then(lit(value=True)), "itself")


_ROW, _PLACE, _START, _GROUP = "row in the file", "row", "row where the group starts", "number of the group"
_KEY = "what belongs together"

Frames = dict[Over, pl.DataFrame]
"""The rows of a file as they belong together, side by side and in order, with what is known at each."""


def with_all_that_is_known(
    rows: pl.DataFrame, known: Sequence[Known], asked: Mapping[Over, Sequence[pl.Expr]]
) -> Frames:
    """Work out some columns.

    Parameters
    ----------
    rows
        Of whole traces, in order: the columns of an event, words as numbers.
    known
        The columns, each behind those that it asks for. One over a trace may ask for one over a transaction or half,
        which asks for none of these in its turn.
    asked
        For each way in which rows belong together what will be asked of them; their frame has the columns for that,
        and not all others.

    Returns
    -------
    Frames
        ``Over.TRANSACTION`` and ``Over.HALF`` have the rows that name one, sorted by it; `FILLED` rows among them.
    """
    of_others = {each.name for each in known if each.over is not Over.TRACE}
    late: list[Known] = []
    for each in known:
        if each.over is Over.TRACE and _roots([each.of]) & (of_others | {other.name for other in late}):
            late.append(each)
    early = [each for each in known if each.over is Over.TRACE and each not in late]
    trace = _with_columns(_side_by_side(rows.with_row_index(_ROW).with_columns(col("trace").alias(_KEY))), early)
    frames = {Over.TRACE: trace}
    wanted = _roots([*asked[Over.TRACE], *(each.of for each in late)]) & of_others
    for over in (Over.TRANSACTION, Over.HALF):
        mine = [each for each in known if each.over is over]
        needed = _roots([*asked[over], *(each.of for each in mine)]) - {each.name for each in mine}
        frames[over] = _with_columns(_side_by_side(_rows_over(over, trace, needed)), mine)
        named = [each.name for each in mine if each.name in wanted]
        if named:
            told = frames[over].filter((col("event") != FILLED) & pl.any_horizontal(col(named).is_not_null()))
            trace = trace.join(told.select(_ROW, *named), on=_ROW, how="left", maintain_order="left")
    frames[Over.TRACE] = _with_columns(trace, late)
    return frames


def _roots(expressions: Sequence[pl.Expr]) -> set[str]:
    """The columns that these expressions ask for."""
    return {name for expression in expressions for name in expression.meta.root_names()}


def _rows_over(over: Over, trace: pl.DataFrame, needed: Collection[str]) -> pl.DataFrame:
    """The rows that name a transaction or a half, sorted by it within each trace, with the columns that are needed."""
    column = "transaction" if over is Over.TRANSACTION else "half"
    kept = sorted({_ROW, "trace", "step", "event", *needed})
    key = col(_GROUP).cast(pl.Int64) * (col(column).max().cast(pl.Int64) + 1) + col(column)
    rows = trace.filter(col(column) >= 0)
    if over is Over.HALF:
        fillings = trace.filter(col("copy") >= 0).with_columns(
            col("copy").alias("half"), lit(FILLED, pl.Int16).alias("event")
        )
        if fillings.height:
            rows = pl.concat([fillings, rows]).sort(_ROW, maintain_order=True)
    return rows.select(key.alias(_KEY), *kept).sort(_KEY, maintain_order=True)


def _side_by_side(rows: pl.DataFrame) -> pl.DataFrame:
    """Say of each row where its group starts, and which group it is of."""
    starts = (col(_KEY) != col(_KEY).shift(1)).fill_null(value=True)
    start = when(starts).then(_PLACE).forward_fill().alias(_START)
    group = starts.cast(pl.UInt32).cum_sum().alias(_GROUP)
    return rows.with_row_index(_PLACE).with_columns(start, group).drop(_KEY)


def _with_columns(rows: pl.DataFrame, known: Sequence[Known]) -> pl.DataFrame:
    """The rows with these columns; those that ask for none of the others are worked out at once."""
    waiting = list(known)
    while waiting:
        names = {each.name for each in waiting}
        ready = [each for each in waiting if not _roots([each.of]) & names]
        rows = rows.with_columns(_running(each).alias(each.name) for each in ready)
        waiting = [each for each in waiting if each not in ready]
    return rows


def _running(known: Known) -> pl.Expr:
    """The column, of rows that lie side by side."""
    values = known.of
    if known.aggregate == "itself":
        return values
    if known.aggregate == "sum":
        sums = values.cum_sum()
        found = sums - (sums - values).gather(col(_START))
    elif known.aggregate == "last":
        found = when(when(values.is_not_null()).then(_PLACE).forward_fill() >= col(_START)).then(values.forward_fill())
    elif known.aggregate == "first":
        is_there = values.is_not_null().cast(pl.Int32)
        count = is_there.cum_sum()
        count -= (count - is_there).gather(col(_START))
        found = when(count > 0).then(when(values.is_not_null() & (count == 1)).then(values).forward_fill())
    else:
        found = _extreme(values.cast(pl.Int64), is_largest=known.aggregate == "max")
    return when(col(_PLACE) > col(_START)).then(found.shift(1)) if known.is_before else found


def _extreme(values: pl.Expr, *, is_largest: bool) -> pl.Expr:
    """The largest or smallest value so far: of values that grow from group to group, the largest of all rows so far."""
    upwards = values - values.min() + 1 if is_largest else values.max() - values + 1
    floor = col(_GROUP).cast(pl.Int64) * (values.max() - values.min() + 2)
    so_far = (upwards.fill_null(0) + floor).cum_max() - floor
    return when(so_far > 0).then(so_far + values.min() - 1 if is_largest else values.max() + 1 - so_far)
