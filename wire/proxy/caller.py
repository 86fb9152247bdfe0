"""Who makes a call (``ContextInitPipeline``)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Self
from urllib.parse import unquote

from wire.proxy.protocol.messages import Code
from wire.proxy.refusal import ProxyRefusal

if TYPE_CHECKING:
    from collections.abc import Mapping

_MOST_ID = 255


@dataclass(frozen=True, slots=True)
class Caller:
    """The client of a call, by its headers."""

    client_id: str
    language: str
    version: str
    address: str
    """Where its connection comes from."""
    remaining_ms: float | None
    """How long it waits for the answer; None for ever."""

    @classmethod
    def of(cls, context: Any, clients: Mapping[str, str]) -> Self:
        """Read the headers; CLIENT_ID_REQUIRED without an id (``GrpcMessagingApplication#validateContext``).

        Of a client whose connection is handed on, `clients` has the address, by that from which it is.
        """
        headers: Mapping[str, Any] = {str(key): value for key, value in context.invocation_metadata() or ()}
        client_id = str(headers.get("x-mq-client-id", ""))
        if not client_id.strip():
            raise ProxyRefusal(Code.CLIENT_ID_REQUIRED, "client id cannot be empty")
        peer = address_of(context.peer())
        seconds = context.time_remaining()
        return cls(
            client_id[:_MOST_ID],
            str(headers.get("x-mq-language", "")),
            str(headers.get("x-mq-client-version", "")),
            clients.get(peer, peer),
            None if seconds is None else seconds * 1_000,
        )


def address_of(peer: str) -> str:
    """``HOST:PORT`` of a peer as gRPC names it.

    Examples
    --------
    >>> address_of("ipv4:127.0.0.1:4242"), address_of("ipv6:%5B::1%5D:4242")
    ('127.0.0.1:4242', '[::1]:4242')
    """
    return unquote(peer.partition(":")[2]) if peer.startswith("ip") else "127.0.0.1:0"
