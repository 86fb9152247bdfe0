"""Audits a running broker over the network: a partial copy of its store is read, then audited as any other store."""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any, Final

import typer

from halfcheck.pending_transactions import LAST_ROUNDS, PendingTransaction, pending_transactions
from halfcheck.printing.progress import progress_bar
from halfcheck.whole_store import audited
from reference.format.broker_conf import BrokerConf, find_broker_conf, read_broker_conf
from reference.format.system_topics import HALF_TOPIC, OP_TOPIC
from spark_trace_analysis.audit.audit_folders import named
from spark_trace_analysis.audit.rules.open_copies import PUT_BACK
from spark_trace_analysis.audit.rules.rounds import ShownRound, shown_rounds
from spark_trace_analysis.audit.rules.transaction_row import local_time
from wire.client.broker_facts import topic_queues
from wire.client.byte_rate import USUAL_BYTES_PER_S, ByteRate
from wire.client.channel import BrokerChannel
from wire.client.queries import check_offset, end_of_queue
from wire.copying.broker_moment import BrokerMoment

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from reference.format.partial_copy import PartialCopy
    from spark_trace_analysis.audit.audit import Audit
    from spark_trace_analysis.audit.row_files import RowFiles
    from wire.client.channel import Address

_OF_ROUNDS: Final = (PUT_BACK, "discarded")


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
                "role": copy.role,
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
    near = None if into is None else into.parent
    with TemporaryDirectory(prefix="halfcheck-", dir=near) as temporary, BrokerChannel(address) as channel:
        folder = Path(temporary) / "store"
        folder.mkdir()
        with progress_bar(f"reading {address}", "DownloadColumn", "TransferSpeedColumn") as update:
            on_progress = None if update is None else lambda done: update(completed=done)
            copy = BrokerMoment(channel, ByteRate(bytes_per_s), on_progress).copy(folder)
        yield channel, folder if into is None else named(folder, into), copy


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
    with copied(address, into, bytes_per_s) as (channel, folder, read):
        audit = audited(folder, version or read.release, everything=everything, limit=limit, row_files=row_files)
        conf_path = find_broker_conf(folder)
        conf = BrokerConf() if conf_path is None else read_broker_conf(conf_path)
        rounds = _rounds(audit, conf.or_default("transactionCheckInterval", audit.version))
        copy = replace(read, read_at_ms=_not_before_its_records(read, audit))
        queues = topic_queues(channel)
        return BrokerAudit(
            replace(audit, store=copy.broker, trace=replace(audit.trace, broker_conf=None)),
            copy,
            tuple(pending_transactions(channel, folder, audit, conf, rounds, copy)),
            _left(channel, HALF_TOPIC, queues),
            _left(channel, OP_TOPIC, queues),
            tuple(rounds[-LAST_ROUNDS:]),
        )


def _not_before_its_records(copy: PartialCopy, audit: Audit) -> int:
    """That moment by the broker's clock, which is told to the second; its records are stamped to the millisecond."""
    last = (event.time for row in audit.transactions for event in row.history[-1:])
    return max(copy.read_at_ms, *last, 0)


def _rounds(audit: Audit, interval_ms: int) -> list[ShownRound]:
    events = (event for row in audit.transactions for event in row.history)
    return shown_rounds((event.time for event in events if event.event in _OF_ROUNDS), interval_ms)


def _left(channel: BrokerChannel, topic: str, queues: Mapping[str, int]) -> int:
    """How many messages lie before the check service's offsets in the queues of a topic."""
    left = (
        end_of_queue(channel, topic, queue_id) - (check_offset(channel, topic, queue_id) or 0)
        for queue_id in range(queues.get(HALF_TOPIC, 1))
    )
    return sum(max(each, 0) for each in left)
