"""What each action of the specification is to a lone broker: requests, orders to its threads, waits.

A step that a repaired broker has no use for does nothing: an END_TRANSACTION that is not under way, a check that was
never sent, a pass of a round that is over. A step that ends a round lets the broker's own come to its end, however
many passes it takes.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

from fuzz.broker_side.broker_records import TICK_MS
from fuzz.broker_side.producers import half_message, poisonous_padding
from reference.format.system_topics import HALF_TOPIC, OP_TOPIC
from spec.chapters import (
    broken_round,
    broker,
    check_round,
    discarding,
    end_transaction,
    network,
    op_batch,
    producer,
    putting_back,
)
from spec.state import End, Local

if TYPE_CHECKING:
    from fuzz.real_alone.lone_broker import LoneBroker
    from spec.language import Step


@dataclass(frozen=True, slots=True)
class StagedStep:
    """A step with what the specification knows of it, which another broker may number otherwise."""

    step: Step
    transaction: int
    """Whose it is, if it is one's."""
    name: int
    """The specification's number of the half that it is about."""
    nth: int
    """Which of the transaction's halves that is, from 0."""
    ends_round: bool
    """A round ran before it, and none behind it."""
    has_producer: bool
    """A producer is connected behind it."""


Stage = Callable[["LoneBroker", StagedStep], object]

_FLAG: Final = 7
"""``Message.flag`` of what is sent."""

_ANSWERS: Final = {Local.COMMIT: End.COMMIT, Local.ROLLBACK: End.ROLLBACK, Local.NEVER_RUN: End.ROLLBACK}


def producer_says(broker: LoneBroker, transaction: int) -> End:
    """What a producer answers to a check; `End.NONE` is UNKNOWN, which is sent, and dropped."""
    return _ANSWERS.get(broker.seen.transactions[transaction].local, End.NONE)


# --- producers --------------------------------------------------------------------------------------------------------


def _send(broker: LoneBroker, staged: StagedStep, *, skew: int = 0, **carried: int) -> None:
    transaction, immunity = staged.step.arguments[:2]
    half = half_message(transaction, immunity, broker.now + skew * TICK_MS, **carried)
    broker.send(transaction, replace(half, flag=_FLAG))


def _send_with_original(broker: LoneBroker, staged: StagedStep) -> None:
    transaction, original = staged.step.arguments
    broker.send(transaction, half_message(transaction, broker.constants.timeout, broker.now, original=original))


def _send_undecodable(broker: LoneBroker, staged: StagedStep) -> None:
    _send(broker, staged)
    place = broker.place_sent(staged.transaction)
    if place is not None:
        broker.damage(place)


def _send_again(broker: LoneBroker, staged: StagedStep) -> None:
    request = broker.seen.transactions[staged.transaction].request
    broker.send(staged.transaction, replace(request, born_timestamp=broker.now))


def _decides(local: Local, says: End = End.NONE) -> Stage:
    def stage(broker: LoneBroker, staged: StagedStep) -> None:
        broker.seen.transactions[staged.transaction].local = local
        if says is not End.NONE:
            broker.send_own_end(staged.name, staged.transaction, says)

    return stage


def _answer_check(broker: LoneBroker, staged: StagedStep) -> None:
    check = broker.take_check(staged.transaction)
    if check is not None and producer_says(broker, staged.transaction) is not End.NONE:
        broker.answer_check(staged.name, check, producer_says(broker, staged.transaction))


def _answer_too_early(broker: LoneBroker, staged: StagedStep) -> None:
    check = broker.take_check(staged.transaction)
    if check is not None:
        broker.answer_check(staged.name, check, End.ROLLBACK)


def _lose_producers(broker: LoneBroker, _: StagedStep) -> None:
    broker.disconnect()
    for of in broker.seen.transactions.values():
        if of.local is Local.EXECUTING:
            of.local = Local.UNKNOWN


# --- the network ------------------------------------------------------------------------------------------------------


def _strays(says: End, *, answers_check: bool = False) -> Stage:
    return lambda broker, staged: broker.send_stray_end(
        staged.name, staged.transaction, staged.nth, says, answers_check=answers_check
    )


def _duplicate(broker: LoneBroker, staged: StagedStep) -> None:
    of = broker.seen.transactions[staged.transaction]
    says = End.COMMIT if of.delivered else End.ROLLBACK
    broker.send_stray_end(staged.name, staged.transaction, staged.nth, says, answers_check=False)


def _double(broker: LoneBroker, staged: StagedStep) -> None:
    ends = broker.ends[staged.name]
    if ends:
        ends.append(replace(ends[0], number=None, is_own=False))


def _lose_end(broker: LoneBroker, staged: StagedStep) -> None:
    del broker.ends[staged.name][:1]


def _takes_end(*, until_answered: bool = True, puts_fail: bool = False) -> Stage:
    def stage(broker: LoneBroker, staged: StagedStep) -> None:
        if not puts_fail:
            broker.go_on_with_end(staged.name, until_answered=until_answered)
        else:
            with broker.puts_fail():
                broker.go_on_with_end(staged.name, until_answered=until_answered)

    return stage


# --- the broker -------------------------------------------------------------------------------------------------------


def _pass(broker: LoneBroker, staged: StagedStep) -> None:
    if staged.ends_round:
        broker.end_round()
    else:
        broker.step_round()


def _pass_without_puts(broker: LoneBroker, staged: StagedStep) -> None:
    with broker.puts_fail():
        broker.step_round()
    if staged.ends_round:
        broker.end_round()


def _abort_at_null(broker: LoneBroker, staged: StagedStep) -> None:
    broker.miss_next_read()
    _pass(broker, staged)


def _write_no_batch(broker: LoneBroker, _: StagedStep) -> None:
    with broker.puts_fail():
        broker.write_batch()


def _rot_op(broker: LoneBroker, staged: StagedStep) -> None:
    places = broker.seen.op_places
    if staged.step.arguments[0] < len(places):
        broker.damage(places[staged.step.arguments[0]])


def _regresses(topic: str) -> Stage:
    return lambda broker, staged: broker.put_offset(topic, staged.step.arguments[0] or None)


STAGED: Final[Mapping[Callable[..., None], Stage]] = {
    producer.send_half: _send,
    producer.send_half_by_another_clock: lambda broker, staged: _send(broker, staged, skew=staged.step.arguments[2]),
    producer.send_half_with_checks: lambda broker, staged: _send(broker, staged, checks=staged.step.arguments[2]),
    producer.send_half_with_original: _send_with_original,
    producer.send_poison_half: lambda broker, staged: _send(
        broker, staged, padding=poisonous_padding(broker.switches, staged.step.arguments[1])
    ),
    producer.send_undecodable_half: _send_undecodable,
    producer.send_half_again: _send_again,
    producer.commit_locally: _decides(Local.COMMIT, End.COMMIT),
    producer.roll_back_locally: _decides(Local.ROLLBACK, End.ROLLBACK),
    producer.roll_back_unrun: _decides(Local.NEVER_RUN, End.ROLLBACK),
    producer.leave_it_unknown: _decides(Local.UNKNOWN),
    producer.resolve_to_commit: _decides(Local.COMMIT),
    producer.resolve_to_rollback: _decides(Local.ROLLBACK),
    producer.answer_check: _answer_check,
    producer.answer_check_too_early: _answer_too_early,
    network.lose_check: lambda broker, staged: broker.take_check(staged.transaction),
    producer.lose_all_producers: _lose_producers,
    producer.restart_producers: _lose_producers,
    producer.connect_again: lambda broker, _: broker.connect(),
    network.lose_end: _lose_end,
    network.duplicate_end: _duplicate,
    network.double_end: _double,
    network.overtake: lambda broker, staged: broker.ends[staged.name].reverse(),
    network.send_wrong_commit: _strays(End.COMMIT),
    network.send_wrong_rollback: _strays(End.ROLLBACK),
    network.answer_with_wrong_commit: _strays(End.COMMIT, answers_check=True),
    network.answer_with_wrong_rollback: _strays(End.ROLLBACK, answers_check=True),
    end_transaction.store_real_message: _takes_end(until_answered=False),
    end_transaction.write_op: _takes_end(),
    end_transaction.buffer_op: _takes_end(),
    end_transaction.fail_to_write_op: _takes_end(puts_fail=True),
    end_transaction.refuse_late_end: _takes_end(),
    end_transaction.refuse_unreadable: _takes_end(),
    end_transaction.refuse_commit_unstored: _takes_end(puts_fail=True),
    broker.tick: lambda broker, _: broker.advance(TICK_MS),
    broker.step_clock_back: lambda broker, _: broker.set_clock(-TICK_MS),
    check_round.begin_round: lambda broker, _: broker.begin_round(),
    broken_round.fail_to_begin_round: lambda broker, _: broker.begin_round(),
    **dict.fromkeys(
        (
            check_round.pass_settled_half,
            check_round.pass_half_of_settled_original,
            check_round.pull_more_ops,
            putting_back.put_back_immune_half,
            putting_back.put_back_and_check,
            putting_back.put_back_unasked,
            discarding.discard_half,
            check_round.end_round_at_queue_end,
            check_round.end_round_at_fresh_half,
            check_round.end_round_at_young_half,
            check_round.end_round_at_time_limit,
            broken_round.jump_to_queue_end,
            broken_round.abort_at_undecodable_half,
            broken_round.abort_at_next_ops,
            broken_round.abort_at_unreadable_pull,
        ),
        _pass,
    ),
    discarding.discard_half_unrecorded: _pass_without_puts,
    broken_round.abort_at_null_result: _abort_at_null,
    op_batch.write_op_batch: lambda broker, _: broker.write_batch(),
    op_batch.fail_to_write_op_batch: _write_no_batch,
    broker.persist_offsets: lambda broker, _: broker.save_offsets(),
    broker.flush_log: lambda broker, _: broker.flush(),
    broker.crash: lambda broker, staged: broker.crash(reconnects=staged.has_producer),
    broken_round.corrupt_op: _rot_op,
    broker.set_half_offset_back: _regresses(HALF_TOPIC),
    broker.set_op_offset_back: _regresses(OP_TOPIC),
}
"""By the action's function; schedules with others are not played."""


def settle(broker: LoneBroker) -> None:
    """Give a broker all that it may need: what is under way arrives, and rounds come until all checks are used up."""
    broker.end_round()
    broker.connect()
    for _ in range(broker.constants.check_max + 2):
        _deliver_all(broker)
        broker.advance((broker.constants.timeout + broker.constants.check_interval + 1) * TICK_MS)
        broker.write_batch()
        broker.begin_round()
        broker.end_round()
    _deliver_all(broker)
    broker.seen.has_settled = True


def _deliver_all(broker: LoneBroker) -> None:
    """Checks are answered as far as their producers can, and END_TRANSACTIONs are handled."""
    name = -1
    for check in list(broker.checks):
        says = producer_says(broker, check.transaction) if check.transaction in broker.seen.transactions else End.NONE
        broker.checks.remove(check)
        if says is not End.NONE:
            broker.answer_check(name, check, says)
    for under_way in list(broker.ends):
        while broker.ends[under_way]:
            broker.go_on_with_end(under_way, until_answered=True)
