"""One connection of a client: frames in, frames out, and the identity of the other side."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Final, cast

from wire.errors import MalformedFrameError
from wire.remoting.command import ONEWAY_FLAG, RemotingCommand, decode, encode
from wire.remoting.frames import FrameReader

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from wire.remoting.codes import RequestCode

MOST_WAITING_BYTES: Final = 64 << 20
"""The most bytes that wait for a client that reads nothing; beyond it, the connection is closed."""

MOST_IDLE_SECONDS: Final = 120.0
"""``serverChannelMaxIdleTimeSeconds``: what neither sends nor gets anything for so long is closed. A Java client that
has connected anew after a timeout leaves its old connection open, and counts on that."""


class Connection(asyncio.Protocol):
    """A client's connection.

    Parameters
    ----------
    on_command, on_read
        Called for each command that comes, and when all that came at once were.
    on_open, on_close
        Called once each; the second with why it ended where that was the client's fault, else with an empty text.

    Attributes
    ----------
    address
        ``127.0.0.1:4242`` of the other side, which names the channel.
    is_open
        False once it has ended.
    """

    def __init__(
        self,
        on_command: Callable[[Connection, RemotingCommand], None],
        on_read: Callable[[], None],
        on_open: Callable[[Connection], None],
        on_close: Callable[[Connection, str], None],
    ) -> None:
        self.address = ""
        self.is_open = False
        self._on_command = on_command
        self._on_read = on_read
        self._on_open = on_open
        self._on_close = on_close
        self._frames = FrameReader()
        self._transport: asyncio.Transport | None = None
        self._opaque = 0
        self._why = ""
        self._answers: list[bytes] | None = None
        self._loop = asyncio.get_running_loop()
        self._active_at = self._loop.time()
        self._timer: asyncio.TimerHandle | None = None
        self._is_held = False

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """See :class:`asyncio.Protocol`."""
        stream = cast("asyncio.Transport", transport)
        peer = transport.get_extra_info("peername")
        if peer is None:  # it is gone already
            stream.abort()
            return
        host, port = peer[:2]
        self.address = f"[{host}]:{port}" if ":" in host else f"{host}:{port}"
        self._transport = stream
        self.is_open = True
        self._watch()
        self._on_open(self)

    def data_received(self, data: bytes) -> None:
        """See :class:`asyncio.Protocol`; what is no frame ends this connection and nothing else."""
        self._answers = []
        self._active_at = self._loop.time()
        try:
            for frame in self._frames.feed(data):
                command = decode(frame)
                if not self.is_open:
                    return
                self._on_command(self, command)
        except MalformedFrameError as error:
            self._flush()
            self.close(str(error))
        finally:
            self._flush()
            self._on_read()

    def connection_lost(self, _: Exception | None) -> None:
        """See :class:`asyncio.Protocol`; whatever ended it."""
        self.is_open = False
        if self._timer is not None:
            self._timer.cancel()
        self._on_close(self, self._why)

    def hold(self) -> None:
        """Read nothing from now on; what the client sends waits."""
        if self.is_open and self._transport is not None:
            self._is_held = True
            self._transport.pause_reading()

    def go_on(self) -> None:
        """Read again."""
        if self.is_open and self._transport is not None and self._is_held:
            self._is_held = False
            self._active_at = self._loop.time()
            self._transport.resume_reading()

    def close(self, why: str = "") -> None:
        """End it now; what waits to be sent is dropped."""
        if self.is_open and self._transport is not None:
            self._why = why
            self.is_open = False
            self._transport.abort()

    def send(self, command: RemotingCommand) -> None:
        """Send a command; nothing happens if the connection has ended."""
        if not self.is_open or self._transport is None:
            return
        if self._answers is not None:
            self._answers.append(encode(command))
        else:
            self._write(encode(command))

    def _flush(self) -> None:
        """Send what was answered to all that came at once."""
        answers, self._answers = self._answers, None
        if answers and self.is_open:
            self._write(b"".join(answers))

    def _write(self, data: bytes) -> None:
        if self._transport is None:
            return
        self._active_at = self._loop.time()
        self._transport.write(data)
        if self._transport.get_write_buffer_size() > MOST_WAITING_BYTES:
            self.close(f"more than {MOST_WAITING_BYTES} bytes wait to be read by it")

    def _watch(self) -> None:
        """Close it where nothing came or went for too long (``NettyRemotingServer``'s ``IdleStateHandler``)."""
        since = self._loop.time() if self._is_held else self._active_at
        left = since + MOST_IDLE_SECONDS - self._loop.time()
        if left > 0:
            self._timer = self._loop.call_later(left, self._watch)
        else:
            self.close(f"nothing came or went for {MOST_IDLE_SECONDS:.0f} s")

    def call_oneway(self, code: RequestCode, fields: Mapping[str, str], body: bytes, version: int) -> None:
        """Ask the client something that it does not answer (``Broker2Client``)."""
        self._opaque += 1
        self.send(RemotingCommand(code, fields, body, self._opaque, ONEWAY_FLAG, version=version))
