"""The receipt of a message that was handed out (``ReceiptHandle``)."""

from __future__ import annotations

from dataclasses import astuple, dataclass, fields
from typing import Final, Self

from wire.errors import WireError

NORMAL_TOPIC: Final = "0"
RETRY_TOPIC: Final = "1"
ORDER_REVIVE_QUEUE: Final = 999
"""``KeyBuilder.POP_ORDER_REVIVE_QUEUE``: by it a receipt says that its message was popped in order."""

_LONGEST: Final = 1_024
_MOST_DIGITS: Final = 19


class ReceiptHandleError(WireError):
    """A receipt that can't be read, is over, or is none of that group; the message says which."""


@dataclass(frozen=True, slots=True)
class ReceiptHandle:
    """What a client gives back of a message to ack it, hide it longer or forward it."""

    start_offset: int
    retrieve_time: int
    """When it was handed out, and below for how long: milliseconds of the broker's wall clock."""
    invisible_ms: int
    revive_queue_id: int
    topic_type: str
    """One of :data:`NORMAL_TOPIC` and :data:`RETRY_TOPIC`."""
    broker_name: str
    queue_id: int
    offset: int
    commit_log_offset: int

    @property
    def next_visible_time(self) -> int:
        """From when on the receipt is over (``#isExpired``), unless the proxy renews it."""
        return self.retrieve_time + self.invisible_ms

    def encode(self) -> str:
        """Its text (``#encode``).

        Examples
        --------
        >>> ReceiptHandle(3, 1_000, 60_000, 0, "0", "broker-a", 1, 3, 4_096).encode()
        '3 1000 60000 0 0 broker-a 1 3 4096'
        """
        return " ".join(map(str, astuple(self)))

    @classmethod
    def decode(cls, text: str) -> Self:
        """Read a text (``#decode``); `ReceiptHandleError` if it is none."""
        words = text.split(" ") if len(text) <= _LONGEST else []
        kinds = [each.type for each in fields(cls)]
        if len(words) != len(kinds):
            message = f"receipt handle {text[:40]!r}: it has {len(words)} parts, expected {len(kinds)}"
            raise ReceiptHandleError(message)
        values = [word if kind == "str" else _number(word) for word, kind in zip(words, kinds, strict=True)]
        if None in values:
            message = f"receipt handle {text[:40]!r}: expected whole numbers but for the topic's type and the broker"
            raise ReceiptHandleError(message)
        return cls(*values)  # type: ignore[arg-type]


def _number(word: str) -> int | None:
    digits = word.removeprefix("-")
    return int(word) if digits.isascii() and digits.isdecimal() and len(digits) <= _MOST_DIGITS else None
