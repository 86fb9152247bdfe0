"""The result of an audit whose rows are in files; of what grows with the store it holds a part."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from spark_trace_analysis.audit.rules.state import TransactionState
from spark_trace_analysis.audit.table import HistoryEvent, TransactionRow, audit_json

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from reference.format.corrupt_region import CorruptRegion
    from spark_trace_analysis.audit.explanation.trace_verdict import TraceVerdict


@dataclass(frozen=True, slots=True)
class LargeAudit:
    """What a store says about its transactions; see :class:`spark_trace_analysis.audit.table.Audit`.

    Attributes
    ----------
    corrupt
        The first pieces of damage; there are `damage` in all.
    counts
        State to the number of transactions, every state named.
    plain
        How many are plainly delivered or rolled back.
    transactions
        The rows to list, the gravest first; or all of them in the order of the log.
    tasks_found
        How many tasks an audit that was cut short had finished, and this one went on from.
    """

    store: str
    version: str | None
    records: int
    events: int
    corrupt: tuple[CorruptRegion, ...]
    damage: int
    counts: dict[str, int]
    plain: int
    transactions: tuple[TransactionRow, ...]
    notes: tuple[str, ...]
    trace: TraceVerdict
    tasks_found: int = 0

    @property
    def total(self) -> int:
        """How many transactions there are."""
        return sum(self.counts.values())

    def listed(self, *, everything: bool, limit: int) -> Sequence[TransactionRow]:
        """The rows to show; whether all of them can be was decided when the audit was made."""
        return self.transactions if everything else self.transactions[:limit]

    def to_json(self, *, everything: bool = False, limit: int = 1000) -> dict[str, Any]:
        """The audit as JSON values, see ``schema.json``."""
        return audit_json(self, everything=everything, limit=limit)


def row_from(told: Mapping[str, Any]) -> TransactionRow:
    """A row out of its JSON values, or out of a row of a file."""
    return TransactionRow(
        unique_key=told["unique_key"],
        group=told["group"],
        topic=told["topic"],
        state=TransactionState(told["state"]),
        also=tuple(map(TransactionState, told["also"])),
        deliveries=told["deliveries"],
        checks=told["checks"],
        put_backs=told["put_backs"],
        half_offsets=tuple(told["half_offsets"]),
        op_offsets=tuple(told["op_offsets"]),
        resembles=tuple(told["resembles"]),
        history=tuple(HistoryEvent(**event) for event in told["history"]),
    )
