"""The half offsets that wait to be written to one op queue, 5.1.0 and later."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field


@dataclass(slots=True)
class MessageQueueOpContext:
    """``MessageQueueOpContext``: lives in memory only (B02).

    Attributes
    ----------
    last_write_timestamp
        When a batch was last taken from it; at first, when it was made.
    context_queue
        Half offsets as they will be written, each with its comma.
    total_size
        Their length together, in characters.
    """

    last_write_timestamp: int
    context_queue: deque[str] = field(default_factory=deque)
    total_size: int = 0
