"""Settings: what clients say of themselves, and what the proxy tells them to do (``GrpcClientSettingsManager``)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from reference.store.delay_levels import DELAYS_MS
from wire.proxy.limits import (
    LITE_TOPIC_BYTES,
    LITE_TOPICS,
    MOST_BODY_BYTES,
    MOST_POLLING_MS,
    POLLING_BATCH,
    PRODUCER_ATTEMPTS,
    PRODUCER_BACKOFF_MS,
    PRODUCER_BACKOFF_MULTIPLIER,
)
from wire.proxy.protocol.messages import Settings

if TYPE_CHECKING:
    from collections.abc import Mapping

_RETRIES: Final = 16
"""``retryMaxTimes`` of a group that nobody has set."""

_MOST_LEFT: Final = 10_000
"""So many clients whose stream has ended are known still."""


def completed(settings: Any, group: Mapping[str, Any] | None) -> Any:
    """A client's settings with what the proxy decides: of a producer its backoff, of a consumer its polling.

    Parameters
    ----------
    group
        The settings of the consumer's group, which an operator may have changed; None for a producer.
    """
    complete = Settings()
    complete.CopyFrom(settings)
    complete.metric.on = False
    if settings.HasField("publishing"):
        complete.publishing.validate_message_type, complete.publishing.max_body_size = True, MOST_BODY_BYTES
        complete.backoff_policy.max_attempts = PRODUCER_ATTEMPTS
        backoff = complete.backoff_policy.exponential_backoff
        backoff.initial.FromMilliseconds(PRODUCER_BACKOFF_MS[0])
        backoff.max.FromMilliseconds(PRODUCER_BACKOFF_MS[1])
        backoff.multiplier = PRODUCER_BACKOFF_MULTIPLIER
    elif settings.HasField("subscription"):
        _complete_consumer(complete, group or {})
    return complete


def is_fifo(group: Mapping[str, Any]) -> bool:
    """Whether a group consumes in order (``consumeMessageOrderly``)."""
    return bool(group.get("consumeMessageOrderly", False))


def _complete_consumer(complete: Any, group: Mapping[str, Any]) -> None:
    """``#mergeSubscriptionData``; a group's retry policy is the customized one, with the delays of the levels."""
    subscription = complete.subscription
    subscription.receive_batch_size = POLLING_BATCH
    subscription.long_polling_timeout.FromMilliseconds(MOST_POLLING_MS)
    subscription.fifo = is_fifo(group)
    subscription.lite_subscription_quota, subscription.max_lite_topic_size = LITE_TOPICS, LITE_TOPIC_BYTES
    complete.backoff_policy.max_attempts = int(group.get("retryMaxTimes", _RETRIES)) + 1
    complete.backoff_policy.ClearField("strategy")
    for delay in DELAYS_MS:
        complete.backoff_policy.customized_backoff.next.add().FromMilliseconds(delay)


class ClientSettings:
    """The settings of each client, as it has sent them last."""

    def __init__(self) -> None:
        self._of: dict[str, Any] = {}
        self._left: dict[str, None] = {}

    def get(self, client_id: str) -> Any | None:
        """What a client has sent; None before it has."""
        return self._of.get(client_id)

    def put(self, client_id: str, settings: Any) -> None:
        """Keep them while its stream stands."""
        self._of[client_id] = settings
        self._left.pop(client_id, None)

    def leave(self, client_id: str) -> None:
        """Its stream has ended; of very many such clients those that left first are forgotten."""
        if client_id in self._of:
            self._left[client_id] = None
        if len(self._left) > _MOST_LEFT:
            self.remove(next(iter(self._left)))

    def remove(self, client_id: str) -> Any | None:
        """Forget a client, and give what it had sent."""
        self._left.pop(client_id, None)
        return self._of.pop(client_id, None)

    def clear(self) -> None:
        """Forget all."""
        self._of.clear()
        self._left.clear()
