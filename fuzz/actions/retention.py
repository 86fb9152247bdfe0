"""Retention: files of the commit log go, lower ends of queues follow, and a round comes to a deleted half."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fuzz.actions.check_round import branch
from fuzz.actions.record import Excluded, drives
from fuzz.broker_side.broker_side import SMALL_FILES
from reference.broker.consumer_offset_manager import NO_OFFSET
from reference.broker.transaction.check_outcome import CheckBranch
from reference.format.system_topics import HALF_QUEUE_ID, HALF_TOPIC, OP_TOPIC

if TYPE_CHECKING:
    from fuzz.broker_side.broker_side import BrokerSide
    from reference.format.record import CommitLogOffset
    from spec.language import Refused, Step


def _end_of(side: BrokerSide, records: int) -> CommitLogOffset:
    """Where the first halves and op messages, so many, end in the commit log."""
    places = sorted(side.records.half_places + side.records.op_places)
    return places[records] if records < len(places) else side.broker.message_store.max_phy_offset


def _splits_a_file(side: BrokerSide, step: Step) -> bool:
    """A point within a file of the log: files go as a whole. `BrokerSide.roll` begins one behind each step."""
    return not side.broker.message_store.cleaning.begins_file(_end_of(side, step.arguments[0]))


def _follow_otherwise(side: BrokerSide, _: Step) -> bool:
    """Lower ends that move in a round which began at one, or follow a message that came since the queues were cleaned.

    A round that began at a lower end, for want of an offset, remembers it; the specification takes the lower end for
    it. A queue of which nothing was left stays where it was until the log loses another file, up to 4.9.8.
    """
    offsets, store = side.broker.consumer_offset_manager, side.broker.message_store
    has_no_offset = any(offsets.query_offset(topic, HALF_QUEUE_ID) == NO_OFFSET for topic in (HALF_TOPIC, OP_TOPIC))
    return store.cleaning.has_cleaned_queues or (has_no_offset and side.broker.check_service.round is not None)


def _delete_what_is_pending(side: BrokerSide, step: Step, refused: Refused) -> bool:
    """A repaired broker keeps the files of what is pending, as far as it is the broker that knows of it.

    It knows of no request under way, nor of the transaction of a half that cannot be decoded. It is not asked while
    it has other files to delete.
    """
    if refused.rule != "nothing that is pending is deleted, or nobody minds":
        return False
    cleaning, requests = side.broker.message_store.cleaning, side.broker.check_requests
    side.process.dispatch()
    keeps_from = None if cleaning.keeps_from is None else cleaning.keeps_from()
    is_asked = (
        not (requests or any(side.network.ends.values()) or side.producers.rotting)
        and not _splits_a_file(side, step)
        and (keeps_from is None or keeps_from - cleaning.min_phy_offset < SMALL_FILES.mapped_file_size_commit_log)
    )
    if is_asked:
        side.process.delete_files_before(_end_of(side, step.arguments[0]))
    return is_asked


@drives("retain", unless=_splits_a_file, ask=_delete_what_is_pending)
def delete_oldest_files(side: BrokerSide, step: Step) -> None:
    """What is deleted is dispatched before: ``ReputMessageService#doReput`` would enter the rest of it nowhere."""
    side.process.dispatch()
    side.mishaps += 1
    side.process.delete_files_before(_end_of(side, step.arguments[0]))


move_lower_ends = drives("retain", needs=("retention",), unless=_follow_otherwise, dispatches=True)(
    lambda side, _: side.process.move_lower_ends()
)
truncate_all = Excluded("the reference broker has no controller mode, in which a running broker truncates its log")
pass_half_that_is_gone = branch(CheckBranch.GONE, repairs=("passes_what_is_gone",))
jump_to_what_is_left = branch(CheckBranch.NULL_HALF, needs=("retention",))
end_round_below_what_is_left = branch(CheckBranch.ENDED_AT_SECOND_NULL_HALF, needs=("retention",))
