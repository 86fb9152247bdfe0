"""One transaction among any number of others: how their halves and op messages act on those that are here.

The runs of many transactions, of which all but one are left out, are runs of that one with these actions besides
(docs/any-number.md). Rounds pass, put back and discard halves of others, which changes nothing here. But a round may
begin among their op messages, read op messages for their halves, see the end of the op queue for one, end at one, and
leave an op message of theirs undone; and what is counted may go wrong with them. No limit is set to how many they are,
so that OP_MSG_PULL_NUMS is no limit either. Each condition that keeps an action of this chapter from what a broker
could do to others is a lemma, and `make any-number` holds it against many transactions.
"""

from __future__ import annotations

from spec.bounds import room_for_a_mishap, room_for_a_stray_end
from spec.chapters.check_round import may_begin
from spec.chapters.escape import hand_over
from spec.chapters.op_batch import empty_batch
from spec.chapters.shutdown import begins_to_stop, may_stop
from spec.commit_log import flush
from spec.constants import Constants
from spec.half_queue import half_offset
from spec.language import action, assume, each, require, upto
from spec.op_pull import mark_done, op_offset, op_offset_after_round, read_op_messages
from spec.roles import is_master
from spec.rounds import abort_round, end_round, has_time_left, is_fresh, is_within_limit
from spec.state import Producer, Pull, Role, State, Stuck

# --- a round ----------------------------------------------------------------------------------------------------------


@action(event="round_began", place=1010, to=upto("op_slots"))
def begin_round_among_others(s: State, c: Constants, to: int) -> None:
    """A round begins; of the op messages of the transaction here, it reads first those before this one."""
    may_begin(s, c)
    require(op_offset(s) <= to and to <= s.op_length, "these are there")
    begin_among_others(s, c, to)


@action(event="stop_began", place=1015, to=upto("op_slots"))
def begin_stop_among_others(s: State, c: Constants, to: int) -> None:
    """The same of the last round, which a shutdown awaits."""
    may_stop(s, c)
    require(c.joins_round_first and not s.round.running, "a round begins")
    require(op_offset(s) <= to and to <= s.op_length, "these are there")
    begins_to_stop(s, c)
    begin_among_others(s, c, to)


def begin_among_others(s: State, c: Constants, to: int) -> None:
    """What `read_offsets` does, with a pull that gives op messages of others, too."""
    s.round.running = True
    s.round.started_at = s.now
    s.round.cursor = half_offset(s)
    s.round.first_op = op_offset(s)
    s.round.next_op = op_offset(s)
    s.round.last_pull = Pull.FOUND
    read_op_messages(s, c, s.round.next_op, to - s.round.next_op)


@action(event="ops_pulled", place=1020, to=upto("op_slots"))
def pull_ops_among_others(s: State, c: Constants, to: int) -> None:
    """More op messages are read, for whatever half; of those of the transaction here, the ones before this one."""
    reads_for_another(s, c)
    require(s.round.next_op <= to and to <= s.op_length, "these are there")
    s.round.last_pull = Pull.FOUND
    read_op_messages(s, c, s.round.next_op, to - s.round.next_op)


@action(event="ops_pulled", place=1030)
def see_op_end_for_another(s: State, c: Constants) -> None:
    """The end of the op queue is seen for a half of another transaction."""
    reads_for_another(s, c)
    require(s.round.next_op == s.op_length, "all were read")
    s.round.last_pull = Pull.END
    if c.op_end_commits_offset:
        s.offsets.op = s.op_length


def reads_for_another(s: State, c: Constants) -> None:
    """A half of another transaction may stand at the cursor for which op messages are read: an old one.

    Behind a fresh half stand fresh halves only, as long as the clock does not step back.
    """
    require(s.round.running, "a round runs")
    require(
        c.clock_step or not any(h + 1 == s.round.cursor and is_fresh(s, c, h) for h in range(c.half_slots)),
        "the half before the cursor was there before the round",
    )


@action(event="round_ended", place=1040)
def end_round_at_another(s: State, c: Constants) -> None:
    """The round ends at a half of another transaction: it is fresh or young, or time is over."""
    require(s.round.running, "a round runs")
    require(
        s.round.met != s.round.cursor + 1 or not has_time_left(s, c),
        "the cursor may stand on one of another transaction, or it has passed some and time is over",
    )
    require(
        is_master(s) or c.null_half or not has_time_left(s, c),
        "a slave that acts for a master ends its round at no half that it finds in time",
    )
    end_round(s, c, Stuck.NO)


@action(event="round_ended", place=1050, o=each("op_slots"))
def leave_op_of_another(s: State, c: Constants, o: int) -> None:
    """An op message of another transaction is not done when the round ends: the op offset stays before it."""
    require(s.round.running, "a round runs")
    require(s.round.held == 0, "none is known yet")
    require(o >= s.round.first_op and o < s.op_length, "it stands before this one of the transaction here")
    s.round.held = o + 1


@action(event="round_ended", place=1051)
def keep_op_offset_for_another(s: State, c: Constants) -> None:
    """The first op message of the round is of another and not done: the op offset stays where a pull has set it (A02).

    A round moves the offset only past its first op message, here past what is done of it.
    """
    require(s.round.running, "a round runs")
    require(s.round.held == 0, "none is known to be left undone")
    require(s.offsets.op != s.round.first_op, "the offset was set meanwhile")
    s.round.first_op = op_offset_after_round(s, c)


# --- a round that goes wrong ------------------------------------------------------------------------------------------


@action(event="half_missed", place=1052)
def jump_over_half_of_another(s: State, c: Constants) -> None:
    """The store gives no message for a half of another transaction, or it can't be decoded: the round jumps over it."""
    require(s.round.running and is_within_limit(s, c), "a round runs, and is within its time limit")
    require(not s.round.null_met, "the round has not jumped before")
    require(not c.keeps_progress, "a round may jump over a half")
    assume(c.null_half or c.undecodable_half, "the store finds what it has, and it can be decoded")
    s.round.null_met = True


@action(event="round_ended", place=1054)
def abort_round_at_another(s: State, c: Constants) -> None:
    """An exception ends the round at a half of another transaction, or as an op message of another is read."""
    require(s.round.running and is_within_limit(s, c), "a round runs, and is within its time limit")
    throws = (c.undecodable_throws and (c.undecodable_half or c.undecodable_op)) or s.round.last_pull == Pull.UNREADABLE
    assume(c.null_half or throws, "the store answers, and what it gives can be decoded")
    abort_round(s, c, Stuck.NO)


@action(event="ops_pulled", place=1057, to=upto("op_slots"))
def pull_unreadable_ops(s: State, c: Constants, to: int) -> None:
    """More op messages are read for whatever half, and none can be decoded; of those here, the ones before this one."""
    assume(c.undecodable_op, "what is stored can be decoded")
    require(not c.skips_undecodable_ops and not c.undecodable_throws, "a pull gives none of them, and no exception")
    reads_for_another(s, c)
    require(s.round.next_op <= to and to <= s.op_length, "these are there")
    s.round.last_pull = Pull.UNREADABLE
    read_op_messages(s, c, s.round.next_op, to - s.round.next_op)


@action(event="role_changed", place=1058)
def bring_master_back_amid_escape_of_another(s: State, c: Constants) -> None:
    """The master is back while the slave waits to send a half of another transaction again: its round is aborted."""
    require(s.role == Role.ACTING_MASTER, "the broker acts for the master")
    require(s.round.running and is_within_limit(s, c), "a round runs, and is within its time limit")
    require(not c.insists_on_escape, "an escape that was begun is broken off")
    abort_round(s, c, Stuck.NO)
    hand_over(s, c)


# --- what is counted --------------------------------------------------------------------------------------------------


@action(event="message_lost", place=1060)
def trouble_another(s: State, c: Constants) -> None:
    """Something goes wrong with another transaction, or with nothing that is here, and is counted."""
    assume(
        c.null_half
        or c.put_failure
        or c.op_write_failure
        or c.undecodable_op
        or c.undecodable_half
        or c.power_loss
        or c.graceful_stop
        or c.offset_regression
        or c.role_change
        or c.acting_slave
        or c.resume_discarded
        or c.retention,
        "nothing that is counted goes wrong",
    )
    room_for_a_mishap(s, c)
    s.mishaps += 1


@action(event="end_sent", place=1070)
def send_stray_end_to_another(s: State, c: Constants) -> None:
    """An END_TRANSACTION of another transaction is repeated or wrong, and is counted."""
    assume(c.duplicate_end or c.reorder or c.wrong_end, "no END_TRANSACTION is repeated or wrong")
    room_for_a_stray_end(s, c)
    s.stray_ends += 1


@action(event="log_flushed", place=1080)
def flush_for_another(s: State, c: Constants) -> None:
    """The log is flushed: another transaction is answered for, or offsets are saved that moved over others only."""
    assume(c.power_loss, "nobody asks what is on the disk")
    require(c.flushes_before_answering or c.flushes_before_saving, "somebody waits for the disk")
    require(s.flushed.halves != s.half_length or s.flushed.ops != s.op_length or s.mishaps >= c.mishaps, "it matters")
    require(s.mishaps < c.mishaps or s.flushed.halves > 0 or s.flushed.ops > 0, "it matters")
    flush(s, c)


@action(event="producer_back", place=1090)
def hear_of_producer_by_another(s: State, c: Constants) -> None:
    """A producer of the group sends another transaction, and is known again."""
    require(s.producer == Producer.UNREGISTERED, "the broker does not know the producers")
    s.producer = Producer.ONLINE


# --- op batches -------------------------------------------------------------------------------------------------------


@action(event="op_buffered", place=1100)
def join_batch_by_another(s: State, c: Constants) -> None:
    """The offset of another transaction's half joins the op batch."""
    require(c.batches_ops, "this version writes op messages in batches")
    require(not s.batch.others, "none is known to wait")
    if s.batch.names.is_empty():
        s.batch.waiting_since = s.now
    if not s.batch.is_open:
        s.batch.is_open = True
        s.batch.written_at = s.now
    s.batch.others = True


@action(event="op_stored", place=1110)
def write_batch_of_another(s: State, c: Constants) -> None:
    """The batch is written, and has none of the transaction here; or it is lost."""
    require(s.batch.others, "others wait")
    require(s.batch.names.is_empty(), "none of those here does")
    empty_batch(s)


@action(event="half_passed", place=1120, o=each("op_slots"))
def mark_op_done_for_another(s: State, c: Constants, o: int) -> None:
    """An op message that names halves of several transactions counts as done as a whole for one of them (A15).

    That one is an original whose copy the round meets: it was put back, and its round's offset was not committed, or
    was lost.
    """
    assume(
        c.crash
        or c.power_loss
        or c.graceful_stop
        or c.offset_regression
        or c.null_half
        or c.undecodable_half
        or c.undecodable_op
        or c.put_failure
        or c.role_change
        or c.acting_slave
        or c.resume_discarded
        or c.retention
        or c.preset_original
        or c.clock_step
        or c.slow_round,
        "no round meets a half and its copy",
    )
    require(c.batches_ops and not c.heeds_settled_originals, "op messages name several halves")
    require(s.round.running and o >= s.round.first_op and o < s.round.next_op, "it was read")
    mark_done(s, o)


@action(event="half_passed", place=1130, o=each("op_slots"))
def list_op_once(s: State, c: Constants, o: int) -> None:
    """An op message is not listed for the second time, as it names halves of others that the round has yet to meet."""
    require(c.batches_ops, "op messages name several halves")
    require(s.round.running and s.round.done_twice.has(o), "it is listed twice")
    s.round.done_twice.discard(o)
