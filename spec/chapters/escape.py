"""A slave that acts for a dead master, and lets unresolved halves escape to another master (5.1.0 and later).

The other broker is modelled by what becomes of the halves that it gets: each is checked there and settled for itself:
nothing ties it to the half that the producer knows. RocketMQ: TransactionalMessageServiceImpl#check and
TransactionalMessageBridge#escapeMessage.
"""

from __future__ import annotations

from spec.bounds import room_for_a_mishap
from spec.chapters.end_transaction import forget_ends
from spec.chapters.op_batch import drop_batch
from spec.check_loop import stands_on_a_readable_half
from spec.constants import Constants
from spec.ghosts import has_another_copy, is_read_for_another, why_its_op_was_not_seen
from spec.half import was_resumed
from spec.half_queue import find_lower_ends, half_read
from spec.language import action, assume, each, require, within
from spec.observation import DELIVERED_ELSEWHERE, READ, ROLLED_BACK_ELSEWHERE
from spec.op_pull import is_settled_by_an_op, names_it_from, pull_op_messages
from spec.rounds import abort_round, forget_round
from spec.state import Cause, Left, Local, Role, RolledBack, Settled, State, Stuck

# --- roles ------------------------------------------------------------------------------------------------------------


@action(event="role_changed", place=720)
def become_slave(s: State, c: Constants) -> None:
    """Another broker of the group becomes the master: no round begins, END_TRANSACTION is refused, no write succeeds.

    RocketMQ: BrokerController#changeToSlave. What waits in the op batch will not be stored (B04).
    """
    require(s.role == Role.MASTER, "the broker is the master")
    require(not s.round.running, "the check service has come to its end")
    assume(c.role_change, "roles do not change")
    room_for_a_mishap(s, c)
    s.mishaps += 1
    s.role = Role.SLAVE


@action(event="role_changed", place=730)
def become_master(s: State, c: Constants) -> None:
    """The slave becomes the master again.

    RocketMQ: BrokerController#changeToMaster, ReplicasManager.
    """
    require(s.role == Role.SLAVE, "the broker is a slave")
    s.role = Role.MASTER


@action(event="role_changed", place=740)
def act_for_dead_master(s: State, c: Constants) -> None:
    """The master dies, and a slave with the same messages and the offsets that were saved acts for it.

    RocketMQ: BrokerController#changeSpecialServiceStatus, TransactionalMessageBridge#escapeMessage (RIP-32).
    """
    require(c.escapes, "this version lets a slave act for the master")
    require(s.role == Role.MASTER, "the broker is the master")
    assume(c.acting_slave, "the master lives")
    room_for_a_mishap(s, c)
    s.mishaps += 1
    drop_batch(s)
    forget_round(s, c)
    s.round_ended_at = s.now
    s.offsets.half = s.saved.half
    s.offsets.op = s.saved.op
    for h in range(c.half_slots):
        s.half[h].check_in_flight = False
        forget_ends(s, h)
    find_lower_ends(s, c)
    s.role = Role.ACTING_MASTER


@action(event="role_changed", place=810)
def bring_master_back(s: State, c: Constants) -> None:
    """The master is back when no round of the slave that acted for it runs."""
    require(s.role == Role.ACTING_MASTER, "a slave acts for the master")
    require(not s.round.running, "no round runs")
    hand_over(s, c)


def hand_over(s: State, c: Constants) -> None:
    """The master takes the offsets of the slave that acted for it, and finds its own lower ends as it starts.

    RocketMQ: SlaveSynchronize, BrokerController#handleSlaveSynchronize.
    """
    s.saved.half = s.offsets.half
    s.saved.op = s.offsets.op
    find_lower_ends(s, c)
    s.role = Role.MASTER


@action(event="role_changed", place=820)
def bring_master_back_with_its_own_offsets(s: State, c: Constants) -> None:
    """The master is back, thinks its own offsets newer than the slave's, and keeps them (B23).

    RocketMQ: DataVersion of the offset table moves once in 500 commits.
    """
    require(s.role == Role.ACTING_MASTER, "a slave acts for the master")
    require(not s.round.running, "no round runs")
    require(not c.adopts_slave_offsets, "the master may keep its own offsets")
    require(s.saved.half != s.offsets.half or s.saved.op != s.offsets.op, "the offsets differ")
    s.offsets.half = s.saved.half
    s.offsets.op = s.saved.op
    find_lower_ends(s, c)
    s.role = Role.MASTER


@action(event="role_changed", place=825)
def bring_master_back_amid_escape(s: State, c: Constants) -> None:
    """The master is back while the slave waits to send a half again: its round ends, and commits nothing (B54).

    RocketMQ: BrokerController#changeSpecialServiceStatus interrupts the check thread, whose sleep after a try that
    failed is in the loop of TransactionalMessageServiceImpl#check: what has escaped in the round is not passed.
    """
    stands_on_a_half_to_escape(s, c)
    require(not c.insists_on_escape, "an escape that was begun is broken off")
    abort_round(s, c, Stuck.NO)
    hand_over(s, c)


# --- escape -----------------------------------------------------------------------------------------------------------


def stands_on_a_half_to_escape(s: State, c: Constants) -> None:
    """What the escape needs: an acting slave, and a half that nothing read so far settles (B20)."""
    stands_on_a_readable_half(s, c)
    require(s.role == Role.ACTING_MASTER, "the broker acts for the master")
    require(
        not c.reads_ops_before_escape or s.round.next_op >= s.op_length, "all op messages were read, or nobody minds"
    )


@action(event="half_escaped", place=750, shows=READ)
def let_half_escape(s: State, c: Constants) -> None:
    """The half is sent to another master as a new half, and passed.

    RocketMQ: TransactionalMessageBridge#escapeMessage, SEND_OK.
    """
    stands_on_a_half_to_escape(s, c)
    within(s.transaction[s.half[half_read(s)].transaction].escaped < 2, "at most two halves of it have escaped")
    remember_escape(s, c, half_read(s))
    s.round.cursor += 1


@action(event="half_escaped", place=760)
def let_half_escape_unclearly(s: State, c: Constants) -> None:
    """The other master stores the half, and the answer is lost or not SEND_OK: the half is sent once more (B22).

    RocketMQ: TransactionalMessageBridge#escapeMessage, FLUSH_SLAVE_TIMEOUT and time-outs.
    """
    stands_on_a_half_to_escape(s, c)
    within(s.transaction[s.half[half_read(s)].transaction].escaped < 2, "at most two halves of it have escaped")
    remember_escape(s, c, half_read(s))
    if c.crowded == 1:
        s.round.met = s.round.cursor + 1


@action(event="half_passed", place=770, shows=READ)
def give_half_up(s: State, c: Constants) -> None:
    """The half could not be sent for ten times, and is passed (B21).

    RocketMQ: TransactionalMessageServiceImpl#check, MAX_RETRY_TIMES_FOR_ESCAPE; its back-off `2 ^ n` is an XOR.
    """
    stands_on_a_half_to_escape(s, c)
    require(not c.insists_on_escape, "a half is given up at last")
    if s.half[half_read(s)].left == Left.NO:
        s.half[half_read(s)].left = Left.GIVEN_UP
    s.round.cursor += 1


@action(event="ops_pulled", place=780)
def pull_more_ops_before_escape(s: State, c: Constants) -> None:
    """An acting slave reads on before it lets a half escape. A repair (B20)."""
    stands_on_a_readable_half(s, c)
    require(s.role == Role.ACTING_MASTER, "the broker acts for the master")
    require(c.reads_ops_before_escape and s.round.next_op < s.op_length, "op messages are unread")
    pull_op_messages(s, c)


# --- the other broker -------------------------------------------------------------------------------------------------


@action(event="message_delivered", place=790, shows=DELIVERED_ELSEWHERE, t=each("transactions"))
def deliver_escaped(s: State, c: Constants, t: int) -> None:
    """The other broker checks a half that escaped, its producer answers commit, and the message is delivered there."""
    require(s.transaction[t].escaped > 0, "a half of the transaction waits on another broker")
    require(s.transaction[t].local == Local.COMMIT, "its producer has committed it")
    s.transaction[t].escaped -= 1
    if s.transaction[t].deliveries < 2:
        s.transaction[t].deliveries += 1


@action(event="half_rolled_back", place=800, shows=ROLLED_BACK_ELSEWHERE, t=each("transactions"))
def roll_back_escaped(s: State, c: Constants, t: int) -> None:
    """The other broker checks a half that escaped, and its producer answers rollback."""
    require(s.transaction[t].escaped > 0, "a half of the transaction waits on another broker")
    require(
        s.transaction[t].local == Local.ROLLBACK or s.transaction[t].local == Local.NEVER_RUN,
        "its producer has rolled it back",
    )
    s.transaction[t].escaped -= 1
    if s.transaction[t].rolled_back == RolledBack.NO:
        s.transaction[t].rolled_back = (
            RolledBack.UNDELIVERED if s.transaction[t].deliveries == 0 else RolledBack.DELIVERED
        )


def remember_escape(s: State, c: Constants, h: int) -> None:
    """One more half of the transaction waits elsewhere; ghost: what may make it one too many."""
    t = s.half[h].transaction
    is_known_there = c.escapes_once and s.half[h].left == Left.ESCAPED
    if not is_known_there:
        s.transaction[t].escaped += 1
    if s.transaction[t].cause == Cause.NONE and not is_known_there:
        is_beside = is_settled_by_an_op(s, h) or s.half[h].left == Left.ESCAPED or has_another_copy(s, h)
        if is_read_for_another(s, h) and is_beside:
            s.transaction[t].cause = Cause.READ_FOR_ANOTHER
        elif s.half[h].settled != Settled.NO:
            is_unread = names_it_from(s, c, h, s.round.next_op)
            s.transaction[t].cause = Cause.ESCAPED_SETTLED if is_unread else why_its_op_was_not_seen(s, c, h)
        elif s.half[h].left == Left.ESCAPED:
            s.transaction[t].cause = Cause.ESCAPED_TWICE
        elif has_another_copy(s, h):
            s.transaction[t].cause = Cause.FORKED_COPY
        elif was_resumed(s, c, t):
            s.transaction[t].cause = Cause.RESUMED_HALF
    s.half[h].left = Left.ESCAPED
