"""The outcome of one step of a check round: one pass through the loop of ``TransactionalMessageServiceImpl#check``."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import TYPE_CHECKING

from reference.format.properties import CHECK_TIMES
from reference.java import get_int

if TYPE_CHECKING:
    from reference.broker.transaction.transactional_message_check_listener import CheckTransactionStateRequest
    from reference.format.record import LogRecord, QueueOffset
    from reference.store.message import MessageExt


class CheckBranch(Enum):
    """The branch that a pass took."""

    SETTLED = "settled"
    """The removeMap has the half: it was committed or rolled back."""
    NULL_HALF = "null_half"
    """No half could be read; the round goes on where the store says."""
    ESCAPED = "escaped"
    """An acting slave sent the half to another master."""
    ESCAPE_FAILED = "escape_failed"
    """It could not, or does not know that it could; the same half is tried again."""
    GIVEN_UP = "given_up"
    """It could not for too many times, and passes the half."""
    DISCARDED = "discarded"
    """Checked too often, or too old: given up."""
    DISCARD_FAILED = "discard_failed"
    """Given up, but its record could not be stored; the same half is tried again (a repair of B31)."""
    PREPARED_HALF_SETTLED = "prepared_half_settled"
    """The removeMap has the original of this immune copy (TRAN_PREPARED_QUEUE_OFFSET)."""
    PASSED_OVER = "passed_over"
    """Its immunity ended between two looks at the clock: neither put back nor checked (up to 4.3.2, A01). Or it lasts
    longer than all checks take (PR #9321)."""
    KNOWN_AS_SETTLED = "known_as_settled"
    """The index of settled transactions has its transaction (a repair of A12)."""
    COPY_AHEAD = "copy_ahead"
    """A copy of it stands further on in the queue (a repair of B16)."""
    OP_TO_COME = "op_to_come"
    """Its op entry is on its way (a repair of B05)."""
    GONE = "gone"
    """Retention has deleted it: the store gave a later half (a repair of B50)."""
    PUT_BACK_FOR_IMMUNITY = "put_back_for_immunity"
    """The immunity lasts: stored once more, nobody is asked."""
    PUT_BACK_FOR_CHECK = "put_back_for_check"
    """Stored once more, then the check request was sent."""
    PUT_BACK_UNASKED = "put_back_unasked"
    """Stored once more, and no producer of the group is connected that could be asked."""
    PUT_BACK_FAILED = "put_back_failed"
    """The copy could not be stored; the same half is tried again."""
    OPS_PULLED = "ops_pulled"
    """Not enough is known: more op messages were asked for; the same half comes again."""
    ASLEEP = "asleep"
    """The thread still sleeps after a pull without op messages; nothing was done."""
    ENDED_BY_TIME_LIMIT = "ended_by_time_limit"
    ENDED_AT_FAILED_PUT = "ended_at_failed_put"
    """A copy could not be stored (a repair of B08)."""
    ENDED_BY_STOP = "ended_by_stop"
    """The broker is no master any more (a repair of B42)."""
    ENDED_AT_QUEUE_END = "ended_at_queue_end"
    """There is no new half."""
    ENDED_AT_SECOND_NULL_HALF = "ended_at_second_null_half"
    """No half could be read a second time; in 4.5.1 so does every round that reaches the queue's end."""
    ENDED_AT_FRESH_HALF = "ended_at_fresh_half"
    """The half was stored within this round."""
    ENDED_AT_YOUNG_HALF = "ended_at_young_half"
    """The half is younger than the timeout and has no immunity."""
    ABORTED = "aborted"
    """An exception: the round is over, and nothing that it reached is committed."""

    def __init__(self, _: str) -> None:
        self.commits = self._name_.startswith("ENDED")
        """Whether the round is over and its offsets are committed."""
        self.is_end = self.commits or self._name_ == "ABORTED"
        """Whether the round is over."""


@dataclass(slots=True)
class CheckStep:
    """One step."""

    branch: CheckBranch
    half: QueueOffset
    """The queue offset that the pass was about: of the half that the store gave, which may be a later one (B50)."""
    message: MessageExt | None = None
    """The half as the round holds it in memory, where it was read: its check count is counted up already."""
    op: QueueOffset | None = None
    """Where the op message stands that settled the half."""
    record: LogRecord | None = None
    """The stored record: the copy of a put-back, or the record of a discarded half (None in 4.5.1)."""
    check_request: CheckTransactionStateRequest | None = None
    """The request that was sent after a put-back for a check."""
    thrown: str = ""
    """The exception that ended the round, where it was aborted."""

    @property
    def check_times(self) -> int | None:
        """TRANSACTION_CHECK_TIMES of the half after the pass; None if no half was read, or it was never counted."""
        counted = None if self.message is None else self.message.properties.get(CHECK_TIMES)
        return None if counted is None else get_int(counted)
