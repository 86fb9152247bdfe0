"""The handler of each kind of request; all others are answered REQUEST_CODE_NOT_SUPPORTED."""

from __future__ import annotations

import struct
from typing import TYPE_CHECKING, Final

from spec.releases.broker_defaults import release_numbers
from wire.errors import BadRequestError, MalformedFrameError
from wire.remoting.codes import RequestCode, ResponseCode
from wire.requests import administration, clients, finding, name_server, offsets, pulling, sending

if TYPE_CHECKING:
    from collections.abc import Callable

    from wire.node.broker_node import BrokerNode
    from wire.remoting.command import RemotingCommand
    from wire.requests.request import Request

    Handler = Callable[[BrokerNode, Request], RemotingCommand | None]

HANDLERS: Final[dict[int, Handler]] = {
    RequestCode.SEND_MESSAGE: sending.send_message,
    RequestCode.SEND_MESSAGE_V2: sending.send_message,
    RequestCode.SEND_BATCH_MESSAGE: sending.send_message,
    RequestCode.END_TRANSACTION: sending.end_transaction,
    RequestCode.CONSUMER_SEND_MSG_BACK: sending.send_back,
    RequestCode.PULL_MESSAGE: pulling.pull_message,
    RequestCode.LITE_PULL_MESSAGE: pulling.pull_message,
    RequestCode.QUERY_CONSUMER_OFFSET: offsets.query_consumer_offset,
    RequestCode.UPDATE_CONSUMER_OFFSET: offsets.update_consumer_offset,
    RequestCode.GET_ALL_CONSUMER_OFFSET: offsets.get_all_consumer_offsets,
    RequestCode.GET_MAX_OFFSET: offsets.get_max_offset,
    RequestCode.GET_MIN_OFFSET: offsets.get_min_offset,
    RequestCode.SEARCH_OFFSET_BY_TIMESTAMP: offsets.search_offset,
    RequestCode.GET_EARLIEST_MSG_STORETIME: offsets.get_earliest_store_time,
    RequestCode.HEART_BEAT: clients.heart_beat,
    RequestCode.UNREGISTER_CLIENT: clients.unregister_client,
    RequestCode.GET_CONSUMER_LIST_BY_GROUP: clients.get_consumer_list,
    RequestCode.LOCK_BATCH_MQ: clients.lock_batch,
    RequestCode.UNLOCK_BATCH_MQ: clients.unlock_batch,
    RequestCode.CHECK_CLIENT_CONFIG: clients.check_client_config,
    RequestCode.GET_CONSUMER_CONNECTION_LIST: clients.get_consumer_connections,
    RequestCode.GET_PRODUCER_CONNECTION_LIST: clients.get_producer_connections,
    RequestCode.VIEW_MESSAGE_BY_ID: finding.view_message,
    RequestCode.QUERY_MESSAGE: finding.query_message,
    RequestCode.UPDATE_AND_CREATE_TOPIC: administration.update_topic,
    RequestCode.DELETE_TOPIC_IN_BROKER: administration.delete_topic,
    RequestCode.GET_TOPIC_CONFIG: administration.get_topic_config,
    RequestCode.GET_ALL_TOPIC_CONFIG: administration.get_all_topic_config,
    RequestCode.UPDATE_AND_CREATE_SUBSCRIPTIONGROUP: administration.update_group,
    RequestCode.GET_ALL_SUBSCRIPTIONGROUP_CONFIG: administration.get_all_groups,
    RequestCode.GET_SUBSCRIPTIONGROUP_CONFIG: administration.get_group,
    RequestCode.QUERY_CONSUME_QUEUE: administration.query_consume_queue,
    RequestCode.GET_TOPIC_STATS_INFO: administration.get_topic_stats,
    RequestCode.GET_CONSUME_STATS: administration.get_consume_stats,
    RequestCode.QUERY_TOPIC_CONSUME_BY_WHO: administration.query_consumers_of_topic,
    RequestCode.GET_BROKER_CONFIG: administration.get_broker_config,
    RequestCode.UPDATE_BROKER_CONFIG: administration.update_broker_config,
    RequestCode.GET_BROKER_RUNTIME_INFO: administration.get_runtime_info,
    RequestCode.RESUME_CHECK_HALF_MESSAGE: administration.resume_half,
    RequestCode.GET_ROUTEINFO_BY_TOPIC: name_server.get_route_info,
    RequestCode.GET_BROKER_CLUSTER_INFO: name_server.get_cluster_info,
    RequestCode.GET_ALL_TOPIC_LIST_FROM_NAMESERVER: name_server.get_all_topics,
    RequestCode.GET_KV_CONFIG: name_server.get_kv_config,
    RequestCode.DELETE_KV_CONFIG: name_server.forget,
    RequestCode.DELETE_TOPIC_IN_NAMESRV: name_server.forget,
}

READS: Final = frozenset({
    RequestCode.PULL_MESSAGE, RequestCode.LITE_PULL_MESSAGE, RequestCode.GET_MAX_OFFSET,
    RequestCode.QUERY_CONSUMER_OFFSET, RequestCode.QUERY_MESSAGE, RequestCode.GET_TOPIC_STATS_INFO,
})  # fmt: skip
"""Requests that read queues: records that were stored before are dispatched first."""

_LITE_PULL_SINCE: Final = (5, 0, 0)
_SAYS_SO_SINCE: Final = (4, 9, 1)
"""An older broker gives no answer to a request that it does not know (``AdminBrokerProcessor#processRequest``)."""

_NOT_AS_EXPECTED: Final = (ValueError, KeyError, TypeError, AttributeError, OverflowError, struct.error)
"""Python's exceptions at a malformed request, where Java would throw its own."""


def handle(node: BrokerNode, request: Request) -> RemotingCommand | None:
    """The answer to a request; None where there is none, or not yet; `RemotingError` if the broker dies over it."""
    code = request.command.code
    node.keep_time()
    refused = node.faults.refusal(request, is_done=False)
    if code == RequestCode.END_TRANSACTION:
        node.answers.end_came(request.command.fields)
    if refused is not None:
        if code == RequestCode.END_TRANSACTION:
            node.answers.end_refused(refused)
        return refused
    if code in READS and node.is_up and node.broker.message_store.is_behind:
        node.run_threads()
    handler, release = HANDLERS.get(code), release_numbers(node.start.release)
    if code == RequestCode.LITE_PULL_MESSAGE and release < _LITE_PULL_SINCE:
        handler = None
        if release < _SAYS_SO_SINCE:
            return None
    if handler is None:
        remark = f" request type {code} not supported"
        return request.answer(ResponseCode.REQUEST_CODE_NOT_SUPPORTED, remark)
    try:
        answer = node.serve(node.broker, lambda: handler(node, request))
    except (BadRequestError, MalformedFrameError) as error:
        return request.answer(ResponseCode.SYSTEM_ERROR, str(error))
    except _NOT_AS_EXPECTED as error:
        return request.answer(ResponseCode.SYSTEM_ERROR, f"a field or the body is not as expected: {error!r}")
    node.poke()
    return None if answer is None else node.faults.refuse_answer(request, answer)
