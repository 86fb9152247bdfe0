"""Running aggregates, as Polars expressions, over the rows of a trace, of a transaction or of a half.

The rows of a group lie side by side. An aggregate of a group is the running aggregate over all rows minus its value at
the start of the group: a segmented prefix sum. Polars' own windows do the same and take several times as long.
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
"""The event of the rows that `Rows.HALF` adds: one for each copy, under the queue offset that it fills."""


class Rows(Enum):
    """The rows over which an aggregate runs: of a trace, or those of it that name one transaction or half.

    Rows of a trace leave out those by which only time passes. A half is a queue offset of the half topic that a row has
    as ``half``; before the other fields of the same event count, a row with the event `FILLED` is added where a
    ``copy`` has this offset.
    """

    TRACE = "trace"
    TRANSACTION = "transaction"
    HALF = "half"


@dataclass(frozen=True, eq=False)
class Known:
    """A column with a running aggregate over the rows of each group; its name is of one column for all properties.

    The expression `of` is over the fields of an event and columns that are known already; a trace may ask for a column
    of a transaction or half, which is null where a row has none. The aggregate is over the values that are not null, up
    to and with the row, unless `is_before` leaves the row out; or it is the value of the row ``itself``.
    """

    name: str
    over: Rows
    of: pl.Expr
    aggregate: Literal["sum", "last", "first", "max", "min", "itself"]
    is_before: bool = False


@dataclass(frozen=True)
class Broken:
    """Expressions that are true of the rows which break a trace, for some kinds of rows.

    The columns that these expressions use stand each behind those that it uses itself.
    """

    when: dict[Rows, pl.Expr]
    known: tuple[Known, ...]


def is_event(*places: int) -> pl.Expr:
    """Whether a row is one of these events."""
    return _is_among("event", places)


def is_action(*actions: Callable[..., None]) -> pl.Expr:
    """Whether a row is the work of one of these actions of the specification."""
    return _is_among("action", map(action_code, actions))


def _is_among(column: str, codes: Iterable[int]) -> pl.Expr:
    return pl.any_horizontal([col(column) == lit(code, pl.Int16) for code in codes])


def count(name: str, over: Rows, rows: pl.Expr) -> Known:
    """How many such rows there were."""
    return total(name, over, rows)


def total(name: str, over: Rows, values: pl.Expr) -> Known:
    """The sum of the values."""
    return Known(name, over, values.cast(pl.Int32).fill_null(0), "sum")


def last(name: str, over: Rows, values: pl.Expr, *, is_before: bool = False) -> Known:
    """The last value that is not null."""
    return Known(name, over, values, "last", is_before)


def first(name: str, over: Rows, values: pl.Expr) -> Known:
    """The first value that is not null."""
    return Known(name, over, values, "first")


def most(name: str, over: Rows, values: pl.Expr, *, is_before: bool = False) -> Known:
    """The largest value."""
    return Known(name, over, values, "max", is_before)


def least(name: str, over: Rows, values: pl.Expr) -> Known:
    """The smallest value."""
    return Known(name, over, values, "min")


def mark(name: str, over: Rows, rows: pl.Expr) -> Known:
    """True at such rows and null at the others, so that a trace can ask which rows these are."""
    return Known(name, over, when(rows).then(lit(value=True)), "itself")


_ROW, _PLACE, _START, _GROUP = "row in the file", "row", "row where the group starts", "number of the group"
_KEY = "what belongs together"

Frames = dict[Rows, pl.DataFrame]
"""The rows of a file of each kind, sorted by group, with the columns of their aggregates."""


def with_all_that_is_known(
    rows: pl.DataFrame, known: Sequence[Known], asked: Mapping[Rows, Sequence[pl.Expr]]
) -> Frames:
    """Work out some columns.

    Parameters
    ----------
    rows
        Of whole traces, in order: the columns of an event, words as numbers.
    known
        The columns, each behind those that it uses. One over a trace may use one over a transaction or half, which uses
        none over a trace in its turn.
    asked
        For each kind of rows the expressions that will be evaluated; its frame has the columns for these, and not
        all others.

    Returns
    -------
    Frames
        Those of ``Rows.TRANSACTION`` and ``Rows.HALF`` have the rows that name one, sorted by it, with
        `FILLED` rows among them.
    """
    of_others = {each.name for each in known if each.over is not Rows.TRACE}
    late: list[Known] = []
    for each in known:
        if each.over is Rows.TRACE and _roots([each.of]) & (of_others | {other.name for other in late}):
            late.append(each)
    early = [each for each in known if each.over is Rows.TRACE and each not in late]
    trace = _with_columns(_side_by_side(rows.with_row_index(_ROW).with_columns(col("trace").alias(_KEY))), early)
    frames = {Rows.TRACE: trace}
    wanted = _roots([*asked[Rows.TRACE], *(each.of for each in late)]) & of_others
    for over in (Rows.TRANSACTION, Rows.HALF):
        mine = [each for each in known if each.over is over]
        needed = _roots([*asked[over], *(each.of for each in mine)]) - {each.name for each in mine}
        frames[over] = _with_columns(_side_by_side(_rows_over(over, trace, needed)), mine)
        named = [each.name for each in mine if each.name in wanted]
        if named:
            with_values = frames[over].filter((col("event") != FILLED) & pl.any_horizontal(col(named).is_not_null()))
            trace = trace.join(with_values.select(_ROW, *named), on=_ROW, how="left", maintain_order="left")
    frames[Rows.TRACE] = _with_columns(trace, late)
    return frames


def _roots(expressions: Sequence[pl.Expr]) -> set[str]:
    """The columns that these expressions ask for."""
    return {name for expression in expressions for name in expression.meta.root_names()}


def _rows_over(over: Rows, trace: pl.DataFrame, needed: Collection[str]) -> pl.DataFrame:
    """The rows that name a transaction or a half, sorted by it within each trace, with the needed columns."""
    column = "transaction" if over is Rows.TRANSACTION else "half"
    names = sorted({_ROW, "trace", "step", "event", *needed})
    key = col(_GROUP).cast(pl.Int64) * (col(column).max().cast(pl.Int64) + 1) + col(column)
    rows = trace.filter(col(column) >= 0)
    if over is Rows.HALF:
        fillings = trace.filter(col("copy") >= 0).with_columns(
            col("copy").alias("half"), lit(FILLED, pl.Int16).alias("event")
        )
        if fillings.height:
            rows = pl.concat([fillings, rows]).sort(_ROW, maintain_order=True)
    return rows.select(key.alias(_KEY), *names).sort(_KEY, maintain_order=True)


def _side_by_side(rows: pl.DataFrame) -> pl.DataFrame:
    """Number the groups, and give each row the start of its group."""
    starts = (col(_KEY) != col(_KEY).shift(1)).fill_null(value=True)
    start = when(starts).then(_PLACE).forward_fill().alias(_START)
    group = starts.cast(pl.UInt32).cum_sum().alias(_GROUP)
    return rows.with_row_index(_PLACE).with_columns(start, group).drop(_KEY)


def _with_columns(rows: pl.DataFrame, known: Sequence[Known]) -> pl.DataFrame:
    """The rows with these columns; those that use none of the others are evaluated at once."""
    waiting = list(known)
    while waiting:
        names = {each.name for each in waiting}
        ready = [each for each in waiting if not _roots([each.of]) & names]
        rows = rows.with_columns(_running(each).alias(each.name) for each in ready)
        waiting = [each for each in waiting if each not in ready]
    return rows


def _running(known: Known) -> pl.Expr:
    """The expression of a column: a segmented running aggregate over sorted rows."""
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
    """The largest or smallest value of the group so far: values are shifted to grow from group to group."""
    upwards = values - values.min() + 1 if is_largest else values.max() - values + 1
    floor = col(_GROUP).cast(pl.Int64) * (values.max() - values.min() + 2)
    so_far = (upwards.fill_null(0) + floor).cum_max() - floor
    return when(so_far > 0).then(so_far + values.min() - 1 if is_largest else values.max() + 1 - so_far)
