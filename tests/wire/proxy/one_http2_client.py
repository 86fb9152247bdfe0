"""A client that sends any frames, bytes and headers over one connection, and says what comes back."""

from __future__ import annotations

import socket
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Self
from urllib.parse import unquote

from hpack import Decoder

from wire.proxy.http2.frames import END_HEADERS, END_STREAM, HEAD, PREFACE, FrameKind, frame, settings_frame
from wire.proxy.http2.header_blocks import header_block
from wire.proxy.protocol.messages import SERVICE

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

SECONDS = 30.0
CALL_HEADERS = {
    ":method": "POST", ":scheme": "http", ":path": f"/{SERVICE}/QueryRoute", ":authority": "one",
    "content-type": "application/grpc", "te": "trailers", "x-mq-client-id": "frames",
}  # fmt: skip


@dataclass
class Ended:
    """What a stream or the connection has ended with."""

    code: int = -1
    message: str = ""
    data: bytes = b""
    headers: dict[str, str] = field(default_factory=dict)


class OneHttp2Client:
    """A connection; a stream is begun by each call."""

    def __init__(self, address: str, start: bytes = PREFACE + settings_frame({})) -> None:
        host, _, port = address.rpartition(":")
        self.socket = socket.create_connection((host, int(port)), SECONDS)
        self.next_stream = 1
        self._decoder = Decoder()
        self.socket.sendall(start)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.socket.close()

    def begin(self, changed: Mapping[str, str] | None = None, flags: int = END_HEADERS) -> int:
        """HEADERS of a new call, with some that are others."""
        stream_id, self.next_stream = self.next_stream, self.next_stream + 2
        block = header_block({**CALL_HEADERS, **(changed or {})}.items())
        self.socket.sendall(frame(FrameKind.HEADERS, flags, stream_id, block))
        return stream_id

    def call(self, message: bytes, changed: Mapping[str, str] | None = None, flags: int = END_STREAM) -> int:
        """A call with some bytes as its message."""
        stream_id = self.begin(changed)
        self.socket.sendall(frame(FrameKind.DATA, flags, stream_id, message))
        return stream_id

    def frames(self) -> Iterator[tuple[int, int, int, bytes]]:
        """Kind, flags, stream and content of each frame that comes, until the connection ends."""
        with self.socket.makefile("rb") as file:
            while len(head := file.read(HEAD.size)) == HEAD.size:
                high, low, kind, flags, stream_id = HEAD.unpack(head)
                yield kind, flags, stream_id, file.read(high << 16 | low)

    def ended(self, stream_id: int) -> Ended:
        """The status and the sentence that a call ends with; the code of GOAWAY and its sentence if all end."""
        found = Ended()
        for kind, flags, of_stream, content in self.frames():
            if kind == FrameKind.GOAWAY:
                return Ended(int.from_bytes(content[4:8]), content[8:].decode())
            if of_stream == stream_id and kind == FrameKind.DATA:
                found.data += content
            if kind == FrameKind.HEADERS:
                block = self._decoder.decode(content, raw=True)
                headers = {name.decode(): value.decode() for name, value in block}
                if of_stream == stream_id and flags & END_STREAM:
                    return Ended(
                        int(headers["grpc-status"]), unquote(headers.get("grpc-message", "")), found.data, headers
                    )
        return found

    def goodbye(self) -> Ended:
        """What the connection ends with."""
        return self.ended(-1)
