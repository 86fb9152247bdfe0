"""Who makes a call (``ContextInitPipeline``)."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple, Self

from wire.proxy.protocol.messages import Code
from wire.proxy.refusal import ProxyRefusal
from wire.proxy.server_call import timeout_ms

if TYPE_CHECKING:
    from collections.abc import Mapping

_MOST_ID = 255


class Caller(NamedTuple):
    """The client of a call, by its headers."""

    client_id: str
    language: str
    version: str
    address: str
    """Where its connection comes from."""
    remaining_ms: float | None
    """How long it waits for the answer; None for ever."""

    @classmethod
    def of(cls, headers: Mapping[str, str], address: str, waited_ms: float) -> Self:
        """Read the headers; CLIENT_ID_REQUIRED without an id (``GrpcMessagingApplication#validateContext``).

        Parameters
        ----------
        waited_ms
            For how long the client waits by now.
        """
        client_id = headers.get("x-mq-client-id", "")
        if not client_id.strip():
            raise ProxyRefusal(Code.CLIENT_ID_REQUIRED, "client id cannot be empty")
        patience = timeout_ms(headers.get("grpc-timeout", ""))
        return cls(
            client_id[:_MOST_ID],
            headers.get("x-mq-language", ""),
            headers.get("x-mq-client-version", ""),
            address,
            None if patience is None else patience - waited_ms,
        )
