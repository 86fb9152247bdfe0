"""Waiting for what a broker or a client does in its own time."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Final

from real_brokers.errors import RealBrokerError

if TYPE_CHECKING:
    from collections.abc import Callable

PATIENCE_SECONDS: Final = 60.0
_GLANCE_SECONDS: Final = 0.1


def comes(is_so: Callable[[], bool], seconds: float) -> bool:
    """Whether something is so within some seconds of real time."""
    end = time.monotonic() + seconds
    while not is_so():
        if time.monotonic() > end:
            return False
        time.sleep(_GLANCE_SECONDS)
    return True


def wait_until(is_so: Callable[[], bool], what: str, seconds: float = PATIENCE_SECONDS) -> None:
    """Wait until something is so; `RealBrokerError`, which names it, if it does not come."""
    if not comes(is_so, seconds):
        message = f"{what}: not within {seconds:.0f} s"
        raise RealBrokerError(message)
