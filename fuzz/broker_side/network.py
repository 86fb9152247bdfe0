"""The network's own memory: messages under way between producers and broker, and their outcomes.

The driver does not look into the specification for it, so that both can be compared.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING

from reference.broker.processor.end_transaction_processor import EndTransactionOutcome
from spec.state import End, Settled

if TYPE_CHECKING:
    from reference.broker.processor.end_transaction_processor import EndTransaction, EndTransactionStep


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
    """END_TRANSACTIONs by the half that they name; of two, the first goes on first.

    Attributes
    ----------
    ends
        The END_TRANSACTIONs that are under way.
    claims_check
        The halves whose END_TRANSACTION is wrong and says that it answers a check.
    handled
        The broker's answers to those that arrived.
    strays
        How many came that nobody's outcome accounts for.
    """

    def __init__(self) -> None:
        self.ends: defaultdict[int, list[Sent]] = defaultdict(list)
        self.claims_check: set[int] = set()
        self.handled: defaultdict[int, Handled] = defaultdict(Handled)
        self.strays = 0

    def send(self, half: int, says: End) -> None:
        """A producer sends an END_TRANSACTION for a half."""
        self.ends[half].append(Sent(says))

    def send_stray(self, half: int, says: End, *, claims_check: bool = False) -> None:
        """One comes that it should not."""
        self.strays += 1
        self.send(half, says)
        if claims_check:
            self.claims_check.add(half)

    def repeat(self, half: int) -> None:
        """What is under way or being handled is sent a second time."""
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
        about = self.handled[half]
        sent = self.ends[half][0]
        if step.outcome is EndTransactionOutcome.MESSAGE_STORED:
            about.settled = Settled.COMMITTED
            return
        if step.outcome is not EndTransactionOutcome.REFUSED:
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
        """What was done for halves that a power loss has taken is nobody's any more."""
        for gone in [known for known in self.handled if known >= half]:
            del self.handled[gone]
