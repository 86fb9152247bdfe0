"""One stream of a connection: what comes in it goes to its receiver, and what is sent in it waits for the windows."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Final, Protocol

from wire.proxy.http2.frames import END_HEADERS, END_STREAM, MOST_FRAME_BYTES, FrameKind, frame

if TYPE_CHECKING:
    from wire.proxy.http2.connection import Http2Connection

_NO_ERROR: Final = bytes(4)


class Receiver(Protocol):
    """Who takes what a client sends in a stream."""

    def take(self, data: bytes) -> None:
        """Some bytes."""

    def end(self) -> None:
        """The client sends no more."""

    def lost(self) -> None:
        """The stream has ended before its answer was sent; nothing can be sent any more."""


class Http2Stream:
    """A stream, from its headers on until both sides have ended it, or one has broken it off."""

    __slots__ = (
        "_data", "_drained", "_trailers", "connection", "is_gone", "is_open", "is_taken", "receiver", "stream_id",
        "taken", "window",
    )  # fmt: skip

    def __init__(self, connection: Http2Connection, stream_id: int, window: int) -> None:
        self.connection = connection
        self.stream_id = stream_id
        self.window = window
        """What may be sent in it."""
        self.taken = 0
        """Bytes that came since its client was told to go on."""
        self.receiver: Receiver | None = None
        self.is_open = True
        """Whether more may be sent: it was neither ended nor broken off."""
        self.is_gone = False
        """Whether all was sent, or it was broken off."""
        self.is_taken = False
        """Whether the client has said that it sends no more."""
        self._data = bytearray()
        self._trailers = b""
        self._drained: asyncio.Event | None = None

    # --- what comes ---------------------------------------------------------------------------------------------------

    def take(self, data: bytes, *, is_last: bool) -> None:
        """Some bytes, and whether they are the last; nothing is done with them where it was answered."""
        self.is_taken = self.is_taken or is_last
        if data and self.is_open and self.receiver is not None:
            self.receiver.take(data)
        if is_last and self.is_open and self.receiver is not None:
            self.receiver.end()

    def lost(self) -> None:
        """It is broken off."""
        if self.is_gone:
            return
        self._close()
        if self.receiver is not None:
            self.receiver.lost()

    # --- what is sent -------------------------------------------------------------------------------------------------

    @property
    def waits(self) -> int:
        """How many bytes wait for a window."""
        return len(self._data)

    def send_headers(self, block: bytes) -> None:
        """Send headers of one frame."""
        if self.is_open:
            self.connection.write(frame(FrameKind.HEADERS, END_HEADERS, self.stream_id, block))

    def send(self, data: bytes) -> None:
        """Send some bytes, now or when the windows allow it; nothing happens if it has ended."""
        if not self.is_open:
            return
        length, connection = len(data), self.connection
        if (
            not self._data
            and connection.is_writable
            and length <= min(self.window, connection.window, MOST_FRAME_BYTES)
        ):
            self.window -= length
            connection.window -= length
            connection.write(frame(FrameKind.DATA, 0, self.stream_id, data))
        else:
            self._data += data
            self.go_on()

    def end(self, trailers: bytes) -> None:
        """End it with trailers of one frame, behind all that was sent."""
        if not self.is_open:
            return
        self.is_open, self._trailers = False, trailers
        if not self._data:
            self._finish()

    async def drained(self) -> None:
        """Wait until nothing waits any more, or it has ended."""
        if self._data and not self.is_gone:
            self._drained = asyncio.Event()
            await self._drained.wait()

    def go_on(self) -> None:
        """Send of what waits as much as the windows allow."""
        connection = self.connection
        while self._data and not self.is_gone and connection.is_writable:
            length = min(len(self._data), self.window, connection.window, MOST_FRAME_BYTES)
            if length <= 0:
                return
            self.window -= length
            connection.window -= length
            connection.write(frame(FrameKind.DATA, 0, self.stream_id, bytes(self._data[:length])))
            del self._data[:length]
        if not self._data and self._drained is not None:
            self._drained.set()
        if not self._data and not self.is_open:
            self._finish()

    def _finish(self) -> None:
        if self.is_gone:
            return
        end = frame(FrameKind.HEADERS, END_HEADERS | END_STREAM, self.stream_id, self._trailers)
        if not self.is_taken:  # the client need not send the rest (RFC 9113, section 8.1)
            end += frame(FrameKind.RST_STREAM, 0, self.stream_id, _NO_ERROR)
        self.connection.write(end)
        self._close()

    def _close(self) -> None:
        self.is_open, self.is_gone = False, True
        if self._drained is not None:
            self._drained.set()
        connection = self.connection
        connection.streams.pop(self.stream_id, None)
        connection.active_at = asyncio.get_running_loop().time()
