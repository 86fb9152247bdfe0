"""A shop on one reference broker: what its database decided, what its consumers did, and what an operator may do.

All went well with an order if its effect came once where the database committed it, and not at all where it did not.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING
from unittest.mock import patch

from fuzz.defects.broker_under_test import GROUP, TOPIC, BrokerUnderTest
from fuzz.defects.scenario import BrokerProfile
from reference.broker.processor.end_transaction_processor import TRANSACTION_ROLLBACK, EndTransactionRequestHeader
from reference.format.consumer_offsets import NAME
from reference.format.properties import UNIQUE_KEY
from reference.format.record import TRANSACTION_COMMIT
from reference.format.system_topics import DISCARD_TOPIC
from reference.store.memory_disk import MemoryDisk
from reference.store.message_store_config import MessageStoreConfig
from spark_trace_analysis.audit.audit_store import audit_store
from spark_trace_analysis.audit.opened_store import OpenedStore
from tests.spark_trace_analysis.audit.both_audits import NO_TRACE

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from reference.broker.transaction.transactional_message_check_listener import CheckTransactionStateRequest
    from reference.format.record import LogRecord
    from spark_trace_analysis.audit.rules.circumstances import Circumstances, LogFacts
    from spark_trace_analysis.audit.rules.state import UnknownCause
    from spark_trace_analysis.audit.rules.transaction_row import TransactionRow

CONFIG = MessageStoreConfig(mapped_file_size_commit_log=1 << 16, mapped_file_size_consume_queue=6_000)
_KEYS = {
    "transaction_timeout_ms": "transactionTimeOut",
    "transaction_check_max": "transactionCheckMax",
    "transaction_check_interval_ms": "transactionCheckInterval",
}
Files = dict[str, bytes]


def _size(name: str) -> int:
    """The size of a mapped file, 0 for another."""
    if name.startswith("commitlog"):
        return CONFIG.mapped_file_size_commit_log
    return CONFIG.mapped_file_size_consume_queue if name.startswith("consumequeue") else 0


def write_files(files: Files, folder: Path) -> Path:
    """Write those files that an audit reads."""
    for path, content in files.items():
        if path.startswith(("commitlog", "consumequeue", NAME)):
            (folder / path).parent.mkdir(parents=True, exist_ok=True)
            (folder / path).write_bytes(content.ljust(_size(path), b"\0"))
    return folder


class Shop:
    """A broker, the producers' database, and consumers.

    Parameters
    ----------
    profile, settings
        Of the broker, see :class:`BrokerUnderTest`.

    Attributes
    ----------
    database
        Order to whether its local transaction committed.
    is_idempotent
        Whether consumers leave out a message whose UNIQ_KEY they had before.
    effects
        Order to how often consumers carried it out, less what was taken back.
    answers
        Order to what its producer answers to a check, where that is not what the database says.
    """

    def __init__(
        self,
        profile: str = "5.3.3",
        settings: Mapping[str, int] | None = None,
        config: MessageStoreConfig = CONFIG,
    ) -> None:
        self.under = BrokerUnderTest(BrokerProfile.of(profile), config, None, None, **settings or {})
        self.database: dict[str, bool] = {}
        self.is_idempotent = False
        self.effects: dict[str, int] = {}
        self.answers: dict[str, bool] = {}
        self._consumed = 0
        self._seen: set[str] = set()
        self._resent = 0
        self._shown: tuple[Files, Mapping[int, UnknownCause]] | None = None

    # --- producers ----------------------------------------------------------------------------------------------------

    def half(
        self, order: str, properties: Mapping[str, str] | None = None, *, committed: bool = True, flag: int = 0
    ) -> LogRecord:
        """Send the half of an order, and let the local transaction come to its end."""
        self.database[order] = committed
        return self.under.half({UNIQUE_KEY: order, "KEYS": order, **(properties or {})}, flag=flag)

    def answer(self, checks: Iterable[CheckTransactionStateRequest]) -> None:
        """Answer checks with what the database says."""
        for check in checks:
            order = check.properties["KEYS"]
            is_committed = self.answers.get(order, self.database[order])
            self.under.end_request(
                EndTransactionRequestHeader(
                    GROUP,
                    check.tran_state_table_offset,
                    check.commit_log_offset,
                    TRANSACTION_COMMIT if is_committed else TRANSACTION_ROLLBACK,
                    from_transaction_check=True,
                    transaction_id=check.transaction_id,
                )
            )

    def rounds(self, number: int = 1, *, answered: bool = True) -> None:
        """Let check rounds come, with producers that answer or that are not there."""
        for _ in range(number):
            checks = self.under.checks()
            if answered:
                self.answer(checks)
            self.under.wait(4)

    def another_round(self) -> None:
        """A round that puts back a half behind all others, which is then delivered."""
        self.half("last")
        self.rounds(2)

    # --- operators ----------------------------------------------------------------------------------------------------

    def send_again(self, order: str) -> None:
        """Send an order once more, as a plain message."""
        self._resent += 1
        self.under.send({UNIQUE_KEY: f"{order}-again{self._resent}", "KEYS": order})

    def decide_and_send_again(self, order: str) -> None:
        """Ask the database, and send an order once more if it was committed."""
        if self.database[order]:
            self.send_again(order)

    def take_back(self, order: str, times: int) -> None:
        """Take back what consumers did, so many times."""
        self.consume()
        self.effects[order] -= times

    def resume(self, order: str) -> None:
        """Have the broker check a discarded half anew."""
        (discarded,) = [one for one in self.under.stored(DISCARD_TOPIC) if one.properties[UNIQUE_KEY] == order]
        self.under.resume(discarded)

    # --- files --------------------------------------------------------------------------------------------------------

    @property
    def disk(self) -> MemoryDisk:
        """Where the broker's files are."""
        disk = self.under.broker.message_store.disk
        assert isinstance(disk, MemoryDisk)
        return disk

    def save(self) -> None:
        """Save the offsets, as the broker does every five seconds."""
        self.under.broker.consumer_offset_manager.persist()

    def files(self) -> Files:
        """A copy of all files as they are."""
        self.under.broker.message_store.dispatch()
        return self.disk.files()

    def show(self, files: Files | None = None, unknown_queues: Mapping[int, UnknownCause] | None = None) -> Shop:
        """Let an operator see a copy of the files; without one, the broker's own as they are.

        Parameters
        ----------
        unknown_queues
            What makes offsets say nothing, where only who finds the files can see it.
        """
        if files is None:
            self.save()
            files = self.files()
        self._shown = files, unknown_queues or {}
        return self

    @property
    def shown(self) -> Files:
        """The files that the operator sees."""
        assert self._shown is not None
        return self._shown[0]

    def row(self, order: str) -> TransactionRow:
        """What the audit says of an order, by the files that are shown."""
        assert self._shown is not None
        files, unknown_queues = self._shown
        with TemporaryDirectory() as name:
            folder = Path(name)
            write_files(files, folder)
            settings = self.under.broker.settings
            conf = "".join(f"{key}={getattr(settings, setting)}\n" for setting, key in _KEYS.items())
            (folder / "broker.conf").write_text(conf + files.get("broker.conf", b"").decode(), encoding="utf-8")
            known = OpenedStore.circumstances

            def circumstances(
                store: OpenedStore, facts: LogFacts, hidden: Iterable[int], **named: bool
            ) -> Circumstances:
                found = known(store, facts, hidden, **named)
                return replace(found, unknown_queues=unknown_queues or found.unknown_queues)

            with patch.object(OpenedStore, "circumstances", circumstances):
                audit = audit_store(folder, self.under.profile.name.partition("+")[0], question=NO_TRACE)
        return next(row for row in audit.transactions if row.unique_key == order)

    # --- what came of it ----------------------------------------------------------------------------------------------

    def consume(self) -> None:
        """Let consumers take what has come."""
        delivered = self.under.stored(TOPIC)
        for record in delivered[self._consumed :]:
            key, order = record.properties[UNIQUE_KEY], record.properties["KEYS"]
            if not (self.is_idempotent and key in self._seen):
                self.effects[order] = self.effects.get(order, 0) + 1
            self._seen.add(key)
        self._consumed = len(delivered)

    def is_right(self, order: str) -> bool:
        """Whether the effect of an order came as often as its database wants it."""
        self.consume()
        return self.effects.get(order, 0) == int(self.database[order])
