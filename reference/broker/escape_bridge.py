"""Halves of a dead master go to another one (``EscapeBridge``, RIP-32; 5.1.0 and later)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING

from reference.broker.processor.send_message_processor import SendMessageRequest, SendMessageResponse
from reference.broker.response import SUCCESS
from reference.format.properties import (
    ESCAPED_FROM,
    PREPARED_QUEUE_OFFSET,
    REAL_QUEUE_ID,
    REAL_TOPIC,
    TRANSACTION_PREPARED,
    WAIT_STORE_OK,
)
from reference.format.record import TRANSACTION_PREPARED_TYPE

if TYPE_CHECKING:
    from reference.store.message import MessageExt

SendToMaster = Callable[[SendMessageRequest], SendMessageResponse | None]
"""Carries a message to a master of another group, and its answer back; None if either is lost."""


class EscapeBridge:
    """Sends halves to another master, which takes this broker's address for the producer's.

    Attributes
    ----------
    origin
        The broker's name, if a half is to say where it comes from (a repair of B22).
    send_to_master
        The network; None while no other master has the topic (``#putMessageToRemoteBroker``, no route).
    """

    def __init__(self, store_host: str, origin: str = "") -> None:
        self._store_host = store_host
        self._origin = origin
        self.send_to_master: SendToMaster | None = None

    def put_message(self, half: MessageExt) -> bool:
        """Send a half on; whether SEND_OK came back (``#putMessage``, ``TransactionalMessageBridge#escapeMessage``).

        With any other answer the half may be stored all the same, and will be sent once more (B22).
        """
        if self.send_to_master is None:
            return False
        request = _build_transactional_message_from_half_message(half, self._store_host)
        if self._origin:
            origin = {ESCAPED_FROM: f"{self._origin}@{half.queue_offset}"}
            request = replace(request, properties={**request.properties, **origin})
        answer = self.send_to_master(request)
        return answer is not None and answer.response.code == SUCCESS


def _build_transactional_message_from_half_message(half: MessageExt, born_host: str) -> SendMessageRequest:
    """The message that a producer might have sent (``TransactionalMessageUtil``); it keeps the number of its checks.

    Nobody waits for its flush (``EscapeBridge#putMessage``). What names its offsets here is taken out; the other master
    takes the transaction type away again. The flag is lost with ``TransactionalMessageBridge#renewHalfMessageInner``
    (B32). RocketMQ takes any queue that the other master has of the topic; here it is the one of the same number.
    """
    properties = dict(half.properties)
    properties[WAIT_STORE_OK] = "false"
    properties[TRANSACTION_PREPARED] = "true"
    properties.pop(PREPARED_QUEUE_OFFSET, None)
    queue_id = properties.pop(REAL_QUEUE_ID, "0")
    return SendMessageRequest(
        topic=properties[REAL_TOPIC],
        queue_id=int(queue_id),
        body=half.record.body,
        born_timestamp=half.record.born_timestamp,
        properties=properties,
        sys_flag=half.record.sys_flag | TRANSACTION_PREPARED_TYPE,
        born_host=born_host,
    )
