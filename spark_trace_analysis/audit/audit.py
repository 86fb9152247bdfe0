"""The result of an audit, however it was made: the counts, rows of transactions, and the JSON that others build on."""

from __future__ import annotations

from collections import Counter
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from spark_trace_analysis.audit.columns.row_tables import rows_chosen
from spark_trace_analysis.audit.rules.state import TransactionState
from spark_trace_analysis.audit.selection import Selection

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from reference.format.errors import CorruptRegion
    from spark_trace_analysis.audit.explanation.trace_verdict import TraceVerdict
    from spark_trace_analysis.audit.rules.transaction_row import TransactionRow
    from spark_trace_analysis.records.version import Writer

SCHEMA = Path(__file__).with_name("schema.json")
"""The JSON Schema of :meth:`Audit.to_json`."""


@dataclass(frozen=True, slots=True)
class Selected:
    """The numbers of transactions that a selection has.

    By state, every state named: the gravest of each, and every one that holds; and how many are plainly delivered or
    rolled back.
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
    version, writers
        The version that wrote it, or a range, or None; the releases that wrote it one after the other, if more than one
        did: `version` is the last of them.
    records, events
        How many records the commit log holds, ordinary messages included, and how many are part of a transaction.
    corrupt
        Damage, in the order in which it was found; there are `damage` pieces in all.
    transactions
        All in the order of the log; or only some of those that are not plain, the gravest first.
    counts, plain
        State to the number of transactions, every state named; how many are plainly delivered or rolled back.
    notes
        Remarks without which the table would be misread.
    tasks_found
        How many tasks were found finished by an earlier audit that was cut short; none where it goes record by record.
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
        """The audit as JSON values, see ``schema.json``: all transactions, or at most so many that are not plain."""
        rows = self.listed(everything=everything, limit=limit)
        listable = self.asked_for.total if everything else self.listable
        return {
            "store": self.store,
            "version": self.version,
            "writers": [writer._asdict() for writer in self.writers],
            "records": self.records,
            "corrupt": [asdict(region) for region in self.corrupt],
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


_NEVER_ASKED = "A09"


class UnansweredChecks(NamedTuple):
    """The checks of one group that no commit or rollback answers.

    Attributes
    ----------
    checks
        How many checks the last copies count; whether each reached a client, no store says.
    keys
        The unique keys of their transactions.
    received
        How many of the checks the producer's log beside the store has; None without one.
    """

    group: str
    checks: int
    keys: tuple[str, ...]
    received: int | None = None


def unanswered_checks(rows: Iterable[TransactionRow], received: frozenset[int] | None = None) -> list[UnansweredChecks]:
    """By group the checks of transactions that were neither delivered nor rolled back, in the order of the rows.

    Unknown ones are left out: their answer may be missing with the end of the log. `received` are the half queue
    offsets of the copies about which a client was asked, if a log beside the store says so.
    """
    found: dict[str, list[TransactionRow]] = {}
    for row in rows:
        is_answered = row.deliveries or row.op_offsets or row.unknown_cause is not None
        if row.checks and not is_answered and _NEVER_ASKED not in row.resembles:
            found.setdefault(row.group, []).append(row)
    return [
        UnansweredChecks(
            group,
            sum(row.checks for row in those),
            tuple(row.unique_key for row in those),
            None if received is None else sum(len(received & set(row.half_offsets)) for row in those),
        )
        for group, those in found.items()
    ]
