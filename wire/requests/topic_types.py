"""What a topic may be for, as its attribute says (``TopicMessageType``, ``TopicAttributes``)."""

from __future__ import annotations

from typing import Final

MESSAGE_TYPE_ATTRIBUTE: Final = "message.type"
MIXED: Final = "MIXED"
TOPIC_TYPES: Final = ("NORMAL", "FIFO", "DELAY", "TRANSACTION", "PRIORITY", MIXED)
"""``LITE`` needs more than this broker has."""
