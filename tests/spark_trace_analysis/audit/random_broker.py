"""Random stores of the reference broker: sends, ends in time, late and repeated, check rounds, restarts."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING

from reference.broker.broker_controller import BrokerController
from reference.broker.broker_settings import BrokerSettings
from reference.broker.processor.end_transaction_processor import TRANSACTION_ROLLBACK, EndTransactionRequestHeader
from reference.broker.processor.send_message_processor import SendMessageRequest
from reference.broker.recorder import Recorder
from reference.broker.transaction.check_outcome import CheckBranch
from reference.format.record import TRANSACTION_COMMIT, CommitLogOffset, QueueOffset
from reference.format.stored_message import decode_message_id
from reference.simulation.virtual_clock import VirtualClock
from reference.versions.versions import VERSIONS

if TYPE_CHECKING:
    from pathlib import Path


_STEPS = 120
_CHECK_MAX = 3
_FILE_BYTES = 1 << 16


class _Random:
    def __init__(self, version: str, folder: Path, seed: int) -> None:
        from reference.store.disk import DirectoryDisk
        from reference.store.message_store import MessageStore
        from reference.store.message_store_config import MessageStoreConfig

        self.choose = random.Random(f"{version} {seed}")
        switches, self.clock = VERSIONS[version], VirtualClock(1_700_000_000_000)
        config = MessageStoreConfig(mapped_file_size_commit_log=_FILE_BYTES, mapped_file_size_consume_queue=6_000)
        store = MessageStore(switches, self.clock, DirectoryDisk(folder), config)
        settings = BrokerSettings(transaction_check_max=_CHECK_MAX)
        self.broker = BrokerController(switches, settings, self.clock, store, Recorder(self.clock, is_on=False))
        self.halves: list[tuple[QueueOffset, CommitLogOffset]] = []
        self.sent = 0

    def run(self) -> None:
        for _ in range(_STEPS):
            self.clock.advance(self.choose.choice([1, 5, 400, 3_000]))
            deed = self.choose.choice(
                [
                    self.send,
                    self.send,
                    self.send,
                    self.end,
                    self.end,
                    self.end,
                    self.ordinary,
                    self.batch,
                    self.round,
                    self.restart,
                ]
            )
            deed()
        for _ in range(2):
            self.batch()
            self.round()
        self.broker.shutdown()

    def send(self) -> None:
        properties = {"TRAN_MSG": "true", "UNIQ_KEY": f"C0A8{self.sent:028X}", "WAIT": "true", "PGROUP": "g"}
        if self.choose.random() < 0.3:
            properties["CHECK_IMMUNITY_TIME_IN_SECONDS"] = str(self.choose.choice([-1, 1, 20]))
        self.sent += 1
        body = self.choose.randbytes(self.choose.choice([1, 40, 700]))
        flag = self.choose.choice([0, 0, 3])
        response = self.broker.send_message(
            SendMessageRequest("T", self.sent & 3, body, self.clock.now, properties, flag)
        )
        self.halves.append((response.queue_offset, decode_message_id(response.msg_id)))

    def end(self) -> None:
        if self.halves:
            outcome = self.choose.choice([TRANSACTION_COMMIT, TRANSACTION_COMMIT, TRANSACTION_ROLLBACK])
            half, place = self.choose.choice(self.halves[-4:])
            self._end(half, place, outcome)

    def ordinary(self) -> None:
        body = self.choose.randbytes(30)
        self.broker.send_message(SendMessageRequest("U", 0, body, self.clock.now, {"WAIT": "true"}))

    def batch(self) -> None:
        self.clock.advance(self.broker.settings.op_batch_interval_ms)
        if self.broker.switches.batches_ops:
            self.broker.run_op_batch_service()

    def round(self) -> None:
        self.clock.advance(self.choose.choice([31_000, 61_000]))
        running = self.broker.begin_check_round()
        while running is not None and not running.is_over:
            if running.step().branch is CheckBranch.ASLEEP:
                self.clock.advance(running.wakes_at - self.clock.elapsed)
            while self.broker.check_requests:
                check = self.broker.check_requests.popleft()
                self.halves.append((check.tran_state_table_offset, check.commit_log_offset))
                if self.choose.random() < 0.4:
                    self._end(check.tran_state_table_offset, check.commit_log_offset, TRANSACTION_COMMIT)

    def restart(self) -> None:
        if self.choose.random() < 0.5:
            self.broker.shutdown() if self.choose.random() < 0.5 else self.broker.crash()
            self.broker = self.broker.restart()

    def _end(self, half: QueueOffset, place: CommitLogOffset, outcome: int) -> None:
        ending = self.broker.end_transaction(EndTransactionRequestHeader("g", half, place, outcome))
        while not ending.is_over:
            ending.step()


def write_random_store(version: str, folder: Path, seed: int) -> None:
    """Write the store of one seed."""
    _Random(version, folder, seed).run()
