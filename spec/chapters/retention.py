"""Retention: the oldest files of the commit log are deleted, and the lower ends of the queues follow later, or never.

Between the two, an offset at or above the lower end of its queue finds entries without records, and the store goes on
to the next message that has one: the round asks for one half and is given another (`spec.half_queue.half_read`, B50).
RocketMQ: DefaultMessageStore.CleanCommitLogService, DefaultMessageStore.CleanConsumeQueueService, ConsumeQueue
#correctMinOffset.
"""

from __future__ import annotations

from spec.bounds import room_for_a_mishap
from spec.chapters.broker import lose_half, lose_op
from spec.check_loop import stands_on_a_half
from spec.commit_log import ops_among
from spec.constants import Constants
from spec.half_queue import is_empty, is_half_given, pass_over
from spec.language import action, assume, require, upto, within
from spec.observation import PASSED
from spec.op_pull import is_settled_by_an_op
from spec.roles import is_master
from spec.rounds import end_round, is_within_limit
from spec.state import End, Role, State, Stuck

# --- files and lower ends ---------------------------------------------------------------------------------------------


@action(event="files_deleted", place=910, records=upto("log_slots"))
def delete_oldest_files(s: State, c: Constants, records: int) -> None:
    """The oldest files of the commit log go: those with the first `records` halves and op messages, or with none.

    RocketMQ: DefaultMessageStore.CleanCommitLogService#deleteExpiredFiles, for fileReservedTime, as the disk is full or
    by hand (DELETE_EXPIRED_COMMITLOG). Nobody asks whether a half in them is pending. A repaired broker keeps what a
    round may still ask for, or an END_TRANSACTION may still name. What is deleted was flushed long ago.
    """
    assume(c.retention, "the files of the commit log are kept")
    within(c.expires == 1, "files go in the instance")
    require(records >= s.gone.halves + s.gone.ops, "what was deleted stays so")
    require(records <= s.half_length + s.op_length, "so many were stored")
    require(
        not c.keeps_pending_files or is_over(s, c, records - ops_among(s, c, records), ops_among(s, c, records)),
        "nothing that is pending is deleted, or nobody minds",
    )
    room_for_a_mishap(s, c)
    s.mishaps += 1
    s.gone.ops = ops_among(s, c, records)
    s.gone.halves = records - s.gone.ops
    if c.power_loss and s.mishaps < c.mishaps:
        s.flushed.halves = max(s.flushed.halves, s.gone.halves)
        s.flushed.ops = max(s.flushed.ops, s.gone.ops)


def is_over(s: State, c: Constants, halves: int, ops: int) -> bool:
    """No round will ask for the first halves and op messages, and no half of their transactions is pending."""
    return (
        halves <= min(s.offsets.half, s.saved.half)
        and ops <= min(s.offsets.op, s.saved.op)
        and (not s.round.running or (halves <= s.round.cursor and ops <= s.round.first_op))
        and not any(h < halves and is_pending(s, c, s.half[h].transaction) for h in range(c.half_slots))
    )


def is_pending(s: State, c: Constants, t: int) -> bool:
    """A round may come to a half of the transaction, or a request that names one is under way.

    A request takes seconds, and files are kept for hours; a local transaction may take longer, and no broker knows.
    """
    return any(
        k < s.half_length
        and s.half[k].transaction == t
        and (k >= min(s.offsets.half, s.saved.half) or s.half[k].end != End.NONE or s.half[k].check_in_flight)
        for k in range(c.half_slots)
    )


@action(event="lower_ends_moved", place=920)
def move_lower_ends(s: State, c: Constants) -> None:
    """The lower ends of the queues follow.

    RocketMQ: DefaultMessageStore.CleanConsumeQueueService#deleteExpiredFiles, when all files of the commit log were
    deleted that were to be, a tenth of a second apart (deleteCommitLogFilesInterval). Nobody asks for a lower end that
    no offset lies below.
    """
    require(
        follows(c, s.gone.halves, s.lower_end.halves, s.half_length)
        or follows(c, s.gone.ops, s.lower_end.ops, s.op_length),
        "the lower end of a queue stands at a message that is gone, and may leave it",
    )
    require(lies_below_what_is_left(s) or c.crowded == 1, "an offset lies below what is left")
    if follows(c, s.gone.halves, s.lower_end.halves, s.half_length):
        s.lower_end.halves = s.gone.halves
    if follows(c, s.gone.ops, s.lower_end.ops, s.op_length):
        s.lower_end.ops = s.gone.ops


def follows(c: Constants, gone: int, lower_end: int, length: int) -> bool:
    """The lower end of a queue moves to the first message that is left; up to 4.9.8 there has to be one (#8753).

    RocketMQ: ConsumeQueue#correctMinOffset.
    """
    return lower_end < gone and (gone < length or c.lower_end_passes_all)


def lies_below_what_is_left(s: State) -> bool:
    """A round may ask for a half or an op message that retention has deleted."""
    return (
        min(s.offsets.half, s.saved.half) < s.gone.halves
        or min(s.offsets.op, s.saved.op) < s.gone.ops
        or (s.round.running and (s.round.cursor < s.gone.halves or s.round.next_op < s.gone.ops))
    )


@action(event="log_truncated", place=930)
def truncate_all(s: State, c: Constants) -> None:
    """A broker that is to follow another master truncates all that it has while it runs, and becomes master again.

    Its queues begin anew, at 0. Their lower ends stay where they were, if retention has deleted all of the queue's
    older files, and so do the offsets (B51, #10417). Requests that name what it had are refused.

    RocketMQ: AutoSwitchHAClient#doTruncate, ConsumeQueue#truncateDirtyLogicFiles, #correctMinOffset.
    """
    require(c.truncates_running, "this version truncates while it runs")
    require(not s.round.running, "the check service has come to its end")
    require(s.role == Role.MASTER, "the broker is the master")
    require(s.half_length > 0, "there is a half to be truncated")
    require(s.lower_end.halves > 0, "the lower end of the half queue has moved")
    require(s.batch.names.is_empty(), "nothing waits in the op batch")
    assume(c.retention and c.role_change, "roles do not change, or all files of the log are there")
    within(c.expires == 1 and c.forgets == 0, "files go in the instance, and it keeps all places of its queues")
    for o in range(c.op_slots):
        lose_op(s, o)
    for h in range(c.half_slots):
        if h < s.half_length:
            lose_half(s, c, h)
    s.half_length = 0
    s.op_length = 0
    s.gone.halves = 0
    s.gone.ops = 0
    s.flushed.halves = 0
    s.flushed.ops = 0
    if c.resets_lower_end:
        s.lower_end.halves = 0
        s.lower_end.ops = 0


# --- a round below what is left ---------------------------------------------------------------------------------------


@action(event="half_passed", place=306, shows=PASSED)
def pass_half_that_is_gone(s: State, c: Constants) -> None:
    """The store gives a later half than the one that was asked for: that one is passed. A repair (B50)."""
    stands_on_a_half(s, c)
    require(not is_settled_by_an_op(s, s.round.cursor), "no op message that was pulled names it")
    require(is_half_given(s), "the store has a record for it, or for a later half")
    require(c.passes_what_is_gone, "the round looks at the offset of what was read")
    require(s.round.cursor < s.gone.halves, "what was read is a later half")
    s.round.cursor += 1


@action(event="half_missed", place=471)
def jump_to_what_is_left(s: State, c: Constants) -> None:
    """The store has nothing at the cursor: the round goes on where the store says, once.

    That is the lower end of the queue, or the end of all entries where no record is left. The store of a slave leaves
    an offset below the lower end as it is (B24).

    RocketMQ: DefaultMessageStore#getMessage, OFFSET_TOO_SMALL and MESSAGE_WAS_REMOVING; #nextOffsetCorrection.
    """
    is_told_to_go_on(s, c)
    require(not s.round.null_met, "the round has not jumped before")
    s.round.null_met = True
    if s.round.cursor >= s.lower_end.halves:
        s.round.cursor = s.half_length
    elif is_master(s) or c.corrects_offsets_on_slave:
        pass_over(s, c, s.round.cursor, s.lower_end.halves)
        s.round.cursor = s.lower_end.halves


@action(event="round_ended", place=491)
def end_round_below_what_is_left(s: State, c: Constants) -> None:
    """The store has nothing at the cursor for the second time in the round.

    RocketMQ: TransactionalMessageServiceImpl#check, MAX_RETRY_COUNT_WHEN_HALF_NULL.
    """
    is_told_to_go_on(s, c)
    require(s.round.null_met, "the round has jumped before")
    end_round(s, c, Stuck.EXCEPTION)


def is_told_to_go_on(s: State, c: Constants) -> None:
    """What both need: an offset below the lower end, or entries that have no record, nor has any that follows."""
    require(s.round.running, "a round runs")
    require(is_within_limit(s, c), "the round is within its time limit")
    require(not is_empty(s), "the half queue is not empty")
    require(
        s.round.cursor < s.lower_end.halves or (s.round.cursor < s.half_length and s.gone.halves == s.half_length),
        "it is below the lower end of the queue, or no record is left",
    )
    require(
        not any(h == s.round.cursor and is_settled_by_an_op(s, h) for h in range(c.half_slots)),
        "no op message that was pulled names it",
    )
