"""The proxy's requests to its broker, in the same process (``LocalMessageService``)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, TypeVar

from wire.remoting.command import ONEWAY_FLAG, RemotingCommand, java_text
from wire.requests.handlers import handle
from wire.requests.request import Request

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from wire.node.broker_node import BrokerNode
    from wire.remoting.codes import RequestCode

T = TypeVar("T")

NO_ADDRESS: Final = "127.0.0.1:0"


@dataclass(slots=True)
class InvocationChannel:
    """The channel of one request, which is answered at once (``SimpleChannel``)."""

    address: str
    is_open: bool = False

    def send(self, command: RemotingCommand) -> None:
        """Nobody waits for a later answer."""

    def call_oneway(self, _code: RequestCode, _fields: Mapping[str, str], _body: bytes, _version: int) -> str:
        """Nobody can be asked over it."""
        return ""

    def close(self) -> None:
        """There is nothing to close."""

    def hold(self) -> None:
        """There is nothing to hold."""

    def go_on(self) -> None:
        """Nothing was held."""


def ask_broker(
    node: BrokerNode,
    code: RequestCode,
    fields: Mapping[str, object],
    body: bytes = b"",
    *,
    address: str = NO_ADDRESS,
    is_oneway: bool = False,
) -> RemotingCommand:
    """Let the broker handle a request as if it had come over its port, and give its answer.

    Of one that is one-way the answer says nothing. `RemotingError` or `BrokerIsDownError` if its process is gone, or
    dies over it.
    """
    texts = {key: java_text(value) for key, value in fields.items() if value is not None}
    command = RemotingCommand(
        int(code), texts, body, flag=ONEWAY_FLAG if is_oneway else 0, version=node.version, language="JAVA"
    )
    request = Request(command, InvocationChannel(address), node.version)
    answer = handle(node, request)
    return request.answer() if answer is None else answer


def at_broker(node: BrokerNode, work: Callable[[], T]) -> T:
    """Do something in the broker, at the time that it is; raises as :func:`ask_broker` does."""
    node.keep_time()
    if node.is_up and node.broker.message_store.is_behind:
        node.run_threads()
    return node.serve(node.broker, work)
