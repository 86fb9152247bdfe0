"""One reference broker with its clock and the few acts that the tests about it are made of."""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import count
from typing import TYPE_CHECKING

from reference.broker.broker_controller import BrokerController
from reference.broker.broker_settings import BrokerSettings
from reference.broker.processor.end_transaction_processor import TRANSACTION_ROLLBACK, EndTransactionRequestHeader
from reference.broker.processor.send_message_processor import SendMessageRequest
from reference.broker.transaction.check_outcome import CheckBranch, CheckStep
from reference.format.record import TRANSACTION_COMMIT, LogRecord
from reference.format.system_topics import DISCARD_TOPIC, HALF_TOPIC, OP_TOPIC
from reference.simulation.virtual_clock import VirtualClock
from reference.versions.versions import switches_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from reference.broker.processor.end_transaction_processor import EndTransactionStep
    from reference.broker.transaction.transactional_message_check_listener import CheckTransactionStateRequest

GROUP = "g"
SETTINGS = BrokerSettings(flush_consumer_offset_delay_ms=0, flush_consumer_offset_interval_ms=0)
"""RocketMQ's defaults of 5.3.3, but the offsets may be saved at any time."""

MOST_STEPS = 1_000


@dataclass
class OneBroker:
    """A broker of one version, started at 1000 seconds."""

    version: str
    settings: BrokerSettings = SETTINGS
    keys: Iterator[int] = field(default_factory=count)

    def __post_init__(self) -> None:
        self.clock = VirtualClock(1_000_000)
        self.broker = BrokerController(switches_of(self.version), self.settings, self.clock)

    def half(self, *, born_ahead_ms: int = 0, flag: int = 0, **properties: str) -> LogRecord:
        """Send one half, by a producer whose clock may be ahead of the broker's."""
        own = {"TRAN_MSG": "true", "PGROUP": GROUP, "UNIQ_KEY": f"K{next(self.keys)}", "WAIT": "true"}
        request = SendMessageRequest("T", 3, b"body", self.clock.now + born_ahead_ms, own | properties, flag=flag)
        record = self.broker.send_message(request).record
        assert record is not None
        return record

    def header(self, half: LogRecord, flag: int, *, from_check: bool = False) -> EndTransactionRequestHeader:
        return EndTransactionRequestHeader(GROUP, half.queue_offset, half.physical_offset, flag, from_check)

    def end(self, header: EndTransactionRequestHeader) -> list[EndTransactionStep]:
        """Handle one END_TRANSACTION to its end."""
        end, steps = self.broker.end_transaction(header), []
        while not end.is_over:
            steps.append(end.step())
        return steps

    def commit(self, half: LogRecord) -> list[EndTransactionStep]:
        return self.end(self.header(half, TRANSACTION_COMMIT))

    def roll_back(self, half: LogRecord) -> list[EndTransactionStep]:
        return self.end(self.header(half, TRANSACTION_ROLLBACK))

    def answer_commit(self, check: CheckTransactionStateRequest) -> list[EndTransactionStep]:
        """A producer answers a check with COMMIT."""
        return self.end(
            EndTransactionRequestHeader(
                GROUP, check.tran_state_table_offset, check.commit_log_offset, TRANSACTION_COMMIT, True
            )
        )

    def flush_ops(self) -> None:
        """Let the op batch interval pass, and the service run."""
        self.clock.advance(self.settings.op_batch_interval_ms)
        self.broker.run_op_batch_service()

    def round(self, after_ms: int | None = None) -> list[CheckStep]:
        """One whole check round, some time after now (the check interval, if that is not given)."""
        self.clock.advance(self.settings.transaction_check_interval_ms if after_ms is None else after_ms)
        check_round = self.broker.begin_check_round()
        assert check_round is not None
        steps: list[CheckStep] = []
        while not check_round.is_over:
            assert len(steps) < MOST_STEPS, "the round does not end while time stands still"
            step = check_round.step()
            if step.branch is CheckBranch.ASLEEP:
                self.clock.advance(check_round.wakes_at - self.clock.elapsed)
            else:
                steps.append(step)
        return steps

    def branches(self, after_ms: int | None = None) -> list[str]:
        """The branches of one whole check round."""
        return [step.branch.value for step in self.round(after_ms)]

    def stored(self, topic: str) -> list[LogRecord]:
        return [record for record in self.broker.message_store.records() if record.topic == topic]

    @property
    def delivered(self) -> list[str]:
        """The unique key of each real message."""
        return [record.properties["UNIQ_KEY"] for record in self.stored("T")]

    @property
    def offsets(self) -> tuple[int, int]:
        """The committed half and op offset."""
        manager = self.broker.consumer_offset_manager
        return manager.query_offset(HALF_TOPIC, 0), manager.query_offset(OP_TOPIC, 0)

    @property
    def discarded(self) -> list[LogRecord]:
        return self.stored(DISCARD_TOPIC)
