"""What a store shows of its producers: when halves came, how large they were, which END_TRANSACTIONs were their own.

An END_TRANSACTION names one copy of a half. That of the local transaction names the half as it was sent; the answer to
a check names the copy that was checked. A real message carries the name (``preparedTransactionOffset``), an op message
the queue offsets that it removes (``EndTransactionProcessor#endMessageTransaction``, ``OpBatchService``).
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Self

from reference.format.commit_log import CommitLog
from reference.format.properties import CHECK_TIMES
from reference.format.store_paths import StorePaths, store_paths
from spark_trace_analysis.audit.audit_store import audit_store
from spark_trace_analysis.audit.opened_store import StoreQuestion
from spark_trace_analysis.audit.rules.transaction_row import DELIVERED, HALF, OF_HALF_QUEUE, OP
from spark_trace_analysis.records.transaction_record import parse_op_body

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from spark_trace_analysis.audit.rules.transaction_row import TransactionRow


@dataclass(slots=True)
class SeenTraffic:
    """The traffic of one store. Times are milliseconds, by the broker's clock but for births.

    Attributes
    ----------
    stored_at
        When each transaction's half was stored, in the order of the log.
    local_ms
        From the half to the commit by its own END_TRANSACTION, of each transaction that has one.
    rolled_back
        How many transactions were ended by their own END_TRANSACTION, and not committed.
    answered_at
        Of those that checks ended: at which check, and how many.
    unanswered_after
        Of those that nothing ended: the checks that they had, and how many.
    immunities
        CHECK_IMMUNITY_TIME_IN_SECONDS, in milliseconds, and on how many messages; None for none.
    version
        The release that wrote the store, as the audit says.
    """

    version: str
    stored_at: list[int] = field(default_factory=list)
    body_bytes: list[int] = field(default_factory=list)
    local_ms: list[float] = field(default_factory=list)
    rolled_back: int = 0
    answered_at: Counter[int] = field(default_factory=Counter)
    unanswered_after: Counter[int] = field(default_factory=Counter)
    immunities: Counter[int | None] = field(default_factory=Counter)
    groups: set[str] = field(default_factory=set)
    connections: set[str] = field(default_factory=set)
    """Hosts and ports from which halves came."""
    sent_twice: int = 0
    """Transactions with more than one half of a producer."""

    @classmethod
    def of(cls, store: Path, version: str | None = None) -> Self:
        """What a store shows; raises `reference.format.errors.StoreError` as an audit does."""
        paths = store_paths(store)
        audit = audit_store(paths, version, question=StoreQuestion(most_events=0))
        seen = cls(audit.version or "")
        seen._take(audit.transactions, paths)
        return seen

    @property
    def transactions(self) -> int:
        """How many transactions there are whose half is in the store."""
        return len(self.stored_at)

    def _take(self, rows: Sequence[TransactionRow], paths: StorePaths) -> None:
        log = CommitLog.open(paths)
        bodies: dict[int, frozenset[int]] = {}
        for row in rows:
            first = next((event for event in row.history if event.event == HALF), None)
            if first is None:
                continue  # the half is gone, and with it when and how it came
            record = log.record_at(first.at)
            self.stored_at.append(first.time)
            self.body_bytes.append(len(record.body))
            self.groups.add(row.group)
            self.connections.add(record.born_host)
            self.immunities[row.immunity_ms] += 1
            self.sent_twice += sum(event.event == HALF for event in row.history) > 1
            own, named = self._commits(row, log)
            if own is not None:
                self.local_ms.append(max(1.0, own - first.time))
                continue
            named |= self._removed(row, log, bodies)
            if first.at in named:
                self.rolled_back += 1
            elif named:
                self.answered_at[max(1, _check_times(log, min(named)))] += 1
            else:
                self.unanswered_after[row.checks] += 1

    @staticmethod
    def _commits(row: TransactionRow, log: CommitLog) -> tuple[int | None, set[int]]:
        """When its own END_TRANSACTION committed it, and the places of the halves that commits named."""
        half_at, own, named = row.half_at, None, set[int]()
        for event in row.history:
            if event.event == DELIVERED:
                at = log.record_at(event.at).prepared_transaction_offset
                named.add(at)
                own = event.time if own is None and at == half_at else own
        return own, named

    @staticmethod
    def _removed(row: TransactionRow, log: CommitLog, bodies: dict[int, frozenset[int]]) -> set[int]:
        """The places of its halves that op messages name; `bodies` has what op messages name, by their places."""
        named: set[int] = set()
        places = {event.offset: event.at for event in row.history if event.event in OF_HALF_QUEUE}
        for event in row.history:
            if event.event == OP:
                if event.at not in bodies:
                    bodies[event.at] = frozenset(parse_op_body(log.record_at(event.at).body) or ())
                named |= {places[offset] for offset in bodies[event.at] & places.keys()}
        return named


def _check_times(log: CommitLog, at: int) -> int:
    """TRANSACTION_CHECK_TIMES of a copy."""
    return int(log.record_at(at).properties.get(CHECK_TIMES, "0"))
