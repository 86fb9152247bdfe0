"""END_TRANSACTION: the broker takes the next step with the first one under way for a half."""

from __future__ import annotations

from contextlib import nullcontext
from typing import TYPE_CHECKING, Final, Unpack

from fuzz.actions.op_batch import batch_is_full
from fuzz.actions.record import Driven, Move, Terms, expect
from reference.broker.processor.end_transaction_processor import EndTransactionOutcome, EndTransactionStep
from reference.broker.response import (
    ILLEGAL_OPERATION,
    SERVICE_NOT_AVAILABLE,
    SLAVE_NOT_AVAILABLE,
    SUCCESS,
    SYSTEM_ERROR,
)

if TYPE_CHECKING:
    from fuzz.broker_side.broker_side import BrokerSide
    from spec.language import Refused, Step

ANSWER: Final = "the answer to END_TRANSACTION"

DROPPED: Final = EndTransactionOutcome.DROPPED.value
"""The expected answer to an END_TRANSACTION that says UNKNOWN."""


def in_words(outcome: EndTransactionOutcome, code: int | None) -> str:
    """The outcome of a step of END_TRANSACTION, with its response code if it has one: `op_stored, answered 0`."""
    return outcome.value if code is None else f"{outcome.value}, answered {code}"


def answer_of(step: EndTransactionStep) -> str:
    """The same of a step of the broker's."""
    return in_words(step.outcome, None if step.response is None else step.response.code)


_TRIED_AGAIN: Final = {
    "what could not be stored is not tried again": "put_failure",
    "what was not written is tried again": "op_write_failure",
}
"""Rules that forbid a failure in a repaired broker, and the fault with which its store may refuse."""

NOT_THE_HALF: Final = in_words(EndTransactionOutcome.REFUSED, SYSTEM_ERROR)
"""The expected answer to an END_TRANSACTION whose group or offset is not the half's, or that names no half."""


def _end(
    outcome: EndTransactionOutcome, code: int | None, *moves: Move, puts_fail: bool = False, **terms: Unpack[Terms]
) -> Driven:
    expected = in_words(outcome, code)

    def do(side: BrokerSide, step: Step) -> None:
        with side.process.puts_fail() if puts_fail else nullcontext():
            done = side.go_on_with_end(step.arguments[0])
        expect(ANSWER, expected, answer_of(done))

    return Driven(do, moves, "end", expected, **terms)


def _refuse(code: int, *moves: Move, puts_fail: bool = False, **terms: Unpack[Terms]) -> Driven:
    return _end(EndTransactionOutcome.REFUSED, code, *moves, puts_fail=puts_fail, **terms)


def _batch_is_beyond_its_size(side: BrokerSide, _: Step) -> bool:
    """A batch beyond its size.

    The specification keeps the waiting half offsets as a set, which is written as a whole. The broker keeps a queue, in
    which an offset may stand twice, and cuts an op message at `transactionOpMsgMaxSize`
    (TransactionalMessageServiceImpl#getOpMessage). So no entry joins a batch that is full by the broker's count.
    """
    return side.constants.batches_ops and batch_is_full(side)


def _half_is_unreadable(side: BrokerSide, step: Step) -> bool:
    """An END_TRANSACTION of a transaction that is over, for a half of it that cannot be decoded.

    The broker reads the transaction from the half; the specification knows it.
    """
    return side.broker.message_store.look_message_by_offset(side.place_of_half(step.arguments[0])) is None


def _try_while_the_store_refuses(side: BrokerSide, step: Step, refused: Refused) -> bool:
    """A repaired broker waits with what its store refuses: it answers nothing, and is as it was."""
    is_asked = refused.rule in _TRIED_AGAIN and bool(getattr(side.constants, _TRIED_AGAIN[refused.rule]))
    if is_asked:
        with side.process.puts_fail():
            expect(ANSWER, EndTransactionOutcome.WAITING.value, answer_of(side.go_on_with_end(step.arguments[0])))
    return is_asked


def _is_answered_for_another_reason(side: BrokerSide, step: Step) -> bool:
    """A late END_TRANSACTION for a half that cannot be decoded, or, repaired, for one whose transaction is over.

    The broker looks for the half first, then for its transaction; the specification may refuse it for either reason.
    """
    half = side.broker.message_store.look_message_by_offset(side.place_of_half(step.arguments[0]))
    return half is None or side.broker.settled_transactions.knows(half)


store_real_message = _end(EndTransactionOutcome.MESSAGE_STORED, None, "end")
write_op = _end(EndTransactionOutcome.OP_STORED, SUCCESS, "end")
buffer_op = _end(EndTransactionOutcome.OP_BUFFERED, SUCCESS, "end", unless=_batch_is_beyond_its_size)
fail_to_write_op = _end(
    EndTransactionOutcome.OP_LOST,
    SUCCESS,
    "bad put",
    "slave",
    puts_fail=True,
    needs=("-batches_ops op_write_failure", "-batches_ops role_change"),
    after="refuse_commit_unstored",
    ask=_try_while_the_store_refuses,
)
refuse_late_end = _refuse(ILLEGAL_OPERATION, "end", unless=_is_answered_for_another_reason)
refuse_end_as_slave = _refuse(SLAVE_NOT_AVAILABLE, "slave", needs=("role_change", "acting_slave escapes"))
refuse_unreadable = _refuse(SYSTEM_ERROR, "end", needs=("undecodable_half", "retention"))
refuse_commit_unstored = _refuse(SERVICE_NOT_AVAILABLE, "bad put", puts_fail=True, ask=_try_while_the_store_refuses)
ignore_repeated_end = _end(
    EndTransactionOutcome.IGNORED,
    SUCCESS,
    "end",
    repairs=("settles_once", "leaves_escaped"),
    unless=_half_is_unreadable,
)
