"""The check loop's questions about the half at the cursor, in their order: what each later step takes for granted.

| Question | Then |
|---|---|
| is there a half? | otherwise the round ends, or jumps (`broken_round`) |
| is it settled, by an op message that was pulled? | it is passed |
| has retention left its record? | otherwise all that follows is asked of the next half that has one (`half_read`) |
| can it be decoded? | otherwise an exception ends the round |
| does the broker act for a dead master? | it escapes |
| are its checks used up, or is it too old? | it is discarded |
| was it stored in this round? | the round ends |
| is it immune? | it is passed as its original is settled, or put back |
| is it young? | the round ends |
| may it be checked? | it is put back, and its producer is asked |
| otherwise | more op messages are pulled, and the same half is looked at again |

RocketMQ: TransactionalMessageServiceImpl#check.
"""

from __future__ import annotations

from spec.constants import Constants
from spec.half import (
    born_ahead,
    can_be_decoded,
    has_a_copy_ahead,
    is_known_as_settled,
    is_young,
    its_op_is_to_come,
    must_be_discarded,
)
from spec.half_queue import half_read, is_half_given
from spec.language import require
from spec.op_pull import is_settled_by_an_op, original_is_settled
from spec.roles import is_master
from spec.rounds import is_fresh, is_within_limit, may_check
from spec.state import State


def stands_on_a_half(s: State, c: Constants) -> None:
    """What every step of the loop needs: a round in its time, and a half to look at."""
    require(s.round.running, "a round runs")
    require(is_within_limit(s, c), "the round is within its time limit")
    require(s.round.cursor < s.half_length, "the cursor stands on a half")


def stands_on_a_half_that_is_given(s: State, c: Constants) -> None:
    """The same, no op message that was pulled names it, and the store gives it, or a later one for it (B50)."""
    stands_on_a_half(s, c)
    require(not is_settled_by_an_op(s, s.round.cursor), "no op message that was pulled names it")
    require(is_half_given(s), "the store has a record for it, or for a later half")
    require(
        not c.passes_what_is_gone or s.round.cursor >= s.gone.halves,
        "what was read is the half that was asked for, or nobody minds",
    )


def stands_on_a_half_that_nothing_settles(s: State, c: Constants) -> None:
    """The same, and nothing that the round has read settles it."""
    stands_on_a_half_that_is_given(s, c)
    require(
        not is_known_as_settled(s, c, s.half[half_read(s)].transaction),
        "the broker does not know its transaction as settled",
    )


def stands_on_an_open_half(s: State, c: Constants) -> None:
    """The same, and no copy of it is still to come."""
    stands_on_a_half_that_nothing_settles(s, c)
    require(not has_a_copy_ahead(s, c, half_read(s)), "no copy of it is known further on in the queue")


def stands_on_a_readable_half(s: State, c: Constants) -> None:
    """The same, and the store gives it."""
    stands_on_an_open_half(s, c)
    require(can_be_decoded(s, half_read(s)), "it can be decoded")


def stands_on_the_masters_half(s: State, c: Constants) -> None:
    """The same, and the broker is no acting slave, which would let it escape."""
    stands_on_a_readable_half(s, c)
    require(is_master(s), "the broker is the master")


def stands_on_an_unsettled_half(s: State, c: Constants) -> None:
    """The same, and neither the number of checks nor its age has the last word on it."""
    stands_on_the_masters_half(s, c)
    require(not must_be_discarded(s, c, half_read(s)), "it has checks left")


def stands_on_an_earlier_half(s: State, c: Constants) -> None:
    """The same, and the half was there before the round."""
    stands_on_an_unsettled_half(s, c)
    require(not is_fresh(s, c, half_read(s)), "it was stored before this round")


def stands_on_an_old_half(s: State, c: Constants) -> None:
    """The same, and its time for a check has come."""
    stands_on_an_earlier_half(s, c)
    require(not is_young(s, c, half_read(s)) or born_ahead(s, half_read(s)), "its timeout or immunity is over")
    require(
        not c.heeds_settled_originals or not original_is_settled(s, half_read(s)),
        "no op message that was pulled names its original",
    )


def stands_on_a_half_to_check(s: State, c: Constants) -> None:
    """The same, and no more op messages are read before its producer is asked."""
    stands_on_an_old_half(s, c)
    require(may_check(s, c, half_read(s)), "no more op messages are to be expected for it")
    require(not its_op_is_to_come(s, c, half_read(s)), "its op entry is not on its way")
