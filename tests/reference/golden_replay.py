"""Takes the reference broker through the schedule of a golden store.

What depends on threads is taken from the real run: whoever is about to write waits until the real broker wrote; what
writes nothing is done as early as it can be. What is written, answered, sent and committed is left to the broker.
"""

from __future__ import annotations

import copy
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from reference.broker_controller import BrokerController
from reference.broker_settings import BrokerSettings
from reference.check_step import CheckBranch, CheckStep
from reference.end_transaction_step import EndTransactionOutcome, EndTransactionStep
from reference.message_store import MessageStore
from reference.store.broker_conf import read_broker_conf
from reference.store.consumer_offsets import ConsumerOffsets, TopicAtGroup
from reference.store.offsets import QueueOffset
from reference.store.properties import CLUSTER
from reference.store_path_root_dir import StorePathRootDir
from reference.system_topics import CHECK_GROUP, HALF_TOPIC, OP_TOPIC
from reference.version_switches import VERSIONS
from reference.virtual_clock import VirtualClock
from tests.reference.golden_schedule import (
    Act,
    BatchServiceRuns,
    End,
    IsKilled,
    RoundBegins,
    Send,
    Starts,
    Stored,
    golden_schedule,
)

if TYPE_CHECKING:
    from conformance.golden_stores import GoldenStore
    from reference.check_listener import CheckTransactionStateRequest
    from reference.end_transaction_processor import EndTransaction
    from reference.store.record import Record

MOST_STEPS = 1_000


@dataclass
class GoldenReplay:
    """What the reference broker did under a golden schedule.

    Attributes
    ----------
    differences
        Where it did something else than the real broker.
    check_requests
        What it sent to producers.
    responses
        Its answers to END_TRANSACTION, in the order in which they were given.
    """

    broker: BrokerController
    differences: list[str] = field(default_factory=list)
    check_requests: list[CheckTransactionStateRequest] = field(default_factory=list)
    responses: list[tuple[int, str | None]] = field(default_factory=list)
    _waiting: list[EndTransaction] = field(default_factory=list)

    def take(self, act: Act) -> None:
        """One act of the schedule; the clock is set."""
        match act:
            case Starts():
                self.broker = self.broker.restart()
            case IsKilled():
                self.broker.crash()
                self.broker.store_path.consumer_offsets = act.saved
                return
            case Send():
                self._compare(act.record, self.broker.send_message(act.request).record)
            case End():
                self._end(self.broker.end_transaction(act.header))
            case RoundBegins():
                self._begin_round(act)
            case BatchServiceRuns():
                if self.broker.run_op_batch_service().written:
                    self._differs("an op batch was written though none was due")
            case Stored():
                self._compare(act.record, self._write(act))
            case _:
                self._end_round()
        if not isinstance(act, Stored) or act.kind not in ("copy", "discard"):
            self.broker.message_store.dispatch()
        self._run_round_until_it_writes()
        while self.broker.check_requests:
            self.check_requests.append(self.broker.check_requests.popleft())

    def _begin_round(self, act: RoundBegins) -> None:
        check_round = self.broker.begin_check_round()
        if check_round is None:
            self._differs("a round is not due")
        elif (check_round.half_offset, check_round.op_offset) != (act.half_offset, act.op_offset):
            self._differs(f"offsets {check_round.half_offset}/{check_round.op_offset} instead of {act}")

    def _run_round_until_it_writes(self) -> None:
        for _ in range(MOST_STEPS):
            step = self._probe_round()
            if step is None or step.record is not None or step.branch is CheckBranch.ASLEEP or step.branch.is_end:
                return
            self._step_round()
        self._differs("the round goes on for ever without a write")

    def _end_round(self) -> None:
        for _ in range(MOST_STEPS):
            step = self._probe_round()
            if step is None:
                return
            if step.record is not None:
                break
            self._step_round()
        self._differs("the round goes on beyond its end")

    def _probe_round(self) -> CheckStep | None:
        """What the round's next step would do, tried on a copy of the whole broker."""
        check_round = self.broker.check_service.round
        return None if check_round is None else copy.deepcopy(check_round, self._records()).step()

    def _probe_end(self, end: EndTransaction) -> EndTransactionStep:
        return copy.deepcopy(end, self._records()).step()

    def _records(self) -> dict[int, object]:
        """The records need no copies."""
        return {id(record): record for record in self.broker.message_store.records()}

    def _step_round(self) -> CheckStep:
        check_round = self.broker.check_service.round
        assert check_round is not None
        return check_round.step()

    def _end(self, end: EndTransaction) -> None:
        probe = self._probe_end(end)
        if probe.record is not None:
            self._waiting.append(end)
        else:
            self._step_end(end)

    def _step_end(self, end: EndTransaction) -> Record | None:
        step = end.step()
        if step.response is not None:
            self.responses.append((step.response.code, step.response.remark))
        if step.outcome is EndTransactionOutcome.MESSAGE_STORED:
            self._end(end)
        return step.record

    def _write(self, act: Stored) -> Record | None:
        """Let whoever has to write that record write it."""
        if act.kind in ("copy", "discard"):
            step = self._probe_round()
            if step is not None and step.branch.is_end:
                self.broker.message_store.dispatch()
            return None if step is None else self._step_round().record
        if act.kind == "op" and self.broker.switches.batches_ops:
            return next(iter(self.broker.run_op_batch_service().written), None)
        for end in self._waiting:
            probe = self._probe_end(end).record
            if probe is not None and _fields(probe) == _fields(act.record):
                self._waiting.remove(end)
                return self._step_end(end)
        return None

    def _compare(self, expected: Record, record: Record | None) -> None:
        if record is None:
            self._differs(f"nothing instead of {_fields(expected)}")
        elif _fields(record) != _fields(expected):
            self._differs(f"{_fields(record)} instead of {_fields(expected)}")

    def _differs(self, text: str) -> None:
        self.differences.append(f"{self.broker.clock.now}: {text}")


def replay(golden: GoldenStore, schedule: list[tuple[int, Act]] | None = None) -> GoldenReplay:
    """Replay a golden store's own schedule, or another, on a new broker of its version and settings."""
    schedule = schedule or golden_schedule(golden)
    first_half = next(act.record for _, act in schedule if isinstance(act, Send))
    first_round = next(act for _, act in schedule if isinstance(act, RoundBegins))
    switches = VERSIONS[golden.version]
    settings = replace(
        BrokerSettings.of_broker_conf(read_broker_conf(golden.path / "broker.conf"), switches),
        store_host=first_half.store_host,
        broker_cluster_name=first_half.properties.get(CLUSTER, ""),
    )
    clock = VirtualClock()
    store = MessageStore(switches, clock)
    store.dispatches_at_once = False
    saved = {HALF_TOPIC: first_round.half_offset, OP_TOPIC: first_round.op_offset}
    offsets = {
        TopicAtGroup(f"{topic}@{CHECK_GROUP}"): {0: QueueOffset(saved[topic])} for topic in saved if saved[topic]
    }
    nothing_yet = BrokerController(switches, settings, clock, StorePathRootDir(store, ConsumerOffsets(offsets)))
    nothing_yet.crash()
    result = GoldenReplay(nothing_yet)
    for now, act in schedule:
        clock.advance(now - clock.now)
        result.take(act)
    return result


def _fields(record: Record) -> tuple[object, ...]:
    """Everything of a record but its times, which the schedule gives, and the order of its properties."""
    return (
        record.topic,
        record.queue_id,
        record.queue_offset,
        record.physical_offset,
        record.total_size,
        record.flag,
        record.sys_flag,
        record.born_host,
        record.store_host,
        record.reconsume_times,
        record.prepared_transaction_offset,
        record.body,
        record.body_crc,
        record.properties,
    )
