"""The network's own memory: messages under way between producers and broker, their outcomes, and another master.

The driver does not look into the specification for it, so that both can be compared.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING

from fuzz.broker_side.producers import end_transaction, transaction_of_key
from reference.broker.processor.end_transaction_processor import (
    EndTransaction,
    EndTransactionOutcome,
    EndTransactionStep,
)
from reference.format.properties import UNIQUE_KEY
from spec.state import End, Settled

if TYPE_CHECKING:
    from fuzz.broker_side.broker_process import BrokerProcess
    from reference.broker.processor.send_message_processor import SendMessageRequest, SendMessageResponse
    from reference.format.record import LogRecord


@dataclass(slots=True)
class Sent:
    """An END_TRANSACTION under way, or begun by a thread of the broker that has stored the real message."""

    says: End
    handling: EndTransaction | None = None

    @property
    def end(self) -> End:
        """The same in the specification's words."""
        return self.says if self.handling is None else End.COMMIT_STORED


@dataclass(slots=True)
class Handled:
    """The broker's work and answers for END_TRANSACTIONs that named one half."""

    settled: Settled = Settled.NO
    acknowledged: bool = False
    op_write_failed: bool = False
    foreign: bool = False


class Network:
    """END_TRANSACTIONs by the half that they name; of two, the first goes on first."""

    def __init__(self) -> None:
        self.ends: defaultdict[int, list[Sent]] = defaultdict(list)
        """The END_TRANSACTIONs that are under way."""
        self.claims_check: set[int] = set()
        """The halves whose END_TRANSACTION says that it answers a check: a wrong one, or what a proxy passes on."""
        self.handled: defaultdict[int, Handled] = defaultdict(Handled)
        """The broker's answers to those that arrived."""
        self.strays = 0
        """How many came that nobody's outcome accounts for."""

    def send(self, half: int, says: End, *, claims_check: bool = False) -> None:
        """A producer sends an END_TRANSACTION for a half."""
        self.ends[half].append(Sent(says))
        if claims_check:
            self.claims_check.add(half)

    def send_stray(self, half: int, says: End, *, claims_check: bool = False) -> None:
        """One comes that it should not."""
        self.strays += 1
        self.send(half, says, claims_check=claims_check)

    def repeat(self, half: int) -> None:
        """The first END_TRANSACTION is sent a second time."""
        first = self.ends[half][0]
        self.send_stray(half, End.ROLLBACK if first.says is End.ROLLBACK else End.COMMIT)

    def overtake(self, half: int) -> None:
        """The second goes on before the first."""
        self.ends[half].reverse()

    def first(self, half: int) -> Sent | None:
        """The first one for a half, None if nothing names the half."""
        return self.ends[half][0] if self.ends[half] else None

    def forget_first(self, half: int) -> None:
        """The first is lost, or over."""
        del self.ends[half][0]
        if not self.ends[half]:
            self.claims_check.discard(half)

    def note(self, half: int, step: EndTransactionStep) -> None:
        """The broker took a step with the first one, and may have answered it."""
        if step.outcome is EndTransactionOutcome.WAITING:
            return
        about = self.handled[half]
        sent = self.ends[half][0]
        if step.outcome is EndTransactionOutcome.MESSAGE_STORED:
            about.settled = Settled.COMMITTED
            return
        if step.outcome not in (EndTransactionOutcome.REFUSED, EndTransactionOutcome.IGNORED):
            about.acknowledged = True
            about.op_write_failed |= step.outcome is EndTransactionOutcome.OP_LOST
            if sent.says is End.ROLLBACK:
                about.settled = Settled.ROLLED_BACK
        self.forget_first(half)

    def forget_all(self) -> None:
        """The connections end, and with them what was under way."""
        self.ends.clear()
        self.claims_check.clear()

    def forget_halves_from(self, half: int) -> None:
        """Forget the outcomes for halves that a power loss has taken."""
        for gone in [known for known in self.handled if known >= half]:
            del self.handled[gone]


class OtherMaster:
    """Another master, to which halves escape, and a network on which a message or its answer may be lost."""

    def __init__(self, process: BrokerProcess) -> None:
        self.takes_messages = self.answers = True
        """Whether a message arrives there, and whether its answer comes back."""
        self.waiting: defaultdict[int, list[LogRecord]] = defaultdict(list)
        """For each transaction its halves that wait there for their producer."""
        self.unanswered: set[int] = set()
        """The transactions of which a half has arrived there, and the answer not come back."""
        self.delivered: Counter[int] = Counter()
        """For each transaction how many real messages were stored there."""
        self._process = process

    def send(self, request: SendMessageRequest) -> SendMessageResponse | None:
        """Carry a message there, and its answer back."""
        if not self.takes_messages:
            return None
        answer = self._process.broker.take_escaped(request)
        transaction = transaction_of_key(request.properties[UNIQUE_KEY])
        if answer.record is not None:
            self.waiting[transaction].append(answer.record)
        if self.answers:
            self.unanswered.discard(transaction)
            return answer
        self.unanswered.add(transaction)
        return None

    def settle(self, transaction: int, says: End) -> int | None:
        """A half of a transaction is checked there, and its producer answers; what the broker answers to that."""
        half = self.waiting[transaction].pop(0)
        ending = self._process.begin_end(
            end_transaction(half.queue_offset, half.physical_offset, says, answers_check=True)
        )
        step = self._process.step_end(ending)
        if step.outcome is EndTransactionOutcome.MESSAGE_STORED:
            self.delivered[transaction] += 1
            step = self._process.step_end(ending)
        return None if step.response is None else step.response.code
