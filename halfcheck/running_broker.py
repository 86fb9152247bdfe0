"""Audits a running broker over the network: a partial copy of its store is read, then audited as any other store."""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import numpy as np
import typer

from halfcheck.printing.progress import progress_bar
from halfcheck.whole_store import audited
from reference.format.broker_conf import BrokerConf, find_broker_conf, read_broker_conf
from reference.format.system_topics import HALF_TOPIC, OP_TOPIC
from spark_trace_analysis.audit.audit_folders import named
from spark_trace_analysis.audit.pending_rows import AuditRows
from spark_trace_analysis.audit.rules.forecast import CheckRounds, Forecasts
from spark_trace_analysis.audit.rules.rounds import ShownRound, shown_rounds
from spark_trace_analysis.audit.rules.transaction_row import local_time
from spark_trace_analysis.records.transaction_record import NOTHING
from wire.client.byte_rate import USUAL_BYTES_PER_S, ByteRate
from wire.client.channel import BrokerChannel
from wire.client.queries import check_offset, connected_producers, end_of_queue
from wire.copying.broker_moment import BrokerMoment

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from reference.format.partial_copy import PartialCopy
    from spark_trace_analysis.audit.audit import Audit
    from spark_trace_analysis.audit.row_files import RowFiles
    from spark_trace_analysis.audit.rules.transaction_row import TransactionRow
    from spark_trace_analysis.audit.selection import Selection
    from wire.client.channel import Address

_ROUNDS: Final = 5
"""So many of the last rounds are told."""

_KEYS: Final = 3
"""So many transactions of a group are named that nobody answers for."""


@dataclass(frozen=True, slots=True)
class PendingTransaction:
    """A pending half, and what comes of it if nobody answers; times by the broker's clock.

    Attributes
    ----------
    immunity_ms
        How old it is before its producer is asked.
    next_check_at, checks_left, discarded_at
        When its producer is asked next, None if it is discarded before; how many times that may still be; and when it
        is discarded.
    producers
        The clients of its group that are connected to this broker now.
    """

    row: TransactionRow
    age_ms: int
    immunity_ms: int
    next_check_at: int | None
    checks_left: int
    discarded_at: int
    producers: tuple[str, ...]

    def to_json(self) -> dict[str, Any]:
        """As JSON values."""
        return {
            "unique_key": self.row.unique_key,
            "group": self.row.group,
            "topic": self.row.topic,
            "age_ms": self.age_ms,
            "immunity_ms": self.immunity_ms,
            "checks": self.row.checks,
            "checks_left": self.checks_left,
            "next_check_at": local_time(self.next_check_at),
            "discarded_at": local_time(self.discarded_at),
            "producers": list(self.producers),
        }


class UnaskedGroup(NamedTuple):
    """A producer group of which no client is connected: how many of its halves are pending, and the first to go."""

    group: str
    pending: int
    keys: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class BrokerAudit:
    """The audit of a running broker.

    Attributes
    ----------
    pending
        The pending transactions that are asked for, the one that is discarded first before the others; of
        `pending_total` those that are listed.
    unasked
        The groups of all of them whose producers nobody can ask.
    half_left, op_left
        How many messages of the half and the op topic lie before the check service's offsets.
    rounds
        The last ones that left something in the store.
    """

    audit: Audit
    copy: PartialCopy
    pending: tuple[PendingTransaction, ...]
    pending_total: int
    unasked: tuple[UnaskedGroup, ...]
    half_left: int
    op_left: int
    rounds: tuple[ShownRound, ...]

    def to_json(self, *, everything: bool, limit: int) -> dict[str, Any]:
        """The audit's JSON values, and what the broker says besides under ``broker``."""
        copy = self.copy
        return self.audit.to_json(everything=everything, limit=limit) | {
            "broker": {
                "address": copy.broker,
                "release": copy.release,
                "read_at": local_time(copy.read_at_ms),
                "log_begin": copy.begin,
                "log_end": copy.end,
                "topics": list(copy.topics),
                "half_left": self.half_left,
                "op_left": self.op_left,
                "rounds": [
                    {"began_at": local_time(one.began_at), "ms": one.ended_at - one.began_at, "records": one.records}
                    for one in self.rounds
                ],
                "pending": [one.to_json() for one in self.pending],
                "pending_omitted": self.pending_total - len(self.pending),
            }
        }


@contextmanager
def copied(address: Address, into: Path | None, bytes_per_s: float) -> Iterator[tuple[Path, PartialCopy]]:
    """A partial copy of a broker's store, and what it says of itself; without a folder it is gone afterwards."""
    if into is not None and into.exists():
        message = f"--copy {into} exists already; give a new folder"
        raise typer.BadParameter(message)
    near = None if into is None else into.parent
    with TemporaryDirectory(prefix="halfcheck-", dir=near) as temporary:
        folder = Path(temporary) / "store"
        folder.mkdir()
        with (
            BrokerChannel(address) as channel,
            progress_bar(f"reading {address}", "DownloadColumn", "TransferSpeedColumn") as update,
        ):
            on_progress = None if update is None else lambda done: update(completed=done)
            copy = BrokerMoment(channel, ByteRate(bytes_per_s), on_progress).copy(folder)
        yield folder if into is None else named(folder, into), copy


def audited_broker(
    address: Address,
    into: Path | None,
    version: str | None,
    row_files: RowFiles,
    *,
    bytes_per_s: float = USUAL_BYTES_PER_S,
    everything: bool = False,
    limit: int = 1_000,
) -> BrokerAudit:
    """Read a broker and judge what was read; `WireError` where it can't be read, `StoreError` as of any store."""
    with copied(address, into, bytes_per_s) as (folder, copy), TemporaryDirectory(prefix="halfcheck-") as out:
        written = Path(out) / "rows"
        audit = audited(
            folder, version or copy.release, written, everything=everything, limit=limit, row_files=row_files
        )
        conf_path = find_broker_conf(folder)
        conf = BrokerConf() if conf_path is None else read_broker_conf(conf_path)
        rows = AuditRows(written)
        rounds = shown_rounds(rows.times_of_rounds(), conf.or_default("transactionCheckInterval", audit.version))
        # Anew: a broker closes what is idle for two minutes (serverChannelMaxIdleTimeSeconds).
        with BrokerChannel(address) as channel:
            pending = _Pending(channel, rows, conf, audit.version, row_files.selection, rounds, copy)
            return BrokerAudit(
                replace(audit, store=copy.broker, trace=replace(audit.trace, broker_conf=None)),
                copy,
                tuple(pending.first(None if everything else limit)),
                len(pending.order),
                tuple(pending.unasked()),
                _left(channel, HALF_TOPIC),
                _left(channel, OP_TOPIC),
                tuple(rounds[-_ROUNDS:]),
            )


class _Pending:
    """All pending halves of a broker, what comes of each, and who could answer for them."""

    def __init__(
        self,
        channel: BrokerChannel,
        rows: AuditRows,
        conf: BrokerConf,
        version: str | None,
        selection: Selection,
        rounds: Sequence[ShownRound],
        copy: PartialCopy,
    ) -> None:
        self._rows, self._now = rows, copy.read_at_ms
        self._timeout_ms = conf.or_default("transactionTimeOut", version)
        self._pending = pending = rows.pending(selection)
        self._found = Forecasts(
            pending.halves,
            CheckRounds(_a_round(rounds, copy), conf.or_default("transactionCheckInterval", version)),
            now=self._now,
            timeout_ms=self._timeout_ms,
            check_max=conf.or_default("transactionCheckMax", version),
        )
        order = np.lexsort((pending.halves.queue_offset, self._found.discarded_at))
        self.order = order if pending.is_selected.all() else order[pending.is_selected[order]]
        """The numbers of those that are asked for, the one that is discarded first before the others."""
        groups = np.unique(pending.group[pending.is_selected])
        self._producers = {int(group): connected_producers(channel, pending.groups[group]) for group in groups}

    def first(self, limit: int | None) -> Iterator[PendingTransaction]:
        """The first that are discarded; all if there is no limit."""
        pending, numbers = self._pending, self.order[:limit]
        found, immunity = self._found.of(numbers), pending.halves.part(numbers).age_of_checks(self._timeout_ms)
        rows = self._rows.rows_at(pending.place[numbers])
        for place, number in enumerate(numbers):
            row, asked = rows[place], int(found.next_check_at[place])
            yield PendingTransaction(
                row,
                self._now - row.born,
                int(immunity[place]),
                None if asked == NOTHING else asked,
                int(found.checks_left[place]),
                int(found.discarded_at[place]),
                self._producers[int(pending.group[number])],
            )

    def unasked(self) -> Iterator[UnaskedGroup]:
        """The groups of which no producer is connected."""
        group = self._pending.group[self.order]
        for code in (code for code, producers in self._producers.items() if not producers):
            numbers = self.order[group == code]
            first = self._rows.rows_at(self._pending.place[numbers[:_KEYS]])
            yield UnaskedGroup(self._pending.groups[code], len(numbers), tuple(row.unique_key for row in first))


def _a_round(rounds: Sequence[ShownRound], copy: PartialCopy) -> int:
    """When some round began: the last that the store shows in this process of the broker, else as if at its start."""
    booted_at = copy.read_at_ms if copy.booted_at_ms is None else copy.booted_at_ms
    return rounds[-1].began_at if rounds and rounds[-1].began_at > booted_at else booted_at


def _left(channel: BrokerChannel, topic: str) -> int:
    """How many messages lie before the check service's offset."""
    return max(end_of_queue(channel, topic) - (check_offset(channel, topic) or 0), 0)
