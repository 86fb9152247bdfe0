"""What one step of END_TRANSACTION did on the broker."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from reference.broker.response import Response
    from reference.format.record import Record
    from reference.store.put_message_result import PutMessageResult


class EndTransactionOutcome(Enum):
    """What a step of END_TRANSACTION did."""

    DROPPED = "dropped"
    """UNKNOWN: nothing is done and nothing answered."""
    REFUSED = "refused"
    """Nothing was written; the response says why."""
    MESSAGE_STORED = "message_stored"
    """The real message is stored; the op message is the next step."""
    OP_STORED = "op_stored"
    """An op message is stored; the request is answered."""
    OP_BUFFERED = "op_buffered"
    """The half's offset waits in memory for a batch; the request is answered."""
    OP_LOST = "op_lost"
    """The store refused the op message; the request is answered with success all the same."""
    NO_HALF = "no_half"
    """What was found is no half: no op message is written, and the request is answered with success (5.4.0)."""


@dataclass(slots=True)
class EndTransactionStep:
    """One step.

    Attributes
    ----------
    response
        The answer, with the step that gives it; None before that, and for what is dropped.
    stored
        The store's answer, if something was stored.
    """

    outcome: EndTransactionOutcome
    response: Response | None = None
    stored: PutMessageResult | None = None

    @property
    def record(self) -> Record | None:
        """The record that the step stored, read back from the store when it is asked for."""
        return None if self.stored is None else self.stored.record
