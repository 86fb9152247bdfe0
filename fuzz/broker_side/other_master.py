"""Another master, to which halves escape: a second reference broker, and a network on which answers may be lost."""

from __future__ import annotations

from collections import Counter, defaultdict
from typing import TYPE_CHECKING

from fuzz.broker_side.producers import end_transaction, transaction_of_key
from reference.broker.processor.end_transaction_processor import EndTransactionOutcome
from reference.format.properties import UNIQUE_KEY

if TYPE_CHECKING:
    from reference.broker.broker_controller import BrokerController
    from reference.broker.processor.send_message_processor import SendMessageRequest, SendMessageResponse
    from reference.format.record import LogRecord
    from spec.state import End


class OtherMaster:
    """The other broker, with the way to it.

    Attributes
    ----------
    takes_messages, answers
        Whether a message arrives there, and whether its answer comes back.
    waiting
        For each transaction its halves that wait there for their producer.
    delivered
        For each transaction how many real messages were stored there.
    """

    def __init__(self, broker: BrokerController) -> None:
        self.takes_messages = self.answers = True
        self.waiting: defaultdict[int, list[LogRecord]] = defaultdict(list)
        self.delivered: Counter[int] = Counter()
        self._broker = broker

    def send(self, request: SendMessageRequest) -> SendMessageResponse | None:
        """Carry a message there, and its answer back."""
        if not self.takes_messages:
            return None
        answer = self._broker.take_escaped(request)
        if answer.record is not None:
            self.waiting[transaction_of_key(answer.record.properties[UNIQUE_KEY])].append(answer.record)
        return answer if self.answers else None

    def settle(self, transaction: int, says: End) -> int | None:
        """A half of a transaction is checked there, and its producer answers; what the broker answers to that."""
        half = self.waiting[transaction].pop(0)
        ending = self._broker.end_transaction(
            end_transaction(half.queue_offset, half.physical_offset, says, answers_check=True)
        )
        step = ending.step()
        if step.outcome is EndTransactionOutcome.MESSAGE_STORED:
            self.delivered[transaction] += 1
            step = ending.step()
        return None if step.response is None else step.response.code
