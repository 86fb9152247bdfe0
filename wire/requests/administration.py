"""An operator's requests (``AdminBrokerProcessor``): topics, groups, queues, settings, progress of consumers."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final

from reference.broker.broker_settings import BrokerRole
from reference.format.errors import BrokenConfigError
from reference.format.java_properties import read_properties
from reference.format.properties import TAGS
from reference.format.record import QueueOffset
from reference.format.system_topics import retry_topic
from reference.java import java_string_hash
from wire.errors import BadRequestError
from wire.remoting.codes import CLOCK_FIELD, ResponseCode
from wire.remoting.command import RemotingCommand, java_text
from wire.requests.offsets import store_timestamp_at
from wire.requests.request import Request, body_of, legal_name, object_in, queue_key, table_by_queue

if TYPE_CHECKING:
    from collections.abc import Mapping

    from reference.broker.broker_controller import BrokerController
    from reference.broker.broker_settings import BrokerSettings
    from wire.node.broker_node import BrokerNode

_NUMBERS: Final = {
    "transactionTimeOut": "transaction_timeout_ms",
    "transactionCheckMax": "transaction_check_max",
    "transactionCheckInterval": "transaction_check_interval_ms",
    "transactionOpBatchInterval": "op_batch_interval_ms",
    "transactionOpMsgMaxSize": "op_msg_max_size",
    "flushConsumerOffsetInterval": "flush_consumer_offset_interval_ms",
}
_FLAGS: Final = {"rejectTransactionMessage": "reject_transaction_message", "asyncSendEnable": "async_send_enable"}


def update_topic(node: BrokerNode, request: Request) -> RemotingCommand:
    """UPDATE_AND_CREATE_TOPIC."""
    changed = {"perm": request.number("perm", 6), "writeQueueNums": request.number("writeQueueNums")}
    words = [word.partition("=") for word in request.text("attributes", "").split(",")]
    attributes = {name.removeprefix("+"): value for name, equals, value in words if equals and name.startswith("+")}
    make_topic(node.broker, request.name("topic"), request.number("readQueueNums"), attributes, changed)
    return request.answer()


def make_topic(
    broker: BrokerController,
    name: str,
    queues: int,
    attributes: Mapping[str, str],
    changed: Mapping[str, Any] | None = None,
) -> None:
    """Make a topic, or change it; attributes are kept from 5.0 on (``TopicConfigManager#updateTopicConfig``).

    Parameters
    ----------
    attributes
        Such as ``message.type``, by which the proxy judges what may be sent; those that it has, and that are not
        named, stay.
    """
    before = broker.topic_config_manager.table.get(name, {}).get("attributes") or {}
    broker.admin_broker_processor.update_topic(name, queues)
    entry = broker.topic_config_manager.table[name]
    wanted = dict(changed or {})
    if "attributes" in entry:
        wanted["attributes"] = {**before, **attributes}
    if any(entry[key] != value for key, value in wanted.items()):
        broker.topic_config_manager.add(name, entry | wanted)


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
    """UPDATE_AND_CREATE_SUBSCRIPTIONGROUP: the settings are stored, and heeded where the group pops."""
    data = object_in(request.body, "UPDATE_AND_CREATE_SUBSCRIPTIONGROUP")
    name = legal_name(str(data.get("groupName", "")))
    make_group(node.broker, name, {key: value for key, value in data.items() if value is not None})
    return request.answer()


def make_group(broker: BrokerController, name: str, changed: Mapping[str, Any]) -> dict[str, Any]:
    """Make a consumer group, or change it (``SubscriptionGroupManager#updateSubscriptionGroupConfig``)."""
    groups = broker.subscription_group_manager
    groups.create(name)
    if changed:
        groups.add(name, groups.table[name] | dict(changed))
    return dict(groups.table[name])


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


def query_consume_queue(node: BrokerNode, request: Request) -> RemotingCommand:
    """QUERY_CONSUME_QUEUE: entries of a queue from an index on; a body only where there are any.

    That is how the op queue is read in 4.x, where no topic config lets it be pulled.
    """
    topic, queue_id = request.text("topic"), request.number("queueId")
    store, index = node.broker.message_store, request.number("index")
    end = store.get_max_offset_in_queue(topic, queue_id)
    begin = store.cleaning.get_min_offset_in_queue(topic, queue_id)
    if not begin <= index < end:
        remark = f"Index {index} of {queue_id}@{topic} is not exist!"
        return request.answer(ResponseCode.SUCCESS, remark)
    found = store.get_message(topic, queue_id, QueueOffset(index), request.number("count")).records
    data = [
        {
            "eval": False,
            "physicOffset": record.physical_offset,
            "physicSize": record.total_size,
            "tagsCode": java_string_hash(tag) if (tag := record.properties.get(TAGS)) else 0,
        }
        for record in found
        if record is not None
    ]
    return request.answer(body=body_of({"maxQueueIndex": end, "minQueueIndex": begin, "queueData": data}))


def get_runtime_info(node: BrokerNode, request: Request) -> RemotingCommand:
    """GET_BROKER_RUNTIME_INFO: what mqadmin's list of brokers shows."""
    name = f"V{node.start.release.replace('.', '_')}"
    table = {
        "brokerVersionDesc": name,
        "brokerVersion": str(node.version),
        "commitLogMinOffset": str(node.broker.message_store.cleaning.min_phy_offset),
        "commitLogMaxOffset": str(node.broker.message_store.max_phy_offset),
        "dispatchBehindBytes": "0",
        "bootTimestamp": str(node.booted_at),
        "runtime": _runtime(node.clock.now - node.booted_at),
        "brokerActive": "false" if node.role is BrokerRole.SLAVE else "true",
    }
    return request.answer(body=body_of({"table": table}))


def _runtime(up_ms: int) -> str:
    """``StoreStatsService#getFormatRuntime``.

    Examples
    --------
    >>> _runtime(93_784_000)
    '[ 1 days, 2 hours, 3 minutes, 4 seconds ]'
    """
    minutes, seconds = divmod(up_ms // 1_000, 60)
    hours, minutes = divmod(minutes, 60)
    days, hours = divmod(hours, 24)
    return f"[ {days} days, {hours} hours, {minutes} minutes, {seconds} seconds ]"


def resume_half(node: BrokerNode, request: Request) -> RemotingCommand:
    """RESUME_CHECK_HALF_MESSAGE."""
    response = node.broker.admin_broker_processor.resume_check_half_message(request.text("msgId"))
    return request.answer(response.code, response.remark)


# --- settings ---------------------------------------------------------------------------------------------------------


def get_broker_config(node: BrokerNode, request: Request) -> RemotingCommand:
    """GET_BROKER_CONFIG."""
    text = "".join(f"{key}={value}\n" for key, value in sorted(_properties_of(node).items()))
    version = body_of({"counter": 0, "stateVersion": 0, "timestamp": node.clock.now}).decode()
    speed = "virtual" if node.pace.speed is None else f"{node.pace.speed:g}"
    return request.answer(fields={"version": version, CLOCK_FIELD: speed}, body=text.encode())


def update_broker_config(node: BrokerNode, request: Request) -> RemotingCommand:
    """UPDATE_BROKER_CONFIG, of the settings that bear on transactions."""
    node.settings = _with_properties(node.settings, parse_properties_text(request.body))
    node.broker.settings = node.settings
    node.poke()
    return request.answer()


def _properties_of(node: BrokerNode) -> dict[str, str]:
    """All settings that bear on what the broker does, and what else its ``broker.conf`` says."""
    settings = node.settings
    address, _, port = settings.store_host.rpartition(":")
    known: dict[str, object] = {
        "brokerName": settings.broker_name,
        "brokerClusterName": settings.broker_cluster_name,
        "brokerId": 1 if node.role.is_slave else 0,
        "brokerIP1": address,
        "listenPort": port,
        "brokerRole": "SLAVE" if node.role.is_slave else "ASYNC_MASTER",
        "autoCreateTopicEnable": node.start.auto_create_topic,
        "storePathRootDir": node.start.store,
        "mappedFileSizeCommitLog": node.start.config.mapped_file_size_commit_log,
    }
    for names in (_NUMBERS, _FLAGS):
        known |= {key: getattr(settings, field) for key, field in names.items()}
    return dict(node.start.conf) | {key: java_text(value) for key, value in known.items()}


def _with_properties(settings: BrokerSettings, changed: dict[str, str]) -> BrokerSettings:
    """The settings with some changed; `BadRequestError`, and no change, if one cannot be changed, or not so."""
    values: dict[str, Any] = {}
    for key, text in changed.items():
        if key in _NUMBERS:
            if not text.isdecimal() or not int(text):
                message = f"{key} is {text!r}: expected a positive whole number"
                raise BadRequestError(message)
            values[_NUMBERS[key]] = int(text)
        elif key in _FLAGS:
            values[_FLAGS[key]] = text.lower() == "true"
        else:
            message = f"{key} can't be changed while this broker runs; there are {', '.join((*_NUMBERS, *_FLAGS))}"
            raise BadRequestError(message)
    return replace(settings, **values)


def parse_properties_text(body: bytes) -> dict[str, str]:
    r"""The settings in a body, or `BadRequestError` if Java can't load it (``MixAll#string2Properties``).

    Examples
    --------
    >>> parse_properties_text(b"transactionCheckMax=3\n#no\n")
    {'transactionCheckMax': '3'}
    """
    try:
        return {setting.key: setting.value for setting in read_properties("the settings", body)}
    except BrokenConfigError as error:
        message = f"string2Properties error: {error}"
        raise BadRequestError(message) from None
