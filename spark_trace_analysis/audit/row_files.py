"""Files with a line for each transaction: its row in flat columns, and the list of those that need a decision.

The store never says whether a local transaction was committed: who ended without a message and without a rollback is to
be sent again only if the producer's database says so. The broker will check none of them again.
"""

from __future__ import annotations

import csv
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import pyarrow.parquet as pq

from files.writing import appearing
from reference.format.stored_message import create_message_id
from spark_trace_analysis.audit.columns.audited_tables import FINDINGS
from spark_trace_analysis.audit.columns.findings import findings_of
from spark_trace_analysis.audit.columns.row_tables import table_of
from spark_trace_analysis.audit.rules.state import TransactionState
from spark_trace_analysis.audit.rules.transaction_row import Moments, TransactionRow, local_time
from spark_trace_analysis.audit.selection import Selection

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from files.remote_path import Location
    from reference.format.commit_log import CommitLog

DECIDED_BY_THE_DATABASE: Final = "the producer's database: send it again if the local transaction was committed"
"""The authority that decides; no record of a store can."""

_OVER: Final = {TransactionState.LOST, TransactionState.PARKED}

_ELSEWHERE_DECIDED: Final = {
    TransactionState.DOUBLED, TransactionState.DELIVERED, TransactionState.ROLLED_BACK,
    TransactionState.UNKNOWN, TransactionState.PENDING,
}  # fmt: skip
"""States with an outcome, or that may still get one by a check: an unknown one may be pending."""


def needs_a_decision(row: TransactionRow) -> bool:
    """Whether nobody will deliver or roll it back any more: lost, or parked and nothing besides.

    A parked one that is pending, too, or may be, has a copy that will be checked again (B16); one that was delivered
    before or after, or rolled back, has its outcome.
    """
    states = {row.state, *row.also}
    return bool(states & _OVER) and not states & _ELSEWHERE_DECIDED


CSV_COLUMNS: Final = (
    "unique_key", "keys", "tags", "group", "topic", "state", "also", "unknown_cause", "deliveries", "checks",
    "put_backs", "resembles", *Moments._fields, "half_at", "half_offsets", "op_offsets", "delivered_offsets",
    "first_offset", "advice",
)  # fmt: skip
"""One line a transaction; lists are words with a blank between them, times are in the local zone."""

RESEND_COLUMNS: Final = (
    "decided_by", "topic", "keys", "unique_key", "tags", "group", "state", "born_at", "stored_at", "message_id",
    "commit_log_offset", "file", "byte", "body_bytes",
)  # fmt: skip
"""One line a transaction that nobody will deliver or roll back any more, and where its record stands."""


_ROWS_A_PIECE: Final = 1 << 16


@dataclass(frozen=True, slots=True, kw_only=True)
class RowFiles:
    """The files to write of a selection, each under its name when it is whole.

    One takes the row of each transaction, another those about which the producer's database must decide, the third
    what was found of each.
    """

    csv_path: Location | None = None
    resend_path: Location | None = None
    findings_path: Location | None = None
    selection: Selection = field(default_factory=Selection)

    def write(self, rows: Iterator[TransactionRow], log: CommitLog) -> None:
        """Write a line for each row, whose records stand in the log."""
        with ExitStack() as stack:
            takers: list[Callable[[TransactionRow], None]] = []
            if self.csv_path is not None:
                take = stack.enter_context(_lines(self.csv_path, CSV_COLUMNS))
                takers.append(lambda row: take(flat(row)))
            if self.resend_path is not None:
                resend = stack.enter_context(_lines(self.resend_path, RESEND_COLUMNS))
                takers.append(lambda row: resend(to_resend(row, log)) if needs_a_decision(row) else None)
            if self.findings_path is not None:
                takers.append(stack.enter_context(_findings(self.findings_path)))
            for row in rows if takers else ():
                for taker in takers:
                    taker(row)


@contextmanager
def _lines(path: Location, columns: tuple[str, ...]) -> Iterator[Callable[[dict[str, Any]], None]]:
    """Gives a function that writes a line; the file appears when the block ends well."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with appearing(path) as unfinished, Path(unfinished).open("w", encoding="utf-8", newline="") as stream:
        writer = csv.DictWriter(stream, columns)
        writer.writeheader()
        yield writer.writerow


@contextmanager
def _findings(path: Location) -> Iterator[Callable[[TransactionRow], None]]:
    """Gives a function that takes a row and writes what was found of it, some rows at a time."""
    path.parent.mkdir(parents=True, exist_ok=True)
    held: list[TransactionRow] = []
    with appearing(path) as unfinished, pq.ParquetWriter(unfinished, FINDINGS.schema, compression="zstd") as writer:

        def write() -> None:
            if held:
                writer.write_table(findings_of(table_of(held)))
                held.clear()

        def take(row: TransactionRow) -> None:
            held.append(row)
            if len(held) >= _ROWS_A_PIECE:
                write()

        yield take
        write()


def flat(row: TransactionRow) -> dict[str, Any]:
    """A row in `CSV_COLUMNS`."""
    derived: dict[str, Any] = {
        "advice": row.advice,
        "half_at": row.half_at,
        "first_offset": row.first_offset,
        "delivered_offsets": [f"{queue}:{offset}" for queue, offset in row.delivered_offsets],
        **{name: local_time(time) for name, time in row.moments._asdict().items()},
    }
    values = {name: derived[name] if name in derived else getattr(row, name) for name in CSV_COLUMNS}
    return {
        name: " ".join(map(str, value)) if isinstance(value, list | tuple) else value for name, value in values.items()
    }


def to_resend(row: TransactionRow, log: CommitLog) -> dict[str, Any]:
    """A row in `RESEND_COLUMNS`: the half, or if that is gone the first record that is left of it."""
    at = row.first_offset if row.half_at is None else row.half_at
    record = log.record_at(at)
    file, byte = log.place(at)
    return {
        "decided_by": DECIDED_BY_THE_DATABASE,
        **{name: getattr(row, name) for name in ("topic", "keys", "unique_key", "tags", "group", "state")},
        "born_at": local_time(row.born),
        "stored_at": local_time(row.moments.stored_at),
        "message_id": create_message_id(record.store_host, record.physical_offset),
        "commit_log_offset": at,
        "file": file,
        "byte": byte,
        "body_bytes": len(record.body),
    }
