"""The check round: it begins, passes halves, pulls op messages, and ends, with the expected branch of each pass."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, Unpack

from fuzz.actions.record import Driven, Move, Terms, drives, expect
from reference.broker.broker_settings import BrokerRole
from reference.broker.transaction.check_outcome import CheckBranch, CheckStep
from reference.broker.transaction.half_index import original_of
from reference.format.record import QueueOffset
from reference.format.system_topics import HALF_QUEUE_ID, HALF_TOPIC, OP_TOPIC

if TYPE_CHECKING:
    from collections.abc import Callable

    from fuzz.broker_side.broker_side import BrokerSide
    from reference.format.record import LogRecord
    from spec.language import Refused, Step

    TakePass = Callable[[BrokerSide], CheckStep | None]


def branch(expected: CheckBranch, **terms: Unpack[Terms]) -> Driven:
    """The record of a branch of the round that the state alone decides."""
    return Driven(_takes(expected, lambda side: side.process.step_round()), ("round",), "pass", **terms)


def uncertain_branch(expected: CheckBranch, *moves: Move, **terms: Unpack[Terms]) -> Callable[[TakePass], Driven]:
    """The record of a branch that store or network decide: the function makes them do so."""
    return lambda take_pass: Driven(_takes(expected, take_pass), moves, "uncertain pass", **terms)


def _takes(expected: CheckBranch, take_pass: TakePass) -> Callable[[BrokerSide, Step], None]:
    def do(side: BrokerSide, _: Step) -> None:
        done = take_pass(side)
        if expected is CheckBranch.ENDED_AT_QUEUE_END:
            done = _second_look(side, done)
        expect("the round's branch", expected.value, "no round runs" if done is None else done.branch.value)

    return do


def _second_look(side: BrokerSide, done: CheckStep | None) -> CheckStep | None:
    """In 4.5.1 the end of the half queue reads as a half that is missing, so that a second look ends the round.

    So does a first look in any version, if the round has missed a half before; that is the queue's end all the same.
    """
    if done is not None and done.branch is CheckBranch.NULL_HALF:
        done = side.process.step_round()
    if done is not None and done.branch is CheckBranch.ENDED_AT_SECOND_NULL_HALF:
        return type(done)(CheckBranch.ENDED_AT_QUEUE_END, done.half)
    return done


def fail_all_puts(side: BrokerSide) -> CheckStep | None:
    """A pass in which the store refuses every message."""
    with side.process.puts_fail():
        return side.process.step_round()


_DECODABLE: Final = "the first op messages can be decoded, or left out"
"""Refusals in spite of which a round begins, and is over at once."""


def begin(side: BrokerSide, expected: str) -> None:
    """Let the check thread begin a round, if it does."""
    began = side.process.begin_round()
    given = "none" if began is None else "over at once" if began.is_over else "begun"
    expect("whether a round begins", expected, given)


def cannot_begin_round(side: BrokerSide, _: Step) -> bool:
    """A round before the check thread is due, or of an acting slave beyond the end of its op queue, or at an offset 0.

    A thread that was started anew (BrokerController#changeToMaster) waits a whole interval, while the specification
    counts from the end of the last round. The store of an acting slave corrects no offset
    (DefaultMessageStore#nextOffsetCorrection); the specification corrects them for everybody. An offset that was set
    back to 0, below the lower end of its queue, is one; the specification takes it for none.
    """
    offsets, store = side.broker.consumer_offset_manager, side.broker.message_store
    if any(
        offsets.query_offset(topic, HALF_QUEUE_ID) == 0 and store.cleaning.get_min_offset_in_queue(topic, HALF_QUEUE_ID)
        for topic in (HALF_TOPIC, OP_TOPIC)
    ):
        return True
    service = side.broker.check_service
    if service.round is not None:
        return False
    if service.waits_since > service.last_ended and not service.is_due:
        return True
    offset = side.broker.transactional_message_bridge.fetch_consume_offset(OP_TOPIC)
    return side.broker.role is BrokerRole.ACTING_MASTER and offset > len(side.records.op_places)


def _begin_where_none_may(side: BrokerSide, _: Step, refused: Refused) -> bool:
    """A thread that was started anew has forgotten that it oversleeps; it may be due before the specification's."""
    service = side.broker.check_service
    is_asked = refused.rule != _DECODABLE and service.waits_since == service.last_ended
    if is_asked:
        expect("whether a round begins", False, side.process.begin_round() is not None)
    return is_asked


def _is_dispatched_since(side: BrokerSide, _: Step) -> bool:
    """A round that ends at a half which is stored but not dispatched yet, when the broker has dispatched it since.

    And a repaired one that reads all op messages at its end, of which one is not dispatched, either.
    """
    ops = side.broker.message_store.get_max_offset_in_queue(OP_TOPIC, HALF_QUEUE_ID)
    return side.cursor_is_dispatched or (side.constants.settles_once and ops < len(side.records.op_places))


def half_at_cursor(side: BrokerSide) -> LogRecord | None:
    """The half that the store gives a running round; None if there is none, or none that can be decoded."""
    running = side.broker.check_service.round
    if running is None:
        return None
    read = side.broker.message_store.get_message(HALF_TOPIC, HALF_QUEUE_ID, running.new_offset, 1)
    return read.records[0] if read.records else None


def _is_the_twin_of_an_undecodable_half(side: BrokerSide, _: Step) -> bool:
    """A half that cannot be decoded, where another one of its transaction was put aside.

    The broker knows such a half by its place; the specification knows its transaction.
    """
    running, bridge = side.broker.check_service.round, side.broker.transactional_message_bridge
    if running is None or half_at_cursor(side) is not None:
        return False
    read = QueueOffset(max(running.new_offset, side.records.deleted(side.broker.message_store)[0]))
    return not side.broker.settled_transactions.knows_place(bridge.place_of(HALF_TOPIC, read))


def _its_original_is_settled(side: BrokerSide, _: Step) -> bool:
    """A half with a long immunity whose original an op message names.

    The broker asks for the original first; the specification may pass it for either reason.
    """
    half, running = half_at_cursor(side), side.broker.check_service.round
    return half is not None and running is not None and original_of(half) in running.op_remove_map.remove_map


begin_round = drives("round", unless=cannot_begin_round, ask=_begin_where_none_may)(
    lambda side, _: begin(side, "begun")
)
pass_settled_half = branch(CheckBranch.SETTLED)
pass_half_of_settled_transaction = branch(
    CheckBranch.KNOWN_AS_SETTLED, repairs=("settles_once", "leaves_escaped"), unless=_is_the_twin_of_an_undecodable_half
)
pass_copied_half = branch(CheckBranch.COPY_AHEAD, repairs=("copies_once",))
pass_half_of_settled_original = branch(CheckBranch.PREPARED_HALF_SETTLED)
pass_half_of_waiting_op = branch(CheckBranch.OP_TO_COME, repairs=("keeps_check_open",))
pass_over_long_immunity = branch(
    CheckBranch.PASSED_OVER, repairs=("skips_long_immunities",), unless=_its_original_is_settled
)
pull_more_ops = branch(CheckBranch.OPS_PULLED, dispatches=True)
end_round_at_queue_end = branch(CheckBranch.ENDED_AT_QUEUE_END)
end_round_at_fresh_half = branch(CheckBranch.ENDED_AT_FRESH_HALF)
end_round_before_dispatch = branch(
    CheckBranch.ENDED_AT_QUEUE_END, unless=_is_dispatched_since, dispatches=False, after="end_round_at_queue_end"
)
end_round_at_young_half = branch(CheckBranch.ENDED_AT_YOUNG_HALF)
end_round_at_time_limit = branch(CheckBranch.ENDED_BY_TIME_LIMIT)
