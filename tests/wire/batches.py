"""Bodies of batches, as a client writes them."""

from __future__ import annotations

import struct
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

    from wire.remoting.messages import BatchedMessage

_HEAD = struct.Struct(">iiiii")
_SHORT = struct.Struct(">h")


def encode_batch(messages: Iterable[BatchedMessage]) -> bytes:
    """The body of a batch (``MessageDecoder#encodeMessages``)."""
    return b"".join(map(_encode, messages))


def _encode(message: BatchedMessage) -> bytes:
    properties = message.properties_text.encode()
    size = _HEAD.size + len(message.body) + _SHORT.size + len(properties)
    head = _HEAD.pack(size, 0, 0, message.flag, len(message.body))
    return head + message.body + _SHORT.pack(len(properties)) + properties
