"""QueryRoute and QueryAssignment (``RouteActivity``, ``LocalTopicRouteService``)."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, Final

from wire.proxy.client_settings import is_fifo
from wire.proxy.message_types import accepted_types, type_of_topic
from wire.proxy.protocol.messages import (
    CALLS,
    Address,
    AddressScheme,
    Assignment,
    Broker,
    Code,
    Endpoints,
    MessageQueue,
    Permission,
)
from wire.proxy.refusal import OK, ProxyRefusal
from wire.proxy.validation import require_group, require_topic

if TYPE_CHECKING:
    from wire.proxy.caller import Caller
    from wire.proxy.proxy import Proxy

_READ: Final = 4
_WRITE: Final = 2
_NUMBERS: Final = re.compile(r"[\d.]+")
_ANY_QUEUE: Final = -1


def query_route(proxy: Proxy, _: Caller, request: Any) -> Any:
    """The queues of a topic, each with what it takes; TOPIC_NOT_FOUND for a topic that nobody has made."""
    config = _config_of(proxy, require_topic(request.topic))
    both = min(config["readQueueNums"], config["writeQueueNums"])
    permission, most = config["perm"], max(config["readQueueNums"], config["writeQueueNums"])
    if permission & _READ and permission & _WRITE:
        more = Permission.READ if config["readQueueNums"] > both else Permission.WRITE
        kinds = [more] * (most - both) + [Permission.READ_WRITE] * both
    elif permission & (_READ | _WRITE):
        reads = bool(permission & _READ)
        queues = config["readQueueNums"] if reads else config["writeQueueNums"]
        kinds = [Permission.READ if reads else Permission.WRITE] * queues
    else:
        kinds = [Permission.NONE] * max(1, most)
    types = accepted_types(type_of_topic(config))
    queues = [_queue(proxy, request.topic, queue_id, kind, types) for queue_id, kind in enumerate(kinds)]
    return CALLS["QueryRoute"].response(status=OK, message_queues=queues)


def query_assignment(proxy: Proxy, _: Caller, request: Any) -> Any:
    """What a push consumer is to pop from: the broker as a whole, in order each queue."""
    topic, group = require_topic(request.topic), require_group(request.group)
    config = _config_of(proxy, topic)
    if not config["perm"] & _READ or not config["readQueueNums"]:
        raise ProxyRefusal(Code.FORBIDDEN, "no readable queue")
    kind = Permission.READ_WRITE if config["perm"] & _WRITE else Permission.READ
    queues = range(config["readQueueNums"]) if is_fifo(proxy.group_config(group)) else [_ANY_QUEUE]
    assignments = [Assignment(message_queue=_queue(proxy, request.topic, each, kind, [])) for each in queues]
    return CALLS["QueryAssignment"].response(status=OK, assignments=assignments)


def _config_of(proxy: Proxy, topic: str) -> dict[str, Any]:
    config = proxy.topic_config(topic)
    if config is None:
        message = f"CODE: 17  DESC: No topic route info in name server for the topic: {topic}"
        raise ProxyRefusal(Code.TOPIC_NOT_FOUND, message)
    return config


def _queue(proxy: Proxy, topic: Any, queue_id: int, permission: Any, types: list[Any]) -> Any:
    host = proxy.host.strip("[]")
    scheme = AddressScheme.IPv6 if ":" in host else AddressScheme.DOMAIN_NAME
    if _NUMBERS.fullmatch(host):
        scheme = AddressScheme.IPv4
    endpoints = Endpoints(scheme=scheme, addresses=[Address(host=host, port=proxy.port)])
    broker = Broker(name=proxy.node.settings.broker_name, id=0, endpoints=endpoints)
    return MessageQueue(topic=topic, id=queue_id, permission=permission, broker=broker, accept_message_types=types)
