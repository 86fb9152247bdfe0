"""Frames: a head of nine bytes, and what is in it (RFC 9113, section 4.1 and 6)."""

from __future__ import annotations

from enum import IntEnum
from struct import Struct
from typing import Final

from wire.proxy.http2.errors import Http2Code, Http2Error

PREFACE: Final = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"
"""What a client begins with."""

HEAD: Final = Struct(">BHBBI")
"""The length, in two parts, the kind, the flags and the stream."""

MOST_FRAME_BYTES: Final = 16_384
"""``SETTINGS_MAX_FRAME_SIZE``, as it is where nobody sets another, of both sides."""

STREAM_MASK: Final = 0x7FFF_FFFF

_SETTING: Final = Struct(">HI")


class FrameKind(IntEnum):
    """By what a frame does."""

    DATA = 0
    HEADERS = 1
    PRIORITY = 2
    RST_STREAM = 3
    SETTINGS = 4
    PUSH_PROMISE = 5
    PING = 6
    GOAWAY = 7
    WINDOW_UPDATE = 8
    CONTINUATION = 9


END_STREAM: Final = 0x1
ACK: Final = 0x1
END_HEADERS: Final = 0x4
PADDED: Final = 0x8
WITH_PRIORITY: Final = 0x20


class Http2Setting(IntEnum):
    """Those settings that are sent or heeded."""

    MAX_CONCURRENT_STREAMS = 3
    INITIAL_WINDOW_SIZE = 4
    MAX_HEADER_LIST_SIZE = 6


def frame(kind: FrameKind, flags: int, stream_id: int, content: bytes = b"") -> bytes:
    """A frame of at most `MOST_FRAME_BYTES`."""
    return HEAD.pack(0, len(content), kind, flags, stream_id) + content


def settings_frame(settings: dict[Http2Setting, int]) -> bytes:
    """SETTINGS."""
    content = b"".join(_SETTING.pack(name, value) for name, value in settings.items())
    return frame(FrameKind.SETTINGS, 0, 0, content)


def settings_in(content: bytes) -> list[tuple[int, int]]:
    """The settings of a frame, by their numbers; `Http2Error` if it is cut."""
    if len(content) % _SETTING.size:
        message = f"a SETTINGS frame of {len(content)} bytes, a multiple of 6 was expected"
        raise Http2Error(Http2Code.FRAME_SIZE_ERROR, message)
    return [(name, value) for name, value in _SETTING.iter_unpack(content)]


def number_in(content: bytes, kind: FrameKind) -> int:
    """The one number that is in a frame; `Http2Error` if that has another length."""
    if len(content) != 4:
        message = f"a {kind.name} frame of {len(content)} bytes, 4 were expected"
        raise Http2Error(Http2Code.FRAME_SIZE_ERROR, message)
    return int.from_bytes(content)


def without_padding(content: bytes, flags: int) -> bytes:
    """What is in a frame of DATA or HEADERS, without its padding and priority; `Http2Error` if they are longer."""
    begin, end = 0, len(content)
    if flags & PADDED:
        begin, end = 1, end - (content[0] if content else end + 1)
    if flags & WITH_PRIORITY:
        begin += 5
    if begin > end:
        message = f"a frame of {len(content)} bytes that is shorter than its padding"
        raise Http2Error(Http2Code.PROTOCOL_ERROR, message)
    return content[begin:end]
