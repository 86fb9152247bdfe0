"""What the producer of the lockstep sends: one half a transaction, and END_TRANSACTIONs for any half."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from fuzz.time_unit import TICK_MS
from reference.end_transaction_request import TRANSACTION_NOT_TYPE, TRANSACTION_ROLLBACK, EndTransactionRequestHeader
from reference.send_message_processor import SendMessageRequest
from reference.store.offsets import QueueOffset
from reference.store.properties import (
    IMMUNITY_SECONDS,
    PRODUCER_GROUP,
    TRANSACTION_PREPARED,
    UNIQUE_KEY,
    WAIT_STORE_OK,
)
from reference.store.record import TRANSACTION_COMMIT
from spec.language import NONE
from spec.state import End

if TYPE_CHECKING:
    from reference.store.offsets import CommitLogOffset

TOPIC: Final = "Orders"
GROUP: Final = "order-service"
_KEY: Final = "7F00000100002A9F{:016X}"
_SAYS: Final = {End.NONE: TRANSACTION_NOT_TYPE, End.COMMIT: TRANSACTION_COMMIT, End.ROLLBACK: TRANSACTION_ROLLBACK}


def transaction_of_key(unique_key: str) -> int:
    """The number of the transaction that a message's UNIQ_KEY names."""
    return int(unique_key[-16:], 16)


def half_message(transaction: int, immunity: int, now: int) -> SendMessageRequest:
    """The transactional message of a transaction, born at `now` ticks; `NONE` is no immunity of its own."""
    properties = {
        UNIQUE_KEY: _KEY.format(transaction),
        WAIT_STORE_OK: "true",
        TRANSACTION_PREPARED: "true",
        PRODUCER_GROUP: GROUP,
    }
    if immunity != NONE:
        properties[IMMUNITY_SECONDS] = str(immunity)
    return SendMessageRequest(
        topic=TOPIC, queue_id=0, body=b"paid", born_timestamp=now * TICK_MS, properties=properties
    )


def end_transaction(
    half: int, place: CommitLogOffset, says: End, *, answers_check: bool, group: str = GROUP
) -> EndTransactionRequestHeader:
    """An END_TRANSACTION for the half at a queue offset, which begins at `place` in the commit log.

    `End.NONE` says UNKNOWN.
    """
    return EndTransactionRequestHeader(group, QueueOffset(half), place, _SAYS[says], answers_check)
