"""A client that can be asked: its telemetry stream (``GrpcClientChannel``)."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any, Final

from reference.format.properties import PRODUCER_GROUP
from wire.proxy.converted_message import converted
from wire.proxy.protocol.messages import RecoverOrphanedTransactionCommand, TelemetryCommand
from wire.proxy.server_call import GrpcStatus
from wire.remoting.codes import RequestCode
from wire.remoting.messages import decode_records

if TYPE_CHECKING:
    from collections.abc import Mapping

    from reference.proxy.transaction_data import TransactionDataManager
    from wire.proxy.server_call import ServerCall
    from wire.remoting.command import RemotingCommand

MOST_WAITING_BYTES: Final = 8 << 20
"""So much may wait for a client that reads nothing; with more its stream ends."""


class TelemetryStream:
    """The commands on their way to a client, in their order."""

    __slots__ = ("_call", "is_open")

    def __init__(self, call: ServerCall) -> None:
        self._call = call
        self.is_open = True

    def put(self, command: Any) -> None:
        """Send a command; nothing happens if the stream has ended."""
        if not self.is_open:
            return
        if self._call.stream.waits > MOST_WAITING_BYTES:
            self.is_open = False
            message = f"more than {MOST_WAITING_BYTES} bytes of commands wait to be read"
            self._call.refuse(GrpcStatus.RESOURCE_EXHAUSTED, message)
            asyncio.get_running_loop().call_soon(self._call.take_loss)  # whoever asks it goes through all clients now
        else:
            self._call.send(command.SerializeToString())

    def end(self) -> None:
        """End it behind what was sent."""
        if self.is_open:
            self.is_open = False
            self._call.succeed()


class GrpcClientChannel:
    """One client, by its id, while its stream stands.

    Parameters
    ----------
    transactions
        To which each check that is relayed adds an entry (``AbstractProxyRelayService#processCheckTransactionState``).
    """

    def __init__(self, client_id: str, stream: TelemetryStream, transactions: TransactionDataManager) -> None:
        self.address = client_id
        self.stream = stream
        self._transactions = transactions

    @property
    def is_open(self) -> bool:
        """Whether its stream stands, as far as is known."""
        return self.stream.is_open

    def send(self, command: RemotingCommand) -> None:
        """No answer goes this way."""

    def call_oneway(self, code: RequestCode, fields: Mapping[str, str], body: bytes, _version: int) -> str:
        """Pass a check on; what else a broker asks of its clients, the proxy does not."""
        if code != RequestCode.CHECK_TRANSACTION_STATE:
            return ""
        (record,) = decode_records(body)
        transaction_id = fields.get("transactionId", "")
        self._transactions.add(
            record.properties.get(PRODUCER_GROUP, ""),
            transaction_id,
            int(fields["tranStateTableOffset"]),
            int(fields["commitLogOffset"]),
        )
        command = RecoverOrphanedTransactionCommand(
            message=converted(record, record.topic, attempt=record.reconsume_times + 1), transaction_id=transaction_id
        )
        self.stream.put(TelemetryCommand(recover_orphaned_transaction_command=command))
        return self.address if self.is_open else ""

    def close(self) -> None:
        """End the stream."""
        self.stream.end()

    def hold(self) -> None:
        """Its calls wait by themselves while time is pushed."""

    def go_on(self) -> None:
        """See :meth:`hold`."""
