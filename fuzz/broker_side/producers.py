"""The producers of the lockstep: their requests, the answers to these, and their decisions."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Final

from model_check.errors import ModelCheckError
from reference.broker.broker_controller import BrokerController
from reference.broker.broker_settings import BrokerSettings
from reference.broker.processor.end_transaction_processor import (
    TRANSACTION_NOT_TYPE,
    TRANSACTION_ROLLBACK,
    EndTransactionRequestHeader,
)
from reference.broker.processor.send_message_processor import SendMessageRequest, SendMessageResponse
from reference.format.properties import (
    CHECK_TIMES,
    IMMUNITY_SECONDS,
    PREPARED_QUEUE_OFFSET,
    PRODUCER_GROUP,
    TRANSACTION_PREPARED,
    UNIQUE_KEY,
    WAIT_STORE_OK,
)
from reference.format.record import TRANSACTION_COMMIT, CommitLogOffset, QueueOffset
from reference.format.stored_message import decode_message_id
from reference.simulation.virtual_clock import VirtualClock
from reference.store.put_message import MOST_PROPERTIES
from spec.language import NONE
from spec.state import End, Local, Producer

if TYPE_CHECKING:
    from reference.versions.switches import ReleaseSwitches

TOPIC: Final = "Orders"
GROUP: Final = "order-service"
CHANNEL: Final = "127.0.0.1:4242"
"""The channel of the producers."""
_PADDING: Final = "note"
_KEY: Final = "7F00000100002A9F{:016X}"
_SAYS: Final = {End.NONE: TRANSACTION_NOT_TYPE, End.COMMIT: TRANSACTION_COMMIT, End.ROLLBACK: TRANSACTION_ROLLBACK}


def transaction_of_key(unique_key: str) -> int:
    """The number of the transaction that a message's UNIQ_KEY names."""
    return int(unique_key[-16:], 16)


def unique_key(transaction: int) -> str:
    """The UNIQ_KEY of a transaction's message."""
    return _KEY.format(transaction)


def half_message(
    transaction: int, immunity: int, born_at: int, *, checks: int = 0, original: int = NONE, padding: int = 0
) -> SendMessageRequest:
    """The transactional message of a transaction.

    Parameters
    ----------
    immunity
        CHECK_IMMUNITY_TIME_IN_SECONDS; `NONE` is none.
    born_at
        Milliseconds by the producer's clock.
    checks
        TRANSACTION_CHECK_TIMES, if not 0.
    original
        TRAN_PREPARED_QUEUE_OFFSET; `NONE` is none.
    padding
        Characters of a property of the user's, if not 0.
    """
    properties = {
        UNIQUE_KEY: unique_key(transaction),
        WAIT_STORE_OK: "true",
        TRANSACTION_PREPARED: "true",
        PRODUCER_GROUP: GROUP,
    }
    if immunity != NONE:
        properties[IMMUNITY_SECONDS] = str(immunity)
    if checks:
        properties[CHECK_TIMES] = str(checks)
    if original != NONE:
        properties[PREPARED_QUEUE_OFFSET] = str(original)
    if padding:
        properties[_PADDING] = "x" * padding
    return SendMessageRequest(
        topic=TOPIC, queue_id=0, body=b"paid", born_timestamp=born_at, properties=properties, born_host=CHANNEL
    )


@cache
def poisonous_padding(switches: ReleaseSwitches, immunity: int) -> int:
    """How many characters of padding make a half whose properties are all but as long as a record can hold (B07).

    One more is left, so that it may escape: WAIT says `false` then, instead of `true`.
    """
    trial = BrokerController(switches, BrokerSettings(), VirtualClock())
    stored = trial.send_message(half_message(0, immunity, 0, padding=1)).record
    if stored is None:
        msg = "a broker with nothing in its store takes a message"
        raise ModelCheckError(msg)
    return MOST_PROPERTIES - len(stored.properties_text)


def end_transaction(
    half: int, place: CommitLogOffset, says: End, *, answers_check: bool
) -> EndTransactionRequestHeader:
    """An END_TRANSACTION for the half at a queue offset, which begins at `place` in the commit log.

    `End.NONE` says UNKNOWN.
    """
    return EndTransactionRequestHeader(GROUP, QueueOffset(half), place, _SAYS[says], answers_check)


_ANSWERS: Final = {Local.COMMIT: End.COMMIT, Local.ROLLBACK: End.ROLLBACK, Local.NEVER_RUN: End.ROLLBACK}


@dataclass(frozen=True, slots=True)
class SendResult:
    """The answer to a producer's send, with the place of the half (``SendResult``)."""

    request: SendMessageRequest
    answer: SendMessageResponse
    queue_offset: QueueOffset
    place: CommitLogOffset


class Producers:
    """All of them, as one group."""

    def __init__(self) -> None:
        self.local: defaultdict[int, Local] = defaultdict(lambda: Local.NOT_SENT)
        """Their knowledge of each local transaction."""
        self.sent: dict[int, SendResult] = {}
        """The last answer to the send of each transaction."""
        self.rotting: set[int] = set()
        """The transactions whose message cannot be decoded when it was stored."""
        self.are = Producer.ONLINE
        """Whether the broker can reach one."""

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
        """The answer to a check of the transaction; `End.NONE` is UNKNOWN."""
        return _ANSWERS.get(self.local[transaction], End.NONE)
