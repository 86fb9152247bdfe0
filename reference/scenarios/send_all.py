"""The program of most demonstrations: send some messages one after the other, and go on where one could not be sent."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING

from reference.client.producer import MQClientError
from reference.simulation.scheduler import Sleep, Steps

if TYPE_CHECKING:
    from collections.abc import Iterable

    from reference.client.producer import Message, TransactionMQProducer
    from reference.cluster.cluster import Cluster


def send_all(
    cluster: Cluster, producer: TransactionMQProducer, messages: Iterable[Message], pause_ms: int = 10
) -> Steps[None]:
    """Send each message in a transaction, with a pause behind it; what can't be sent is left out."""
    for message in messages:
        yield from cluster.connected()
        with suppress(MQClientError):
            yield from producer.send_message_in_transaction(message)
        yield Sleep(pause_ms)
