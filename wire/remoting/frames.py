"""Frames out of a stream of bytes (``NettyDecoder``); it waits for nothing, so that sockets of any kind can feed it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from wire.errors import MalformedFrameError

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

    def feed(self, data: bytes) -> Iterator[bytes]:
        """Take bytes in, and give each frame that they complete.

        Raises
        ------
        MalformedFrameError
            A length is negative, too small for a header's, or beyond :data:`MOST_FRAME`; nothing is kept of it.
        """
        held = self._bytes
        held += data
        at = 0
        try:
            while len(held) - at >= 4:
                length = int.from_bytes(held[at : at + 4], signed=True)
                if not 4 <= length <= MOST_FRAME:
                    message = f"a frame of {length} bytes; from 4 to {MOST_FRAME} were expected"
                    raise MalformedFrameError(message)
                if len(held) - at - 4 < length:
                    break
                yield bytes(held[at + 4 : at + 4 + length])
                at += 4 + length
        finally:
            del held[:at]
