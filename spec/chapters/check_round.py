"""One round of the check service, a step of its loop an action.

The order of the loop's questions stands in `spec.check_loop`. What becomes of an unsettled half is in `discarding` and
`putting_back`, the escape in `escape`, what goes wrong in `broken_round`. RocketMQ: TransactionalMessageServiceImpl
#check.
"""

from __future__ import annotations

from spec.check_loop import (
    stands_on_a_half,
    stands_on_a_half_that_is_given,
    stands_on_a_half_that_nothing_settles,
    stands_on_an_earlier_half,
    stands_on_an_old_half,
    stands_on_an_unsettled_half,
    stands_on_the_masters_half,
)
from spec.constants import Constants
from spec.ghosts import remember_settled_elsewhere
from spec.half import (
    age,
    has_a_copy_ahead,
    has_immunity,
    is_immune,
    is_known_as_settled,
    is_too_immune,
    is_young,
    its_op_is_to_come,
    must_be_discarded,
)
from spec.half_queue import half_offset, half_read, is_empty, pass_over
from spec.language import NONE, action, assume, require
from spec.observation import PASSED, READ
from spec.op_pull import (
    is_settled_by_an_op,
    mark_done,
    op_offset,
    original_is_settled,
    pull_op_messages,
    pull_throws,
    settle_by_op,
)
from spec.rounds import end_round, is_fresh, is_within_limit, may_check
from spec.state import Left, Pull, Role, State, Stuck

# --- beginning --------------------------------------------------------------------------------------------------------


@action(event="round_began", place=280)
def begin_round(s: State, c: Constants) -> None:
    """The check service wakes up, reads both offsets and pulls the first op messages.

    RocketMQ: TransactionalMessageCheckService#onWaitEnd → TransactionalMessageServiceImpl#check.
    """
    may_begin(s, c)
    require(not pull_throws(s, c, op_offset(s)), "the first op messages can be decoded, or left out")
    read_offsets(s, c)


def read_offsets(s: State, c: Constants) -> None:
    """The round begins where the last one was committed, and with the first op messages."""
    s.round.running = True
    s.round.started_at = s.now
    s.round.cursor = half_offset(s)
    s.round.first_op = op_offset(s)
    s.round.next_op = op_offset(s)
    pass_over(s, c, s.offsets.half, half_offset(s))
    pull_op_messages(s, c)


def may_begin(s: State, c: Constants) -> None:
    """What every round needs: its time has come, and the broker is a master or acts for one."""
    require(not s.round.running, "no round runs")
    require(
        s.role == Role.MASTER or s.role == Role.ACTING_MASTER, "the broker is the master or acts for it, and goes on"
    )
    require(s.now - s.round_ended_at >= c.check_interval, "the check interval is over since the last round")


# --- passing ----------------------------------------------------------------------------------------------------------


@action(event="half_passed", place=290, shows=PASSED)
def pass_settled_half(s: State, c: Constants) -> None:
    """An op message names the half at the cursor: it is settled.

    RocketMQ: TransactionalMessageServiceImpl#check, the `removeMap` branch. 4.5.1 forgets to mark the op as done (A03).
    """
    stands_on_a_half(s, c)
    require(is_settled_by_an_op(s, s.round.cursor), "an op message that was pulled names it")
    settle_by_op(s, c, s.round.cursor)
    s.round.cursor += 1


@action(event="half_passed", place=300, shows=READ)
def pass_half_of_settled_transaction(s: State, c: Constants) -> None:
    """The broker knows the transaction of the half as settled. A repair."""
    stands_on_a_half_that_is_given(s, c)
    require(is_known_as_settled(s, c, s.half[half_read(s)].transaction), "the broker knows its transaction as settled")
    if original_is_settled(s, half_read(s)):
        settle_by_op(s, c, s.half[half_read(s)].original)
    remember_settled_elsewhere(s, half_read(s))
    s.round.cursor += 1


@action(event="half_passed", place=305, shows=READ)
def pass_copied_half(s: State, c: Constants) -> None:
    """The half was put back before, and the half offset went back over it: its copy is still to come. A repair."""
    stands_on_a_half_that_nothing_settles(s, c)
    require(has_a_copy_ahead(s, c, half_read(s)), "a copy of it is known further on in the queue")
    remember_settled_elsewhere(s, half_read(s))
    s.round.cursor += 1


@action(event="half_passed", place=350, shows=READ)
def pass_half_of_settled_original(s: State, c: Constants) -> None:
    """An immune copy is passed because an op message names its original; that op counts as done as a whole (A15).

    The repair of B01 asks about every copy that knows its original, and marks the op as done with its last half.

    RocketMQ: TransactionalMessageServiceImpl#checkPrepareQueueOffset.
    """
    stands_on_an_earlier_half(s, c)
    require(c.heeds_settled_originals or is_immune(s, c, half_read(s)), "its immunity is not over")
    require(original_is_settled(s, half_read(s)), "an op message that was pulled names its original")
    if c.heeds_settled_originals:
        settle_by_op(s, c, s.half[half_read(s)].original)
    else:
        mark_done(s, s.round.removed_by[s.half[half_read(s)].original])
        s.round.removed_by[s.half[half_read(s)].original] = NONE
    remember_settled_elsewhere(s, half_read(s))
    s.round.cursor += 1


@action(event="half_passed", place=360, shows=READ)
def pass_half_of_waiting_op(s: State, c: Constants) -> None:
    """An END_TRANSACTION of the half was carried out, and its op entry is on its way. A repair."""
    stands_on_an_old_half(s, c)
    require(its_op_is_to_come(s, c, half_read(s)), "its op entry is on its way")
    s.round.cursor += 1


@action(event="half_passed", place=370, shows=READ)
def pass_over_long_immunity(s: State, c: Constants) -> None:
    """A half that is immune for longer than all its checks would take is left behind. A wrong repair (PR #9321)."""
    stands_on_an_earlier_half(s, c)
    require(is_too_immune(s, c, half_read(s)), "its immunity is longer than all its checks take")
    s.half[half_read(s)].left = Left.PASSED_OVER
    s.round.cursor += 1


# --- reading on -------------------------------------------------------------------------------------------------------


@action(event="ops_pulled", place=410)
def pull_more_ops(s: State, c: Constants) -> None:
    """It is too early to check the half at the cursor: more op messages are read, and the same half is looked at again.

    RocketMQ: TransactionalMessageServiceImpl#check → #fillOpRemoveMap. 5.x sleeps a second when there was none. At an
    age of exactly the timeout nothing changes until the clock goes on (A19).
    """
    stands_on_an_old_half(s, c)
    require(s.round.last_pull != Pull.UNREADABLE, "the last pull gave a message that can be decoded, or none")
    require(not may_check(s, c, half_read(s)), "more op messages may be expected for it")
    require(not its_op_is_to_come(s, c, half_read(s)), "its op entry is not on its way")
    require(not pull_throws(s, c, s.round.next_op), "the next op messages can be decoded, or left out")
    if s.round.last_pull == Pull.END and s.round.next_op == s.op_length:
        s.round.pulls_nothing = True
    pull_op_messages(s, c)


# --- ending -----------------------------------------------------------------------------------------------------------


@action(event="round_ended", place=420)
def end_round_at_queue_end(s: State, c: Constants) -> None:
    """No half is left to look at.

    RocketMQ: TransactionalMessageServiceImpl#check, NO_NEW_MSG. An offset beyond the end of the queue comes here only
    after one jump, or where the queue is empty.
    """
    require(s.round.running, "a round runs")
    require(is_within_limit(s, c), "the round is within its time limit")
    require(s.round.cursor >= s.half_length, "the cursor stands at the end of the half queue")
    require(s.round.cursor >= s.lower_end.halves or is_empty(s), "it is not below the lower end of the queue")
    require(
        s.round.cursor == s.half_length or is_empty(s) or s.round.null_met,
        "it is not beyond the end, or has jumped before",
    )
    end_round(s, c, Stuck.NO)


@action(event="round_ended", place=430)
def end_round_at_fresh_half(s: State, c: Constants) -> None:
    """The half at the cursor was stored in this round, or seems so as the clock has stepped back (B28).

    RocketMQ: TransactionalMessageServiceImpl#check, "Fresh stored".
    """
    stands_on_an_unsettled_half(s, c)
    require(is_fresh(s, c, half_read(s)), "it was stored in this round")
    if s.half[half_read(s)].stored_at > s.now:
        end_round(s, c, Stuck.CLOCK)
    else:
        end_round(s, c, Stuck.NO)


@action(event="round_ended", place=440)
def end_round_before_dispatch(s: State, c: Constants) -> None:
    """The half at the cursor was stored in this round and is not in the consume queue yet; else it would be discarded.

    RocketMQ: DefaultMessageStore.ReputMessageService dispatches what the commit log holds, a moment later;
    TransactionalMessageServiceImpl#check then finds no message. Real 5.4.0 brokers discard in the next round for it,
    others in the same one.
    """
    stands_on_the_masters_half(s, c)
    require(must_be_discarded(s, c, half_read(s)), "it has no checks left")
    require(is_fresh(s, c, half_read(s)), "it was stored in this round")
    assume(c.slow_dispatch, "what is stored is in its consume queue at once")
    end_round(s, c, Stuck.NO)


@action(event="round_ended", place=450)
def end_round_at_young_half(s: State, c: Constants) -> None:
    """The half at the cursor has no immunity of its own and is younger than the timeout: those behind it wait, too.

    RocketMQ: TransactionalMessageServiceImpl#check, "New arrived".
    """
    stands_on_an_earlier_half(s, c)
    require(not has_immunity(s, half_read(s)), "it has no immunity of its own")
    require(age(s, half_read(s)) >= 0, "it was not born in the future")
    require(is_young(s, c, half_read(s)), "its timeout is not over")
    end_round(s, c, Stuck.NO)


@action(event="round_ended", place=460)
def end_round_at_time_limit(s: State, c: Constants) -> None:
    """The round has lasted too long; the next one goes on from here.

    RocketMQ: TransactionalMessageServiceImpl#check, MAX_PROCESS_TIME_LIMIT. What it has read of the op queue is
    forgotten, so that it may never get further (B29).
    """
    require(s.round.running, "a round runs")
    require(not is_within_limit(s, c), "the round is over its time limit")
    if is_due(s, c, s.round.cursor):
        end_round(s, c, Stuck.TIME_LIMIT)
    else:
        end_round(s, c, Stuck.NO)


def is_due(s: State, c: Constants, h: int) -> bool:
    """There is a half at this place, and it is neither young nor immune."""
    return h < s.half_length and not is_young(s, c, h)
