"""The broker's actions as rows of a trace; the specification's events describe them (:mod:`spec.events`)."""

from __future__ import annotations

import json
from collections import Counter
from typing import TYPE_CHECKING, TextIO

from reference.broker.processor.end_transaction_processor import TRANSACTION_ROLLBACK, EndTransactionRequestHeader
from reference.broker.transaction.check_outcome import CheckBranch, CheckStep
from reference.format.properties import UNIQUE_KEY
from reference.format.record import TRANSACTION_COMMIT, LogRecord
from spec.events import FIELDS, OUTCOMES

if TYPE_CHECKING:
    from reference.simulation.virtual_clock import VirtualClock
    from reference.store.message import MessageExt

Row = dict[str, int | str]

_EVENT_OF_BRANCH = {
    CheckBranch.SETTLED: "half_passed",
    CheckBranch.PREPARED_HALF_SETTLED: "half_passed",
    CheckBranch.KNOWN_AS_SETTLED: "half_passed",
    CheckBranch.COPY_AHEAD: "half_passed",
    CheckBranch.OP_TO_COME: "half_passed",
    CheckBranch.GONE: "half_passed",
    CheckBranch.PASSED_OVER: "half_passed",
    CheckBranch.DISCARDED: "half_discarded",
    CheckBranch.PUT_BACK_FOR_IMMUNITY: "put_back_for_immunity",
    CheckBranch.PUT_BACK_FOR_CHECK: "put_back_for_check",
    CheckBranch.PUT_BACK_UNASKED: "put_back_unasked",
    CheckBranch.ESCAPED: "half_escaped",
    CheckBranch.GIVEN_UP: "half_passed",
    CheckBranch.OPS_PULLED: "ops_pulled",
}
_PUT_BACKS = (CheckBranch.PUT_BACK_FOR_CHECK, CheckBranch.PUT_BACK_FOR_IMMUNITY, CheckBranch.PUT_BACK_UNASKED)
_OUTCOME_OF_FLAG = {
    TRANSACTION_COMMIT: OUTCOMES.index("commit"),
    TRANSACTION_ROLLBACK: OUTCOMES.index("rollback"),
    0: OUTCOMES.index("unknown"),
}


class Recorder:
    """Collects the rows of one trace."""

    def __init__(self, clock: VirtualClock, *, is_on: bool = True) -> None:
        self.rows: list[Row] = []
        """One dictionary an event, its keys those of ``FIELDS``. An op message of several halves gives a row for
        each."""
        self.counts: Counter[str] = Counter()
        """How many rows of each event there are."""
        self.rounds_ended = 0
        """How many check rounds have ended, recorded or not."""
        self.is_on = is_on
        self._clock = clock
        self._transaction_of_key: dict[str, int] = {}
        self._transaction_of_half: dict[int, int] = {}

    @property
    def row_count(self) -> int:
        """How many rows there are so far."""
        return len(self.rows)

    def transaction_of(self, unique_key: str) -> int | None:
        """The number of a transaction; None where no half has that key."""
        return self._transaction_of_key.get(unique_key)

    def record(
        self,
        event: str,
        *,
        transaction: int = -1,
        half: int = -1,
        copy: int = -1,
        op: int = -1,
        check_times: int = -1,
        outcome: int = 0,
    ) -> None:
        """Add one row; the transaction follows from the half if the half is known."""
        if not self.is_on:
            return
        self.counts[event] += 1
        if transaction < 0:
            transaction = self._transaction_of_half.get(half, -1)
        values = (0, len(self.rows), self._clock.now, event, "", transaction, half, copy, op, check_times, outcome)
        self.rows.append(dict(zip((field.name for field in FIELDS), values, strict=True)))

    def record_half(self, record: LogRecord) -> None:
        """A half was stored; a transaction's number is the place of its first half among the first halves."""
        key = record.properties.get(UNIQUE_KEY, f"@{record.physical_offset}")
        transaction = self._transaction_of_key.setdefault(key, len(self._transaction_of_key))
        self._transaction_of_half[record.queue_offset] = transaction
        self.record("half_stored", half=record.queue_offset)

    def record_resumed(self, copy: LogRecord) -> None:
        """An operator put a half back: the row names the copy, and the half where that is known."""
        key = copy.properties.get(UNIQUE_KEY, "")
        transaction = self._transaction_of_key.get(key, -1)
        self._transaction_of_half[copy.queue_offset] = transaction
        self.record("half_resumed", transaction=transaction, copy=copy.queue_offset, check_times=0)

    def record_end(self, event: str, header: EndTransactionRequestHeader, half: MessageExt | None = None) -> None:
        """An END_TRANSACTION had an effect, or was refused."""
        if not self.is_on:
            return
        offset = header.tran_state_table_offset if half is None else half.queue_offset
        self.record(event, half=offset, outcome=_OUTCOME_OF_FLAG.get(header.commit_or_rollback, 0))

    def record_check_step(self, step: CheckStep) -> None:
        """A check round took a step."""
        self.rounds_ended += step.branch.is_end
        if not self.is_on:
            return
        check_times = -1 if step.check_times is None else step.check_times
        if step.branch.is_end:
            self.record("round_ended", half=step.half, check_times=check_times)
            return
        if step.branch not in _EVENT_OF_BRANCH:
            return
        copy = -1
        if step.branch in _PUT_BACKS and step.record is not None:
            copy = step.record.queue_offset
            self._transaction_of_half[copy] = self._transaction_of_half.get(step.half, -1)
        op = -1 if step.op is None else step.op
        self.record(_EVENT_OF_BRANCH[step.branch], half=step.half, copy=copy, op=op, check_times=check_times)
        if step.check_request is not None:
            self.record("check_sent", half=copy, check_times=check_times)

    def write_json_lines(self, stream: TextIO) -> None:
        """Write the rows, one JSON object a line."""
        stream.writelines(json.dumps(row) + "\n" for row in self.rows)
