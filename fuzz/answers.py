"""What the broker must answer to a step of the specification, and what it does answer, as words that can be compared.

An answer is a tuple of words; the same step of the specification always expects the same.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from reference.broker.processor.end_transaction_processor import EndTransactionOutcome
from reference.broker.response import (
    ILLEGAL_OPERATION,
    SERVICE_NOT_AVAILABLE,
    SLAVE_NOT_AVAILABLE,
    SUCCESS,
    SYSTEM_ERROR,
)
from reference.broker.transaction.check_step import CheckBranch

if TYPE_CHECKING:
    from reference.broker.processor.end_transaction_processor import EndTransactionStep
    from reference.broker.transaction.check_step import CheckStep

NO_ROUND: Final = "no round runs"

BRANCHES: Final = {
    "pass_settled_half": CheckBranch.SETTLED,
    "discard_half": CheckBranch.DISCARDED,
    "pass_half_of_settled_original": CheckBranch.PREPARED_HALF_SETTLED,
    "put_back_immune_half": CheckBranch.PUT_BACK_FOR_IMMUNITY,
    "put_back_and_check": CheckBranch.PUT_BACK_FOR_CHECK,
    "put_back_unasked": CheckBranch.PUT_BACK_UNASKED,
    "pull_more_ops": CheckBranch.OPS_PULLED,
    "end_round_at_queue_end": CheckBranch.ENDED_AT_QUEUE_END,
    "end_round_before_dispatch": CheckBranch.ENDED_AT_QUEUE_END,
    "end_round_at_fresh_half": CheckBranch.ENDED_AT_FRESH_HALF,
    "end_round_at_young_half": CheckBranch.ENDED_AT_YOUNG_HALF,
    "end_round_at_time_limit": CheckBranch.ENDED_BY_TIME_LIMIT,
    "jump_to_queue_end": CheckBranch.NULL_HALF,
    "abort_at_undecodable_half": CheckBranch.ABORTED,
    "abort_at_next_ops": CheckBranch.ABORTED,
    "abort_at_unreadable_pull": CheckBranch.ABORTED,
}
"""The branch of the check round that each of its actions stands for, in the order in which the loop asks."""

MISHAPS: Final = {
    "discard_half_unrecorded": CheckBranch.DISCARDED,
    "jump_over_half": CheckBranch.NULL_HALF,
    "end_round_at_missed_half": CheckBranch.ENDED_AT_SECOND_NULL_HALF,
    "abort_at_null_result": CheckBranch.ABORTED,
    "spin_at_failed_check": CheckBranch.ENDED_BY_TIME_LIMIT,
    "spin_at_failed_immunity": CheckBranch.ENDED_BY_TIME_LIMIT,
    "let_half_escape": CheckBranch.ESCAPED,
    "let_half_escape_unclearly": CheckBranch.ESCAPE_FAILED,
    "give_half_up": CheckBranch.GIVEN_UP,
}
"""The same where store or network decide how a pass of the round goes."""

ENDS: Final = {
    "store_real_message": (EndTransactionOutcome.MESSAGE_STORED, None),
    "write_op": (EndTransactionOutcome.OP_STORED, SUCCESS),
    "buffer_op": (EndTransactionOutcome.OP_BUFFERED, SUCCESS),
    "fail_to_write_op": (EndTransactionOutcome.OP_LOST, SUCCESS),
    "refuse_late_end": (EndTransactionOutcome.REFUSED, ILLEGAL_OPERATION),
    "refuse_end_as_slave": (EndTransactionOutcome.REFUSED, SLAVE_NOT_AVAILABLE),
    "refuse_unreadable": (EndTransactionOutcome.REFUSED, SYSTEM_ERROR),
    "refuse_commit_unstored": (EndTransactionOutcome.REFUSED, SERVICE_NOT_AVAILABLE),
}
"""What a step of END_TRANSACTION does and answers."""

NOT_THE_HALF: Final = (EndTransactionOutcome.REFUSED, SYSTEM_ERROR)
"""What an END_TRANSACTION gets whose group or offset is not the half's, or that names no half."""

DROPPED: Final = (EndTransactionOutcome.DROPPED, None)
"""What becomes of an END_TRANSACTION that says UNKNOWN."""


def told_end(answer: tuple[EndTransactionOutcome, int | None]) -> str:
    """A step of END_TRANSACTION in words: `op_stored, answered 0`."""
    outcome, code = answer
    return outcome.value if code is None else f"{outcome.value}, answered {code}"


def answered(step: EndTransactionStep) -> tuple[EndTransactionOutcome, int | None]:
    """What a step of END_TRANSACTION did and answered."""
    return step.outcome, None if step.response is None else step.response.code


def branch_of(step: CheckStep | None) -> str:
    """The branch that a pass of the round took."""
    return NO_ROUND if step is None else str(step.branch.value)
