"""The things that a watch tells: what became of a transaction, and what the check service or the source does."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum
from typing import TYPE_CHECKING, Any, Final

from spark_trace_analysis.audit.rules.state import TransactionState
from spark_trace_analysis.audit.rules.transaction_row import local_time

if TYPE_CHECKING:
    from spark_trace_analysis.audit.rules.transaction_row import TransactionRow

TOLD_STATES: Final = (
    TransactionState.LOST, TransactionState.DOUBLED, TransactionState.PARKED, TransactionState.UNKNOWN,
)  # fmt: skip
"""The states of which each transaction is told once; an unknown one where two looks in a row find it so."""


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


TOLD_OF_TRANSACTIONS: Final = (*TOLD_STATES, NewsKind.HANGING, NewsKind.UNREMEMBERED)
"""Bits of what was told of a transaction: a new one goes behind the others."""


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


AGES_S: Final = (10.0, 60.0, 300.0, 900.0, 3_600.0, 86_400.0)
"""Pending transactions are counted up to each of these ages."""


@dataclass(slots=True)
class Ages:
    """How old the pending transactions of one group are: how many up to each of the ages, in all, and their sum."""

    up_to: list[int] = field(default_factory=lambda: [0] * len(AGES_S))
    count: int = 0
    seconds: float = 0.0


@dataclass(slots=True)
class Counters:
    """Numbers of all looks, as long as the watch has its memory.

    Attributes
    ----------
    settled
        Settled transactions by state; one that comes back is none until it is settled again.
    told
        News of transactions, by what was told.
    findings
        By the id of the defect that a told transaction looks like.
    put_backs, discards
        Copies that rounds wrote; discards by cause: ``immune``, never asked (A09), or ``unanswered``.
    """

    settled: dict[str, int] = field(default_factory=dict)
    told: dict[str, int] = field(default_factory=lambda: dict.fromkeys(TOLD_OF_TRANSACTIONS, 0))
    findings: dict[str, int] = field(default_factory=dict)
    put_backs: int = 0
    discards: dict[str, int] = field(default_factory=lambda: {"unanswered": 0, "immune": 0})


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
