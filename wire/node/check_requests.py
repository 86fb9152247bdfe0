"""CHECK_TRANSACTION_STATE as it goes to a producer (``AbstractTransactionalMessageCheckListener#sendCheckMessage``)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from reference.format.properties import message_properties_to_string
from reference.format.stored_message import encode_message, host_bytes, topic_field
from reference.format.system_topics import HALF_TOPIC

if TYPE_CHECKING:
    from reference.broker.broker_controller import BrokerController
    from reference.broker.transaction.transactional_message_check_listener import CheckTransactionStateRequest


def check_command(broker: BrokerController, check: CheckTransactionStateRequest) -> tuple[dict[str, str], bytes]:
    """The fields and the body of a check; topic and broker are named from 5.0 on."""
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
