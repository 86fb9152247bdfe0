"""The connected consumers, the subscriptions of their groups, and the locks on queues.

``ConsumerManager``, ``ConsumerGroupInfo`` and ``RebalanceLockManager``.
"""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

LOCK_SECONDS: Final = 60.0
"""``REBALANCE_LOCK_MAX_LIVE_TIME``"""

Queue = tuple[str, int]


@dataclass(slots=True)
class Consumer:
    """One client of a group."""

    address: str
    client_id: str
    language: str
    version: int


@dataclass(slots=True)
class ConsumerGroup:
    """A group with its clients by their address, and its subscriptions by topic as in the last heartbeat."""

    name: str
    message_model: str = "CLUSTERING"
    consume_type: str = "CONSUME_PASSIVELY"
    consume_from_where: str = "CONSUME_FROM_LAST_OFFSET"
    clients: dict[str, Consumer] = field(default_factory=dict)
    subscriptions: dict[str, dict[str, Any]] = field(default_factory=dict)

    @property
    def client_ids(self) -> list[str]:
        """Of all clients."""
        return [client.client_id for client in self.clients.values()]


class ConsumerGroups:
    """All groups of one broker.

    Nothing of it outlives a process: its clients send their heartbeats to the next one.
    """

    def __init__(self) -> None:
        self._groups: dict[str, ConsumerGroup] = {}
        self._locks: dict[str, dict[Queue, tuple[str, float]]] = {}
        self._fingerprints: dict[str, int] = {}

    def find(self, name: str) -> ConsumerGroup | None:
        """A group that has clients."""
        return self._groups.get(name)

    def client_ids(self) -> dict[str, list[str]]:
        """By group the ids of its clients."""
        return {name: group.client_ids for name, group in self._groups.items()}

    def subscribed_to(self, topic: str) -> list[str]:
        """The groups that have subscribed to a topic (``#queryTopicConsumeByWho``)."""
        return [group.name for group in self._groups.values() if topic in group.subscriptions]

    def register(self, consumer: Consumer, data: Mapping[str, Any], *, keeps_subscriptions: bool = False) -> bool:
        """A heartbeat of a consumer (``#registerConsumer``); whether clients or subscriptions are others than before.

        A heartbeat that leaves the subscriptions out keeps them (``#registerConsumerWithoutSub``).
        """
        name = str(data["groupName"])
        group = self._groups.setdefault(name, ConsumerGroup(name))
        before = {topic: each.get("subString") for topic, each in group.subscriptions.items()}
        is_new = consumer.address not in group.clients
        group.clients[consumer.address] = consumer
        group.message_model = str(data.get("messageModel", group.message_model))
        group.consume_type = str(data.get("consumeType", group.consume_type))
        group.consume_from_where = str(data.get("consumeFromWhere", group.consume_from_where))
        if keeps_subscriptions:
            return is_new
        subscriptions = data.get("subscriptionDataSet") or []
        group.subscriptions = {str(each["topic"]): dict(each) for each in subscriptions}
        return is_new or before != {topic: each.get("subString") for topic, each in group.subscriptions.items()}

    def takes_fingerprint(self, name: str, fingerprint: int) -> bool:
        """Keep a heartbeat's fingerprint; whether there was another one before (``#heartBeatV2``)."""
        before = self._fingerprints.get(name)
        self._fingerprints[name] = fingerprint
        return before is not None and before != fingerprint

    def unregister(self, name: str, address: str) -> bool:
        """A consumer has ended; whether it was there."""
        group = self._groups.get(name)
        if group is None or group.clients.pop(address, None) is None:
            return False
        if not group.clients:
            del self._groups[name]
        return True

    def close(self, address: str) -> list[str]:
        """A connection ended (``#doChannelCloseEvent``); gives the groups that lost a client by it."""
        return [name for name in list(self._groups) if self.unregister(name, address)]

    def clear(self) -> None:
        """The process is gone, with what it knew."""
        self._groups.clear()
        self._fingerprints.clear()
        self._locks.clear()

    def lock(self, group: str, client_id: str, queues: Iterable[Queue]) -> list[Queue]:
        """Lock queues for a client; gives those that it holds now (``RebalanceLockManager#tryLockBatch``)."""
        now, locks, held = time.monotonic(), self._locks.setdefault(group, {}), []
        for queue in queues:
            owner, since = locks.get(queue, (client_id, now))
            if owner == client_id or now - since > LOCK_SECONDS:
                locks[queue] = client_id, now
                held.append(queue)
        return held

    def unlock(self, group: str, client_id: str, queues: Iterable[Queue]) -> None:
        """Give locks back (``RebalanceLockManager#unlockBatch``)."""
        locks = self._locks.get(group, {})
        for queue in queues:
            if queue in locks and locks[queue][0] == client_id:
                del locks[queue]
