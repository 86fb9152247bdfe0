"""What surrounds a broker's process: a client's channel to it, a port of it, and the proxies before it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, Protocol

if TYPE_CHECKING:
    from collections.abc import Mapping

    from wire.remoting.codes import RequestCode
    from wire.remoting.command import RemotingCommand

MOST_PROXIES: Final = 2
"""So many stand before a broker at most."""


class ClientChannel(Protocol):
    """A client that the broker may answer, and ask."""

    address: str
    """By which the broker knows it."""

    @property
    def is_open(self) -> bool:
        """Whether it can be reached, as far as is known."""

    def send(self, command: RemotingCommand) -> None:
        """Send a command; nothing happens if it has ended."""

    def call_oneway(self, code: RequestCode, fields: Mapping[str, str], body: bytes, version: int, /) -> str:
        """Ask the client something that it does not answer (``Broker2Client``).

        Gives whom it has reached as far as is known, by address or client id; empty for nobody.
        """

    def close(self) -> None:
        """End it now."""

    def hold(self) -> None:
        """Read nothing from now on; what the client sends waits."""

    def go_on(self) -> None:
        """Read again."""


class BrokerPort(Protocol):
    """A port on which the process listens."""

    async def listen(self) -> None:
        """Begin to listen, also anew; `WireError` if that can't be."""

    def stop(self) -> None:
        """Listen no more, and end every connection."""

    async def closed(self) -> None:
        """Wait until a port that is to be closed is."""


class ProxyControl(Protocol):
    """What a test may do to a proxy before a broker."""

    @property
    def address(self) -> str:
        """Where its clients connect to."""

    @property
    def transactions(self) -> int:
        """How many entries of transactions it has (``TransactionDataManager``)."""

    @property
    def producers(self) -> dict[str, list[str]]:
        """By group the ids of its clients that can be asked."""

    def lose_broker(self) -> None:
        """The broker's process is gone: in local mode the proxy is, too, with settings, transactions and streams."""

    async def restart(self) -> None:
        """Stop it, and start it again on the same port; the broker behind it goes on."""

    def drop_transaction_data(self) -> int:
        """Forget all transactions; gives how many entries there were."""
