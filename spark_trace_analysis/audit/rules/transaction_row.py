"""One row a transaction, made of its history: its states, resemblances, events, and the advice."""

from __future__ import annotations

from dataclasses import dataclass, fields
from datetime import datetime
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from spark_trace_analysis.audit.rules.advice import advice
from spark_trace_analysis.audit.rules.resembles import catalogue_ids
from spark_trace_analysis.audit.rules.state import TransactionState, UnknownCause, judge
from spark_trace_analysis.records.transaction_record import RecordKind

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from spark_trace_analysis.audit.rules.circumstances import Circumstances
    from spark_trace_analysis.audit.rules.history import Delivery, Discard, HalfCopy, History

EARLIEST_MS: Final = -62_135_596_800_000
"""The year 1, and below the year 9999: a time beyond comes from a damaged record and is no date."""
LATEST_MS: Final = 253_370_764_800_000


class Moments(NamedTuple):
    """Times in milliseconds since the epoch; None for what did not happen.

    It is born by its producer's clock, delivered as the first real message was stored, settled as the first op that
    names it was (from 5.1 on up to an op batch later), and discarded into TRANS_CHECK_MAX_TIME_TOPIC. `stored_at` and
    `last_at` are of its first and its last record.
    """

    born_at: int
    stored_at: int | None
    delivered_at: int | None
    settled_at: int | None
    discarded_at: int | None
    last_at: int | None


def moments(born: int, history: Iterable[HistoryEvent]) -> Moments:
    """The times of one transaction, out of its records in the order of the log."""
    events = list(history)
    first: dict[str, int] = {}
    for event in events:
        first.setdefault(event.event, event.time)
    times = [event.time for event in events]
    return Moments(
        born_at=born,
        stored_at=times[0] if times else None,
        delivered_at=first.get("delivered"),
        settled_at=first.get("op"),
        discarded_at=first.get("discarded"),
        last_at=max(times, default=None),
    )


def local_time(milliseconds: int | None) -> str | None:
    """A time in the local zone (``TZ``), ISO 8601 with its offset; None for none, and for what is no date.

    Examples
    --------
    >>> local_time(1_700_000_000_123)[10:23]
    'T22:13:20.123'
    >>> local_time(-(2**62)), local_time(None)
    (None, None)
    """
    if milliseconds is None or not EARLIEST_MS <= milliseconds <= LATEST_MS:
        return None
    seconds, rest = divmod(milliseconds, 1000)
    moment = datetime.fromtimestamp(seconds).astimezone()
    return moment.replace(microsecond=rest * 1000).isoformat(timespec="milliseconds")


EVENTS = HALF, PUT_BACK, DELIVERED, DISCARDED, OP = ("half", "put back", "delivered", "discarded", "op")
"""The words for events of a transaction, by the kind of the record."""

OF_HALF_QUEUE: Final = (HALF, PUT_BACK)
"""Those with a record in the half queue."""


class HistoryEvent(NamedTuple):
    """One event of a transaction: its record's place in the commit log, its time in milliseconds since the epoch.

    The queue is that of the half topic, the op topic, the real topic, or where discards go.
    """

    event: str
    at: int
    time: int
    queue: int
    offset: int


@dataclass(frozen=True, slots=True)
class TransactionRow:
    """One transaction, with its events in the order of the log, and the ids of the known defects that it looks like.

    Of the other states that hold, `also` has the gravest first. `checks` is the check count of its last copy,
    `put_backs` the copies that check rounds wrote. The half offsets are of the half and its copies, the op offsets of
    op messages that name one of them, each once. KEYS (blanks between them) and TAGS are as the producer set them,
    `born` is by its clock, in milliseconds since the epoch; `immunity_ms` is CHECK_IMMUNITY_TIME_IN_SECONDS, None where
    the message does not carry it.
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
    keys: str = ""
    tags: str = ""
    born: int = 0
    immunity_ms: int | None = None
    unknown_cause: UnknownCause | None = None
    history: tuple[HistoryEvent, ...] = ()

    @classmethod
    def of(cls, row: Mapping[str, Any]) -> TransactionRow:
        """A row out of its JSON values, or out of a row of a file."""
        values = {field.name: row[field.name] for field in fields(cls)}
        values = {name: tuple(value) if isinstance(value, list) else value for name, value in values.items()}
        values["state"], values["also"] = TransactionState(row["state"]), tuple(map(TransactionState, row["also"]))
        cause = row["unknown_cause"]
        values["unknown_cause"] = None if cause is None else UnknownCause(cause)
        values["history"] = tuple(HistoryEvent(**event) for event in row["history"])
        return cls(**values)

    @property
    def advice(self) -> str:
        """Advice to an operator: by the first defect that it looks like, or else by its states."""
        return advice(self.state, self.resembles, self.also, self.unknown_cause)

    @property
    def moments(self) -> Moments:
        """When it was born, stored, delivered, settled and discarded."""
        return moments(self.born, self.history)

    @property
    def delivered_offsets(self) -> tuple[tuple[int, int], ...]:
        """Queue and queue offset of each real message, in the order of the log."""
        return tuple((event.queue, event.offset) for event in self.history if event.event == DELIVERED)

    @property
    def half_at(self) -> int | None:
        """The commit log offset of the half as it was sent; None if its record is gone."""
        return next((event.at for event in self.history if event.event == HALF), None)

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
        values = {field.name: getattr(self, field.name) for field in fields(self)[:-1]}
        values = {name: list(value) if isinstance(value, tuple) else value for name, value in values.items()}
        values |= {name: local_time(time) for name, time in self.moments._asdict().items()}
        return values | {"advice": self.advice, "history": [event._asdict() for event in self.history]}


def row_of(history: History, circumstances: Circumstances) -> TransactionRow:
    """Judge one history."""
    states, unknown_cause = judge(history, circumstances)
    put_backs = sum(copy.check_times is not None for copy in history.copies)
    last = (
        history.copies[-1].check_times
        if history.copies
        else max((discard.check_times or 0 for discard in history.discards), default=0)
    )
    return TransactionRow(
        unique_key=history.key.unique_key,
        group=history.key.group,
        topic=history.topic,
        state=states[0],
        also=tuple(states[1:]),
        deliveries=len(history.deliveries),
        checks=max(last or 0, 0),
        put_backs=put_backs,
        half_offsets=tuple(copy.queue_offset for copy in history.copies),
        op_offsets=tuple(dict.fromkeys(op.op_offset for op in history.ops)),
        resembles=tuple(catalogue_ids(history, states, circumstances)),
        keys=history.keys,
        tags=history.tags,
        born=history.born_timestamp,
        immunity_ms=history.immunity_ms,
        unknown_cause=unknown_cause,
        history=_events(history),
    )


def _events(history: History) -> tuple[HistoryEvent, ...]:
    records: list[tuple[RecordKind, HalfCopy | Delivery | Discard]] = [
        (RecordKind.FIRST_HALF if copy.check_times is None else RecordKind.PUT_BACK, copy) for copy in history.copies
    ]
    records += [(RecordKind.DELIVERED, delivery) for delivery in history.deliveries]
    records += [(RecordKind.DISCARDED, discard) for discard in history.discards]
    events = [
        HistoryEvent(EVENTS[kind], one.commit_log_offset, one.store_timestamp, one.queue_id, one.queue_offset)
        for kind, one in records
    ]
    events += [
        HistoryEvent(EVENTS[RecordKind.OP], op.commit_log_offset, op.store_timestamp, copy.queue_id, op.op_offset)
        for copy in history.copies
        for op in copy.ops
    ]
    return tuple(sorted(events, key=lambda event: event.at))
