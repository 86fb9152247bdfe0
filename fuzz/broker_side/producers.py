"""The producers of the lockstep: what they sent, where they were told that it lies, and what they decided."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING

from reference.format.message_decoder import decode_message_id
from spec.state import End, Local, Producer

if TYPE_CHECKING:
    from reference.broker.processor.send_message_processor import SendMessageRequest, SendMessageResponse
    from reference.format.record import CommitLogOffset, QueueOffset

_SAYS = {Local.COMMIT: End.COMMIT, Local.ROLLBACK: End.ROLLBACK, Local.NEVER_RUN: End.ROLLBACK}


@dataclass(frozen=True, slots=True)
class SendResult:
    """What a producer was told of its send: where the half lies (``SendResult``)."""

    request: SendMessageRequest
    answer: SendMessageResponse
    queue_offset: QueueOffset
    place: CommitLogOffset


class Producers:
    """All of them, as one group.

    Attributes
    ----------
    local
        What they know of each local transaction.
    sent
        The last answer to the send of each transaction.
    rotting
        The transactions whose message cannot be decoded when it was stored.
    are
        Whether the broker can reach one.
    """

    def __init__(self) -> None:
        self.local: defaultdict[int, Local] = defaultdict(lambda: Local.NOT_SENT)
        self.sent: dict[int, SendResult] = {}
        self.rotting: set[int] = set()
        self.are = Producer.ONLINE

    def begin(self, transaction: int, request: SendMessageRequest, answer: SendMessageResponse) -> None:
        """A message is sent and answered, and the local transaction begins."""
        if answer.record is not None:
            place = decode_message_id(answer.msg_id)
            self.sent[transaction] = SendResult(request, answer, answer.record.queue_offset, place)
        self.local[transaction] = Local.EXECUTING
        self.are = Producer.ONLINE

    def end(self, are: Producer) -> None:
        """All of them end, or lose their connections: what they were running is left to a later check."""
        self.are = are
        for transaction, local in self.local.items():
            if local is Local.EXECUTING:
                self.local[transaction] = Local.UNKNOWN

    def says(self, transaction: int) -> End:
        """What a check of the transaction is answered with; `End.NONE` is UNKNOWN."""
        return _SAYS.get(self.local[transaction], End.NONE)
