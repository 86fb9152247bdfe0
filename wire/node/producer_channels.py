"""Checks on their way to a producer: the broker's table of channels, with the one that it chose, and the request."""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING

from reference.broker.producer_manager import ProducerManager
from reference.format.properties import message_properties_to_string
from reference.format.stored_message import encode_message, host_bytes, topic_field
from reference.format.system_topics import HALF_TOPIC

if TYPE_CHECKING:
    from collections.abc import Callable

    from reference.broker.broker_controller import BrokerController
    from reference.broker.transaction.transactional_message_check_listener import CheckTransactionStateRequest
    from reference.versions.switches import ReleaseSwitches
    from wire.node.ordered_faults import OrderedFault


class ProducerChannels(ProducerManager):
    """The channels of producer groups, by the address of their connections."""

    def __init__(self, switches: ReleaseSwitches) -> None:
        super().__init__(switches)
        self.chosen: str | None = None
        """The channel that was given last."""
        self.unreachable: dict[str, OrderedFault] = {}
        """Groups whose channels are taken for gone, whatever their connections do, with the orders to that."""

    def get_available_channel(self, group: str | None) -> str | None:
        """See :class:`ProducerManager`."""
        for name, ordered in self.unreachable.items():
            if name == group:
                ordered.befell += 1
            else:
                ordered.sees(group or "")
        self.chosen = None if group in self.unreachable else super().get_available_channel(group)
        return self.chosen

    def unregister_producer(self, group: str, channel: str) -> None:
        """A producer of the group has ended (``#unregisterProducer``)."""
        self._group_channel_table.get(group, {}).pop(channel, None)

    def groups(self) -> dict[str, list[str]]:
        """By group the addresses of those that are connected."""
        return {group: list(channels) for group, channels in self._group_channel_table.items() if channels}


class CheckQueue(deque["CheckTransactionStateRequest"]):
    """The queue of a broker's checks, which passes each on at once to the channel that was chosen for it."""

    def __init__(
        self, channels: ProducerChannels, send: Callable[[CheckTransactionStateRequest, str | None], None]
    ) -> None:
        super().__init__()
        self._channels = channels
        self._send = send

    def append(self, request: CheckTransactionStateRequest) -> None:
        """Send a check."""
        self._send(request, self._channels.chosen)


def check_command(broker: BrokerController, check: CheckTransactionStateRequest) -> tuple[dict[str, str], bytes]:
    """The fields and the body of CHECK_TRANSACTION_STATE; topic and broker are named from 5.0 on.

    ``AbstractTransactionalMessageCheckListener#sendCheckMessage``.
    """
    fields = {
        "tranStateTableOffset": str(check.tran_state_table_offset),
        "commitLogOffset": str(check.commit_log_offset),
        "msgId": check.msg_id,
        "transactionId": check.transaction_id,
        "offsetMsgId": check.offset_msg_id,
    }
    if broker.switches.versions_consumer_offsets:
        fields |= {"topic": HALF_TOPIC, "bname": broker.settings.broker_name}
    copy = broker.message_store.look_message_by_offset(check.commit_log_offset)
    own = host_bytes(broker.settings.store_host)
    body = encode_message(
        topic_field(check.topic),
        check.queue_id,
        0 if copy is None else copy.flag,
        check.tran_state_table_offset,
        check.commit_log_offset,
        0 if copy is None else copy.sys_flag,
        check.born_timestamp,
        own if copy is None else host_bytes(copy.born_host),
        check.store_timestamp,
        own if copy is None else host_bytes(copy.store_host),
        0 if copy is None else copy.reconsume_times,
        0,
        check.body,
        message_properties_to_string(check.properties, broker.switches).encode(),
    )
    return {name: value for name, value in fields.items() if value is not None}, body
