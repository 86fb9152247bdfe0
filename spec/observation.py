"""What an action shows in a trace: each event field is a function of the state after it and of its first parameter."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

from spec.constants import Constants
from spec.state import End, Local, Settled, State

COMMIT: Final = 1
ROLLBACK: Final = 2
UNKNOWN: Final = 3


def itself(s: State, c: Constants, i: int) -> int:
    """The parameter: a transaction or a half."""
    return i


def first_half_of(s: State, c: Constants, t: int) -> int:
    """The half that the transaction's send stored."""
    return s.transaction[t].first_half


def outcome_decided(s: State, c: Constants, t: int) -> int:
    """What the local transaction came to."""
    if s.transaction[t].local == Local.COMMIT:
        return COMMIT
    is_rolled_back = s.transaction[t].local == Local.ROLLBACK or s.transaction[t].local == Local.NEVER_RUN
    return ROLLBACK if is_rolled_back else UNKNOWN


def transaction_of(s: State, c: Constants, h: int) -> int:
    """The transaction of half h."""
    return s.half[h].transaction


def checks_of(s: State, c: Constants, h: int) -> int:
    """TRANSACTION_CHECK_TIMES of half h."""
    return s.half[h].check_times


def outcome_answered(s: State, c: Constants, h: int) -> int:
    """What the END_TRANSACTION that is now under way for half h says."""
    if s.half[h].end == End.COMMIT:
        return COMMIT
    return ROLLBACK if s.half[h].end == End.ROLLBACK else UNKNOWN


def outcome_settled(s: State, c: Constants, h: int) -> int:
    """What the broker has done for half h."""
    return COMMIT if s.half[h].settled == Settled.COMMITTED else ROLLBACK


def commit(s: State, c: Constants, h: int) -> int:
    """A real message was stored, so it was a commit."""
    return COMMIT


def half_left_behind(s: State, c: Constants) -> int:
    """The half that the cursor has just passed."""
    return s.round.cursor - 1


def transaction_left_behind(s: State, c: Constants) -> int:
    """The transaction of that half."""
    return s.half[s.round.cursor - 1].transaction


def checks_left_behind(s: State, c: Constants) -> int:
    """TRANSACTION_CHECK_TIMES of that half."""
    return s.half[s.round.cursor - 1].check_times


def last_half(s: State, c: Constants) -> int:
    """The half that was stored last: a copy."""
    return s.half_length - 1


def checks_of_last_half(s: State, c: Constants) -> int:
    """TRANSACTION_CHECK_TIMES of that copy."""
    return s.half[s.half_length - 1].check_times


def last_op(s: State, c: Constants) -> int:
    """The op message that was stored last."""
    return s.op_length - 1


def resumed_copy(s: State, c: Constants, h: int) -> int:
    """The half that was stored last, whatever half it copies."""
    return s.half_length - 1


def commit_elsewhere(s: State, c: Constants, t: int) -> int:
    """Another broker stored a real message, so it was a commit."""
    return COMMIT


def rollback_elsewhere(s: State, c: Constants, t: int) -> int:
    """Another broker rolled the transaction back."""
    return ROLLBACK


def op_just_written(s: State, c: Constants, h: int) -> int:
    """The op message that was stored last, whatever half it names."""
    return s.op_length - 1


Observed = Mapping[str, Callable[..., Any]]

_SENT: Observed = {"transaction": itself, "half": first_half_of}
_LOCAL: Observed = {"transaction": itself, "half": first_half_of, "outcome": outcome_decided}
_HALF: Observed = {"transaction": transaction_of, "half": itself, "check_times": checks_of}
_PASSED: Observed = {
    "transaction": transaction_left_behind,
    "half": half_left_behind,
    "check_times": checks_left_behind,
}
_PUT_BACK: Observed = {**_PASSED, "copy": last_half, "check_times": checks_of_last_half}

OBSERVATIONS: Final[Mapping[str, Observed]] = {
    "send_half": _SENT,
    "send_half_by_another_clock": _SENT,
    "send_half_with_checks": _SENT,
    "send_poison_half": _SENT,
    "send_undecodable_half": _SENT,
    "send_half_again": _SENT,
    "commit_locally": _LOCAL,
    "roll_back_locally": _LOCAL,
    "roll_back_unrun": _LOCAL,
    "commit_what_is_gone": _LOCAL,
    "commit_another_half": _LOCAL,
    "leave_it_unknown": _LOCAL,
    "resolve_to_commit": _LOCAL,
    "resolve_to_rollback": _LOCAL,
    "answer_check": {**_HALF, "outcome": outcome_answered},
    "answer_check_too_early": {**_HALF, "outcome": outcome_answered},
    "store_real_message": {**_HALF, "outcome": commit},
    "write_op": {**_HALF, "op": op_just_written, "outcome": outcome_settled},
    "buffer_op": {**_HALF, "outcome": outcome_settled},
    "fail_to_write_op": {**_HALF, "outcome": outcome_settled},
    "refuse_late_end": _HALF,
    "refuse_end_as_slave": _HALF,
    "refuse_unreadable": _HALF,
    "refuse_commit_unstored": _HALF,
    "ignore_repeated_end": _HALF,
    "write_op_batch": {"op": last_op},
    "pass_settled_half": _PASSED,
    "pass_half_of_settled_transaction": _PASSED,
    "pass_half_of_waiting_op": _PASSED,
    "pass_over_long_immunity": _PASSED,
    "discard_half": _PASSED,
    "discard_half_unrecorded": _PASSED,
    "discard_instead_of_check": _PASSED,
    "discard_what_cannot_be_copied": _PASSED,
    "pass_half_of_settled_original": _PASSED,
    "jump_over_half": _PASSED,
    "let_half_escape": _PASSED,
    "give_half_up": _PASSED,
    "put_back_immune_half": _PUT_BACK,
    "put_back_and_check": _PUT_BACK,
    "put_back_unasked": _PUT_BACK,
    "deliver_escaped": {"transaction": itself, "outcome": commit_elsewhere},
    "roll_back_escaped": {"transaction": itself, "outcome": rollback_elsewhere},
    "resume_discarded": {**_HALF, "copy": resumed_copy},
    "corrupt_op": {"op": itself},
    "lose_end": _HALF,
    "lose_check": _HALF,
    "duplicate_end": {**_HALF, "outcome": outcome_answered},
    "double_end": {**_HALF, "outcome": outcome_answered},
    "overtake": _HALF,
    "send_wrong_commit": {**_HALF, "outcome": outcome_answered},
    "send_wrong_rollback": {**_HALF, "outcome": outcome_answered},
    "answer_with_wrong_commit": {**_HALF, "outcome": outcome_answered},
    "answer_with_wrong_rollback": {**_HALF, "outcome": outcome_answered},
}
"""Action → event field → function. What is not named here is absent from the event."""
