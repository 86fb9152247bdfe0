"""An operator's requests (``AdminBrokerProcessor``): topics, groups, settings, progress of consumers."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from reference.format.system_topics import retry_topic
from wire.remoting.codes import CLOCK_FIELD, ResponseCode
from wire.requests.broker_properties import parse_properties_text, properties_of, with_properties
from wire.requests.json_bodies import body_of, object_in, queue_key, table_by_queue
from wire.requests.offsets import store_timestamp_at
from wire.requests.request import legal_name

if TYPE_CHECKING:
    from wire.node.broker_node import BrokerNode
    from wire.remoting.command import RemotingCommand
    from wire.requests.request import Request


def update_topic(node: BrokerNode, request: Request) -> RemotingCommand:
    """UPDATE_AND_CREATE_TOPIC."""
    node.broker.admin_broker_processor.update_topic(request.name("topic"), request.number("readQueueNums"))
    entry = node.broker.topic_config_manager.table[request.text("topic")]
    changed = {"perm": request.number("perm", 6), "writeQueueNums": request.number("writeQueueNums")}
    if any(entry[name] != value for name, value in changed.items()):
        node.broker.topic_config_manager.add(request.text("topic"), entry | changed)
    return request.answer()


def delete_topic(node: BrokerNode, request: Request) -> RemotingCommand:
    """DELETE_TOPIC_IN_BROKER, and in the name server."""
    response = node.broker.admin_broker_processor.delete_topic(request.text("topic"))
    return request.answer(response.code, response.remark)


def get_topic_config(node: BrokerNode, request: Request) -> RemotingCommand:
    """GET_TOPIC_CONFIG."""
    topic = request.text("topic")
    config = node.broker.topic_config_manager.table.get(topic)
    if config is None:
        return request.answer(ResponseCode.TOPIC_NOT_EXIST, f"No topic in this broker. topic: {topic}")
    return request.answer(body=body_of(config | {"mappingDetail": None}))


def get_all_topic_config(node: BrokerNode, request: Request) -> RemotingCommand:
    """GET_ALL_TOPIC_CONFIG."""
    version = {"counter": 0, "stateVersion": 0, "timestamp": node.clock.now}
    content = {"dataVersion": version, "topicConfigTable": node.broker.topic_config_manager.table}
    return request.answer(body=body_of(content))


def update_group(node: BrokerNode, request: Request) -> RemotingCommand:
    """UPDATE_AND_CREATE_SUBSCRIPTIONGROUP: the group is made; its settings are stored, and not heeded."""
    data = object_in(request.body, "UPDATE_AND_CREATE_SUBSCRIPTIONGROUP")
    name = legal_name(str(data.get("groupName", "")))
    groups = node.broker.subscription_group_manager
    groups.create(name)
    groups.add(name, groups.table[name] | {key: value for key, value in data.items() if value is not None})
    return request.answer()


def get_all_groups(node: BrokerNode, request: Request) -> RemotingCommand:
    """GET_ALL_SUBSCRIPTIONGROUP_CONFIG."""
    version = {"counter": 0, "stateVersion": 0, "timestamp": node.clock.now}
    table = node.broker.subscription_group_manager.table
    content = {"dataVersion": version, "forbiddenTable": {}, "subscriptionGroupTable": table}
    return request.answer(body=body_of(content))


def get_group(node: BrokerNode, request: Request) -> RemotingCommand:
    """GET_SUBSCRIPTIONGROUP_CONFIG."""
    name = request.text("group")
    config = node.broker.subscription_group_manager.table.get(name)
    if config is None:
        remark = f"No group in this broker. group: {name}"
        return request.answer(ResponseCode.SUBSCRIPTION_GROUP_NOT_EXIST, remark)
    return request.answer(body=body_of(config))


def get_topic_stats(node: BrokerNode, request: Request) -> RemotingCommand:
    """GET_TOPIC_STATS_INFO: where each queue begins and ends, and when the last message came."""
    store, topic = node.broker.message_store, request.text("topic")
    config = node.broker.topic_config_manager.table.get(topic)
    if config is None:
        return request.answer(ResponseCode.TOPIC_NOT_EXIST, f"topic[{topic}] not exist")
    rows = []
    for queue_id in range(max(config["readQueueNums"], config["writeQueueNums"])):
        end = store.get_max_offset_in_queue(topic, queue_id)
        last = store_timestamp_at(store, topic, queue_id, end - 1) if end else None
        begin = store.cleaning.get_min_offset_in_queue(topic, queue_id)
        value = {"lastUpdateTimestamp": last or 0, "maxOffset": end, "minOffset": begin}
        rows.append((queue_key(node.settings.broker_name, topic, queue_id), value))
    return request.answer(body=table_by_queue("offsetTable", rows))


def get_consume_stats(node: BrokerNode, request: Request) -> RemotingCommand:
    """GET_CONSUME_STATS: how far a group is in each queue that it reads."""
    broker, group, wanted = node.broker, request.text("consumerGroup"), request.text("topic", "")
    known = node.consumers.find(group)
    saved = {key.split("@")[0] for key in broker.consumer_offset_manager.saved.table if key.endswith(f"@{group}")}
    topics = {wanted} if wanted else {*saved, *(known.subscriptions if known else ()), retry_topic(group)}
    rows: list[tuple[dict[str, Any], dict[str, Any]]] = []
    for topic in sorted(topics & broker.topic_config_manager.table.keys()):
        for queue_id in range(broker.topic_config_manager.read_queues(topic)):
            store = broker.message_store
            offset = max(0, broker.consumer_offset_manager.query_offset(topic, queue_id, group))
            last = store_timestamp_at(store, topic, queue_id, offset - 1) if offset else None
            value = {
                "brokerOffset": store.get_max_offset_in_queue(topic, queue_id),
                "consumerOffset": offset,
                "lastTimestamp": last or 0,
                "pullOffset": offset,
            }
            rows.append((queue_key(node.settings.broker_name, topic, queue_id), value))
    return request.answer(body=table_by_queue("offsetTable", rows, consumeTps=0.0))


def query_consumers_of_topic(node: BrokerNode, request: Request) -> RemotingCommand:
    """QUERY_TOPIC_CONSUME_BY_WHO."""
    topic = request.text("topic")
    ending = f"{topic}@"
    saved = {
        str(key).removeprefix(ending)
        for key in node.broker.consumer_offset_manager.saved.table
        if str(key).startswith(ending)
    }
    return request.answer(body=body_of({"groupList": sorted(saved | set(node.consumers.subscribed_to(topic)))}))


def get_broker_config(node: BrokerNode, request: Request) -> RemotingCommand:
    """GET_BROKER_CONFIG."""
    text = "".join(f"{key}={value}\n" for key, value in sorted(properties_of(node).items()))
    version = body_of({"counter": 0, "stateVersion": 0, "timestamp": node.clock.now}).decode()
    speed = "virtual" if node.pace.speed is None else f"{node.pace.speed:g}"
    return request.answer(fields={"version": version, CLOCK_FIELD: speed}, body=text.encode())


def update_broker_config(node: BrokerNode, request: Request) -> RemotingCommand:
    """UPDATE_BROKER_CONFIG, of the settings that bear on transactions."""
    node.settings = with_properties(node.settings, parse_properties_text(request.body))
    node.broker.settings = node.settings
    node.poke()
    return request.answer()


def get_runtime_info(node: BrokerNode, request: Request) -> RemotingCommand:
    """GET_BROKER_RUNTIME_INFO: what mqadmin's list of brokers shows."""
    name = f"V{node.start.release.replace('.', '_')}"
    table = {
        "brokerVersionDesc": name,
        "brokerVersion": str(node.version),
        "commitLogMaxOffset": str(node.broker.message_store.max_phy_offset),
        "dispatchBehindBytes": "0",
        "bootTimestamp": str(node.booted_at),
        "brokerActive": "true",
    }
    return request.answer(body=body_of({"table": table}))


def resume_half(node: BrokerNode, request: Request) -> RemotingCommand:
    """RESUME_CHECK_HALF_MESSAGE."""
    response = node.broker.admin_broker_processor.resume_check_half_message(request.text("msgId"))
    return request.answer(response.code, response.remark)
