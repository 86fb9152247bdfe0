"""The result of an audit: one row a transaction, the counts, and the JSON that others build on."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

from spark_trace_analysis.audit.rules.advice import advice
from spark_trace_analysis.audit.rules.state import TransactionState

if TYPE_CHECKING:
    from collections.abc import Sequence

    from reference.format.corrupt_region import CorruptRegion
    from spark_trace_analysis.audit.explanation.trace_verdict import TraceVerdict

SCHEMA = Path(__file__).with_name("schema.json")
"""The JSON Schema of :meth:`Audit.to_json`."""


class HistoryEvent(NamedTuple):
    """One thing that happened to a transaction.

    Attributes
    ----------
    event
        ``half``, ``put back``, ``op``, ``delivered`` or ``discarded``.
    at
        The commit log offset of its record.
    time
        When it was stored, in milliseconds since the epoch.
    """

    event: str
    at: int
    time: int


@dataclass(frozen=True, slots=True)
class TransactionRow:
    """One transaction.

    Attributes
    ----------
    also
        The other states that hold, the gravest first.
    checks
        The check count of its last copy.
    put_backs
        How many copies of it check rounds wrote.
    half_offsets
        The half queue offsets of the half and its copies.
    op_offsets
        The op queue offsets of the op messages that name one of them, each once.
    resembles
        The ids of the known defects that it looks like.
    history
        What happened to it, in the order of the log.
    """

    unique_key: str
    group: str
    topic: str
    state: TransactionState
    also: tuple[TransactionState, ...]
    deliveries: int
    checks: int
    put_backs: int
    half_offsets: tuple[int, ...]
    op_offsets: tuple[int, ...]
    resembles: tuple[str, ...]
    history: tuple[HistoryEvent, ...] = ()

    @property
    def advice(self) -> str:
        """What an operator can do: by the first defect that it looks like, or else by its states."""
        return advice(self.state, self.resembles, self.also)

    @property
    def first_offset(self) -> int:
        """The commit log offset of its first record."""
        return self.history[0].at

    @property
    def is_plain(self) -> bool:
        """Delivered once or rolled back, and nothing else to say."""
        is_final = self.state in (TransactionState.DELIVERED, TransactionState.ROLLED_BACK)
        return is_final and not self.also and not self.resembles

    def to_json(self) -> dict[str, Any]:
        """The row as JSON values."""
        return {
            "unique_key": self.unique_key,
            "group": self.group,
            "topic": self.topic,
            "state": self.state.value,
            "also": [state.value for state in self.also],
            "deliveries": self.deliveries,
            "checks": self.checks,
            "put_backs": self.put_backs,
            "half_offsets": list(self.half_offsets),
            "op_offsets": list(self.op_offsets),
            "resembles": list(self.resembles),
            "advice": self.advice,
            "history": [event._asdict() for event in self.history],
        }


@dataclass(frozen=True, slots=True)
class Audit:
    """What a store says about its transactions.

    Attributes
    ----------
    version
        The version that wrote it, or a range, or None.
    records
        How many records the commit log holds, ordinary messages included.
    events
        How many of them are part of a transaction.
    corrupt
        Damage, in the order in which it was found.
    notes
        What a reader should know to read the table right.
    trace
        Whether the specification explains the store.
    """

    store: str
    version: str | None
    records: int
    events: int
    corrupt: tuple[CorruptRegion, ...]
    transactions: tuple[TransactionRow, ...]
    notes: tuple[str, ...]
    trace: TraceVerdict
    tasks_found: int = 0
    """None are kept in one process."""

    @property
    def counts(self) -> dict[str, int]:
        """State to the number of transactions, every state named."""
        counter = Counter(row.state for row in self.transactions)
        return {state.value: counter[state] for state in TransactionState}

    @property
    def total(self) -> int:
        """How many transactions there are."""
        return len(self.transactions)

    @property
    def plain(self) -> int:
        """How many of them are plainly delivered or rolled back."""
        return sum(row.is_plain for row in self.transactions)

    @property
    def damage(self) -> int:
        """How many pieces of damage there are."""
        return len(self.corrupt)

    def listed(self, *, everything: bool, limit: int) -> Sequence[TransactionRow]:
        """The rows to show: all, or those that are not plain, at most ``limit``, the gravest first."""
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
        return audit_json(self, everything=everything, limit=limit)


class AnyAudit(Protocol):
    """What an audit says, however it was made; see :class:`Audit`."""

    @property
    def store(self) -> str: ...  # noqa: D102
    @property
    def version(self) -> str | None: ...  # noqa: D102
    @property
    def records(self) -> int: ...  # noqa: D102
    @property
    def events(self) -> int: ...  # noqa: D102
    @property
    def corrupt(self) -> tuple[CorruptRegion, ...]: ...  # noqa: D102
    @property
    def notes(self) -> tuple[str, ...]: ...  # noqa: D102
    @property
    def trace(self) -> TraceVerdict: ...  # noqa: D102
    @property
    def tasks_found(self) -> int: ...  # noqa: D102
    @property
    def counts(self) -> dict[str, int]: ...  # noqa: D102
    @property
    def total(self) -> int: ...  # noqa: D102
    @property
    def plain(self) -> int: ...  # noqa: D102
    @property
    def damage(self) -> int: ...  # noqa: D102
    def listed(self, *, everything: bool, limit: int) -> Sequence[TransactionRow]: ...  # noqa: D102


def audit_json(audit: AnyAudit, *, everything: bool, limit: int) -> dict[str, Any]:
    """An audit as JSON values, see ``schema.json``."""
    rows = audit.listed(everything=everything, limit=limit)
    listable = audit.total if everything else audit.total - audit.plain
    return {
        "store": audit.store,
        "version": audit.version,
        "records": audit.records,
        "corrupt": [
            {"file": region.file, "offset": region.offset, "reason": region.reason} for region in audit.corrupt
        ],
        "corrupt_omitted": audit.damage - len(audit.corrupt),
        "transactions": [row.to_json() for row in rows],
        "omitted": listable - len(rows),
        "counts": audit.counts,
        "notes": list(audit.notes),
        "trace": audit.trace.to_json(),
        "tasks_found": audit.tasks_found,
    }
