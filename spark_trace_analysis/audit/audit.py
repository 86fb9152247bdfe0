"""The result of an audit, however it was made: the counts, rows of transactions, and the JSON that others build on."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from spark_trace_analysis.audit.columns.row_tables import rows_chosen
from spark_trace_analysis.audit.rules.state import TransactionState
from spark_trace_analysis.audit.selection import Selection
from spark_trace_analysis.audit.unanswered_checks import unanswered_checks

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from reference.format.errors import CorruptRegion
    from spark_trace_analysis.audit.explanation.trace_verdict import TraceVerdict
    from spark_trace_analysis.audit.rules.transaction_row import TransactionRow
    from spark_trace_analysis.records.version import Writer

SCHEMA = Path(__file__).with_name("schema.json")
"""The JSON Schema of :meth:`Audit.to_json`."""


@dataclass(frozen=True, slots=True)
class Selected:
    """The number of transactions that a selection has.

    Attributes
    ----------
    counts
        State to their number, every state named.
    holding
        State to the number of those in which it holds, be it the gravest or not.
    plain
        How many of them are plainly delivered or rolled back.
    """

    counts: dict[str, int]
    holding: dict[str, int]
    plain: int

    @property
    def total(self) -> int:
        """All of them."""
        return sum(self.counts.values())


@dataclass(frozen=True, slots=True, kw_only=True)
class Audit:
    """The transactions of a store; an audit of a large store holds only some of their rows.

    Attributes
    ----------
    version
        The version that wrote it, or a range, or None.
    writers
        The releases that wrote it one after the other, if more than one did; `version` is the last of them.
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
        Remarks without which the table would be misread.
    trace
        Whether the specification explains the store.
    tasks_found
        How many tasks were found finished by an earlier audit that was cut short; none in one process.
    selection, asked_for
        The selection, and the number of its transactions; `counts` and `plain` are of the whole store.
    received_checks
        The half queue offsets of the copies about which a client was asked, if a log beside the store says so.
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
    writers: tuple[Writer, ...] = ()
    selection: Selection = field(default_factory=Selection)
    asked_for: Selected
    received_checks: frozenset[int] | None = None

    @property
    def written_by(self) -> str:
        """The release that wrote it, or from which to which it may be; several, where one wrote after the other."""
        return ", ".join(map(str, self.writers)) or (self.version or "an unknown version").replace("-", " to ")

    @property
    def listable(self) -> int:
        """How many transactions a list without a limit has, if it leaves out what is plain."""
        asked = self.asked_for
        return asked.total - (0 if self.selection.lists_plain else asked.plain)

    @property
    def total(self) -> int:
        """How many transactions there are."""
        return sum(self.counts.values())

    def listed(self, *, everything: bool, limit: int) -> Sequence[TransactionRow]:
        """The rows to show: all that are held, or those that are not plain, at most ``limit``, the gravest first.

        A selection that names states or keys lists what is plain, too.
        """
        if everything:
            return self.transactions
        gravity = {state: rank for rank, state in enumerate(TransactionState)}
        rows = (row for row in self.transactions if self.selection.lists_plain or not row.is_plain)
        return sorted(rows, key=lambda row: gravity[row.state])[:limit]

    def narrowed(self, selection: Selection) -> Audit:
        """The same audit, narrowed to the transactions of a selection; all must be held."""
        if selection.is_everything:
            return self
        rows = tuple(rows_chosen(self.transactions, selection))
        return replace(self, transactions=rows, selection=selection, asked_for=selected(rows))

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
        listable = self.asked_for.total if everything else self.listable
        return {
            "store": self.store,
            "version": self.version,
            "writers": [{"start": writer.start, "version": writer.version} for writer in self.writers],
            "records": self.records,
            "corrupt": [
                {"file": region.file, "offset": region.offset, "reason": region.reason} for region in self.corrupt
            ],
            "corrupt_omitted": self.damage - len(self.corrupt),
            "transactions": [row.to_json() for row in rows],
            "omitted": listable - len(rows),
            "counts": self.counts,
            "selected": None if self.selection.is_everything else self.asked_for.counts,
            "unanswered_checks": [
                {**one._asdict(), "keys": list(one.keys)} for one in unanswered_checks(rows, self.received_checks)
            ],
            "notes": list(self.notes),
            "trace": self.trace.to_json(),
            "tasks_found": self.tasks_found,
        }


def selected(rows: Sequence[TransactionRow]) -> Selected:
    """How many transactions some rows are."""
    holding = Counter(state.value for row in rows for state in (row.state, *row.also))
    return Selected(
        of_each_state(Counter(row.state.value for row in rows)),
        of_each_state(holding),
        sum(row.is_plain for row in rows),
    )


def of_each_state(counter: Mapping[str, int]) -> dict[str, int]:
    """State to a number, every state named."""
    return {state.value: counter.get(state, 0) for state in TransactionState}
