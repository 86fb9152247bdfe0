"""Telemetry, Heartbeat and NotifyClientTermination (``ClientActivity``)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from wire.node.consumer_groups import Consumer
from wire.proxy.protocol.messages import CALLS, ClientType, Code, FilterType, TelemetryCommand
from wire.proxy.refusal import OK, ProxyRefusal
from wire.proxy.validation import require_group, require_topic
from wire.remoting.codes import version_of
from wire.requests.tag_expression import ALL_TAGS

if TYPE_CHECKING:
    from wire.proxy.caller import Caller
    from wire.proxy.grpc_client_channel import TelemetryStream
    from wire.proxy.proxy import Proxy

_CONSUMERS: Final = {
    ClientType.PUSH_CONSUMER: "CONSUME_PASSIVELY",
    ClientType.SIMPLE_CONSUMER: "CONSUME_ACTIVELY",
}
"""Kinds of consumers that are served, by how they consume; lite ones are not."""

_VERSION: Final = version_of("5.0.0")


def take_telemetry(proxy: Proxy, caller: Caller, command: Any, stream: TelemetryStream) -> None:
    """A client's command: settings are kept, completed and sent back; answers to what nobody has asked are dropped.

    Raises
    ------
    ProxyRefusal
        They are none; the stream ends with it.
    """
    if command.WhichOneof("command") != "settings":
        return
    settings = command.settings
    if settings.WhichOneof("pub_sub") is None:
        raise ProxyRefusal(Code.BAD_REQUEST, "there is no publishing or subscription data in settings")
    try:
        _register(proxy, caller, settings, stream)
    except ProxyRefusal as refusal:
        raise ProxyRefusal(refusal.code, f"process client telemetryCommand failed. {refusal}") from None
    proxy.settings.put(caller.client_id, settings)
    stream.put(TelemetryCommand(status=OK, settings=proxy.complete_settings(caller.client_id)))


def heartbeat(proxy: Proxy, caller: Caller, request: Any) -> Any:
    """A client is there still; UNRECOGNIZED_CLIENT_TYPE for one whose settings this process has not got."""
    settings = _known(proxy, caller)
    channel = proxy.channel(caller.client_id)
    if settings.client_type in _CONSUMERS:
        require_group(request.group)
    elif settings.client_type != ClientType.PRODUCER:
        raise _unrecognized(settings)
    if channel is not None:
        _register(proxy, caller, settings, channel.stream)
    return CALLS["Heartbeat"].response(status=OK)


def notify_client_termination(proxy: Proxy, caller: Caller, request: Any) -> Any:
    """A client ends: its settings are forgotten, and it is in its consumer group no more.

    Of a producer the first topic alone is unregistered, as the channel is gone for the others
    (``GrpcChannelManager#removeChannel``); they follow when its stream ends.
    """
    settings = _known(proxy, caller)
    proxy.settings.remove(caller.client_id)
    if settings.client_type == ClientType.PRODUCER:
        for topic in settings.publishing.topics[:1]:
            proxy.mode.unregister_producer(topic.name, caller.client_id)
    elif settings.client_type in _CONSUMERS:
        group = require_group(request.group)
        proxy.mode.unregister_consumer(group, caller.client_id)
        proxy.pops.release(proxy.receipt_owner(caller.client_id))
    else:
        raise _unrecognized(settings)
    return CALLS["NotifyClientTermination"].response(status=OK)


def _known(proxy: Proxy, caller: Caller) -> Any:
    settings = proxy.settings.get(caller.client_id)
    if settings is None:
        message = "cannot find client settings for this client"
        raise ProxyRefusal(Code.UNRECOGNIZED_CLIENT_TYPE, message)
    return settings


def _unrecognized(settings: Any) -> ProxyRefusal:
    known = ClientType.__members__.values()
    name = ClientType(settings.client_type).name if settings.client_type in known else str(settings.client_type)
    return ProxyRefusal(Code.UNRECOGNIZED_CLIENT_TYPE, name)


def _register(proxy: Proxy, caller: Caller, settings: Any, stream: TelemetryStream) -> None:
    """Let it be known who can be asked: the producers of each topic, the consumers of a group."""
    node, client_id = proxy.node, caller.client_id
    if settings.HasField("publishing"):
        topics = [require_topic(topic) for topic in settings.publishing.topics]
        proxy.attach(client_id, stream)
        proxy.mode.register_producer(client_id, topics)
        node.answers.heartbeat(client_id, client_id, topics)
        return
    if settings.client_type not in _CONSUMERS:
        raise _unrecognized(settings)
    group = require_group(settings.subscription.group)
    entries = [
        {
            "topic": require_topic(each.topic),
            "subString": each.expression.expression or ALL_TAGS,
            "expressionType": "SQL92" if each.expression.type == FilterType.SQL else "TAG",
            "subVersion": node.clock.now,
        }
        for each in settings.subscription.subscriptions
    ]
    proxy.attach(client_id, stream)
    proxy.mode.group_config(group)
    data = {
        "groupName": group,
        "messageModel": "CLUSTERING",
        "consumeType": _CONSUMERS[settings.client_type],
        "consumeFromWhere": "CONSUME_FROM_LAST_OFFSET",
        "subscriptionDataSet": entries,
    }
    proxy.mode.register_consumer(Consumer(client_id, client_id, caller.language or "OTHER", _VERSION), data)
