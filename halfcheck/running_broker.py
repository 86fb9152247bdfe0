"""Audits a running broker over the network: a partial copy of its store is read, then audited as any other store."""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

import typer

from halfcheck.pending_transactions import LAST_ROUNDS, NEEDED_SETTINGS, PendingTransactions
from halfcheck.printing.progress import progress_bar
from halfcheck.whole_store import audited_apart
from reference.format.broker_conf import BrokerConf, find_broker_conf, read_broker_conf
from reference.format.commit_log import CommitLog
from reference.format.consumer_offsets import saved_offsets
from reference.format.store_paths import store_paths
from reference.format.system_topics import HALF_TOPIC, OP_TOPIC
from spark_trace_analysis.audit.audit_folders import named
from spark_trace_analysis.audit.audit_rows import AuditRows
from spark_trace_analysis.audit.pending_rows import WhenOpen
from spark_trace_analysis.audit.rules.rounds import ShownRound, shown_rounds
from spark_trace_analysis.audit.rules.transaction_row import local_time
from wire.client.broker_facts import topic_queues
from wire.client.byte_rate import USUAL_BYTES_PER_S, ByteRate
from wire.client.channel import BrokerChannel
from wire.client.queries import check_offset, connected_producers, end_of_queue
from wire.copying.broker_moment import BrokerMoment
from wire.errors import WireError

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from halfcheck.pending_transactions import PendingTransaction, UnaskedGroup
    from reference.format.partial_copy import PartialCopy
    from spark_trace_analysis.audit.audit import Audit
    from spark_trace_analysis.audit.row_files import RowFiles
    from wire.client.channel import Address


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
    producers
        Producer group to the number of its clients that are connected now: of the transactions that are listed and not
        plain.
    half_left, op_left
        How many messages of the half and the op topic lie before the check service's offsets.
    rounds
        The last ones that left something in the store.
    untold
        Settings of its rounds that it does not tell: without them nothing is foretold.
    """

    audit: Audit
    copy: PartialCopy
    pending: tuple[PendingTransaction, ...]
    pending_total: int
    unasked: tuple[UnaskedGroup, ...]
    producers: dict[str, int]
    half_left: int
    op_left: int
    rounds: tuple[ShownRound, ...]
    untold: tuple[str, ...] = ()

    def to_json(self, *, everything: bool, limit: int) -> dict[str, Any]:
        """The audit's JSON values, and what the broker says besides under ``broker``."""
        copy = self.copy
        return self.audit.to_json(everything=everything, limit=limit) | {
            "broker": {
                "address": copy.broker,
                "release": copy.release,
                "role": copy.role,
                "read_at": local_time(copy.read_at_ms),
                "log_begin": copy.begin,
                "log_end": copy.end,
                "topics": list(copy.topics),
                "producers": self.producers,
                "half_left": self.half_left,
                "op_left": self.op_left,
                "rounds": [
                    {"began_at": local_time(one.began_at), "ms": one.ended_at - one.began_at, "records": one.records}
                    for one in self.rounds
                ],
                "untold_settings": list(self.untold),
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
    with _unfinished(into) as folder:
        with (
            BrokerChannel(address) as channel,
            progress_bar(f"reading {address}", "DownloadColumn", "TransferSpeedColumn") as update,
        ):
            on_progress = None if update is None else lambda done: update(completed=done)
            try:
                copy = BrokerMoment(channel, ByteRate(bytes_per_s), on_progress).copy(folder)
            except WireError as error:
                if into is None:
                    raise
                message = f"{error}; what was read so far is kept: the same command goes on from there"
                raise type(error)(message) from None
        yield folder if into is None else named(folder, into), copy


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
    with copied(address, into, bytes_per_s) as (folder, read), TemporaryDirectory(prefix="halfcheck-") as out:
        written = Path(out) / "rows"
        audit = audited_apart(
            folder, version or read.release, written, everything=everything, limit=limit, row_files=row_files
        )
        conf_path = find_broker_conf(folder)
        conf = BrokerConf() if conf_path is None else read_broker_conf(conf_path)
        rows = AuditRows(written)
        rounds = shown_rounds(rows.times_of_rounds(), conf.or_default("transactionCheckInterval", audit.version))
        # Its clock is told to the second, its records are stamped to the millisecond.
        copy = replace(read, read_at_ms=max(read.read_at_ms, rows.last_time()))
        saved = saved_offsets(store_paths(folder))
        settings = None if conf_path is None else f"{copy.broker} (GET_BROKER_CONFIG)"
        # Anew: a broker closes what is idle for two minutes (serverChannelMaxIdleTimeSeconds).
        with BrokerChannel(address) as channel:
            queues = topic_queues(channel)
            when = WhenOpen(
                CommitLog.open(folder),
                rounds,
                {queue_id: saved.get(HALF_TOPIC, queue_id) or 0 for queue_id in range(queues.get(HALF_TOPIC, 1))},
                copy.booted_at_ms or 0,
            )
            pending = PendingTransactions(channel, rows, conf, audit.version, row_files.selection, when, copy)
            return BrokerAudit(
                replace(audit, store=copy.broker, trace=replace(audit.trace, broker_conf=settings)),
                copy,
                tuple(pending.first(None if everything else limit)),
                len(pending.order),
                tuple(pending.unasked()),
                {group: len(connected_producers(channel, group)) for group in _groups(audit)},
                _left(channel, HALF_TOPIC, queues),
                _left(channel, OP_TOPIC, queues),
                tuple(rounds[-LAST_ROUNDS:]),
                tuple(key for key in NEEDED_SETTINGS if not conf.sets(key)),
            )


def _groups(audit: Audit) -> list[str]:
    """The producer groups of what is not plain."""
    return sorted({row.group for row in audit.transactions if not row.is_plain and row.group})


def _left(channel: BrokerChannel, topic: str, queues: Mapping[str, int]) -> int:
    """How many messages lie before the check service's offsets in the queues of a topic."""
    left = (
        end_of_queue(channel, topic, queue_id) - (check_offset(channel, topic, queue_id) or 0)
        for queue_id in range(queues.get(HALF_TOPIC, 1))
    )
    return sum(max(each, 0) for each in left)
