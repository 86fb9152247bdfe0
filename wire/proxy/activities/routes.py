"""QueryRoute and QueryAssignment (``RouteActivity``)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from wire.proxy.client_settings import is_fifo
from wire.proxy.message_types import accepted_types, type_of_topic
from wire.proxy.protocol.messages import (
    CALLS,
    Assignment,
    Broker,
    Code,
    MessageQueue,
    Permission,
)
from wire.proxy.refusal import OK, ProxyRefusal, no_route
from wire.proxy.validation import require_group, require_topic

if TYPE_CHECKING:
    from wire.proxy.caller import Caller
    from wire.proxy.proxy import Proxy

_READ: Final = 4
_WRITE: Final = 2
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
    queues = [_queue(proxy, request, queue_id, kind, types) for queue_id, kind in enumerate(kinds)]
    return CALLS["QueryRoute"].response(status=OK, message_queues=queues)


def query_assignment(proxy: Proxy, _: Caller, request: Any) -> Any:
    """What a push consumer is to pop from: the broker as a whole, in order each queue."""
    topic, group = require_topic(request.topic), require_group(request.group)
    config = _config_of(proxy, topic)
    if not config["perm"] & _READ or not config["readQueueNums"]:
        raise ProxyRefusal(Code.FORBIDDEN, "no readable queue")
    kind = Permission.READ_WRITE if config["perm"] & _WRITE else Permission.READ
    queues = range(config["readQueueNums"]) if is_fifo(proxy.mode.group_config(group)) else [_ANY_QUEUE]
    assignments = [Assignment(message_queue=_queue(proxy, request, each, kind, [])) for each in queues]
    return CALLS["QueryAssignment"].response(status=OK, assignments=assignments)


def _config_of(proxy: Proxy, topic: str) -> dict[str, Any]:
    config = proxy.mode.topic_config(topic)
    if config is None:
        proxy.miss(topic)
        raise no_route(topic)
    return config


def _queue(proxy: Proxy, request: Any, queue_id: int, permission: Any, types: list[Any]) -> Any:
    endpoints = proxy.mode.endpoints(request.endpoints)
    broker = Broker(name=proxy.node.settings.broker_name, id=0, endpoints=endpoints)
    topic = request.topic
    return MessageQueue(topic=topic, id=queue_id, permission=permission, broker=broker, accept_message_types=types)
