"""What actions show in a trace: each event field is a function of the state after it and of its first parameter."""

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


def commit(s: State, c: Constants, i: int) -> int:
    """A real message was stored, here or by another broker, so it was a commit."""
    return COMMIT


def rollback(s: State, c: Constants, t: int) -> int:
    """Another broker rolled the transaction back."""
    return ROLLBACK


def half_left_behind(s: State, c: Constants) -> int:
    """The half that the cursor has just passed."""
    return s.round.cursor - 1


def transaction_left_behind(s: State, c: Constants) -> int:
    """The transaction of that half."""
    return s.half[s.round.cursor - 1].transaction


def checks_left_behind(s: State, c: Constants) -> int:
    """TRANSACTION_CHECK_TIMES of that half."""
    return s.half[s.round.cursor - 1].check_times


def half_as_read(s: State, c: Constants) -> int:
    """The half that the store gave for the one that the cursor has just passed: that, or a later one."""
    return max(s.round.cursor - 1, s.gone.halves)


def transaction_as_read(s: State, c: Constants) -> int:
    """The transaction of that half."""
    return s.half[max(s.round.cursor - 1, s.gone.halves)].transaction


def checks_as_read(s: State, c: Constants) -> int:
    """TRANSACTION_CHECK_TIMES of that half."""
    return s.half[max(s.round.cursor - 1, s.gone.halves)].check_times


def last_half(s: State, c: Constants) -> int:
    """The half that was stored last: a copy."""
    return s.half_length - 1


def checks_of_last_half(s: State, c: Constants) -> int:
    """TRANSACTION_CHECK_TIMES of that copy."""
    return s.half[s.half_length - 1].check_times


def last_op(s: State, c: Constants) -> int:
    """The op message that was stored last."""
    return s.op_length - 1


def last_op_of(s: State, c: Constants, h: int) -> int:
    """The op message that was stored last, whatever half it names."""
    return s.op_length - 1


def resumed_copy(s: State, c: Constants, h: int) -> int:
    """The half that was stored last, whatever half it copies."""
    return s.half_length - 1


Shown = Mapping[str, Callable[..., Any]]

SENT: Final[Shown] = {"transaction": itself, "half": first_half_of}
DECIDED: Final[Shown] = {**SENT, "outcome": outcome_decided}
OF_A_HALF: Final[Shown] = {"transaction": transaction_of, "half": itself, "check_times": checks_of}
ANSWERED: Final[Shown] = {**OF_A_HALF, "outcome": outcome_answered}
STORED: Final[Shown] = {**OF_A_HALF, "outcome": commit}
SETTLED: Final[Shown] = {**OF_A_HALF, "outcome": outcome_settled}
OP_WRITTEN: Final[Shown] = {**OF_A_HALF, "op": last_op_of, "outcome": outcome_settled}
OPS_WRITTEN: Final[Shown] = {"op": last_op}
OF_AN_OP: Final[Shown] = {"op": itself}
PASSED: Final[Shown] = {
    "transaction": transaction_left_behind,
    "half": half_left_behind,
    "check_times": checks_left_behind,
}
READ: Final[Shown] = {
    "transaction": transaction_as_read,
    "half": half_as_read,
    "check_times": checks_as_read,
}
PUT_BACK: Final[Shown] = {**READ, "copy": last_half, "check_times": checks_of_last_half}
RESUMED: Final[Shown] = {**OF_A_HALF, "copy": resumed_copy}
DELIVERED_ELSEWHERE: Final[Shown] = {"transaction": itself, "outcome": commit}
ROLLED_BACK_ELSEWHERE: Final[Shown] = {"transaction": itself, "outcome": rollback}
"""Event field → function, for the actions that say so; a field that is not named is absent from the event."""
