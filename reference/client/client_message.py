"""The Java client's changes to a message before it is sent, as far as they matter to transactions."""

from __future__ import annotations

from typing import TYPE_CHECKING

from reference.broker.processor.send_message_processor import SendMessageRequest
from reference.client.producer_messages import MQClientError
from reference.format.properties import IMMUNITY_SECONDS, PRODUCER_GROUP, RETRY_TOPIC, TRANSACTION_PREPARED
from reference.format.system_topics import retry_topic
from reference.store.delay_levels import DELAY_TIME_LEVEL
from reference.store.put_message import WAITING

if TYPE_CHECKING:
    from collections.abc import Mapping

    from reference.format.record import LogRecord
    from reference.versions.switches import ReleaseSwitches

_NAMESPACE_SEPARATOR = "%"
_FIRST_RETRY_LEVEL = 3
_MOST_RECOVERY_SECONDS = 3_600
"""maxTransactionRecoverySecond of the proxy."""


def topic_of_half(topic: str, namespace: str, switches: ReleaseSwitches) -> str:
    """The topic that ``TransactionMQProducer#sendMessageInTransaction(Message, Object)`` sends to.

    Every other send of that producer puts the namespace before the topic (``NamespaceUtil#wrapNamespace``); this one
    does not in 4.5.1 (A32).

    Examples
    --------
    >>> from reference.versions.versions import V4_5_1, V4_9_7
    >>> topic_of_half("T", "NS", V4_5_1), topic_of_half("T", "NS", V4_9_7)
    ('T', 'NS%T')
    """
    return wrap_namespace(namespace, topic) if switches.client_wraps_namespace else topic


def wrap_namespace(namespace: str, topic: str) -> str:
    """A topic in a namespace (``NamespaceUtil#wrapNamespace``)."""
    before = f"{namespace}{_NAMESPACE_SEPARATOR}"
    return topic if not namespace or topic.startswith(before) else f"{before}{topic}"


def properties_of_half(properties: Mapping[str, str], group: str, switches: ReleaseSwitches) -> dict[str, str]:
    """A message's properties as ``DefaultMQProducerImpl#sendMessageInTransaction`` sends them.

    What would make the half wait in another topic (A22, A23) is sent on, in part taken out, or refused
    (``#ensureNotDelayedForTransactional``, 5.5.0).

    Raises
    ------
    MQClientError
        The version refuses what has a delay level or a timer.
    """
    sent = dict(properties)
    if switches.client_refuses_delays and any(name in sent for name in WAITING):
        message = "Transactional messages do not support delayed delivery"
        raise MQClientError(message)
    if switches.client_clears_delay_level:
        sent.pop(DELAY_TIME_LEVEL, None)
    return sent | {TRANSACTION_PREPARED: "true", PRODUCER_GROUP: group}


def properties_of_recovery_duration(seconds: int, time_of_checks: int, switches: ReleaseSwitches) -> dict[str, str]:
    """The proxy's properties of a half for its ``orphanedTransactionRecoveryDuration``, in SendMessageActivity.

    A repaired proxy asks how many seconds all checks of the broker take.

    Raises
    ------
    MQClientError
        It is longer than the proxy allows: an hour (B43).

    Examples
    --------
    >>> from reference.versions.versions import V5_3_3
    >>> properties_of_recovery_duration(3_600, 450, V5_3_3)
    {'CHECK_IMMUNITY_TIME_IN_SECONDS': '3600'}
    """
    most = (
        min(time_of_checks, _MOST_RECOVERY_SECONDS) if switches.proxy_knows_time_of_checks else _MOST_RECOVERY_SECONDS
    )
    if seconds > most:
        message = f"the max transaction recovery time of message is too large, max is {most}"
        raise MQClientError(message)
    return {IMMUNITY_SECONDS: str(seconds)}


def send_back_by_send(
    record: LogRecord, group: str, born_timestamp: int, switches: ReleaseSwitches
) -> SendMessageRequest:
    """A delivered message that its consumer could not handle, on its way to the retry topic by a plain send.

    A consumer does so when the broker does not answer CONSUMER_SEND_MSG_BACK
    (``DefaultMQPushConsumerImpl#sendMessageBack``); the properties are those of the delivered message.
    """
    properties = dict(record.properties)
    properties[RETRY_TOPIC] = record.topic
    if switches.client_clears_tran_msg:
        properties.pop(TRANSACTION_PREPARED, None)
    properties[DELAY_TIME_LEVEL] = str(_FIRST_RETRY_LEVEL + record.reconsume_times)
    return SendMessageRequest(
        topic=retry_topic(group),
        queue_id=0,
        body=record.body,
        born_timestamp=born_timestamp,
        properties=properties,
        flag=record.flag,
        reconsume_times=record.reconsume_times + 1,
    )
