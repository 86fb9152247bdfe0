"""An application that sends what a script says, and whose local transactions come to what it says."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING

from reference.client.producer_messages import LocalTransactionState, Message, MQClientError
from reference.simulation.scheduler import Sleep, Steps

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from reference.broker.transaction.transactional_message_check_listener import CheckTransactionStateRequest
    from reference.client.producer import TransactionMQProducer
    from reference.cluster.cluster import Cluster


COMMIT = LocalTransactionState.COMMIT_MESSAGE
ROLLBACK = LocalTransactionState.ROLLBACK_MESSAGE
UNKNOWN = LocalTransactionState.UNKNOW


class ScriptedListener:
    """Answers by the message, and remembers what it has run: a check of a transaction that never ran is a rollback.

    Parameters
    ----------
    local
        What the local transaction says of a message's body.
    checked
        What a check is answered, for a body and how often it was asked before.
    local_ms
        How long the local transaction takes.
    slow
        How long it takes instead for some bodies.
    """

    def __init__(
        self,
        local: Callable[[str], LocalTransactionState],
        checked: Callable[[str, int], LocalTransactionState],
        local_ms: int = 5,
        slow: Mapping[str, int] | None = None,
    ) -> None:
        self.executed: list[str] = []
        """The unique keys of the local transactions that ran."""
        self.checks: list[CheckTransactionStateRequest] = []
        """The check requests that came, in order."""
        self._local = local
        self._checked = checked
        self._local_ms = local_ms
        self._slow = slow or {}
        self._asked: dict[str, int] = {}

    def execute_local_transaction(self, message: Message, transaction_id: str) -> Steps[LocalTransactionState]:
        """See :class:`reference.client.producer.TransactionListener`."""
        self.executed.append(transaction_id)
        body = message.body.decode()
        yield Sleep(self._slow.get(body, self._local_ms))
        return self._local(body)

    def check_local_transaction(self, request: CheckTransactionStateRequest) -> Steps[LocalTransactionState]:
        """See :class:`reference.client.producer.TransactionListener`."""
        yield None
        self.checks.append(request)
        key = request.transaction_id or ""
        asked = self._asked.get(key, 0)
        self._asked[key] = asked + 1
        return self._checked(request.body.decode(), asked) if key in self.executed else ROLLBACK


def send_all(
    cluster: Cluster, producer: TransactionMQProducer, messages: Iterable[Message], pause_ms: int = 10
) -> Steps[None]:
    """Send each message in a transaction, with a pause behind it; what can't be sent is left out."""
    for message in messages:
        yield from cluster.connected()
        with suppress(MQClientError):
            yield from producer.send_message_in_transaction(message)
        yield Sleep(pause_ms)
