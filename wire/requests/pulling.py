"""PULL_MESSAGE and LITE_PULL_MESSAGE (``PullMessageProcessor``, ``DefaultPullMessageResultHandler``)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from reference.format.properties import TAGS
from reference.format.record import LogRecord, QueueOffset
from reference.java import java_string_hash
from reference.store.get_message import GetMessageStatus
from wire.node.held_pulls import HeldPull
from wire.remoting.codes import ResponseCode
from wire.remoting.messages import encode_record
from wire.requests.tag_expression import ALL_TAGS, tags_in

if TYPE_CHECKING:
    from reference.broker.broker_controller import BrokerController
    from wire.node.broker_node import BrokerNode
    from wire.remoting.command import RemotingCommand
    from wire.requests.request import Request

COMMIT_OFFSET_FLAG: Final = 1
SUSPEND_FLAG: Final = 2
SUBSCRIPTION_FLAG: Final = 4
"""``PullSysFlag``"""

_MOST_MESSAGES: Final = 1_000
_CODES: Final = {
    GetMessageStatus.FOUND: ResponseCode.SUCCESS,
    GetMessageStatus.MESSAGE_WAS_REMOVING: ResponseCode.PULL_RETRY_IMMEDIATELY,
    GetMessageStatus.OFFSET_OVERFLOW_ONE: ResponseCode.PULL_NOT_FOUND,
    GetMessageStatus.OFFSET_OVERFLOW_BADLY: ResponseCode.PULL_OFFSET_MOVED,
    GetMessageStatus.OFFSET_TOO_SMALL: ResponseCode.PULL_OFFSET_MOVED,
}
"""``PullMessageProcessor#composeResponseHeader``; an empty queue depends on the offset."""


@dataclass(frozen=True, slots=True)
class PullMessageRequestHeader:
    """The fields of a pull (``PullMessageRequestHeader``)."""

    group: str
    topic: str
    queue_id: int
    offset: int
    most: int
    sys_flag: int
    commit_offset: int
    suspend_ms: int
    tags: frozenset[int] | None
    """Hashes of the tags that are wanted; None for all (``SubscriptionData#getCodeSet``)."""

    def wants(self, record: LogRecord) -> bool:
        """Whether the message has one of the tags (``ExpressionMessageFilter#isMatchedByConsumeQueue``)."""
        return self.tags is None or java_string_hash(record.properties.get(TAGS, "")) in self.tags


def pull_message(node: BrokerNode, request: Request) -> RemotingCommand | None:
    """Give messages of a queue; where there are none, wait for the next one if the client wants to."""
    broker, group, topic = node.broker, request.name("consumerGroup"), request.text("topic")
    broker.subscription_group_manager.create(group)
    config = broker.topic_config_manager.table.get(topic)
    if config is None:
        return request.answer(ResponseCode.TOPIC_NOT_EXIST, f"topic[{topic}] not exist, apply first please!")
    queue_id = request.number("queueId")
    if not 0 <= queue_id < config["readQueueNums"]:
        remark = (
            f"queueId[{queue_id}] is illegal, topic:[{topic}] topicConfig.readQueueNums:[{config['readQueueNums']}]"
        )
        return request.refuse_queue(f"{remark} consumer:[{request.connection.address}]")
    tags, refused = _subscription(node, request, group, topic)
    if refused is not None:
        return refused
    pull = PullMessageRequestHeader(
        group,
        topic,
        queue_id,
        request.number("queueOffset"),
        min(request.number("maxMsgNums"), _MOST_MESSAGES),
        request.number("sysFlag"),
        request.number("commitOffset", 0),
        request.number("suspendTimeoutMillis", 0),
        tags,
    )
    if pull.sys_flag & COMMIT_OFFSET_FLAG and pull.commit_offset >= 0:
        broker.consumer_offset_manager.commit_offset(topic, queue_id, QueueOffset(pull.commit_offset), group)
    answer = _read(broker, request, pull)
    waits = answer.code == ResponseCode.PULL_NOT_FOUND and pull.sys_flag & SUSPEND_FLAG and pull.suspend_ms > 0
    if not waits:
        return answer

    def again() -> RemotingCommand | None:
        found = _read(node.broker, request, pull)
        return None if found.code == ResponseCode.PULL_NOT_FOUND else found

    held = HeldPull(request, pull.offset, again, lambda: _read(node.broker, request, pull))
    node.pulls.hold((topic, queue_id), held, pull.suspend_ms)
    return None


def _subscription(
    node: BrokerNode, request: Request, group: str, topic: str
) -> tuple[frozenset[int] | None, RemotingCommand | None]:
    """The tags that are wanted, by the request itself or by the consumer's heartbeat; or why there are none."""
    if request.number("sysFlag") & SUBSCRIPTION_FLAG:
        expression, kind = request.text("subscription", ALL_TAGS), request.text("expressionType", "TAG")
    else:
        known = node.consumers.find(group)
        if known is None:
            return None, request.answer(ResponseCode.SUBSCRIPTION_NOT_EXIST, "the consumer's group info not exist")
        subscription = known.subscriptions.get(topic)
        if subscription is None:
            return None, request.answer(ResponseCode.SUBSCRIPTION_NOT_EXIST, "the consumer's subscription not exist")
        if int(subscription.get("subVersion", 0)) < request.number("subVersion", 0):
            remark = "the consumer's subscription not latest"
            return None, request.answer(ResponseCode.SUBSCRIPTION_NOT_LATEST, remark)
        expression, kind = str(subscription.get("subString", ALL_TAGS)), str(subscription.get("expressionType", "TAG"))
    if kind not in ("TAG", ""):
        remark = f"The broker does not support consumer to filter message by {kind}"
        return None, request.answer(ResponseCode.SYSTEM_ERROR, remark)
    names = tags_in(expression)
    return None if names is None else frozenset(map(java_string_hash, names)), None


def _read(broker: BrokerController, request: Request, pull: PullMessageRequestHeader) -> RemotingCommand:
    store = broker.message_store
    result = store.get_message(pull.topic, pull.queue_id, QueueOffset(pull.offset), pull.most)
    if result.status is GetMessageStatus.NO_ANSWER:
        return request.answer(ResponseCode.SYSTEM_ERROR, "store getMessage return null")
    code, remark, body = _CODES.get(result.status, ResponseCode.PULL_NOT_FOUND), result.status.name, b""
    if result.status is GetMessageStatus.NO_MESSAGE_IN_QUEUE and pull.offset:
        code = ResponseCode.PULL_OFFSET_MOVED
    if result.status is GetMessageStatus.FOUND:
        wanted = [record for record in result.records if record is not None and pull.wants(record)]
        body = b"".join(map(encode_record, wanted))
        if not wanted:
            code, remark = ResponseCode.PULL_RETRY_IMMEDIATELY, "NO_MATCHED_MESSAGE"
    fields = {
        "suggestWhichBrokerId": 0,
        "nextBeginOffset": result.next_begin_offset,
        "minOffset": store.cleaning.get_min_offset_in_queue(pull.topic, pull.queue_id),
        "maxOffset": result.max_offset,
    }
    if broker.switches.versions_consumer_offsets:
        fields |= {"topicSysFlag": 0, "groupSysFlag": 0}
    return request.answer(code, remark, fields, body)
