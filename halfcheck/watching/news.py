"""The things that a watch reports: what became of a transaction, and what the check service or the source does."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field, fields
from enum import StrEnum
from typing import TYPE_CHECKING, Any, Final, Self

import numpy as np

from spark_trace_analysis.audit.rules.state import TransactionState
from spark_trace_analysis.audit.rules.transaction_row import local_time

if TYPE_CHECKING:
    from collections.abc import Mapping

    from spark_trace_analysis.audit.columns.bucket import Numbers
    from spark_trace_analysis.audit.rules.transaction_row import TransactionRow

REPORTED_STATES: Final = (
    TransactionState.LOST, TransactionState.DOUBLED, TransactionState.PARKED, TransactionState.UNKNOWN,
)  # fmt: skip
"""The states that are reported of each transaction, once; unknown where two looks in a row find it so."""


class NewsKind(StrEnum):
    """The other kinds of news.

    Attributes
    ----------
    HANGING
        A transaction is pending for longer than was asked for.
    STUCK, GOES_ON
        Halves are due, and for three intervals no round has put one back; that is over.
    UNREACHABLE, REACHABLE
        The source can't be read; it can again.
    BEGUN_ANEW
        The log is another one than before, or shorter: all is read again.
    UNREMEMBERED
        A message was committed of a transaction that is no longer remembered: whether it is the second is not known.
    """

    HANGING = "hanging"
    STUCK = "stuck"
    GOES_ON = "goes_on"
    UNREACHABLE = "unreachable"
    REACHABLE = "reachable"
    BEGUN_ANEW = "begun_anew"
    UNREMEMBERED = "unremembered"


REPORTED: Final[tuple[TransactionState | NewsKind, ...]] = (*REPORTED_STATES, NewsKind.HANGING, NewsKind.UNREMEMBERED)
"""All that is reported of a transaction, by its bit in the memory of a watch: a new one goes behind the others."""


@dataclass(frozen=True, slots=True)
class News:
    """One piece of news; times in milliseconds since the epoch, by the broker's clock.

    Attributes
    ----------
    what
        A state, or one of the other kinds.
    row
        The transaction that it is of, if it is of one.
    why
        A sentence, where there is no transaction.
    """

    source: str
    at_ms: int
    what: TransactionState | NewsKind
    row: TransactionRow | None = None
    why: str = ""

    def to_json(self) -> dict[str, Any]:
        """As JSON values."""
        values: dict[str, Any] = {"source": self.source, "at": local_time(self.at_ms), "event": self.what.value}
        if self.row is not None:
            values["transaction"] = self.row.to_json()
        if self.why:
            values["why"] = self.why
        return values


AGES_S: Final = np.array([10.0, 60.0, 300.0, 900.0, 3_600.0, 86_400.0])
"""Pending transactions are counted up to each of these ages."""


@dataclass(slots=True)
class Ages:
    """How old the pending transactions of one group are: how many up to each of the ages, in all, and their sum."""

    up_to: Numbers = field(default_factory=lambda: np.zeros(len(AGES_S), np.int64))
    count: int = 0
    seconds: float = 0.0


@dataclass(slots=True)
class Counters:
    """Numbers of all looks, as long as the watch has its memory.

    Attributes
    ----------
    settled
        Settled transactions by state; one that comes back is none until it is settled again.
    reported
        News of transactions, by what was reported.
    findings
        By the id of the defect that a reported transaction looks like.
    put_backs, discards
        Copies that rounds wrote; discards by cause: ``immune``, never asked (A09), or ``unanswered``.
    """

    settled: Counter[str] = field(default_factory=Counter)
    reported: Counter[str] = field(default_factory=lambda: Counter({what.value: 0 for what in REPORTED}))
    findings: Counter[str] = field(default_factory=Counter)
    put_backs: int = 0
    discards: Counter[str] = field(default_factory=lambda: Counter({"unanswered": 0, "immune": 0}))

    def to_json(self) -> dict[str, Any]:
        """As JSON values."""
        values = {one.name: getattr(self, one.name) for one in fields(self)}
        return {name: dict(value) if isinstance(value, Counter) else value for name, value in values.items()}

    @classmethod
    def of(cls, values: Mapping[str, Any]) -> Self:
        """From the same."""
        found = cls()
        for name, value in values.items():
            setattr(found, name, Counter(value) if isinstance(value, dict) else value)
        return found


@dataclass(frozen=True, slots=True, kw_only=True)
class Look:
    """What one look found.

    Attributes
    ----------
    news
        What is new since the look before.
    counts
        State to the number of transactions, every state named: what an audit of the whole store counts, as long as no
        settled one was forgotten.
    pending
        Producer group to the ages of its pending transactions.
    producers
        Producer group to the number of its clients that are connected; nothing of a store.
    overdue
        How many pending halves no round has visited for three intervals though they are due.
    last_round_ms
        How long the last round that put back or discarded something took; None before one was seen.
    remembered
        How many settled transactions are remembered.
    """

    source: str
    at_ms: int
    news: tuple[News, ...]
    counts: dict[str, int]
    pending: dict[str, Ages]
    producers: dict[str, int]
    overdue: int
    half_left: int
    op_left: int
    last_round_ms: int | None
    remembered: int
    counters: Counters
    seconds: float

    def to_json(self) -> dict[str, Any]:
        """As JSON values, without the news."""
        return {
            "source": self.source,
            "at": local_time(self.at_ms),
            "event": "look",
            "counts": self.counts,
            "pending": {group: ages.count for group, ages in self.pending.items()},
            "producers": self.producers,
            "overdue": self.overdue,
            "half_left": self.half_left,
            "op_left": self.op_left,
            "last_round_ms": self.last_round_ms,
            "remembered": self.remembered,
            "put_backs": self.counters.put_backs,
            "discards": self.counters.discards,
        }
