"""The pending transactions of a running broker, and what comes of each if nobody answers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import numpy as np

from reference.format.partial_copy import RoleForHalves
from spark_trace_analysis.audit.pending_rows import pending_rows
from spark_trace_analysis.audit.rules.forecast import CheckRounds, Forecasts
from spark_trace_analysis.audit.rules.transaction_row import local_time
from spark_trace_analysis.audit.stages.stage_runner import give_back
from spark_trace_analysis.records.transaction_record import NOTHING
from wire.client.queries import connected_producers

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from reference.format.broker_conf import BrokerConf
    from reference.format.partial_copy import PartialCopy
    from spark_trace_analysis.audit.audit_rows import AuditRows
    from spark_trace_analysis.audit.pending_rows import PendingRows, WhenOpen
    from spark_trace_analysis.audit.rules.rounds import ShownRound
    from spark_trace_analysis.audit.rules.transaction_row import TransactionRow
    from spark_trace_analysis.audit.selection import Selection
    from wire.client.channel import BrokerChannel

NEEDED_SETTINGS: Final = ("transactionTimeOut", "transactionCheckInterval", "transactionCheckMax")
"""Nothing is foretold of a broker that does not tell them."""

LAST_ROUNDS: Final = 5
"""So many of the last rounds are told, and say how long one takes."""

_KEYS: Final = 3
"""So many transactions of a group are named that nobody answers for."""


class HalfForecast(NamedTuple):
    """What comes of a pending transaction if nobody answers; milliseconds since the epoch, by the broker's clock.

    Attributes
    ----------
    next_check_at
        When its producer is asked next; None if it is discarded before.
    checks_left
        How many times that may still be.
    """

    next_check_at: int | None
    checks_left: int
    discarded_at: int


@dataclass(frozen=True, slots=True)
class PendingTransaction:
    """A pending half, and what comes of it if nobody answers; times by the broker's clock.

    Attributes
    ----------
    immunity_ms
        How old it is before its producer is asked.
    forecast
        None of a slave, which has no rounds, and of a broker that does not tell the settings of its rounds.
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


class UnaskedGroup(NamedTuple):
    """A producer group of which no client is connected: how many of its halves are pending, and the first to go."""

    group: str
    pending: int
    keys: tuple[str, ...]


class PendingTransactions:
    """All pending halves of a broker, what comes of each, and who could answer for them.

    Attributes
    ----------
    order
        The numbers of those that a selection asks for, the one that is discarded first before the others.
    """

    def __init__(
        self,
        channel: BrokerChannel,
        rows: AuditRows,
        conf: BrokerConf,
        version: str | None,
        selection: Selection,
        when: WhenOpen,
        copy: PartialCopy,
    ) -> None:
        self._rows, self._copy = rows, copy
        self._foretells = copy.role == RoleForHalves.MASTER and all(conf.sets(key) for key in NEEDED_SETTINGS)
        self._timeout_ms = conf.or_default("transactionTimeOut", version)
        self._pending = pending = pending_rows(rows, selection, when)
        give_back()
        interval = conf.or_default("transactionCheckInterval", version)
        self._found = _OfAllCopies(
            pending,
            rounds_to_come(when.rounds, copy, interval),
            now=copy.read_at_ms,
            timeout_ms=self._timeout_ms,
            check_max=conf.or_default("transactionCheckMax", version),
        )
        order = self._found.order
        self.order = order if pending.is_selected.all() else order[pending.is_selected[order]]
        groups = np.unique(pending.group[pending.is_selected])
        self._producers = {int(group): connected_producers(channel, pending.groups[group]) for group in groups}

    def first(self, limit: int | None) -> Iterator[PendingTransaction]:
        """The first that are discarded; all if there is no limit."""
        pending, numbers = self._pending, self.order[:limit]
        for row, number in zip(self._rows.rows_at(pending.place[numbers]), numbers.tolist(), strict=True):
            forecast, immunity = self._found.of(number)
            yield PendingTransaction(
                row,
                self._copy.read_at_ms - row.born,
                immunity,
                forecast if self._foretells else None,
                self._producers[int(pending.group[number])],
            )

    def unasked(self) -> Iterator[UnaskedGroup]:
        """The groups of which no producer is connected; of a slave, nobody connects to it for that."""
        if self._copy.role != RoleForHalves.MASTER:
            return
        group = self._pending.group[self.order]
        for code in (code for code, producers in self._producers.items() if not producers):
            numbers = self.order[group == code]
            first = self._rows.rows_at(self._pending.place[numbers[:_KEYS]])
            yield UnaskedGroup(self._pending.groups[code], len(numbers), tuple(row.unique_key for row in first))


class _OfAllCopies:
    """What comes of each transaction: its producer is asked for each of its copies, until the last one is discarded.

    Attributes
    ----------
    order
        The numbers of the transactions, the one that is discarded first before the others.
    """

    def __init__(self, pending: PendingRows, rounds: CheckRounds, *, now: int, timeout_ms: int, check_max: int) -> None:
        self._pending, self._timeout_ms = pending, timeout_ms
        self._of_queues: dict[int, tuple[np.ndarray[Any, Any], Forecasts]] = {}
        discarded_at = np.empty(len(pending.owner), np.int64)
        for queue_id in np.unique(pending.queue_id).tolist():
            numbers = np.flatnonzero(pending.queue_id == queue_id).astype(np.int32)
            halves = pending.halves.part(numbers if len(numbers) < len(pending.owner) else slice(None))
            found = Forecasts(halves, rounds, now=now, timeout_ms=timeout_ms, check_max=check_max)
            discarded_at[numbers] = found.discarded_at
            self._of_queues[queue_id] = numbers, found
        offsets = pending.halves.queue_offset
        if len(pending.owner) > len(pending.place):
            begins = np.searchsorted(pending.owner, np.arange(len(pending.place), dtype=np.int32))
            discarded_at, offsets = np.maximum.reduceat(discarded_at, begins), offsets[begins]
        self.order = np.lexsort((offsets, discarded_at)).astype(np.int32)

    def of(self, number: int) -> tuple[HalfForecast, int]:
        """The forecast of one transaction, and its immunity."""
        owner = self._pending.owner
        begin, end = np.searchsorted(owner, number), np.searchsorted(owner, number, side="right")
        asked, left, discarded = [], 0, []
        for copy in range(int(begin), int(end)):
            numbers, found = self._of_queues[int(self._pending.queue_id[copy])]
            forecast = found.of(np.searchsorted(numbers, [copy]))
            asked += [int(at) for at in forecast.next_check_at if at != NOTHING]
            left += int(forecast.checks_left[0])
            discarded.append(int(forecast.discarded_at[0]))
        immunity = self._pending.halves.part(slice(int(end) - 1, int(end))).age_of_checks(self._timeout_ms)
        return HalfForecast(min(asked, default=None), left, max(discarded)), int(immunity[0])


def rounds_to_come(rounds: Sequence[ShownRound], copy: PartialCopy, interval_ms: int) -> CheckRounds:
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
