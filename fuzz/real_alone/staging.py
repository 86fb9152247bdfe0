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


STAGED: Final[Mapping[str, Stage]] = {
    "send_half": _send,
    "send_half_by_another_clock": lambda broker, staged: _send(broker, staged, skew=staged.step.arguments[2]),
    "send_half_with_checks": lambda broker, staged: _send(broker, staged, checks=staged.step.arguments[2]),
    "send_half_with_original": _send_with_original,
    "send_poison_half": lambda broker, staged: _send(
        broker, staged, padding=poisonous_padding(broker.switches, staged.step.arguments[1])
    ),
    "send_undecodable_half": _send_undecodable,
    "send_half_again": _send_again,
    "commit_locally": _decides(Local.COMMIT, End.COMMIT),
    "roll_back_locally": _decides(Local.ROLLBACK, End.ROLLBACK),
    "roll_back_unrun": _decides(Local.NEVER_RUN, End.ROLLBACK),
    "leave_it_unknown": _decides(Local.UNKNOWN),
    "resolve_to_commit": _decides(Local.COMMIT),
    "resolve_to_rollback": _decides(Local.ROLLBACK),
    "answer_check": _answer_check,
    "answer_check_too_early": _answer_too_early,
    "lose_check": lambda broker, staged: broker.take_check(staged.transaction),
    "lose_all_producers": _lose_producers,
    "restart_producers": _lose_producers,
    "connect_again": lambda broker, _: broker.connect(),
    "lose_end": _lose_end,
    "duplicate_end": _duplicate,
    "double_end": _double,
    "overtake": lambda broker, staged: broker.ends[staged.name].reverse(),
    "send_wrong_commit": _strays(End.COMMIT),
    "send_wrong_rollback": _strays(End.ROLLBACK),
    "answer_with_wrong_commit": _strays(End.COMMIT, answers_check=True),
    "answer_with_wrong_rollback": _strays(End.ROLLBACK, answers_check=True),
    "store_real_message": _takes_end(until_answered=False),
    "write_op": _takes_end(),
    "buffer_op": _takes_end(),
    "fail_to_write_op": _takes_end(puts_fail=True),
    "refuse_late_end": _takes_end(),
    "refuse_unreadable": _takes_end(),
    "refuse_commit_unstored": _takes_end(puts_fail=True),
    "tick": lambda broker, _: broker.advance(TICK_MS),
    "step_clock_back": lambda broker, _: broker.set_clock(-TICK_MS),
    "begin_round": lambda broker, _: broker.begin_round(),
    "fail_to_begin_round": lambda broker, _: broker.begin_round(),
    **dict.fromkeys(
        (
            "pass_settled_half", "pass_half_of_settled_original", "pull_more_ops", "put_back_immune_half",
            "put_back_and_check", "put_back_unasked", "discard_half", "end_round_at_queue_end",
            "end_round_at_fresh_half", "end_round_at_young_half", "end_round_at_time_limit", "jump_to_queue_end",
            "abort_at_undecodable_half", "abort_at_next_ops", "abort_at_unreadable_pull",
        ),
        _pass,
    ),
    "discard_half_unrecorded": _pass_without_puts,
    "abort_at_null_result": _abort_at_null,
    "write_op_batch": lambda broker, _: broker.write_batch(),
    "fail_to_write_op_batch": _write_no_batch,
    "persist_offsets": lambda broker, _: broker.save_offsets(),
    "flush_log": lambda broker, _: broker.flush(),
    "crash": lambda broker, staged: broker.crash(reconnects=staged.has_producer),
    "corrupt_op": _rot_op,
    "set_half_offset_back": _regresses(HALF_TOPIC),
    "set_op_offset_back": _regresses(OP_TOPIC),
}  # fmt: skip
"""By the name of the action; schedules with others are not played."""


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
