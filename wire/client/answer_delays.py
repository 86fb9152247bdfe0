"""How long answers take on a connection, and how late they are: a broker with other work answers later."""

from __future__ import annotations

from collections import deque
from typing import Final

_LAST: Final = 8


class AnswerDelays:
    """The delays of the answers so far, after LEDBAT (RFC 6817).

    The least one is that of the way and of an idle broker. The least of the last ones, less that, is what an answer
    has to wait at least: single answers are late for reasons that are no load.

    Attributes
    ----------
    raised
        By how many seconds the last answers were later than the quickest of all.
    """

    def __init__(self) -> None:
        self._least = float("inf")
        self._last: deque[float] = deque(maxlen=_LAST)
        self.raised = 0.0

    def add(self, seconds: float) -> None:
        """Take note of one more."""
        self._least = min(self._least, seconds)
        self._last.append(seconds)
        self.raised = min(self._last) - self._least
