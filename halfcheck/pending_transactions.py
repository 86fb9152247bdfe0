"""The pending transactions of a running broker, and what comes of each if nobody answers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from reference.format.commit_log import CommitLog
from reference.format.consumer_offsets import saved_offsets
from reference.format.partial_copy import RoleForHalves
from reference.format.properties import IMMUNITY_SECONDS
from reference.format.store_paths import store_paths
from reference.format.system_topics import HALF_TOPIC
from spark_trace_analysis.audit.rules.forecast import CheckRounds, HalfForecast, PendingHalf, forecasts
from spark_trace_analysis.audit.rules.open_copies import PUT_BACK, open_copies
from spark_trace_analysis.audit.rules.state import TransactionState
from spark_trace_analysis.audit.rules.transaction_row import HALF, local_time
from spark_trace_analysis.records.transaction_record import check_times, immunity_ms, parse_op_body
from wire.client.queries import connected_producers

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from pathlib import Path

    from reference.format.broker_conf import BrokerConf
    from reference.format.consumer_offsets import ConsumerOffsets
    from reference.format.partial_copy import PartialCopy
    from spark_trace_analysis.audit.audit import Audit
    from spark_trace_analysis.audit.rules.rounds import ShownRound
    from spark_trace_analysis.audit.rules.transaction_row import HistoryEvent, TransactionRow
    from wire.client.channel import BrokerChannel

LAST_ROUNDS: Final = 5
"""So many of the last rounds are told, and say how long one takes."""


@dataclass(frozen=True, slots=True)
class PendingTransaction:
    """A pending half, and what comes of it if nobody answers; times by the broker's clock.

    Attributes
    ----------
    immunity_ms
        How old it is before its producer is asked.
    forecast
        None of a slave, which has no rounds.
    producers
        The clients of its group that are connected to this broker now.
    """

    row: TransactionRow
    age_ms: int
    immunity_ms: int
    forecast: HalfForecast | None
    producers: tuple[str, ...]

    def to_json(self) -> dict[str, Any]:
        """As JSON values."""
        forecast = self.forecast
        return {
            "unique_key": self.row.unique_key,
            "group": self.row.group,
            "topic": self.row.topic,
            "age_ms": self.age_ms,
            "immunity_ms": self.immunity_ms,
            "checks": self.row.checks,
            "checks_left": None if forecast is None else forecast.checks_left,
            "next_check_at": None if forecast is None else local_time(forecast.next_check_at),
            "discarded_at": None if forecast is None else local_time(forecast.discarded_at),
            "producers": list(self.producers),
        }


def pending_transactions(
    channel: BrokerChannel,
    folder: Path,
    audit: Audit,
    conf: BrokerConf,
    rounds: Sequence[ShownRound],
    copy: PartialCopy,
) -> Iterator[PendingTransaction]:
    """Those among the rows of the audit of a partial copy, the one that is discarded first before the others."""
    version, now = audit.version, copy.read_at_ms
    timeout = conf.or_default("transactionTimeOut", version)
    log, saved = CommitLog.open(folder), saved_offsets(store_paths(folder))
    rows = [row for row in audit.transactions if TransactionState.PENDING in (row.state, *row.also)]
    halves = [list(_halves(row, _open_copies(row, log, saved, rounds, copy), log, timeout)) for row in rows]
    found = forecasts(
        (half for of_row in halves for half in of_row),
        _rounds_to_come(rounds, copy, conf.or_default("transactionCheckInterval", version)),
        now=now,
        timeout_ms=timeout,
        check_max=conf.or_default("transactionCheckMax", version),
    )
    of_rows = [(row, of_row, _of_all(found[half.queue_offset] for half in of_row))
               for row, of_row in zip(rows, halves, strict=True)]  # fmt: skip
    producers: dict[str, tuple[str, ...]] = {}
    for row, of_row, forecast in sorted(of_rows, key=lambda one: one[2].discarded_at):
        if row.group not in producers:
            producers[row.group] = connected_producers(channel, row.group)
        immunity = of_row[-1].immunity_ms
        yield PendingTransaction(
            row,
            now - row.born,
            timeout if immunity is None else immunity,
            forecast if copy.role == RoleForHalves.MASTER else None,
            producers[row.group],
        )


def _open_copies(
    row: TransactionRow, log: CommitLog, saved: ConsumerOffsets, rounds: Sequence[ShownRound], copy: PartialCopy
) -> list[HistoryEvent]:
    """The copies of a row that stand before the rounds to come; the last one where none is known to."""
    settled = {
        int(offset)
        for event in row.history
        if event.event == "op"
        for offset in parse_op_body(log.record_at(event.at).body) or ()
    }
    offset = saved.get(HALF_TOPIC, 0) or 0
    found = open_copies(row.history, rounds, saved=offset, settled=settled, booted_at=copy.booted_at_ms or 0)
    return found or [event for event in row.history if event.event in (HALF, PUT_BACK)][-1:]


def _halves(
    row: TransactionRow, copies: Iterable[HistoryEvent], log: CommitLog, timeout_ms: int
) -> Iterator[PendingHalf]:
    for event in copies:
        record = log.record_at(event.at)
        immunity = immunity_ms(record.properties.get(IMMUNITY_SECONDS), timeout_ms)
        yield PendingHalf(event.offset, row.born, event.time, max(check_times(record) or 0, 0), immunity)


def _of_all(forecasts_of_copies: Iterable[HalfForecast]) -> HalfForecast:
    """What comes of a transaction: its producer is asked for each of its copies, until the last one is discarded."""
    found = list(forecasts_of_copies)
    asked = [one.next_check_at for one in found if one.next_check_at is not None]
    left = sum(one.checks_left for one in found)
    return HalfForecast(min(asked, default=None), left, max(one.discarded_at for one in found))


def _rounds_to_come(rounds: Sequence[ShownRound], copy: PartialCopy, interval_ms: int) -> CheckRounds:
    """From the last round that the store shows in this process of the broker on, else from its start.

    The next one begins an interval behind the end of the one before. How long that takes the shortest of the last ones
    says, where there are two: the first one of a process is slow, others are by chance, and what is foretold of fifteen
    rounds must not take that fifteen times.
    """
    booted_at = copy.read_at_ms if copy.booted_at_ms is None else copy.booted_at_ms
    if not rounds or rounds[-1].began_at <= booted_at:
        return CheckRounds(booted_at, interval_ms, is_seen=False)
    lengths_ms = [one.ended_at - one.began_at for one in rounds[-LAST_ROUNDS:] if one.began_at > booted_at]
    length_ms = min(lengths_ms) if len(lengths_ms) > 1 else 0
    return CheckRounds(rounds[-1].began_at, interval_ms + length_ms)
