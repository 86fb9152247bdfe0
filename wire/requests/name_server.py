"""Requests to a name server: routes of topics, the brokers (``ClientRequestProcessor``)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from wire.remoting.codes import ResponseCode
from wire.requests.request import Request, body_of

if TYPE_CHECKING:
    from wire.node.broker_node import BrokerNode
    from wire.remoting.command import RemotingCommand

_AUTO_CREATE_TOPIC = "TBW102"


def get_route_info(node: BrokerNode, request: Request) -> RemotingCommand:
    """GET_ROUTEINFO_BY_TOPIC."""
    topic = request.text("topic")
    config = node.broker.topic_config_manager.table.get(topic)
    if config is None or (topic == _AUTO_CREATE_TOPIC and not node.start.auto_create_topic):
        remark = f"No topic route info in name server for the topic: {topic}"
        return request.answer(ResponseCode.TOPIC_NOT_EXIST, remark)
    queues = {
        "brokerName": node.settings.broker_name,
        "perm": config["perm"],
        "readQueueNums": config["readQueueNums"],
        "topicSysFlag": config["topicSysFlag"],
        "writeQueueNums": config["writeQueueNums"],
    }
    route = {"brokerDatas": [_broker_data(node)], "filterServerTable": {}, "queueDatas": [queues]}
    return request.answer(body=body_of(route))


def get_cluster_info(node: BrokerNode, request: Request) -> RemotingCommand:
    """GET_BROKER_CLUSTER_INFO."""
    name, cluster = node.settings.broker_name, node.settings.broker_cluster_name
    info = {"brokerAddrTable": {name: _broker_data(node)}, "clusterAddrTable": {cluster: [name]}}
    return request.answer(body=body_of(info))


def get_all_topics(node: BrokerNode, request: Request) -> RemotingCommand:
    """GET_ALL_TOPIC_LIST_FROM_NAMESERVER."""
    return request.answer(body=body_of({"topicList": sorted(node.broker.topic_config_manager.table)}))


def get_kv_config(_: BrokerNode, request: Request) -> RemotingCommand:
    """GET_KV_CONFIG: nothing is configured here, for example no order of topics."""
    namespace, key = request.text("namespace", ""), request.text("key", "")
    remark = f"No config item, Namespace: {namespace} Key: {key}"
    return request.answer(ResponseCode.QUERY_NOT_FOUND, remark)


def forget(_: BrokerNode, request: Request) -> RemotingCommand:
    """DELETE_TOPIC_IN_NAMESRV and DELETE_KV_CONFIG: it knows nothing that the broker does not."""
    return request.answer()


def _broker_data(node: BrokerNode) -> dict[str, Any]:
    return {
        "brokerAddrs": {"0": node.address},
        "brokerName": node.settings.broker_name,
        "cluster": node.settings.broker_cluster_name,
        "enableActingMaster": False,
    }
