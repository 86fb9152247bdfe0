"""Light queues: further consume queues that a message asks to be entered in (``LmqDispatch``, 4.9.3 and later).

Which topics are left out is asked by a prefix in small letters, so that the half topic is not one of them (B34).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from reference.format.properties import WAIT_STORE_OK, message_properties_to_string
from reference.format.system_topics import DISCARD_TOPIC, HALF_TOPIC, SCHEDULE_TOPIC, retry_topic

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from reference.store.message import MessageExtBrokerInner
    from reference.versions.switches import ReleaseSwitches

MULTI_DISPATCH: Final = "INNER_MULTI_DISPATCH"
"""The names of the queues, with commas between them."""

MULTI_QUEUE_OFFSET: Final = "INNER_MULTI_QUEUE_OFFSET"
LIGHT_QUEUE_ID: Final = 0
LIGHT_QUEUE_PREFIX: Final = "%LMQ%"
_SEPARATOR = ","


def light_queues(topic: str, properties: Mapping[str, str], switches: ReleaseSwitches) -> tuple[str, ...]:
    """The light queues that a stored message is entered in (``MixAll#topicAllowsLMQ``).

    Examples
    --------
    >>> from reference.versions.versions import V5_3_3
    >>> asked = {MULTI_DISPATCH: "%LMQ%a,%LMQ%b"}
    >>> light_queues("Orders", asked, V5_3_3), light_queues("rmq_sys_wheel_timer", asked, V5_3_3)
    (('%LMQ%a', '%LMQ%b'), ())
    >>> light_queues("RMQ_SYS_TRANS_HALF_TOPIC", asked, V5_3_3)
    ('%LMQ%a', '%LMQ%b')
    """
    asked = properties.get(MULTI_DISPATCH)
    if not asked or not switches.has_light_queues or topic == SCHEDULE_TOPIC:
        return ()
    if topic.startswith((retry_topic(""), "rmq_sys_")):
        return ()
    if switches.hides_halves_from_light_queues and topic in (HALF_TOPIC, DISCARD_TOPIC):
        return ()
    return tuple(name for name in asked.split(_SEPARATOR) if name.startswith(LIGHT_QUEUE_PREFIX))


def wrap_lmq_dispatch(
    message: MessageExtBrokerInner, switches: ReleaseSwitches, next_offset: Callable[[str], int]
) -> None:
    """Write the message's offset in each light queue into its properties (``#wrapLmqDispatch``).

    WAIT is left out; from 5.2.0 on it is put in again where the log appends it.
    """
    properties = message.properties
    names = light_queues(message.topic, properties, switches)
    if names:
        properties[MULTI_QUEUE_OFFSET] = _SEPARATOR.join(str(next_offset(name)) for name in names)
        keeps_wait = switches.keeps_wait_of_light
        stored = {key: value for key, value in properties.items() if keeps_wait or key != WAIT_STORE_OK}
        message.properties_text = message_properties_to_string(stored, switches)
