"""Frames out of a stream of bytes (``NettyDecoder``); it waits for nothing, so that sockets of any kind can feed it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from wire.errors import ForeignProtocolError, MalformedFrameError
from wire.remoting.foreign_protocols import foreign_protocol, may_be_http_2, shown_text

if TYPE_CHECKING:
    from collections.abc import Iterator

MOST_FRAME: Final = 16_777_216
"""``com.rocketmq.remoting.frameMaxLength``, the default: bytes of a frame without its first four."""


class FrameReader:
    r"""Collects bytes as they come, and gives the frames that are complete, without their first four bytes.

    Examples
    --------
    >>> reader = FrameReader()
    >>> list(reader.feed(b"\0\0\0\5\0\0"))
    []
    >>> list(reader.feed(b"\0\0{\0\0\0"))
    [b'\x00\x00\x00\x00{']
    """

    def __init__(self) -> None:
        self._bytes = bytearray()
        self._is_known = False

    def feed(self, data: bytes) -> Iterator[bytes]:
        """Take bytes in, and give each frame that they complete.

        Raises
        ------
        ForeignProtocolError
            The first bytes are those of another protocol.
        MalformedFrameError
            A length is negative, too small for a header's, or beyond :data:`MOST_FRAME`; its bytes are dropped.
        """
        held = self._bytes
        held += data
        at = 0
        try:
            while len(held) - at >= 4:
                if not self._is_known:
                    foreign = foreign_protocol(held)
                    if foreign is not None:
                        raise ForeignProtocolError(foreign)
                    if may_be_http_2(held):
                        break
                    self._is_known = True
                length = int.from_bytes(held[at : at + 4], signed=True)
                if not 4 <= length <= MOST_FRAME:
                    text = shown_text(held[at:])
                    message = f"a frame of {length} bytes{text}; from 4 to {MOST_FRAME} were expected"
                    raise MalformedFrameError(message)
                if len(held) - at - 4 < length:
                    break
                yield bytes(held[at + 4 : at + 4 + length])
                at += 4 + length
        finally:
            del held[:at]
