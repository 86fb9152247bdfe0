"""SEND_MESSAGE on the broker: with TRAN_MSG a message becomes a half (``SendMessageProcessor#sendMessage``)."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Final

from reference.broker.response import (
    FLUSH_DISK_TIMEOUT,
    MESSAGE_ILLEGAL,
    NO_PERMISSION,
    SERVICE_NOT_AVAILABLE,
    SUCCESS,
    SYSTEM_ERROR,
    RemotingResponse,
)
from reference.errors import JavaNullPointerError
from reference.format.properties import (
    CHECK_TIMES,
    CLUSTER,
    MESSAGE_REGION,
    PREPARED_QUEUE_OFFSET,
    REAL_TOPIC,
    TRANSACTION_PREPARED,
    UNIQUE_KEY,
    WAIT_STORE_OK,
    message_properties_to_string,
)
from reference.format.record import LogRecord, QueueOffset
from reference.format.stored_message import create_message_id
from reference.format.system_topics import NOT_ALLOWED_SEND_TOPICS
from reference.store.delay_levels import DELAY_TIME_LEVEL, delay_level
from reference.store.message import MessageExtBrokerInner
from reference.store.put_message import PutMessageResult, PutMessageStatus

if TYPE_CHECKING:
    from collections.abc import Mapping

    from reference.broker.broker_controller import BrokerController

TRACE_SWITCH = "TRACE_ON"


@dataclass(slots=True)
class SendMessageRequest:
    """A message as a producer sends it (``SendMessageRequestHeader`` and body)."""

    topic: str
    queue_id: int
    """Where it shall be delivered."""
    body: bytes
    born_timestamp: int
    """By the producer's clock."""
    properties: Mapping[str, str] = field(default_factory=dict)
    """As the client fills them, in its order: TRAN_MSG, PGROUP, UNIQ_KEY, WAIT, CHECK_IMMUNITY_TIME_IN_SECONDS and so
    on. TRAN_MSG=true makes it a half."""
    flag: int = 0
    sys_flag: int = 0
    reconsume_times: int = 0
    born_host: str = "127.0.0.1:4242"


@dataclass(slots=True, eq=False)
class SendMessageResponse:
    """The answer (``SendMessageResponseHeader``).

    Attributes
    ----------
    record
        What was stored, None if nothing was. A client learns of it only the queue offset and ``msg_id``.
    store_host
        Of the broker that has stored it; its message id holds it.
    logic_offset
        What is added to the queue offset, where the topic is static
        (``SendMessageProcessor#rewriteResponseForStaticTopic``).
    """

    response: RemotingResponse
    result: PutMessageResult | None = None
    store_host: str = ""
    logic_offset: int = 0

    @property
    def msg_id(self) -> str:
        """The id of its place (``MessageDecoder#createMessageId``), 32 or 56 digits; empty if nothing was stored."""
        place = None if self.result is None else self.result.physical_offset
        return "" if place is None else create_message_id(self.store_host, place)

    @property
    def record(self) -> LogRecord | None:
        """See the class; it is read back from the store when it is asked for."""
        return None if self.result is None else self.result.record

    @property
    def queue_offset(self) -> QueueOffset:
        """The queue offset in the answer, which END_TRANSACTION will name; -1 without a record."""
        return QueueOffset(-1 if self.record is None else self.record.queue_offset + self.logic_offset)

    def but_flush_timed_out(self) -> SendMessageResponse:
        """The same send, if its record was not flushed in time: stored, and answered with FLUSH_DISK_TIMEOUT (A37).

        With ``SYNC_FLUSH`` the answer waits for the flush behind the append (``CommitLog#handleDiskFlush``), and names
        the message's offsets either way (``SendMessageProcessor#handlePutMessageResult``).
        """
        return replace(self, response=RemotingResponse(FLUSH_DISK_TIMEOUT))


_SUCCESS = RemotingResponse(SUCCESS)
_ILLEGAL = RemotingResponse(MESSAGE_ILLEGAL, "the message is illegal, maybe msg body or properties length not matched.")
_MAYBE_FULL: Final = (
    "service not available now, maybe disk full, CL: {0} CQ: {0} INDEX: {0}, "
    "maybe your broker machine memory too small."
)
_SOME_REASON: Final = (
    "service not available now. It may be caused by one of the following reasons: the broker's disk is full "
    "[CL: {0} CQ: {0} INDEX: {0}], messages are put to the slave, message store has been shut down, etc."
)
"""Of log, queues and index, which lie on one disk, the remark says how full it is."""

_REFUSED = {
    PutMessageStatus.MESSAGE_ILLEGAL: _ILLEGAL,
    PutMessageStatus.PROPERTIES_SIZE_EXCEEDED: _ILLEGAL,
    PutMessageStatus.WHEEL_TIMER_MSG_ILLEGAL: RemotingResponse(MESSAGE_ILLEGAL, "timer message illegal"),
    PutMessageStatus.CREATE_MAPPED_FILE_FAILED: RemotingResponse(
        SYSTEM_ERROR, "create mapped file failed, server is busy or broken."
    ),
}
"""The answer to a client whose message was not stored (``#handlePutMessageResult``)."""


class SendMessageProcessor:
    """Handles sends; each is one write (``SendMessageProcessor``).

    Attributes
    ----------
    thrown
        How often something was thrown behind an answer that had been given; it is only logged.
    """

    def __init__(self, broker: BrokerController) -> None:
        self.thrown = 0
        self._broker = broker

    def process_request(self, request: SendMessageRequest) -> SendMessageResponse:
        """Store a message, as a half if it says so."""
        broker, switches = self._broker, self._broker.switches
        if switches.forbids_system_topics and request.topic in NOT_ALLOWED_SEND_TOPICS:
            remark = f"Sending message to topic[{request.topic}] is forbidden."
            return SendMessageResponse(RemotingResponse(NO_PERMISSION, remark))
        if request.topic not in broker.topic_config_manager.table:
            broker.topic_config_manager.create(request.topic)
        properties = dict(request.properties)
        self._add_broker_properties(properties)
        if switches.owns_check_times:
            properties.pop(CHECK_TIMES, None)
        if switches.owns_prepared_offset:
            properties.pop(PREPARED_QUEUE_OFFSET, None)
        is_half = properties.get(TRANSACTION_PREPARED, "").lower() == "true" and not (
            switches.guards_retries
            and request.reconsume_times > 0
            and delay_level(properties.get(DELAY_TIME_LEVEL)) > 0
        )
        message = MessageExtBrokerInner(
            topic=request.topic,
            queue_id=request.queue_id,
            body=request.body,
            properties_text="" if is_half else self._stored_text(properties),
            born_timestamp=request.born_timestamp,
            born_host=request.born_host,
            store_host=broker.settings.store_host,
            flag=request.flag,
            sys_flag=request.sys_flag,
            reconsume_times=request.reconsume_times,
            properties=properties,
        )
        if not is_half:
            result = broker.message_store.put_message(message)
        elif broker.settings.reject_transaction_message:
            address = broker.settings.store_host.rpartition(":")[0]
            remark = f"the broker[{address}] sending transaction message is forbidden"
            return SendMessageResponse(RemotingResponse(NO_PERMISSION, remark))
        else:
            result = broker.transactional_message_bridge.put_half_message(message)
            if broker.recorder.is_on and result.record is not None:
                broker.recorder.record_half(result.record)
        if result.physical_offset is not None and switches.counts_halves:
            self._count(properties, is_half=is_half)
        if result.physical_offset is None:
            return SendMessageResponse(self._refusal(result.status))
        logic_offset = broker.topic_queue_mappings.get(request.topic, 0)
        if is_half and switches.keeps_offsets_of_halves:
            logic_offset = 0
        return SendMessageResponse(_SUCCESS, result, broker.settings.store_host, logic_offset)

    def _refusal(self, status: PutMessageStatus) -> RemotingResponse:
        """The answer to what was not stored (``#handlePutMessageResult``)."""
        if status is not PutMessageStatus.SERVICE_NOT_AVAILABLE:
            return _REFUSED[status]
        names_reasons = self._broker.switches.names_reasons_of_refusal
        share = self._broker.message_store.disk.used_share(of_users=names_reasons)
        remark = _SOME_REASON if names_reasons else _MAYBE_FULL
        return RemotingResponse(SERVICE_NOT_AVAILABLE, remark.format(f"{share:5.2f}"))

    def _count(self, properties: dict[str, str], *, is_half: bool) -> None:
        """Count a half; without ``asyncSendEnable`` whatever was stored, by the topic that a half would have (B40)."""
        switches, settings = self._broker.switches, self._broker.settings
        if not is_half and (settings.async_send_enable or switches.counts_halves_only):
            return
        try:
            self._broker.transaction_metrics.half_stored(properties.get(REAL_TOPIC), properties.get(UNIQUE_KEY, ""))
        except JavaNullPointerError:
            self.thrown += 1

    def _stored_text(self, properties: dict[str, str]) -> str:
        """What is stored of a plain message's properties: 4.9 leaves WAIT out, and a half's text is made anew."""
        switches = self._broker.switches
        stored = {name: properties[name] for name in properties if name != WAIT_STORE_OK or not switches.reinserts_wait}
        return message_properties_to_string(stored, switches)

    def _add_broker_properties(self, properties: dict[str, str]) -> None:
        switches, settings = self._broker.switches, self._broker.settings
        if switches.stores_region:
            properties[MESSAGE_REGION] = settings.region_id
            properties[TRACE_SWITCH] = "true"
        if switches.creates_unique_key and not properties.get(UNIQUE_KEY):
            properties[UNIQUE_KEY] = f"{self._broker.message_store.max_phy_offset:032X}"
        if switches.stores_cluster:
            properties[CLUSTER] = settings.broker_cluster_name
        if switches.reinserts_wait and WAIT_STORE_OK in properties:
            properties[WAIT_STORE_OK] = properties.pop(WAIT_STORE_OK)
