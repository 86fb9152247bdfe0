"""The result of an audit, however it was made: the counts, rows of transactions, and the JSON that others build on."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from spark_trace_analysis.audit.rules.state import TransactionState

if TYPE_CHECKING:
    from collections.abc import Sequence

    from reference.format.errors import CorruptRegion
    from spark_trace_analysis.audit.explanation.trace_verdict import TraceVerdict
    from spark_trace_analysis.audit.rules.transaction_row import TransactionRow

SCHEMA = Path(__file__).with_name("schema.json")
"""The JSON Schema of :meth:`Audit.to_json`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Audit:
    """What a store says about its transactions; of what grows with the store, a large audit holds a part.

    Attributes
    ----------
    version
        The version that wrote it, or a range, or None.
    records
        How many records the commit log holds, ordinary messages included.
    events
        How many of them are part of a transaction.
    corrupt
        Damage, in the order in which it was found; there are `damage` pieces in all.
    transactions
        All in the order of the log; or only some of those that are not plain, the gravest first.
    counts
        State to the number of transactions, every state named.
    plain
        How many are plainly delivered or rolled back.
    notes
        What a reader should know to read the table right.
    trace
        Whether the specification explains the store.
    tasks_found
        How many tasks an audit that was cut short had finished, and this one went on from; in one process none.
    """

    store: str
    version: str | None
    records: int
    events: int
    corrupt: tuple[CorruptRegion, ...]
    damage: int
    transactions: tuple[TransactionRow, ...]
    counts: dict[str, int]
    plain: int
    notes: tuple[str, ...]
    trace: TraceVerdict
    tasks_found: int = 0

    @property
    def total(self) -> int:
        """How many transactions there are."""
        return sum(self.counts.values())

    def listed(self, *, everything: bool, limit: int) -> Sequence[TransactionRow]:
        """The rows to show: all that are held, or those that are not plain, at most ``limit``, the gravest first."""
        if everything:
            return self.transactions
        gravity = {state: rank for rank, state in enumerate(TransactionState)}
        rows = sorted((row for row in self.transactions if not row.is_plain), key=lambda row: gravity[row.state])
        return rows[:limit]

    def to_json(self, *, everything: bool = False, limit: int = 1000) -> dict[str, Any]:
        """The audit as JSON values, see ``schema.json``.

        Parameters
        ----------
        everything
            List all transactions, whatever ``limit`` says.
        limit
            How many that are not plainly delivered or rolled back to list.
        """
        rows = self.listed(everything=everything, limit=limit)
        listable = self.total if everything else self.total - self.plain
        return {
            "store": self.store,
            "version": self.version,
            "records": self.records,
            "corrupt": [
                {"file": region.file, "offset": region.offset, "reason": region.reason} for region in self.corrupt
            ],
            "corrupt_omitted": self.damage - len(self.corrupt),
            "transactions": [row.to_json() for row in rows],
            "omitted": listable - len(rows),
            "counts": self.counts,
            "notes": list(self.notes),
            "trace": self.trace.to_json(),
            "tasks_found": self.tasks_found,
        }


def counted(rows: Sequence[TransactionRow]) -> dict[str, int]:
    """State to the number of some transactions, every state named."""
    counter = Counter(row.state for row in rows)
    return {state.value: counter[state] for state in TransactionState}
