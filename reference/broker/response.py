"""The broker's answer to a request: a code and a remark (``RemotingCommand``, ``ResponseCode``)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

SUCCESS: Final = 0
SYSTEM_ERROR: Final = 1
FLUSH_DISK_TIMEOUT: Final = 10
SLAVE_NOT_AVAILABLE: Final = 11
MESSAGE_ILLEGAL: Final = 13
SERVICE_NOT_AVAILABLE: Final = 14
NO_PERMISSION: Final = 16
ILLEGAL_OPERATION: Final = 604

NOT_SET_REMARK: Final = "not set any response code"
"""The remark that ``RemotingCommand#createResponseCommand`` begins with; some answers never replace it."""


@dataclass(frozen=True, slots=True)
class RemotingResponse:
    """One answer."""

    code: int
    """``ResponseCode``: 0 is success."""
    remark: str | None = None
    """RocketMQ's words, or None."""
