"""The ledger: each transaction that is under way, its halves in the half queue, and what is known of both.

The broker knows nothing of it. What is over is forgotten, so that a run of any length takes the same memory.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field
from enum import Enum
from math import inf
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from traffic.simulation.counts import TrafficCounts

FORGOTTEN: Final = "forgotten"
"""The cause of what befell a transaction that was held for over; it is counted, so that nothing is hidden."""
_SKIPPED: Final = "its consumer's offset was ahead of the queue after a loss of power"
"""Pulled from beyond its end, a queue is gone on with at that, and what was stored meanwhile is never read."""
_WITHOUT_RECORD: Final = ("A31", "B31")


class LocalDecision(Enum):
    """How a local transaction ends."""

    COMMIT = "commit"
    ROLLBACK = "rollback"
    NEVER = "never"
    """It hangs."""


class OpState(Enum):
    """Where the op entry of a settled half is."""

    NONE = "none"
    BUFFERED = "buffered"
    STORED = "stored"
    DIED_WITH_CRASH = "died with crash"
    DIED_WITH_STOP = "died with stop"
    NOT_STORED = "not stored"
    LOST_WITH_POWER = "lost with power"


@dataclass(slots=True, eq=False)
class TrackedHalf:
    """One half in the half queue: the one that was sent, or a copy that a check round put back."""

    transaction: TrackedTransaction
    offset: int
    place: int
    """Its queue offset, and its place in the commit log in bytes."""
    parent: TrackedHalf | None = None
    """The half that it is a copy of."""
    is_immune_copy: bool = False
    """Put back because the immunity lasted, not for a check."""
    cause: str = ""
    """Why there is a copy although its transaction was settled; '' where it was not."""
    copies: int = 0
    """How often it was put back."""
    left_for_immunity: bool = False
    """The first copy of it was made for the immunity."""
    is_named: bool = False
    """An END_TRANSACTION that named it was carried out."""
    op: OpState = OpState.NONE
    op_offset: int = -1
    buffered_at: float = 0.0
    is_passed: bool = False
    is_asked: bool = False
    """A check was sent that names it."""
    is_of_a_stop: bool = False
    """Put back by the round that a broker runs as it stops, whose checks are dropped (B52)."""

    @property
    def root(self) -> TrackedHalf:
        """The half that a producer sent."""
        half = self
        while half.parent is not None:
            half = half.parent
        return half


@dataclass(slots=True)
class Fate:
    """What chance has in store for a transaction, drawn when it begins: the same whatever the broker's settings are.

    So two settings meet the same transactions, and what differs between them is theirs. Losses are of the first attempt
    and of the producer's own END_TRANSACTION; what a retry or an answer to a check meets is drawn when it is sent.
    """

    loses_half: bool = False
    loses_answer: bool = False
    hangs: bool = False
    decision: LocalDecision = LocalDecision.COMMIT
    says_unknown: bool = False
    local_ms: float = 0.0
    loses_end: bool = False


@dataclass(slots=True, eq=False)
class TrackedTransaction:
    """One transaction, from its begin until nothing more can befall it."""

    number: int
    producer: int
    group: int
    body_bytes: int
    begun_at: float
    decision: LocalDecision = LocalDecision.COMMIT
    first_says_unknown: bool = False
    runs_until: float = inf
    """When the local transaction ends; for ever where it hangs, and before it has begun."""
    has_run: bool = False
    """Its local transaction was begun."""
    end_arrives_at: float = -1.0
    """When the producer's own END_TRANSACTION arrives; -1 where none is on its way."""
    attempt: int = 0
    attempt_sent_at: float = 0.0
    is_acknowledged: bool = False
    is_over_for_producer: bool = False
    """The producer has an answer to its send, or has given up."""
    pending: int = 0
    """Events that will speak of it."""
    tracked: int = 0
    """Its halves that a check round may still meet."""
    halves: int = 0
    """How many of its halves were sent by a producer and stored."""
    committed: list[tuple[TrackedHalf, int]] = field(default_factory=list)
    """Its real messages: the half that each was committed from, and its place in the commit log."""
    delivered: int = 0
    is_rolled_back: bool = False
    is_discarded: bool = False
    settled_at: float = -1.0
    crashed_at: float = -1.0
    """When the broker last crashed while it was open."""
    doubled_by: str = ""
    lost_by: str = ""
    fate: Fate = field(default_factory=Fate)

    def is_running(self, now: float) -> bool:
        """Whether its producer still works on it."""
        return self.has_run and now < self.runs_until and self.decision is not LocalDecision.NEVER


@dataclass(slots=True)
class Ledger:
    """All that is under way."""

    counts: TrafficCounts
    keeps_passed: bool
    """Halves that a round has passed may come again, as the half offset may go back: they are forgotten later."""
    transactions: dict[int, TrackedTransaction] = field(default_factory=dict)
    halves: dict[int, TrackedHalf] = field(default_factory=dict)
    """By the offset in the half queue, in the order in which they were stored."""
    _passed: deque[int] = field(default_factory=deque)

    def store(self, half: TrackedHalf) -> None:
        """Take up a half that was stored."""
        before = self.halves.pop(half.offset, None)
        if before is not None:
            self._let_go(before)
        self.halves[half.offset] = half
        half.transaction.tracked += 1

    def passed(self, half: TrackedHalf) -> None:
        """A check round has passed a half for good, unless the half offset goes back."""
        if half.is_passed:
            return
        half.is_passed = True
        if self.keeps_passed:
            self._passed.append(half.offset)
        else:
            del self.halves[half.offset]
            self._let_go(half)

    def forget_passed(self, below: int) -> None:
        """Forget the halves that were passed and stand before an offset that no crash takes back."""
        passed = self._passed
        while passed and passed[0] < below:
            half = self.halves.get(passed.popleft())
            if half is not None and half.is_passed:
                del self.halves[half.offset]
                self._let_go(half)

    def lose_from(self, offset: int, half_offset: int) -> None:
        """A loss of power has taken the halves from an offset on; the half offset was saved before."""
        for half in [half for known, half in self.halves.items() if known >= offset]:
            del self.halves[half.offset]
            transaction = half.transaction
            if half.parent is None:
                transaction.lost_by = transaction.lost_by or "loss of power"
            elif half.parent.offset < half_offset:
                transaction.lost_by = transaction.lost_by or "B13"
            self._let_go(half)

    def note_crash(self, now: float) -> None:
        """The broker crashes: what it has yet to settle is open from now on."""
        for half in self.halves.values():
            if half.transaction.settled_at < 0 and not half.is_passed:
                half.transaction.crashed_at = now

    def reopen_from(self, half_offset: int) -> None:
        """The half offset has gone back: halves from there on are met once more."""
        for offset, half in self.halves.items():
            if offset >= half_offset:
                half.is_passed = False

    def _let_go(self, half: TrackedHalf) -> None:
        half.transaction.tracked -= 1
        self.may_be_over(half.transaction)

    def may_be_over(self, transaction: TrackedTransaction) -> None:
        """Close a transaction that nothing more can befall."""
        if not (transaction.tracked or transaction.pending) and transaction.delivered >= len(transaction.committed):
            self._close(transaction)

    def _close(self, transaction: TrackedTransaction) -> None:
        if self.transactions.pop(transaction.number, None) is None:
            return
        is_owed = transaction.is_acknowledged and transaction.has_run and transaction.decision is LocalDecision.COMMIT
        is_put_aside = transaction.is_discarded and transaction.lost_by not in _WITHOUT_RECORD
        if is_owed and not transaction.delivered and not is_put_aside:
            skipped = _SKIPPED if transaction.committed else "unexplained"
            self.counts.befell("lost", transaction.lost_by or skipped)
        transaction.committed.clear()  # it and its halves name each other

    def lose_messages_from(self, place: int, op_offset: int) -> None:
        """A loss of power has taken the log from a place on, and the op queue from an offset on."""
        for half in self.halves.values():
            if half.op is OpState.STORED and half.op_offset >= op_offset:
                half.op = OpState.LOST_WITH_POWER
        for transaction in self.transactions.values():
            for half, message in transaction.committed:
                half.is_named &= message < place
                if message >= place and transaction.delivered:
                    transaction.doubled_by = transaction.doubled_by or "loss of power"
            transaction.committed = [kept for kept in transaction.committed if kept[1] < place]
            if not transaction.committed and not transaction.is_rolled_back:
                transaction.settled_at = -1.0

    def close_all(self) -> None:
        """The simulation ends: what is over is closed, what is under way is counted as open."""
        waiting = {half.transaction.number for half in self.halves.values() if not half.is_passed}
        for transaction in list(self.transactions.values()):
            if transaction.number in waiting:
                self.counts.open_at_end += 1
            else:
                self._close(transaction)
