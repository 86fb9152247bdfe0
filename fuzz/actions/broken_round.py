"""Rounds in which the store misses, cannot decode or cannot take something."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Final

from fuzz.actions.check_round import (
    begin,
    branch,
    cannot_begin_round,
    fail_all_puts,
    half_at_cursor,
    uncertain_branch,
)
from fuzz.actions.record import drives
from reference.broker.broker_settings import BrokerRole
from reference.broker.transaction.check_outcome import CheckBranch, CheckStep
from reference.format.properties import CHECK_TIMES, IMMUNITY_SECONDS
from reference.format.record import QueueOffset
from reference.format.system_topics import HALF_QUEUE_ID, HALF_TOPIC, OP_TOPIC
from reference.store.get_message import GetMessageResult, GetMessageStatus

if TYPE_CHECKING:
    from fuzz.broker_side.broker_side import BrokerSide
    from spec.language import Step

_MISSED: Final = ("null_half", "undecodable_half -undecodable_throws")
_THROWS_AT_OP: Final = ("undecodable_op undecodable_throws",)


def _is_slave_beyond_end(side: BrokerSide, _: Step) -> bool:
    """Offsets beyond the end of their queue on an acting slave, whose store corrects no offset.

    DefaultMessageStore#nextOffsetCorrection; the specification corrects them for everybody.
    """
    return side.broker.role is BrokerRole.ACTING_MASTER


def _has_missed_a_half(side: BrokerSide, _: Step) -> bool:
    """A store that answers nothing in a round that has missed a half before.

    The broker only looks at that answer the first time (`getMessageNullCount`); the specification lets it abort the
    round any time.
    """
    running = side.broker.check_service.round
    return running is not None and running.get_message_null_count > 1


def _has_ops_unread(side: BrokerSide) -> bool:
    running = side.broker.check_service.round
    if running is None:
        return False
    ops = running.op_remove_map
    end = side.broker.message_store.get_max_offset_in_queue(OP_TOPIC, HALF_QUEUE_ID)
    return ops.pull_result.found is not None or ops.next_op_offset != end or len(side.records.op_places) != end


def _has_no_checks_left(side: BrokerSide, _: Step) -> bool:
    """A half that a repaired round discards where it would be checked: it has no copy that could not be stored.

    The specification lets its put-back fail all the same.
    """
    half = half_at_cursor(side) if side.constants.discards_instead_of_checking else None
    return half is not None and int(half.properties.get(CHECK_TIMES, "0")) >= side.constants.check_max


def _has_op_to_come(side: BrokerSide, _: Step) -> bool:
    """A half that a repaired round passes, as its op entry is on its way, before it looks at the last pull.

    The specification allows both.
    """
    half = half_at_cursor(side) if side.constants.keeps_check_open else None
    return half is not None and side.broker.transactional_message_service.has_op_to_come(half)


def _needs_no_copy(side: BrokerSide, _: Step) -> bool:
    """An immune half whose copy cannot be stored, as long as a pull would give op messages, or move an offset.

    The broker reads them then, and may pass the half for one of them; the specification ends the round with what was
    read. And a half with an immunity so long that a wrong repair passes it over, which has no copy.
    """
    half = half_at_cursor(side) if side.constants.skips_long_immunities else None
    immunity = 0 if half is None else int(half.properties.get(IMMUNITY_SECONDS, "0"))
    return immunity > side.constants.time_of_all_checks or _has_ops_unread(side)


def _miss_half(side: BrokerSide) -> CheckStep | None:
    """The store finds nothing for a half that has an entry in its queue; for one that cannot be decoded it need not."""
    running = side.broker.check_service.round
    store = side.broker.message_store
    if running is None:
        return None
    read = store.get_message(HALF_TOPIC, HALF_QUEUE_ID, running.new_offset, 1)
    if read.records and read.records[0] is not None:
        side.mishaps += 1
        missed = GetMessageResult(GetMessageStatus.MESSAGE_WAS_REMOVING, read.next_begin_offset, read.max_offset)
        side.process.miss_next_read(missed)
    return side.process.step_round()


def _spin(side: BrokerSide) -> CheckStep | None:
    """The copy cannot be stored, and the round tries nothing else; its time passes unseen by the specification.

    A repaired round ends at once, which is the same step of the specification.
    """
    first = fail_all_puts(side)
    if side.constants.ends_at_failed_put and first is not None:
        is_the_end = first.branch is CheckBranch.ENDED_AT_FAILED_PUT
        return replace(first, branch=CheckBranch.ENDED_BY_TIME_LIMIT) if is_the_end else first
    if first is None or first.branch not in (CheckBranch.PUT_BACK_FAILED, CheckBranch.OPS_PULLED):
        return first
    running = side.broker.check_service.round
    began = side.clock.now if running is None else running.start_time
    by = began - side.clock.now + side.broker.settings.max_process_time_limit_ms + 1
    side.process.advance(by)
    step = side.process.step_round()
    side.process.set_clock(-by)
    return step


jump_to_queue_end = branch(CheckBranch.NULL_HALF, needs=("power_loss",), unless=_is_slave_beyond_end)
jump_over_half = uncertain_branch(CheckBranch.NULL_HALF, "bad read", needs=_MISSED)(_miss_half)
end_round_at_missed_half = uncertain_branch(CheckBranch.ENDED_AT_SECOND_NULL_HALF, "bad read", needs=_MISSED)(
    _miss_half
)
abort_at_undecodable_half = branch(CheckBranch.ABORTED, needs=("undecodable_half undecodable_throws",))
abort_at_next_ops = branch(CheckBranch.ABORTED, needs=_THROWS_AT_OP, dispatches=True)
abort_at_unreadable_pull = branch(
    CheckBranch.ABORTED, needs=("undecodable_op -undecodable_throws",), unless=_has_op_to_come
)
spin_at_failed_check = uncertain_branch(
    CheckBranch.ENDED_BY_TIME_LIMIT, "bad put", needs=("put_failure",), unless=_has_no_checks_left
)(_spin)
spin_at_failed_immunity = uncertain_branch(
    CheckBranch.ENDED_BY_TIME_LIMIT, "bad put", needs=("put_failure",), unless=_needs_no_copy, dispatches=True
)(_spin)


@uncertain_branch(CheckBranch.ABORTED, "bad read", unless=_has_missed_a_half)
def abort_at_null_result(side: BrokerSide) -> CheckStep | None:
    side.mishaps += 1
    nothing = GetMessageResult(GetMessageStatus.NO_ANSWER, QueueOffset(0), QueueOffset(0))
    side.process.miss_next_read(nothing)
    return side.process.step_round()


def _commits_what_never_began(side: BrokerSide, step: Step) -> bool:
    """A round that cannot begin, where an exception loses no progress (a repair, and a wrong one).

    The specification commits the half offset 0 for it, as such a round has no place yet; the broker commits nothing.
    Or one that begins in no broker.
    """
    commits = side.constants.keeps_progress or side.constants.commits_after_exception
    return commits or cannot_begin_round(side, step)


fail_to_begin_round = drives("round", needs=_THROWS_AT_OP, unless=_commits_what_never_began, after="begin_round")(
    lambda side, _: begin(side, "over at once")
)


def _op_is_gone(side: BrokerSide, step: Step) -> bool:
    """An op message that retention has deleted: of it nothing can rot, which changes nothing any more."""
    place = next(iter(side.records.op_places[step.arguments[0] :]), None)
    return place is not None and place < side.broker.message_store.cleaning.min_phy_offset


@drives("rot", unless=_op_is_gone)
def corrupt_op(side: BrokerSide, step: Step) -> None:
    side.mishaps += 1
    side.process.damage(side.records.op_places[step.arguments[0]])
