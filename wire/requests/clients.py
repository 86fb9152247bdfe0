"""Heartbeats, and what clients of a group ask about each other.

``ClientManageProcessor``, ``ConsumerManageProcessor``, ``AdminBrokerProcessor``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from reference.format.system_topics import retry_topic
from spec.releases.broker_defaults import release_numbers
from wire.errors import BadRequestError
from wire.node.consumer_groups import Consumer, Queue
from wire.remoting.codes import RequestCode, ResponseCode
from wire.requests.request import Request, body_of, legal_name, object_in, queue_key

if TYPE_CHECKING:
    from wire.node.broker_node import BrokerNode
    from wire.remoting.command import RemotingCommand


_HEART_BEAT_V2_SINCE = (5, 2, 0)
"""The first release whose broker knows a heartbeat without subscriptions (``ClientManageProcessor#heartBeatV2``)."""
_SPARES_BROADCAST_SINCE = (5, 3, 1)


def heart_beat(node: BrokerNode, request: Request) -> RemotingCommand:
    """HEART_BEAT: who is here, for which groups (``ClientManageProcessor#heartBeat``)."""
    data, address = object_in(request.body, "HEART_BEAT"), request.connection.address
    client_id = str(data.get("clientID", address))
    producers = [str(producer["groupName"]) for producer in _named(data, "producerDataSet")]
    for group in producers:
        node.channels.register_producer(group, address)
    node.answers.heartbeat(address, client_id, producers)
    for each in _named(data, "consumerDataSet"):
        group = legal_name(str(each["groupName"]))
        node.broker.subscription_group_manager.create(group)
        node.broker.topic_config_manager.create(retry_topic(group), 1)
        consumer = Consumer(address, client_id, request.command.language, request.command.version)
        if node.consumers.register(consumer, each, keeps_subscriptions=bool(data.get("withoutSub"))):
            notify_group(node, group)
    if release_numbers(node.start.release) < _HEART_BEAT_V2_SINCE:
        return request.answer()
    fingerprint = int(data.get("heartbeatFingerprint") or 0)
    groups = [str(each["groupName"]) for each in _named(data, "consumerDataSet")]
    is_other = any(node.consumers.takes_fingerprint(group, fingerprint) for group in groups)
    return request.answer(fields={"IS_SUPPORT_HEART_BEAT_V2": True, "IS_SUB_CHANGE": not fingerprint or is_other})


def unregister_client(node: BrokerNode, request: Request) -> RemotingCommand:
    """UNREGISTER_CLIENT: a producer or a consumer ends."""
    address = request.connection.address
    producer, consumer = (request.command.fields.get(name) for name in ("producerGroup", "consumerGroup"))
    if producer:
        node.channels.unregister_producer(producer, address)
    if consumer and node.consumers.unregister(consumer, address):
        notify_group(node, consumer)
    return request.answer()


def notify_group(node: BrokerNode, name: str) -> None:
    """Tell each client of a group that there are others now (``Broker2Client#notifyConsumerIdsChanged``).

    From 5.3.1 on not where each reads all for itself (``ConsumerManager#isBroadcastMode``).
    """
    group = node.consumers.find(name)
    if group is not None and group.message_model == "BROADCASTING":
        group = None if release_numbers(node.start.release) >= _SPARES_BROADCAST_SINCE else group
    for address in [] if group is None else list(group.clients):
        connection = node.connections.get(address)
        if connection is not None:
            code = RequestCode.NOTIFY_CONSUMER_IDS_CHANGED
            connection.call_oneway(code, {"consumerGroup": name}, b"", node.version)


def get_consumer_list(node: BrokerNode, request: Request) -> RemotingCommand:
    """GET_CONSUMER_LIST_BY_GROUP."""
    name = request.text("consumerGroup")
    group = node.consumers.find(name)
    if group is None:
        return request.answer(ResponseCode.SYSTEM_ERROR, f"no consumer for this group, {name}")
    return request.answer(body=body_of({"consumerIdList": group.client_ids}))


def lock_batch(node: BrokerNode, request: Request) -> RemotingCommand:
    """LOCK_BATCH_MQ: queues that one client alone is to read."""
    group, client_id, queues = _locked(request)
    held = node.consumers.lock(group, client_id, queues)
    keys = [queue_key(node.settings.broker_name, topic, queue_id) for topic, queue_id in held]
    return request.answer(body=body_of({"lockOKMQSet": keys}))


def unlock_batch(node: BrokerNode, request: Request) -> RemotingCommand:
    """UNLOCK_BATCH_MQ."""
    node.consumers.unlock(*_locked(request))
    return request.answer()


def check_client_config(_: BrokerNode, request: Request) -> RemotingCommand:
    """CHECK_CLIENT_CONFIG: subscriptions by tag are sound, others are not supported."""
    subscription = object_in(request.body, "CHECK_CLIENT_CONFIG").get("subscriptionData") or {}
    kind = str(subscription.get("expressionType", "TAG"))
    if kind in ("TAG", ""):
        return request.answer()
    remark = f"The broker does not support consumer to filter message by {kind}"
    return request.answer(ResponseCode.SYSTEM_ERROR, remark)


def get_consumer_connections(node: BrokerNode, request: Request) -> RemotingCommand:
    """GET_CONSUMER_CONNECTION_LIST."""
    name = request.text("consumerGroup")
    group = node.consumers.find(name)
    if group is None:
        remark = f"the consumer group[{name}] not online"
        return request.answer(ResponseCode.CONSUMER_NOT_ONLINE, remark)
    clients = [
        {"clientAddr": each.address, "clientId": each.client_id, "language": each.language, "version": each.version}
        for each in group.clients.values()
    ]
    content = {
        "connectionSet": clients,
        "consumeFromWhere": group.consume_from_where,
        "consumeType": group.consume_type,
        "messageModel": group.message_model,
        "subscriptionTable": group.subscriptions,
    }
    return request.answer(body=body_of(content))


def get_producer_connections(node: BrokerNode, request: Request) -> RemotingCommand:
    """GET_PRODUCER_CONNECTION_LIST."""
    name = request.text("producerGroup")
    addresses = node.channels.groups().get(name, [])
    if not addresses:
        return request.answer(ResponseCode.SYSTEM_ERROR, f"the producer group[{name}] not exist")
    connections = [{"clientAddr": each, "clientId": each, "language": "JAVA", "version": 0} for each in addresses]
    return request.answer(body=body_of({"connectionSet": connections}))


def _named(data: dict[str, Any], name: str) -> list[dict[str, Any]]:
    entries = data.get(name) or []
    if not isinstance(entries, list) or not all(isinstance(each, dict) and "groupName" in each for each in entries):
        message = f"{name} of HEART_BEAT: a list of objects with a groupName was expected"
        raise BadRequestError(message)
    return entries


def _locked(request: Request) -> tuple[str, str, list[Queue]]:
    data = object_in(request.body, "LOCK_BATCH_MQ")
    try:
        queues = [(str(each["topic"]), int(each["queueId"])) for each in data.get("mqSet") or []]
    except (KeyError, TypeError, ValueError) as error:
        message = f"mqSet of LOCK_BATCH_MQ: queues with topic and queueId were expected ({error!r})"
        raise BadRequestError(message) from None
    return str(data.get("consumerGroup", "")), str(data.get("clientId", "")), queues
