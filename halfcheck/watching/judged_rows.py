"""What a watch asks of the rows of an audit, by columns: which are open, which settled, what is new in them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from halfcheck.watching.memory import half_place, transaction_hash
from reference.format.system_topics import HALF_TOPIC
from spark_trace_analysis.audit.audit_rows import AuditRows, RowEvents
from spark_trace_analysis.audit.rules.transaction_row import OF_HALF_QUEUE, TransactionRow
from spark_trace_analysis.audit.selection import Selection

if TYPE_CHECKING:
    from spark_trace_analysis.audit.columns.bucket import Flags, Numbers
    from spark_trace_analysis.audit.rules.state import TransactionState
    from wire.copying.moment import StoreMoment


class JudgedRows:
    """Some rows of an audit, and their events.

    Attributes
    ----------
    halves, half_places
        Which events are records of the half queue, and the places of these there.
    """

    def __init__(self, rows: pa.Table) -> None:
        self.rows = rows
        self.events = RowEvents.of(rows)
        self.halves = self.events.are(*OF_HALF_QUEUE)
        queues, offsets = (self.events.numbers(name)[self.halves] for name in ("queue", "offset"))
        self.half_places: Numbers = half_place(queues, offsets)

    def chosen(self, flags: Flags) -> JudgedRows:
        """Some of them."""
        return JudgedRows(self.rows.filter(pa.array(flags)))

    def as_rows(self) -> list[TransactionRow]:
        """The rows as objects."""
        return [TransactionRow.of(row) for row in self.rows.to_pylist()]

    def hashes(self) -> list[int]:
        """By which the memory of a watch knows them."""
        names = (self.rows.column(name).to_pylist() for name in ("unique_key", "group"))
        return [transaction_hash(key, group) for key, group in zip(*names, strict=True)]

    def states(self) -> list[str]:
        """The gravest state of each."""
        values: list[str] = self.rows.column("state").to_pylist()
        return values

    def born(self) -> Numbers:
        """When each was born, in milliseconds since the epoch."""
        values: Numbers = self.rows.column("born").to_numpy()
        return values

    def are_in(self, *states: TransactionState) -> Flags:
        """The rows of which one of some states holds."""
        return Selection(states=states).flags(self.rows)

    def stand_at(self, places: Numbers) -> Flags:
        """The rows that have a record at some places of the half queue."""
        is_there = self.halves.copy()
        is_there[self.halves] = np.isin(self.half_places, places)
        return self.events.rows_with(is_there)

    def are_passed(self, moment: StoreMoment) -> Flags:
        """The rows of which the check service has passed all copies: no round visits them any more."""
        return ~self.events.rows_with(self.events.behind(moment.offsets[HALF_TOPIC], self.halves))

    def last_put(self) -> Numbers:
        """When the last copy of each was stored, in milliseconds since the epoch; 0 of one without."""
        times = np.zeros(self.events.count, np.int64)
        np.maximum.at(times, self.events.owner[self.halves], self.events.numbers("time")[self.halves])
        return times


def shared_places(rows: AuditRows) -> Numbers:
    """The places of the half queue at which two halves stand, or stood: a round goes by the place alone."""
    places = [JudgedRows(table).half_places for _, table in rows.tables()]
    values, counts = np.unique(np.concatenate([np.zeros(0, np.int64), *places]), return_counts=True)
    shared: Numbers = values[counts > 1]
    return shared
