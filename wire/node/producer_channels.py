"""The producer that a check goes to: the broker's table of channels, with the connection that it chose."""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING

from reference.broker.producer_manager import ProducerManager

if TYPE_CHECKING:
    from collections.abc import Callable

    from reference.broker.transaction.transactional_message_check_listener import CheckTransactionStateRequest
    from reference.versions.switches import ReleaseSwitches


class ProducerChannels(ProducerManager):
    """The channels of producer groups, by the address of their connections.

    Attributes
    ----------
    chosen
        The channel that was given last.
    unreachable
        Groups whose channels are taken for gone, whatever their connections do.
    """

    def __init__(self, switches: ReleaseSwitches) -> None:
        super().__init__(switches)
        self.chosen: str | None = None
        self.unreachable: set[str] = set()

    def get_available_channel(self, group: str | None) -> str | None:
        """See :class:`ProducerManager`."""
        self.chosen = None if group in self.unreachable else super().get_available_channel(group)
        return self.chosen

    def unregister_producer(self, group: str, channel: str) -> None:
        """A producer of the group has ended (``#unregisterProducer``)."""
        self._group_channel_table.get(group, {}).pop(channel, None)

    def groups(self) -> dict[str, list[str]]:
        """By group the addresses of those that are connected."""
        return {group: list(channels) for group, channels in self._group_channel_table.items() if channels}


class CheckQueue(deque["CheckTransactionStateRequest"]):
    """The queue of a broker's checks, which passes each on at once to the channel that was chosen for it."""

    def __init__(
        self, channels: ProducerChannels, send: Callable[[CheckTransactionStateRequest, str | None], None]
    ) -> None:
        super().__init__()
        self._channels = channels
        self._send = send

    def append(self, request: CheckTransactionStateRequest) -> None:
        """Send a check."""
        self._send(request, self._channels.chosen)
