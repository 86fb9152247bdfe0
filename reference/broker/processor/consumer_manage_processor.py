"""A consumer's commits of offsets, for any group that it names (``ConsumerManageProcessor``)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from reference.broker.response import NO_PERMISSION, SUCCESS, RemotingResponse
from reference.format.system_topics import CHECK_GROUP

if TYPE_CHECKING:
    from reference.broker.broker_controller import BrokerController
    from reference.format.record import QueueOffset


class ConsumerManageProcessor:
    """Handles UPDATE_CONSUMER_OFFSET."""

    def __init__(self, broker: BrokerController) -> None:
        self._broker = broker

    def update_consumer_offset(self, group: str, topic: str, queue_id: int, offset: QueueOffset) -> RemotingResponse:
        """``#updateConsumerOffset``: set an offset, forward or back, whoever asks for it.

        That the topic is there, which 5.0 and later ask, and the group, which 5.3 and later ask, holds for the check
        service, so that its offsets are set like all others (B57).
        """
        if self._broker.switches.owns_consumer_offsets and group == CHECK_GROUP:
            return RemotingResponse(NO_PERMISSION, f"the offsets of group {group} are the broker's own")
        self._broker.consumer_offset_manager.commit_offset(topic, queue_id, offset, group)
        return RemotingResponse(SUCCESS)
