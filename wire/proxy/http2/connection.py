"""A client's connection: its frames are taken, its streams opened and ended, and what is sent waits for its windows."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, ClassVar, Final, Protocol, cast

from wire.proxy.http2 import frames
from wire.proxy.http2.errors import Http2Code, Http2Error
from wire.proxy.http2.frames import FrameKind, Http2Setting, frame
from wire.proxy.http2.header_blocks import MOST_BLOCK_BYTES, MOST_HEADER_BYTES, HeaderReader
from wire.proxy.http2.stream import Http2Stream

if TYPE_CHECKING:
    from collections.abc import Callable

    from wire.proxy.http2.stream import Receiver

MOST_STREAMS: Final = 4_096
"""``SETTINGS_MAX_CONCURRENT_STREAMS``, of one connection."""

STREAM_WINDOW: Final = 1 << 20
CONNECTION_WINDOW: Final = 4 << 20
"""So many bytes a client may send before it is told to go on, which it is when half of them have come."""

FIRST_WINDOW: Final = 65_535
"""Where nobody has said something else (RFC 9113, section 6.9.2)."""

_LARGEST_WINDOW: Final = 0x7FFF_FFFF

_GREETING: Final = frames.settings_frame(
    {
        Http2Setting.MAX_CONCURRENT_STREAMS: MOST_STREAMS,
        Http2Setting.INITIAL_WINDOW_SIZE: STREAM_WINDOW,
        Http2Setting.MAX_HEADER_LIST_SIZE: MOST_HEADER_BYTES,
    }
) + frame(FrameKind.WINDOW_UPDATE, 0, 0, (CONNECTION_WINDOW - FIRST_WINDOW).to_bytes(4))


class Http2Server(Protocol):
    """What is told of connections and their streams."""

    most_waiting_bytes: int
    """So many may wait for a client that reads nothing; beyond it, its connection ends."""

    def opened(self, connection: Http2Connection) -> None:
        """A client has connected."""

    def closed_by(self, connection: Http2Connection, why: str) -> None:
        """It has gone; with why where that was its fault, else with an empty text."""

    def foreign(self, start: bytes) -> str:
        """What to say of one that begins with these bytes, which are no HTTP/2; empty where there are too few."""

    def is_held(self) -> bool:
        """Whether all that clients send waits just now."""

    def open(self, stream: Http2Stream, headers: dict[str, str] | None) -> Receiver | None:
        """Who takes what comes in a stream, None if it is refused; headers are None where they are too large."""


class Http2Connection(asyncio.Protocol):
    """One connection."""

    def __init__(self, server: Http2Server) -> None:
        self.server = server
        self.address = ""
        """``127.0.0.1:4242`` of the other side."""
        self.streams: dict[int, Http2Stream] = {}
        """Those that are open, by their numbers."""
        self.window = FIRST_WINDOW
        self.first_window = FIRST_WINDOW
        """What may still be sent to it, and what each new stream may."""
        self.held = 0
        """Bytes of requests that have not come as a whole."""
        self.is_writable = True
        self.active_at = asyncio.get_running_loop().time()
        """When it had its last open stream, by the loop's clock."""
        self._transport: asyncio.Transport | None = None
        self._take: Callable[[], bool] = self._take_preface
        self._came = bytearray()
        self._out: list[bytes] | None = None
        self._headers = HeaderReader()
        self._block: tuple[int, int, bytearray] | None = None
        self._last_stream = 0
        self._taken = 0
        self._why = ""

    # --- the socket ---------------------------------------------------------------------------------------------------

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """See :class:`asyncio.Protocol`."""
        host, port = (transport.get_extra_info("peername") or ("", 0))[:2]
        self.address = f"[{host}]:{port}" if ":" in host else f"{host}:{port}"
        self._transport = cast("asyncio.Transport", transport)
        self.server.opened(self)

    def data_received(self, data: bytes) -> None:
        """See :class:`asyncio.Protocol`; what is no frame ends this connection and nothing else."""
        self._came += data
        if self.server.is_held():
            if self._transport is not None:
                self._transport.pause_reading()
            return
        self._out = []
        try:
            while self._transport is not None and self._take():
                pass
        except Http2Error as error:
            self.end(error.code, str(error))
        finally:
            out, self._out = self._out, None
            if out:
                self.write(b"".join(out))

    def go_on(self) -> None:
        """Take what has come while all was held."""
        if self._transport is not None and not self._transport.is_closing():
            self._transport.resume_reading()
            self.data_received(b"")

    def connection_lost(self, _: Exception | None) -> None:
        """See :class:`asyncio.Protocol`."""
        self._transport = None
        for stream in list(self.streams.values()):
            stream.lost()
        self.server.closed_by(self, self._why)

    def pause_writing(self) -> None:
        """See :class:`asyncio.Protocol`."""
        self.is_writable = False

    def resume_writing(self) -> None:
        """See :class:`asyncio.Protocol`."""
        self.is_writable = True
        self._go_on_sending()

    def write(self, data: bytes) -> None:
        """Send frames; nothing happens if it has ended."""
        if self._transport is None:
            return
        if self._out is not None:
            self._out.append(data)
            return
        self._transport.write(data)
        if self._transport.get_write_buffer_size() > self.server.most_waiting_bytes:
            self._why = f"more than {self.server.most_waiting_bytes} bytes wait to be read by it"
            self._transport.abort()

    def end(self, code: Http2Code = Http2Code.NO_ERROR, why: str = "") -> None:
        """Say so with a code and a sentence (GOAWAY), and end it."""
        transport = self._transport
        if transport is None or transport.is_closing():
            return
        self._why = why
        if self._take != self._take_preface:
            content = self._last_stream.to_bytes(4) + code.to_bytes(4) + why.encode()
            out, self._out = self._out or [], None
            transport.write(b"".join([*out, frame(FrameKind.GOAWAY, 0, 0, content)]))
        transport.close()
        self._take = lambda: False

    def abort(self) -> None:
        """End it now."""
        if self._transport is not None:
            self._transport.abort()

    # --- frames -------------------------------------------------------------------------------------------------------

    def _take_preface(self) -> bool:
        start = bytes(self._came[: len(frames.PREFACE)])
        if start == frames.PREFACE:
            del self._came[: len(frames.PREFACE)]
            self._take = self._take_frame
            self.write(_GREETING)
            return True
        if not frames.PREFACE.startswith(start) and (why := self.server.foreign(bytes(self._came))):
            self.end(Http2Code.PROTOCOL_ERROR, why)
        return False

    def _take_frame(self) -> bool:
        came = self._came
        if len(came) < frames.HEAD.size:
            return False
        high, low, kind, flags, stream_id = frames.HEAD.unpack_from(came)
        length = high << 16 | low
        if length > frames.MOST_FRAME_BYTES:
            message = f"a frame of {length} bytes, {frames.MOST_FRAME_BYTES} at most were expected"
            raise Http2Error(Http2Code.FRAME_SIZE_ERROR, message)
        end = frames.HEAD.size + length
        if len(came) < end:
            return False
        content = bytes(came[frames.HEAD.size : end])
        del came[:end]
        if self._block is not None and kind != FrameKind.CONTINUATION:
            message = f"a frame of kind {kind} within a header block"
            raise Http2Error(Http2Code.PROTOCOL_ERROR, message)
        take = self._TAKES.get(kind)
        if take is not None:
            take(self, flags, stream_id & frames.STREAM_MASK, content)
        return True

    def _take_data(self, flags: int, stream_id: int, content: bytes) -> None:
        self._require_begun(stream_id, FrameKind.DATA)
        stream, is_last = self.streams.get(stream_id), bool(flags & frames.END_STREAM)
        if stream is not None:
            stream.take(frames.without_padding(content, flags & frames.PADDED), is_last=is_last)
        self._taken += len(content)
        if self._taken > CONNECTION_WINDOW >> 1:
            self.write(frame(FrameKind.WINDOW_UPDATE, 0, 0, self._taken.to_bytes(4)))
            self._taken = 0
        if stream is not None and not is_last and stream.is_open:
            stream.taken += len(content)
            if stream.taken > STREAM_WINDOW >> 1:
                self.write(frame(FrameKind.WINDOW_UPDATE, 0, stream_id, stream.taken.to_bytes(4)))
                stream.taken = 0

    def _take_headers(self, flags: int, stream_id: int, content: bytes) -> None:
        if not stream_id % 2:
            message = f"HEADERS in stream {stream_id}, an odd number was expected"
            raise Http2Error(Http2Code.PROTOCOL_ERROR, message)
        block = frames.without_padding(content, flags)
        if flags & frames.END_HEADERS:
            self._begin(stream_id, block, is_last=bool(flags & frames.END_STREAM))
        else:
            self._block = stream_id, flags, bytearray(block)

    def _take_continuation(self, flags: int, stream_id: int, content: bytes) -> None:
        if self._block is None or self._block[0] != stream_id:
            message = "a CONTINUATION of no header block"
            raise Http2Error(Http2Code.PROTOCOL_ERROR, message)
        _, first_flags, block = self._block
        block += content
        if len(block) > MOST_BLOCK_BYTES or not content:
            message = f"a header block of more than {MOST_BLOCK_BYTES} bytes, or an empty part of one"
            raise Http2Error(Http2Code.ENHANCE_YOUR_CALM, message)
        if flags & frames.END_HEADERS:
            self._block = None
            self._begin(stream_id, bytes(block), is_last=bool(first_flags & frames.END_STREAM))

    def _begin(self, stream_id: int, block: bytes, *, is_last: bool) -> None:
        headers = self._headers.read(block)
        if stream_id <= self._last_stream:  # trailers, or a stream that has ended
            stream = self.streams.get(stream_id)
            if stream is not None:
                stream.take(b"", is_last=True)
            return
        self._last_stream = stream_id
        stream = self.streams[stream_id] = Http2Stream(self, stream_id, self.first_window)
        stream.receiver = self.server.open(stream, headers)
        if is_last:
            stream.take(b"", is_last=True)

    def _take_reset(self, _: int, stream_id: int, content: bytes) -> None:
        self._require_begun(stream_id, FrameKind.RST_STREAM)
        frames.number_in(content, FrameKind.RST_STREAM)
        stream = self.streams.get(stream_id)
        if stream is not None:
            stream.lost()

    def _take_settings(self, flags: int, _: int, content: bytes) -> None:
        if flags & frames.ACK:
            return
        for name, value in frames.settings_in(content):
            if name == Http2Setting.INITIAL_WINDOW_SIZE:
                if value > _LARGEST_WINDOW:
                    message = f"a window of {value} bytes, {_LARGEST_WINDOW} at most were expected"
                    raise Http2Error(Http2Code.FLOW_CONTROL_ERROR, message)
                for stream in self.streams.values():
                    stream.window += value - self.first_window
                self.first_window = value
        self.write(frame(FrameKind.SETTINGS, frames.ACK, 0))
        self._go_on_sending()

    def _take_ping(self, flags: int, _: int, content: bytes) -> None:
        if len(content) != 8:
            message = f"a PING frame of {len(content)} bytes, 8 were expected"
            raise Http2Error(Http2Code.FRAME_SIZE_ERROR, message)
        if not flags & frames.ACK:
            self.write(frame(FrameKind.PING, frames.ACK, 0, content))

    def _take_window_update(self, _: int, stream_id: int, content: bytes) -> None:
        by = frames.number_in(content, FrameKind.WINDOW_UPDATE) & _LARGEST_WINDOW
        stream = self.streams.get(stream_id)
        self._require_begun(stream_id, FrameKind.WINDOW_UPDATE)
        if stream_id == 0:
            self.window += by
        elif stream is not None:
            stream.window += by
        if not by or max(self.window, 0 if stream is None else stream.window) > _LARGEST_WINDOW:
            message = f"a window that is to grow by {by} bytes"
            raise Http2Error(Http2Code.FLOW_CONTROL_ERROR, message)
        self._go_on_sending()

    def _take_push_promise(self, _: int, stream_id: int, __: bytes) -> None:
        message = f"a PUSH_PROMISE in stream {stream_id}, which no client may send"
        raise Http2Error(Http2Code.PROTOCOL_ERROR, message)

    def _require_begun(self, stream_id: int, kind: FrameKind) -> None:
        if stream_id > self._last_stream:
            message = f"a {kind.name} frame in stream {stream_id}, which has not begun"
            raise Http2Error(Http2Code.PROTOCOL_ERROR, message)

    def _go_on_sending(self) -> None:
        for stream in [each for each in self.streams.values() if each.waits]:
            stream.go_on()

    _TAKES: ClassVar = {
        FrameKind.DATA: _take_data,
        FrameKind.HEADERS: _take_headers,
        FrameKind.RST_STREAM: _take_reset,
        FrameKind.SETTINGS: _take_settings,
        FrameKind.PUSH_PROMISE: _take_push_promise,
        FrameKind.PING: _take_ping,
        FrameKind.WINDOW_UPDATE: _take_window_update,
        FrameKind.CONTINUATION: _take_continuation,
    }
    """By kind of frame; PRIORITY, GOAWAY and what is not known do nothing."""
