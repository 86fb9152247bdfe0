"""What an expression may ask of the rows before it: running aggregates over a trace, a transaction or a half."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from enum import Enum
from typing import Literal

import polars as pl

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
    return pl.any_horizontal([pl.col(column) == pl.lit(code, pl.Int16) for code in codes])


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
    return Known(name, over, pl.when(rows).then(pl.lit(value=True)), "itself")
