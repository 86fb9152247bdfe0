"""SEND_MESSAGE in its three forms, END_TRANSACTION and CONSUMER_SEND_MSG_BACK.

``SendMessageProcessor``, ``EndTransactionProcessor``, ``AbstractSendMessageProcessor``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from reference.broker.processor.end_transaction_processor import EndTransactionRequestHeader
from reference.broker.processor.send_back_processor import MAX_RECONSUME_TIMES, consumer_send_msg_back
from reference.broker.processor.send_message_processor import TRACE_SWITCH, SendMessageRequest, SendMessageResponse
from reference.format.properties import MESSAGE_REGION, REAL_TOPIC, UNIQUE_KEY, properties_map
from reference.format.record import CommitLogOffset, QueueOffset
from reference.format.system_topics import dead_letter_topic
from reference.store.delay_levels import DELAY_TIME_LEVEL
from wire.remoting.codes import RequestCode, ResponseCode
from wire.remoting.messages import decode_batch
from wire.requests.request import Request, legal_name

if TYPE_CHECKING:
    from wire.node.broker_node import BrokerNode
    from wire.remoting.command import RemotingCommand

_V2: Final = {
    "producerGroup": "a", "topic": "b", "defaultTopic": "c", "defaultTopicQueueNums": "d", "queueId": "e",
    "sysFlag": "f", "bornTimestamp": "g", "flag": "h", "properties": "i", "reconsumeTimes": "j", "unitMode": "k",
    "maxReconsumeTimes": "l", "batch": "m", "bname": "n",
}  # fmt: skip
"""``SendMessageRequestHeaderV2``"""

_RETRY: Final = "%RETRY%"
_MOST_AUTO_QUEUES: Final = 8
_STORED: Final = (
    ResponseCode.SUCCESS,
    ResponseCode.FLUSH_DISK_TIMEOUT,
    ResponseCode.FLUSH_SLAVE_TIMEOUT,
    ResponseCode.SLAVE_NOT_AVAILABLE,
)


def send_message(node: BrokerNode, request: Request) -> RemotingCommand:
    """Store a message, as a half if it says so."""
    names = _V2 if request.command.code != RequestCode.SEND_MESSAGE else {name: name for name in _V2}
    topic, queue_id = request.name(names["topic"]), request.number(names["queueId"])
    wrong = _create_topic(node, request, topic, request.number(names["defaultTopicQueueNums"], 4), queue_id)
    if wrong is not None:
        return wrong
    properties = properties_map(request.text(names["properties"], ""))
    if REAL_TOPIC in properties:
        legal_name(properties[REAL_TOPIC])
    reconsume_times = request.number(names["reconsumeTimes"], 0)
    if topic.startswith(_RETRY) and reconsume_times > request.number(names["maxReconsumeTimes"], MAX_RECONSUME_TIMES):
        topic, queue_id = dead_letter_topic(topic.removeprefix(_RETRY)), 0
        node.broker.topic_config_manager.create(topic, 1)
        properties[DELAY_TIME_LEVEL] = "-1"
    stored = [
        node.broker.send_message_processor.process_request(
            SendMessageRequest(
                topic=topic,
                queue_id=max(queue_id, 0),
                body=body,
                born_timestamp=node.pace.of_client(request.number(names["bornTimestamp"])),
                properties=each,
                flag=flag,
                sys_flag=request.number(names["sysFlag"]),
                reconsume_times=reconsume_times,
                born_host=request.connection.address,
            )
        )
        for flag, body, each in _messages(request, request.number(names["flag"]), properties)
    ]
    return _answer(node, request, stored, max(queue_id, 0), properties.get(UNIQUE_KEY))


def _messages(request: Request, flag: int, properties: dict[str, str]) -> list[tuple[int, bytes, dict[str, str]]]:
    """One message, or those of a batch, which this broker stores one by one as 4.x does (``#sendBatchMessage``)."""
    if request.command.code != RequestCode.SEND_BATCH_MESSAGE:
        return [(flag, request.body, properties)]
    batch = decode_batch(request.body)
    return [(each.flag, each.body, properties_map(each.properties_text)) for each in batch]


def _answer(
    node: BrokerNode, request: Request, stored: list[SendMessageResponse], queue_id: int, unique_key: str | None
) -> RemotingCommand:
    """``SendMessageProcessor#handlePutMessageResult``; a batch is answered with the offset of its first message."""
    if not stored:
        return request.answer(ResponseCode.MESSAGE_ILLEGAL, "the batch is empty")
    last = next((each for each in stored if each.response.code), stored[-1])
    traced = {MESSAGE_REGION: node.settings.region_id, TRACE_SWITCH: True}
    if last.response.code not in _STORED or last.record is None:
        return request.answer(last.response.code, last.response.remark, traced)
    transaction = unique_key if node.start.switches.versions_consumer_offsets else None
    fields = {
        "msgId": ",".join(each.msg_id for each in stored),
        "queueId": queue_id,
        "queueOffset": stored[0].queue_offset,
        "transactionId": transaction,
    }
    return request.answer(last.response.code, last.response.remark, fields | traced)


def _create_topic(node: BrokerNode, request: Request, topic: str, queues: int, queue_id: int) -> RemotingCommand | None:
    """Make a topic that a client sends to, unless it may not (``AbstractSendMessageProcessor#msgCheck``)."""
    topics = node.broker.topic_config_manager
    if topic not in topics.table:
        if node.start.auto_create_topic or topic.startswith(_RETRY):
            topics.create(topic, 1 if topic.startswith(_RETRY) else min(queues, _MOST_AUTO_QUEUES))
        else:
            return request.answer(ResponseCode.TOPIC_NOT_EXIST, f"topic[{topic}] not exist, apply first please!")
    config = topics.table[topic]
    if not int(config["perm"]) & 2:
        return request.answer(ResponseCode.NO_PERMISSION, f"the topic[{topic}] sending message is forbidden")
    if queue_id >= max(config["writeQueueNums"], config["readQueueNums"]):
        remark = f"request queueId[{queue_id}] is illegal, {topic} Producer: {request.connection.address}"
        return request.refuse_queue(remark)
    return None


def end_transaction(node: BrokerNode, request: Request) -> RemotingCommand | None:
    """Hand an END_TRANSACTION to the network, which loses, doubles or delays it by the faults that are ordered."""
    header = EndTransactionRequestHeader(
        producer_group=request.text("producerGroup"),
        tran_state_table_offset=QueueOffset(request.number("tranStateTableOffset")),
        commit_log_offset=CommitLogOffset(request.number("commitLogOffset")),
        commit_or_rollback=request.number("commitOrRollback"),
        from_transaction_check=request.flag("fromTransactionCheck"),
        msg_id=request.text("msgId", ""),
        transaction_id=request.command.fields.get("transactionId"),
    )
    node.faults.take_end(header, lambda: _handle_end(node, request, header))
    return None


def _handle_end(node: BrokerNode, request: Request, header: EndTransactionRequestHeader) -> None:
    """Let the broker do it and answer, if it answers: UNKNOWN it does not."""
    end = node.broker.end_transaction(header)
    response = None
    while not end.is_over:
        response = end.step().response
    node.poke()
    if response is None:
        return
    answer = request.answer(response.code, response.remark)
    if response.code:
        node.answers.end_refused(answer)
    if not request.command.is_oneway:
        request.connection.send(answer)


def send_back(node: BrokerNode, request: Request) -> RemotingCommand:
    """CONSUMER_SEND_MSG_BACK: later once more, in the end a dead letter."""
    group = request.name("group")
    node.broker.subscription_group_manager.create(group)
    most = request.number("maxReconsumeTimes", MAX_RECONSUME_TIMES)
    offset = CommitLogOffset(request.number("offset"))
    response = consumer_send_msg_back(node.broker, group, offset, request.number("delayLevel"), most)
    return request.answer(response.code, response.remark)
