"""END_TRANSACTION on the broker, step by step (``EndTransactionProcessor``).

A commit is two writes, the real message and then the op message, and anything may happen between them. Nothing here is
idempotent: whoever asks twice is served twice (A12, A13, A14).
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import TYPE_CHECKING, Final

from reference.broker.response import (
    ILLEGAL_OPERATION,
    MESSAGE_ILLEGAL,
    NOT_SET_REMARK,
    SERVICE_NOT_AVAILABLE,
    SLAVE_NOT_AVAILABLE,
    SUCCESS,
    SYSTEM_ERROR,
    RemotingResponse,
)
from reference.broker.transaction.immunity_time import end_transaction_immunity_time
from reference.errors import ActivityIsOverError
from reference.format.properties import (
    IMMUNITY_SECONDS,
    PRODUCER_GROUP,
    REAL_QUEUE_ID,
    REAL_TOPIC,
    TRANSACTION_PREPARED,
    UNIQUE_KEY,
    message_properties_to_string,
)
from reference.format.record import TRANSACTION_BITS, TRANSACTION_COMMIT, CommitLogOffset, LogRecord, QueueOffset
from reference.format.system_topics import HALF_TOPIC
from reference.store.message import MessageExt, MessageExtBrokerInner
from reference.store.put_message import PutMessageResult, PutMessageStatus

if TYPE_CHECKING:
    from reference.broker.broker_controller import BrokerController


TRANSACTION_NOT_TYPE: Final = 0
TRANSACTION_ROLLBACK: Final = 3 << 2
"""``MessageSysFlag.TRANSACTION_ROLLBACK_TYPE``"""

COMMIT_OR_ROLLBACK: Final = (TRANSACTION_NOT_TYPE, TRANSACTION_COMMIT, TRANSACTION_ROLLBACK)
"""Values of ``commitOrRollback``: UNKNOWN, commit or rollback."""


@dataclass(slots=True)
class EndTransactionRequestHeader:
    """END_TRANSACTION as a producer sends it (``EndTransactionRequestHeader``)."""

    producer_group: str
    tran_state_table_offset: QueueOffset
    commit_log_offset: CommitLogOffset
    """Where the half lies that is meant: its queue offset, and its place in the commit log in bytes."""
    commit_or_rollback: int
    """0, 8 or 12: see :data:`COMMIT_OR_ROLLBACK`."""
    from_transaction_check: bool = False
    """Whether it answers a check."""
    msg_id: str = ""
    transaction_id: str | None = None
    """The broker does not look at them (B10)."""


class EndTransactionOutcome(Enum):
    """The outcome of a step of END_TRANSACTION."""

    DROPPED = "dropped"
    """UNKNOWN: nothing is done and nothing answered."""
    REFUSED = "refused"
    """Nothing was written; the response says why."""
    MESSAGE_STORED = "message_stored"
    """The real message is stored; the op message is the next step."""
    OP_STORED = "op_stored"
    """An op message is stored; the request is answered."""
    OP_BUFFERED = "op_buffered"
    """The half's offset waits in memory for a batch; the request is answered."""
    OP_LOST = "op_lost"
    """The store refused the op message; the request is answered with success all the same."""
    WAITING = "waiting"
    """The store refused a message; the request is not answered, and its next step tries again (repairs of B04)."""
    IGNORED = "ignored"
    """Its transaction is over: nothing is done, and the request is answered with success (repairs of A12)."""
    NO_HALF = "no_half"
    """The message found is no half: no op message is written, and the request is answered with success (5.4.0)."""


@dataclass(slots=True)
class EndTransactionStep:
    """One step."""

    outcome: EndTransactionOutcome
    response: RemotingResponse | None = None
    """The answer, with the step that gives it; None before that, and for what is dropped."""
    stored: PutMessageResult | None = None
    """The store's answer, if something was stored."""

    @property
    def record(self) -> LogRecord | None:
        """The record that the step stored, read back from the store when it is asked for."""
        return None if self.stored is None else self.stored.record


_COMMITTED = RemotingResponse(SUCCESS)
_ROLLED_BACK = RemotingResponse(SUCCESS, NOT_SET_REMARK)
_ILLEGAL = MESSAGE_ILLEGAL, "The message is illegal, maybe msg body or properties length not matched."
_UNSTORED = {
    PutMessageStatus.SERVICE_NOT_AVAILABLE: (SERVICE_NOT_AVAILABLE, "Service not available now."),
    PutMessageStatus.MESSAGE_ILLEGAL: _ILLEGAL,
    PutMessageStatus.PROPERTIES_SIZE_EXCEEDED: _ILLEGAL,
    PutMessageStatus.CREATE_MAPPED_FILE_FAILED: (SYSTEM_ERROR, "Create mapped file failed."),
}
"""Code and remark for a real message that was not stored (``#sendFinalMessage``)."""


class EndTransaction:
    """One END_TRANSACTION in handling: two steps for a commit, one for everything else."""

    def __init__(self, broker: BrokerController, header: EndTransactionRequestHeader) -> None:
        self.header = header
        self.is_over = False
        self._broker = broker
        self._committed: MessageExt | None = None
        self._committed_to: str | None = None

    def step(self) -> EndTransactionStep:
        """Take the next step.

        Raises
        ------
        ActivityIsOverError
            The request has been handled.
        BrokerIsDownError
            Its process is gone; nobody will answer.
        """
        self._broker.require_running()
        if self.is_over:
            message = f"{self.header} has been handled; send another"
            raise ActivityIsOverError(message)
        if self._committed is not None:
            step = self._delete_prepare_message(self._committed, _COMMITTED)
        else:
            step = self._process()
        self.is_over = step.outcome not in (EndTransactionOutcome.MESSAGE_STORED, EndTransactionOutcome.WAITING)
        between_writes = self._broker.transactional_message_service.ends_between_writes
        if step.outcome is EndTransactionOutcome.MESSAGE_STORED:
            between_writes.append(self)
        elif self.is_over and self._committed is not None:
            between_writes.remove(self)
        return step

    def _process(self) -> EndTransactionStep:
        """``#processRequest``, up to its first write."""
        header = self.header
        if header.commit_or_rollback not in COMMIT_OR_ROLLBACK:
            return self._refuse(SYSTEM_ERROR, "commitOrRollback field wrong")
        if self._broker.role.is_slave:
            return self._refuse(SLAVE_NOT_AVAILABLE, NOT_SET_REMARK)
        if header.commit_or_rollback == TRANSACTION_NOT_TYPE:
            return EndTransactionStep(EndTransactionOutcome.DROPPED)
        if self._broker.is_stopping and self._broker.switches.awaits_ends_on_stop:
            return self._refuse(SYSTEM_ERROR, "the broker stops")
        half = self._broker.transactional_message_bridge.look_message_by_offset(header.commit_log_offset)
        if half is None:
            return self._refuse(SYSTEM_ERROR, "Find prepared transaction message failed")
        if self._broker.settled_transactions.knows(half.record) and self._check_prepare_message(half) is None:
            self._broker.recorder.record_end("end_refused", header, half)
            return EndTransactionStep(EndTransactionOutcome.IGNORED, RemotingResponse(SUCCESS))
        if self._reject_commit_or_rollback(half):
            return self._refuse(ILLEGAL_OPERATION, NOT_SET_REMARK)
        wrong = self._check_prepare_message(half)
        if wrong is not None:
            return self._refuse(SYSTEM_ERROR, wrong)
        if header.commit_or_rollback != TRANSACTION_COMMIT:
            self._broker.recorder.record_end("half_rolled_back", header, half)
            return self._delete_prepare_message(half, _ROLLED_BACK)
        return self._send_final_message(half)

    def _reject_commit_or_rollback(self, half: MessageExt) -> bool:
        """Whether it comes too late for a half with an immunity (``#rejectCommitOrRollback``); answers never do."""
        text = half.properties.get(IMMUNITY_SECONDS)
        if not self._broker.switches.refuses_late_end or self.header.from_transaction_check or not text:
            return False
        timeout = self._broker.settings.transaction_timeout_ms
        age = self._broker.clock.now - half.record.born_timestamp
        return age > end_transaction_immunity_time(text, timeout)

    def _check_prepare_message(self, half: MessageExt) -> str | None:
        """The mismatch (``#checkPrepareMessage``); only group and offsets are compared, unless repaired (B10)."""
        switches = self._broker.switches
        if switches.checks_transaction_id and half.properties.get(UNIQUE_KEY) != self.header.transaction_id:
            return "The transaction id wrong"
        if PRODUCER_GROUP not in half.properties:
            return "java.lang.NullPointerException"
        if half.properties[PRODUCER_GROUP] != self.header.producer_group:
            return "The producer group wrong"
        if half.queue_offset != self.header.tran_state_table_offset:
            return "The transaction state table offset wrong"
        if half.record.physical_offset != self.header.commit_log_offset:
            return "The commit log offset wrong"
        return None

    def _send_final_message(self, half: MessageExt) -> EndTransactionStep:
        """Store the real message (``#endMessageTransaction`` and ``#sendFinalMessage``)."""
        properties = half.properties
        if REAL_TOPIC not in properties or REAL_QUEUE_ID not in properties:
            return self._refuse(SYSTEM_ERROR, "java.lang.NumberFormatException")
        topic, queue_id = properties[REAL_TOPIC], int(properties[REAL_QUEUE_ID])
        queues = self._broker.topic_config_manager.read_queues(topic)
        if self._broker.switches.delivers_where_readable and queues:
            queue_id %= queues
        switches = self._broker.switches
        if not switches.delivers_real_topic:
            del properties[REAL_TOPIC], properties[REAL_QUEUE_ID]
        if switches.delivers_without_tran_msg:
            properties.pop(TRANSACTION_PREPARED, None)
        text = message_properties_to_string(properties, switches)
        if switches.delivers_real_topic:
            del properties[REAL_TOPIC], properties[REAL_QUEUE_ID]
        if switches.clears_tran_msg:
            properties.pop(TRANSACTION_PREPARED, None)
        message = MessageExtBrokerInner.of(half.record, topic, queue_id, text, properties)
        message.sys_flag = message.sys_flag & ~TRANSACTION_BITS | TRANSACTION_COMMIT
        message.prepared_transaction_offset = self.header.commit_log_offset
        stored = self._broker.message_store.put_message(message)
        if stored.physical_offset is None:
            if switches.retries_commits and not stored.status.is_of_the_message:
                return EndTransactionStep(EndTransactionOutcome.WAITING)
            return self._refuse(*_UNSTORED[stored.status])
        self._broker.settled_transactions.settled(half.record)
        self._committed = half
        self._committed_to = message.topic
        self._broker.recorder.record_end("message_delivered", self.header, half)
        return EndTransactionStep(EndTransactionOutcome.MESSAGE_STORED, stored=stored)

    def _delete_prepare_message(self, half: MessageExt, response: RemotingResponse) -> EndTransactionStep:
        """Mark the half as removed; whether that worked is not asked (B04), and before 5.4.0 not what it is (B09)."""
        if self._broker.switches.settles_halves_only and half.topic != HALF_TOPIC:
            outcome, op = EndTransactionOutcome.NO_HALF, None
        else:
            outcome, op = _outcome(self._broker.transactional_message_service.delete_prepare_message(half.record))
        if outcome is EndTransactionOutcome.OP_LOST and self._broker.switches.keeps_failed_ops:
            return EndTransactionStep(EndTransactionOutcome.WAITING)
        self._broker.settled_transactions.settled(half.record)
        if self._broker.switches.counts_halves:
            topic = self._committed_to or half.properties.get(REAL_TOPIC)
            if topic is None:
                return self._refuse(SYSTEM_ERROR, "java.lang.NullPointerException")
            self._broker.transaction_metrics.half_left(topic, half.properties.get(UNIQUE_KEY, ""))
        return EndTransactionStep(outcome, response, op)

    def _refuse(self, code: int, remark: str) -> EndTransactionStep:
        self._broker.recorder.record_end("end_refused", self.header)
        return EndTransactionStep(EndTransactionOutcome.REFUSED, RemotingResponse(code, remark))


def _outcome(op: PutMessageResult | None) -> tuple[EndTransactionOutcome, PutMessageResult | None]:
    """Outcome of an op message by the store's answer to it; and that answer, if it was stored."""
    if op is None:
        return EndTransactionOutcome.OP_BUFFERED, None
    return (
        (EndTransactionOutcome.OP_LOST, None) if op.physical_offset is None else (EndTransactionOutcome.OP_STORED, op)
    )
