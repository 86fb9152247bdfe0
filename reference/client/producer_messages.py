"""The interface of a transaction producer: messages, listeners, results, and the network that it needs."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import Enum
from typing import TYPE_CHECKING, Protocol

from reference.broker.processor.end_transaction_processor import (
    TRANSACTION_NOT_TYPE,
    TRANSACTION_ROLLBACK,
    EndTransactionRequestHeader,
)
from reference.broker.response import SUCCESS
from reference.errors import BrokerError
from reference.format.properties import KEYS, TAGS, WAIT_STORE_OK
from reference.format.record import TRANSACTION_COMMIT

if TYPE_CHECKING:
    from reference.broker.processor.send_message_processor import SendMessageRequest, SendMessageResponse
    from reference.broker.transaction.transactional_message_check_listener import CheckTransactionStateRequest
    from reference.simulation.scheduler import Steps


class LocalTransactionState(Enum):
    """The outcome of a local transaction; the value is ``commitOrRollback`` of its END_TRANSACTION."""

    COMMIT_MESSAGE = TRANSACTION_COMMIT
    ROLLBACK_MESSAGE = TRANSACTION_ROLLBACK
    UNKNOW = TRANSACTION_NOT_TYPE


class SendStatus(Enum):
    """``SendStatus``; the value is the response code that stands for it."""

    SEND_OK = SUCCESS
    FLUSH_DISK_TIMEOUT = 10
    SLAVE_NOT_AVAILABLE = 11
    FLUSH_SLAVE_TIMEOUT = 12


class MQClientError(BrokerError):
    """A message could not be sent (``MQClientException``)."""


class RemotingError(BrokerError):
    """The broker could not be reached, or the connection broke before it answered (``RemotingException``)."""


class RejectedExecutionError(BrokerError):
    """A check came while as many as may wait were waiting (``RejectedExecutionException``)."""


@dataclass
class Message:
    """A message that an application sends (``org.apache.rocketmq.common.message.Message``)."""

    topic: str
    body: bytes
    tags: str = ""
    keys: str = ""
    flag: int = 0
    properties: dict[str, str] = field(default_factory=dict)
    """In the order in which they were put."""

    def __post_init__(self) -> None:
        own = {TAGS: self.tags, KEYS: self.keys, WAIT_STORE_OK: "true"}
        self.properties = {key: value for key, value in own.items() if value} | self.properties


class TransactionListener(Protocol):
    """The interface that an application implements (``TransactionListener``); an exception counts as UNKNOW."""

    def execute_local_transaction(self, message: Message, transaction_id: str) -> Steps[LocalTransactionState]:
        """Run the local transaction, once the half is stored."""

    def check_local_transaction(self, request: CheckTransactionStateRequest) -> Steps[LocalTransactionState]:
        """Say what became of it (``TransactionListener#checkLocalTransaction``)."""


class MQClientAPI(Protocol):
    """The network, as a producer sees it (``MQClientAPIImpl``)."""

    def send_message(self, request: SendMessageRequest) -> Steps[SendMessageResponse]:
        """SEND_MESSAGE, and the wait for its answer; `RemotingError` if there is none."""

    def end_transaction_oneway(self, header: EndTransactionRequestHeader) -> None:
        """END_TRANSACTION; nobody waits for an answer."""
