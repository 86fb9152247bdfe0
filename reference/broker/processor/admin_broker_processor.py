"""An operator's requests about halves (``AdminBrokerProcessor``)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from reference.broker.response import SUCCESS, SYSTEM_ERROR, RemotingResponse
from reference.format.properties import CHECK_TIMES, message_properties_to_string
from reference.format.stored_message import decode_message_id, decompressed
from reference.format.system_topics import HALF_QUEUE_ID, HALF_TOPIC
from reference.store.message import MessageExtBrokerInner

if TYPE_CHECKING:
    from reference.broker.broker_controller import BrokerController


class AdminBrokerProcessor:
    """Handles an operator's requests."""

    def __init__(self, broker: BrokerController) -> None:
        self._broker = broker

    def resume_check_half_message(self, msg_id: str) -> RemotingResponse:
        """``#resumeCheckHalfMessage``: put a message back into the half queue, with no check counted (4.5.2 and later).

        Whatever lies at that offset is put there; nobody asks whether it was discarded, resumed or settled. Up to 5.4.0
        a body that was compressed is stored decompressed, up to 5.3.1 under the flag that says that it is not (B30).
        The flag of the user and the reconsume times are kept, other than by a put-back.
        """
        record = self._broker.message_store.look_message_by_offset(decode_message_id(msg_id))
        switches = self._broker.switches
        if record is not None and not switches.resumes_as_stored:
            record = decompressed(record, clears_flag=switches.clears_compressed_flag)
        if record is None:
            failed = "Exception was thrown when putting message back to RMQ_SYS_TRANS_HALF_TOPIC."
            return RemotingResponse(SYSTEM_ERROR, failed)
        properties = record.properties | {CHECK_TIMES: "0"}
        text = message_properties_to_string(properties, self._broker.switches)
        half = MessageExtBrokerInner.of(record, HALF_TOPIC, HALF_QUEUE_ID, text, {})
        stored = self._broker.transactional_message_bridge.put_message(half).record
        if stored is None:
            return RemotingResponse(SYSTEM_ERROR, "Put message back to RMQ_SYS_TRANS_HALF_TOPIC failed.")
        self._broker.settled_transactions.resumed(stored)
        self._broker.recorder.record_resumed(stored)
        return RemotingResponse(SUCCESS)

    def delete_topic(self, topic: str) -> RemotingResponse:
        """DELETE_TOPIC_IN_BROKER: forget a topic, and delete the queues of all topics without a configuration (A33)."""
        self._broker.topic_config_manager.delete(topic)
        self._broker.message_store.clean_unused_topics(self._broker.topic_config_manager.table)
        return RemotingResponse(SUCCESS)

    def update_topic(self, topic: str, queues: int) -> RemotingResponse:
        """UPDATE_AND_CREATE_TOPIC: give a topic another number of queues to read and to write."""
        self._broker.topic_config_manager.update(topic, queues)
        return RemotingResponse(SUCCESS)
