"""What ends a connection: frames and header blocks that are none."""

from __future__ import annotations

from enum import IntEnum

from wire.errors import WireError


class Http2Code(IntEnum):
    """Error codes (RFC 9113, section 7), those that are sent."""

    NO_ERROR = 0
    PROTOCOL_ERROR = 1
    FLOW_CONTROL_ERROR = 3
    FRAME_SIZE_ERROR = 6
    COMPRESSION_ERROR = 9
    ENHANCE_YOUR_CALM = 11


class Http2Error(WireError):
    """A client breaks the protocol: its connection ends with a code and a sentence."""

    def __init__(self, code: Http2Code, message: str) -> None:
        super().__init__(message)
        self.code = code
