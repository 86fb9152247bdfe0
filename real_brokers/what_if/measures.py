"""The measures of a store: how often what befell its transactions, and how long it took, from an audit's rows alone.

Real stores and simulated ones are measured by the same code. Times are those of the records; all of one broker's clock,
but for a message's birth, which is its producer's.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from spark_trace_analysis.audit.audit_store import audit_store
from spark_trace_analysis.audit.opened_store import StoreQuestion
from spark_trace_analysis.audit.rules.state import TransactionState
from spark_trace_analysis.audit.rules.transaction_row import DELIVERED, OP, PUT_BACK

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from spark_trace_analysis.audit.rules.transaction_row import TransactionRow

_GIVEN_UP: Final = frozenset((TransactionState.PARKED, TransactionState.LOST))
_SECONDS: Final = 1_000


@dataclass(frozen=True, slots=True)
class MeasuredStore:
    """What an audit has found, and when the broker was killed, in milliseconds since 1970."""

    rows: Sequence[TransactionRow]
    log_bytes: int
    deaths: tuple[int, ...] = ()

    @classmethod
    def of(cls, store: Path, version: str, deaths: tuple[int, ...] = ()) -> MeasuredStore:
        """Audit a store of a release."""
        audit = audit_store(store, version, question=StoreQuestion(most_events=0))
        end = max((event.at for row in audit.transactions for event in row.history), default=0)
        return cls(list(audit.transactions), end, deaths)

    def values(self) -> dict[str, float]:
        """Each measure that the store shows, in the order of :data:`MEASURES`."""
        found = ((measure.name, measure.of(self)) for measure in MEASURES)
        return {name: value for name, value in found if value is not None}

    def share(self, is_so: Callable[[TransactionRow], bool]) -> float | None:
        """The share of transactions of which something is so; None where there are none."""
        return self.each(lambda row: float(is_so(row)))

    def each(self, number: Callable[[TransactionRow], float]) -> float | None:
        """A number for each transaction on average."""
        return sum(map(number, self.rows)) / len(self.rows) if self.rows else None

    def births_to_deliveries(self) -> list[float]:
        """How long each message took from its birth to its first delivery, in seconds, the shortest first."""
        times = ((row.born, row.moments.delivered_at) for row in self.rows)
        return sorted((delivered - born) / _SECONDS for born, delivered in times if delivered is not None)

    def births_to_put_backs(self) -> list[float]:
        """How long each half took from its birth until a round first put it back, in seconds."""
        times = ((row.born, _first(row, PUT_BACK)) for row in self.rows)
        return sorted((put_back - born) / _SECONDS for born, put_back in times if put_back is not None)

    def deaths_to_settlements(self) -> list[float]:
        """How long each half that was open as the broker died took from there until it was settled, in seconds."""
        found: list[float] = []
        for row in self.rows:
            moments = row.moments
            ends = [at for at in (moments.delivered_at, moments.settled_at, moments.discarded_at) if at is not None]
            if not ends or moments.stored_at is None:
                continue
            within = [death for death in self.deaths if moments.stored_at <= death < min(ends)]
            found += [(min(ends) - death) / _SECONDS for death in within[-1:]]
        return sorted(found)


@dataclass(frozen=True, slots=True)
class StoreMeasure:
    """One measure.

    Attributes
    ----------
    of
        Gives it, in the unit; None where the store does not show it.
    """

    name: str
    unit: str
    of: Callable[[MeasuredStore], float | None]


def _first(row: TransactionRow, event: str) -> int | None:
    return next((one.time for one in row.history if one.event == event), None)


def _place(row: TransactionRow, event: str) -> float:
    return next((one.at for one in row.history if one.event == event), float("inf"))


def _states(row: TransactionRow) -> frozenset[TransactionState]:
    return frozenset((row.state, *row.also))


def _is_delivered_after_a_rollback(row: TransactionRow) -> bool:
    """Its first op message stands before its first real message: a commit writes them the other way round."""
    return row.deliveries > 0 and _place(row, OP) < _place(row, DELIVERED)


def _op_messages(store: MeasuredStore) -> float | None:
    named = {offset for row in store.rows for offset in row.op_offsets}
    return len(named) / len(store.rows) if store.rows else None


def _mean(times: Sequence[float]) -> float | None:
    return sum(times) / len(times) if times else None


def _quantile(times: Sequence[float], share: float) -> float | None:
    """Of sorted times."""
    return times[min(int(share * len(times)), len(times) - 1)] if times else None


MEASURES: Final = (
    StoreMeasure("doubled", "of all", lambda store: store.share(lambda row: row.deliveries > 1)),
    StoreMeasure("real messages", "each", lambda store: store.each(lambda row: row.deliveries)),
    StoreMeasure("delivered", "of all", lambda store: store.share(lambda row: row.deliveries > 0)),
    StoreMeasure("given up: parked, or lost where discards leave no record", "of all",
                 lambda store: store.share(lambda row: not _GIVEN_UP.isdisjoint(_states(row)))),
    StoreMeasure("delivered after a rollback", "of all", lambda store: store.share(_is_delivered_after_a_rollback)),
    StoreMeasure("pending at the end", "of all",
                 lambda store: store.share(lambda row: TransactionState.PENDING in _states(row))),
    StoreMeasure("put back at all", "of all", lambda store: store.share(lambda row: row.put_backs > 0)),
    StoreMeasure("put-backs", "each", lambda store: store.each(lambda row: row.put_backs)),
    StoreMeasure("checks counted in the last copy", "each", lambda store: store.each(lambda row: row.checks)),
    StoreMeasure("op messages", "each", _op_messages),
    StoreMeasure("bytes of the log", "each", lambda store: store.log_bytes / len(store.rows) if store.rows else None),
    StoreMeasure("birth to delivery, mean", "s", lambda store: _mean(store.births_to_deliveries())),
    StoreMeasure("birth to delivery, p50", "s", lambda store: _quantile(store.births_to_deliveries(), 0.5)),
    StoreMeasure("birth to delivery, p90", "s", lambda store: _quantile(store.births_to_deliveries(), 0.9)),
    StoreMeasure("birth to delivery, p99", "s", lambda store: _quantile(store.births_to_deliveries(), 0.99)),
    StoreMeasure("birth to first put-back, mean", "s", lambda store: _mean(store.births_to_put_backs())),
    StoreMeasure("crash to settlement, mean", "s", lambda store: _mean(store.deaths_to_settlements())),
    StoreMeasure("crash to settlement, p90", "s", lambda store: _quantile(store.deaths_to_settlements(), 0.9)),
)  # fmt: skip
"""All of them, in the order of the page."""
