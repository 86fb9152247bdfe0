"""The connected producers, to which check requests can be sent (``ProducerManager``)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from reference.versions.switches import ReleaseSwitches

_RETRY_COUNT = 3
"""``GET_AVAILABLE_CHANNEL_RETRY_COUNT``"""


@dataclass(slots=True)
class Channel:
    """A connection, as the broker sees it."""

    is_active: bool = True
    """False when the other side is gone and nobody has noticed yet (``Channel#isActive``)."""
    is_writable: bool = True
    """False while what was sent before waits to go out (``Channel#isWritable``)."""


class ProducerManager:
    """The channels of the producer groups, in the order in which they came.

    Nobody keeps them but the connections: when a broker starts again, its clients connect again by themselves.
    """

    def __init__(self, switches: ReleaseSwitches) -> None:
        self._switches = switches
        self._group_channel_table: dict[str, dict[str, Channel]] = {}
        self._positive_atomic_counter = 0

    def register_producer(self, group: str, channel: str) -> Channel:
        """A producer of the group sent a heartbeat over a channel (``#registerProducer``)."""
        channels = self._group_channel_table.setdefault(group, {})
        known = channels.get(channel)
        if known is None:
            known = channels[channel] = Channel()
        return known

    def do_channel_close_event(self, channel: str) -> None:
        """A connection ended (``#doChannelCloseEvent``)."""
        for channels in self._group_channel_table.values():
            channels.pop(channel, None)

    def connected(self) -> list[tuple[str, str]]:
        """Each group with each channel to a producer of it."""
        return [(group, channel) for group, channels in self._group_channel_table.items() for channel in channels]

    def get_available_channel(self, group: str | None) -> str | None:
        """A channel to some producer of the group, in turn (``#getAvailableChannel``; ``#getAvaliableChannel`` in 4.x).

        Three are looked at, from the next one on (B38). None if none of them is free: from 4.6.1 on the last of them
        that is at least active (A25).
        """
        channels = list(self._group_channel_table.get(group or "", {}).items())
        if not channels:
            return None
        self._positive_atomic_counter += 1
        last_active = None
        tries = len(channels) if self._switches.asks_every_channel else _RETRY_COUNT
        for index in range(self._positive_atomic_counter, self._positive_atomic_counter + tries):
            name, channel = channels[index % len(channels)]
            if channel.is_active and channel.is_writable:
                return name
            if channel.is_active:
                last_active = name
        return last_active if self._switches.falls_back_to_busy_channel else None
