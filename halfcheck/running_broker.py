"""Audits a running broker over the network: a partial copy of its store is read, then audited as any other store."""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any, Final

import typer

from halfcheck.printing.progress import progress_bar
from halfcheck.whole_store import audited
from reference.format.broker_conf import BrokerConf, find_broker_conf, read_broker_conf
from reference.format.commit_log import CommitLog
from reference.format.properties import IMMUNITY_SECONDS
from reference.format.system_topics import HALF_TOPIC, OP_TOPIC
from spark_trace_analysis.audit.audit_folders import named
from spark_trace_analysis.audit.rules.forecast import CheckRounds, HalfForecast, PendingHalf, forecasts
from spark_trace_analysis.audit.rules.rounds import ShownRound, shown_rounds
from spark_trace_analysis.audit.rules.state import TransactionState
from spark_trace_analysis.audit.rules.transaction_row import local_time
from spark_trace_analysis.records.transaction_record import immunity_ms
from wire.client.byte_rate import USUAL_BYTES_PER_S, ByteRate
from wire.client.channel import BrokerChannel
from wire.client.queries import check_offset, connected_producers, end_of_queue
from wire.copying.broker_moment import BrokerMoment
from wire.errors import WireError

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from reference.format.partial_copy import PartialCopy
    from spark_trace_analysis.audit.audit import Audit
    from spark_trace_analysis.audit.row_files import RowFiles
    from spark_trace_analysis.audit.rules.transaction_row import TransactionRow
    from wire.client.channel import Address

_ROUNDS: Final = 5
"""So many of the last rounds are told."""

_OF_HALF_QUEUE: Final = ("half", "put back")
_OF_ROUNDS: Final = ("put back", "discarded")


@dataclass(frozen=True, slots=True)
class PendingTransaction:
    """A pending half, and what comes of it if nobody answers; times by the broker's clock.

    Attributes
    ----------
    immunity_ms
        How old it is before its producer is asked.
    producers
        The clients of its group that are connected to this broker now.
    """

    row: TransactionRow
    age_ms: int
    immunity_ms: int
    forecast: HalfForecast
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
            "checks_left": forecast.checks_left,
            "next_check_at": local_time(forecast.next_check_at),
            "discarded_at": local_time(forecast.discarded_at),
            "producers": list(self.producers),
        }


@dataclass(frozen=True, slots=True)
class BrokerAudit:
    """The audit of a running broker.

    Attributes
    ----------
    pending
        The pending transactions among the rows of the audit, the one that is discarded first before the others.
    half_left, op_left
        How many messages of the half and the op topic lie before the check service's offsets.
    rounds
        The last ones that left something in the store.
    """

    audit: Audit
    copy: PartialCopy
    pending: tuple[PendingTransaction, ...]
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
            }
        }


@contextmanager
def copied(
    address: Address, into: Path | None, bytes_per_s: float
) -> Iterator[tuple[BrokerChannel, Path, PartialCopy]]:
    """A connection, and a partial copy of the broker's store; without a folder to keep it in, it is gone afterwards."""
    if into is not None and into.exists():
        message = f"--copy {into} exists already; give a new folder"
        raise typer.BadParameter(message)
    with _unfinished(into) as folder, BrokerChannel(address) as channel:
        with progress_bar(f"reading {address}", "DownloadColumn", "TransferSpeedColumn") as update:
            on_progress = None if update is None else lambda done: update(completed=done)
            try:
                copy = BrokerMoment(channel, ByteRate(bytes_per_s), on_progress).copy(folder)
            except WireError as error:
                if into is None:
                    raise
                message = f"{error}; what was read so far is kept: the same command goes on from there"
                raise type(error)(message) from None
        yield channel, folder if into is None else named(folder, into), copy


@contextmanager
def _unfinished(into: Path | None) -> Iterator[Path]:
    """The folder of a copy that is being read: beside its name, where what was read stays if it is cut short."""
    if into is None:
        with TemporaryDirectory(prefix="halfcheck-") as temporary:
            yield Path(temporary)
        return
    folder = into.with_name(f".{into.name}.unfinished")
    folder.mkdir(parents=True, exist_ok=True)
    yield folder


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
    with copied(address, into, bytes_per_s) as (channel, folder, copy):
        audit = audited(folder, version or copy.release, everything=everything, limit=limit, row_files=row_files)
        conf_path = find_broker_conf(folder)
        conf = BrokerConf() if conf_path is None else read_broker_conf(conf_path)
        rounds = _rounds(audit, conf.or_default("transactionCheckInterval", audit.version))
        return BrokerAudit(
            replace(audit, store=copy.broker, trace=replace(audit.trace, broker_conf=None)),
            copy,
            tuple(_pending(channel, CommitLog.open(folder), audit, conf, rounds, copy)),
            _left(channel, HALF_TOPIC),
            _left(channel, OP_TOPIC),
            tuple(rounds[-_ROUNDS:]),
        )


def _rounds(audit: Audit, interval_ms: int) -> list[ShownRound]:
    events = (event for row in audit.transactions for event in row.history)
    return shown_rounds((event.time for event in events if event.event in _OF_ROUNDS), interval_ms)


def _pending(
    channel: BrokerChannel,
    log: CommitLog,
    audit: Audit,
    conf: BrokerConf,
    rounds: Sequence[ShownRound],
    copy: PartialCopy,
) -> Iterator[PendingTransaction]:
    version, now = audit.version, copy.read_at_ms
    timeout = conf.or_default("transactionTimeOut", version)
    interval = conf.or_default("transactionCheckInterval", version)
    rows: dict[int, tuple[TransactionRow, PendingHalf]] = {}
    for row in audit.transactions:
        if TransactionState.PENDING in (row.state, *row.also):
            last = [event for event in row.history if event.event in _OF_HALF_QUEUE][-1]
            properties = log.record_at(last.at).properties
            immunity = immunity_ms(properties.get(IMMUNITY_SECONDS), timeout)
            rows[last.offset] = row, PendingHalf(last.offset, row.born, row.checks, immunity)
    found = forecasts(
        (half for _, half in rows.values()),
        CheckRounds(_a_round(rounds, copy), interval),
        now=now,
        timeout_ms=timeout,
        check_max=conf.or_default("transactionCheckMax", version),
    )
    producers: dict[str, tuple[str, ...]] = {}
    for offset, forecast in sorted(found.items(), key=lambda one: one[1].discarded_at):
        row, half = rows[offset]
        if row.group not in producers:
            producers[row.group] = connected_producers(channel, row.group)
        immunity = timeout if half.immunity_ms is None else half.immunity_ms
        yield PendingTransaction(row, now - row.born, immunity, forecast, producers[row.group])


def _a_round(rounds: Sequence[ShownRound], copy: PartialCopy) -> int:
    """When some round began: the last that the store shows in this process of the broker, else as if at its start."""
    booted_at = copy.read_at_ms if copy.booted_at_ms is None else copy.booted_at_ms
    return rounds[-1].began_at if rounds and rounds[-1].began_at > booted_at else booted_at


def _left(channel: BrokerChannel, topic: str) -> int:
    """How many messages lie before the check service's offset."""
    return max(end_of_queue(channel, topic) - (check_offset(channel, topic) or 0), 0)
