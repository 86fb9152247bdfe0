"""R1, bounded work: a round writes no more than it has to, and does not spin.

As a safety property, one clause a way to waste work.
"""

from __future__ import annotations

from spec.constants import Constants
from spec.half_queue import stored_halves
from spec.language import always, each, sometimes
from spec.state import Cause, State, Stuck


@always("R1", clause="pulls_nothing", resembles=("A19",))
def no_round_pulls_nothing_again(s: State, c: Constants) -> bool:
    """No round asks for more op messages when it has just seen the end of the queue, and nothing has changed."""
    return not s.round.pulls_nothing


@always("R1", clause="spins_on_a_write", resembles=("B07", "B08"), needs=("put_failure",))
def no_round_tries_a_write_until_its_time_limit(s: State, c: Constants) -> bool:
    """No round tries to store the same copy over and over.

    RocketMQ: TransactionalMessageServiceImpl#check, `continue` after #putBackHalfMsgQueue.
    """
    is_refused = s.stuck_rounds > 0 and (s.stuck == Stuck.FAILED_PUT or s.stuck == Stuck.POISON)
    return c.ends_at_failed_put or not is_refused


@always(
    "R1",
    clause="forks",
    resembles=("A08", "B16", "B50"),
    needs=(
        "null_half or undecodable_half or undecodable_op or crash or power_loss or offset_regression or acting_slave"
        " or graceful_stop or retention",
    ),
    t=each("transactions"),
)
def no_half_is_put_back_twice(s: State, c: Constants, t: int) -> bool:
    """No half gets a second copy."""
    return s.transaction[t].cause != Cause.FORKED_COPY


@always("R1", clause="read_for_another", resembles=("B50",), needs=("retention",), t=each("transactions"))
def no_half_is_put_back_for_another(s: State, c: Constants, t: int) -> bool:
    """No half that is settled, or has a copy, is put back in the place of one that retention has deleted."""
    return s.transaction[t].cause != Cause.READ_FOR_ANOTHER


@always(
    "R1",
    clause="too_many_copies",
    resembles=("A08", "A09", "B50"),
    needs=("room_for_a_copy_too_many",),
    t=each("transactions"),
)
def a_transaction_is_written_once_a_check(s: State, c: Constants, t: int) -> bool:
    """A transaction has at most `transactionCheckMax` copies beside its first half."""
    return stored_halves(s, c, t) <= c.check_max + 1


@sometimes("R1", t=each("transactions"))
def a_transaction_has_a_copy(s: State, c: Constants, t: int) -> bool:
    """Some transaction has a half that is a copy."""
    return stored_halves(s, c, t) == 2
