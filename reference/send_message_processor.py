"""SEND_MESSAGE on the broker: with TRAN_MSG a message becomes a half (``SendMessageProcessor#sendMessage``)."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from reference.message import MessageExtBrokerInner
from reference.message_decoder import message_properties_to_string
from reference.message_id import create_message_id
from reference.response import NO_PERMISSION, SERVICE_NOT_AVAILABLE, SUCCESS, Response
from reference.store.properties import CLUSTER, MESSAGE_REGION, TRANSACTION_PREPARED, UNIQUE_KEY

if TYPE_CHECKING:
    from collections.abc import Mapping

    from reference.broker_controller import BrokerController
    from reference.store.record import Record

TRACE_SWITCH = "TRACE_ON"


@dataclass(frozen=True, slots=True)
class SendMessageRequest:
    """A message as a producer sends it (``SendMessageRequestHeader`` and body).

    Attributes
    ----------
    topic, queue_id
        Where it shall be delivered.
    properties
        As the client fills them, in its order: TRAN_MSG, PGROUP, UNIQ_KEY, WAIT, CHECK_IMMUNITY_TIME_IN_SECONDS and so
        on. TRAN_MSG=true makes it a half.
    born_timestamp
        By the producer's clock.
    """

    topic: str
    queue_id: int
    body: bytes
    born_timestamp: int
    properties: Mapping[str, str] = field(default_factory=dict)
    flag: int = 0
    sys_flag: int = 0
    reconsume_times: int = 0
    born_host: str = "127.0.0.1:4242"


@dataclass(frozen=True, slots=True)
class SendMessageResponse:
    """The answer (``SendMessageResponseHeader``).

    Attributes
    ----------
    record
        What was stored, None if nothing was. A client learns of it only the queue offset and ``msg_id``.
    msg_id
        The offset message id, which names the commit log offset; empty if nothing was stored.
    """

    response: Response
    record: Record | None = None
    msg_id: str = ""


class SendMessageProcessor:
    """Handles sends; each is one write."""

    def __init__(self, broker: BrokerController) -> None:
        self._broker = broker

    def process_request(self, request: SendMessageRequest) -> SendMessageResponse:
        """Store a message, as a half if it says so."""
        broker = self._broker
        properties = dict(request.properties)
        self._add_broker_properties(properties)
        message = MessageExtBrokerInner(
            topic=request.topic,
            queue_id=request.queue_id,
            body=request.body,
            properties_text=message_properties_to_string(properties, broker.switches),
            born_timestamp=request.born_timestamp,
            born_host=request.born_host,
            store_host=broker.settings.store_host,
            flag=request.flag,
            sys_flag=request.sys_flag,
            reconsume_times=request.reconsume_times,
        )
        if properties.get(TRANSACTION_PREPARED, "").lower() != "true":
            result = broker.message_store.put_message(message)
        elif broker.settings.reject_transaction_message:
            address = broker.settings.store_host.rpartition(":")[0]
            remark = f"the broker[{address}] sending transaction message is forbidden"
            return SendMessageResponse(Response(NO_PERMISSION, remark))
        else:
            result = broker.transactional_message_bridge.put_half_message(message, properties)
            if result.record is not None:
                broker.recorder.record_half(result.record)
        if result.record is None:
            return SendMessageResponse(Response(SERVICE_NOT_AVAILABLE, "service not available now"))
        msg_id = create_message_id(broker.settings.store_host, result.record.physical_offset)
        return SendMessageResponse(Response(SUCCESS), result.record, msg_id)

    def _add_broker_properties(self, properties: dict[str, str]) -> None:
        switches, settings = self._broker.switches, self._broker.settings
        if switches.stores_region:
            properties[MESSAGE_REGION] = settings.region_id
            properties[TRACE_SWITCH] = "true"
        if switches.creates_unique_key and not properties.get(UNIQUE_KEY):
            properties[UNIQUE_KEY] = f"{self._broker.message_store.max_phy_offset:032X}"
        if switches.stores_cluster:
            properties[CLUSTER] = settings.broker_cluster_name
