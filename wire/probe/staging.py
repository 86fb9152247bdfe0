"""Staging: each action of the specification as a client's request, a wait, nothing, or out of reach.

:data:`STAGED` is the table. A schedule becomes a :class:`~wire.probe.orders.ProbePlan` by walking it in the
specification, whose states have the half that a round is at, and the outcome of an END_TRANSACTION under way.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final, cast

from spec.chapters import (
    broken_round,
    broker,
    check_round,
    discarding,
    end_transaction,
    escape,
    network,
    op_batch,
    producer,
    proxy,
    putting_back,
    retention,
    shutdown,
)
from spec.language import NONE, Step, actions_of, take
from spec.state import End, Role, State
from spec.transactional_messages import TRANSACTIONAL_MESSAGES
from wire.client.transactions import COMMIT, ROLLBACK
from wire.errors import WireError
from wire.probe.orders import (
    AwaitCheck,
    AwaitCopy,
    AwaitDiscard,
    AwaitOp,
    AwaitRound,
    AwaitSaved,
    AwaitTick,
    Disconnect,
    Kill,
    Order,
    ProbePlan,
    SendEnd,
    SendHalf,
    Stop,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from spec.constants import Constants

    ActionFunction = Callable[..., None]
    Stage = Callable[["Stager", Step], Iterator[Order]]


class CannotStageError(WireError):
    """A schedule needs what no client can bring about; the message says what."""


@dataclass(slots=True)
class Stager:
    """Walks a schedule; `state` is that behind the step that is staged."""

    constants: Constants
    state: State
    before: State
    ticks: int = 0
    ends_sent: set[int] = field(default_factory=set)
    """Halves whose END_TRANSACTION is sent already, and still being handled."""
    too_old: set[int] = field(default_factory=set)
    """Transactions whose half is born older than `fileReservedTime`."""
    finer: dict[str, None] = field(default_factory=dict)


# --- what a client does -----------------------------------------------------------------------------------------------


def _send(stager: Stager, step: Step) -> Iterator[Order]:
    transaction, *more = step.arguments
    immunity = more[0] if more else NONE
    skew = more[1] if len(more) > 1 else 0
    half, keeping = stager.state.half_length - 1, stager.constants.reserved_time
    is_too_old = keeping != NONE and -skew > keeping
    if is_too_old:
        stager.too_old.add(transaction)
    yield SendHalf(transaction, half, None if immunity == NONE else immunity, skew, is_too_old=is_too_old)


def _end(stager: Stager, step: Step) -> Iterator[Order]:
    """The first step of handling an END_TRANSACTION is when it arrives; one that stores a message goes on by itself."""
    half = step.arguments[0]
    if half in stager.ends_sent:
        stager.ends_sent.discard(half)
        return
    says = stager.before.half[half].end
    if step.action.function is end_transaction.store_real_message:
        stager.ends_sent.add(half)
    if stager.before.half[half].foreign:
        message = f"{step}: an END_TRANSACTION that names another transaction's half by its place"
        raise CannotStageError(message)
    outcome = ROLLBACK if says == End.ROLLBACK else COMMIT
    first = stager.state.transaction[stager.state.half[half].transaction].first_half
    yield SendEnd(stager.state.half[half].transaction, half, outcome, answers_check=half != first)


def _copy(stager: Stager, _: Step) -> Iterator[Order]:
    half = stager.state.half_length - 1
    yield AwaitCopy(stager.state.half[half].transaction, half)


def _check(stager: Stager, _: Step) -> Iterator[Order]:
    half = stager.state.half_length - 1
    yield AwaitCheck(stager.state.half[half].transaction, half)


def _discard(stager: Stager, step: Step) -> Iterator[Order]:
    half = stager.before.round.cursor
    transaction = stager.before.half[half].transaction
    if stager.before.half[half].check_times < stager.constants.check_max and transaction not in stager.too_old:
        message = f"{step.action.name}: a half has to grow older than fileReservedTime, whose unit is an hour"
        raise CannotStageError(message)
    yield AwaitDiscard(transaction, half)


def _tick(stager: Stager, _: Step) -> Iterator[Order]:
    stager.ticks += 1
    yield AwaitTick(stager.ticks)


def _round(stager: Stager, _: Step) -> Iterator[Order]:
    yield AwaitRound(stager.ticks)


def _die(stager: Stager, _: Step) -> Iterator[Order]:
    if any(stager.before.half[h].end == End.COMMIT_STORED for h in range(stager.constants.half_slots)):
        stager.finer["the process dies between the two writes of an END_TRANSACTION"] = None
    stager.ends_sent.clear()
    yield Kill()


def _stop(_: Stager, __: Step) -> Iterator[Order]:
    yield Stop()


def _always(*orders: Order) -> Stage:
    return lambda _, __: iter(orders)


_nothing: Final = _always()


@dataclass(frozen=True, slots=True)
class OutOfReach:
    """An action that no client can bring about in any state, and why."""

    why: str

    def __call__(self, _: Stager, step: Step) -> Iterator[Order]:
        """Refuse to stage it: `CannotStageError`."""
        message = f"{step.action.name}: {self.why}"
        raise CannotStageError(message)


_never: Final = OutOfReach


_READ_FAILS: Final = _never("a read of the broker's store has to fail")
_WRITE_FAILS: Final = _never("a write of the broker's store has to fail")
_ROLES: Final = _never("the broker has to change its role, or a slave to act for it")
_FILES: Final = _never("files of the commit log have to be deleted")
_POWER: Final = _never("the machine has to lose power, and the log what was not flushed")
_OFFSETS: Final = _never("somebody has to set the check service's offsets, which a probe never does")
_TIMES: Final = _never("a round has to take as long as its time limit")
_REPAIR: Final = _never("only a repaired broker does so")

_WITH_FAILED_READS: Final = (
    broken_round.jump_to_queue_end, broken_round.jump_over_half, broken_round.end_round_at_missed_half,
    broken_round.abort_at_null_result, broken_round.abort_at_undecodable_half, broken_round.fail_to_begin_round,
    broken_round.abort_at_next_ops, broken_round.abort_at_unreadable_pull, broken_round.corrupt_op,
)  # fmt: skip
_WITH_OTHER_ROLES: Final = (
    escape.become_slave, escape.become_master, escape.act_for_dead_master, escape.bring_master_back,
    escape.bring_master_back_with_its_own_offsets, escape.bring_master_back_amid_escape, escape.let_half_escape,
    escape.let_half_escape_unclearly, escape.give_half_up, escape.pull_more_ops_before_escape,
    escape.deliver_escaped, escape.roll_back_escaped,
)  # fmt: skip
_WITH_DELETED_FILES: Final = (
    retention.delete_oldest_files, retention.move_lower_ends, retention.truncate_all,
    retention.pass_half_that_is_gone, retention.jump_to_what_is_left, retention.end_round_below_what_is_left,
)  # fmt: skip
_THROUGH_A_PROXY: Final = tuple(action.function for action in actions_of(proxy))

STAGED: Final[dict[ActionFunction, Stage]] = {
    producer.send_half: _send,
    producer.send_half_by_another_clock: _send,
    producer.send_half_with_checks: _never("a first half that counts checks can't be told from a copy in a trace"),
    producer.send_half_with_original: _never("a trace is not explained with a half that brings its original along"),
    producer.send_poison_half: _WRITE_FAILS,
    producer.send_undecodable_half: _READ_FAILS,
    producer.send_half_again: _never("a trace is not explained with two first halves of one transaction"),
    producer.commit_locally: _nothing,
    producer.roll_back_locally: _nothing,
    producer.roll_back_unrun: _never("the broker has to answer a send with a status other than SEND_OK"),
    producer.leave_it_unknown: _nothing,
    producer.resolve_to_commit: _nothing,
    producer.resolve_to_rollback: _nothing,
    producer.commit_what_is_gone: _POWER,
    producer.commit_another_half: _never("another half has to take the place of one that is gone"),
    producer.answer_check: _nothing,
    producer.answer_check_too_early: _nothing,
    producer.lose_all_producers: _always(Disconnect()),
    producer.restart_producers: _always(Disconnect()),
    producer.connect_again: _nothing,
    **dict.fromkeys(_THROUGH_A_PROXY, _never("a proxy has to stand before the broker")),
    network.lose_end: _nothing,
    network.lose_check: _nothing,
    network.duplicate_end: _nothing,
    network.double_end: _nothing,
    network.overtake: _nothing,
    network.send_wrong_commit: _nothing,
    network.send_wrong_rollback: _nothing,
    network.answer_with_wrong_commit: _nothing,
    network.answer_with_wrong_rollback: _nothing,
    end_transaction.refuse_late_end: _end,
    end_transaction.refuse_end_as_slave: _ROLES,
    end_transaction.refuse_unreadable: _READ_FAILS,
    end_transaction.refuse_commit_unstored: _WRITE_FAILS,
    end_transaction.ignore_repeated_end: _REPAIR,
    end_transaction.store_real_message: _end,
    end_transaction.write_op: _end,
    end_transaction.fail_to_write_op: _WRITE_FAILS,
    end_transaction.buffer_op: _end,
    op_batch.write_op_batch: _always(AwaitOp()),
    op_batch.fail_to_write_op_batch: _WRITE_FAILS,
    check_round.begin_round: _round,
    check_round.pass_settled_half: _nothing,
    check_round.pass_half_of_settled_transaction: _REPAIR,
    check_round.pass_copied_half: _ROLES,
    check_round.pass_half_of_settled_original: _nothing,
    check_round.pass_half_of_waiting_op: _REPAIR,
    check_round.pass_over_long_immunity: _REPAIR,
    check_round.pull_more_ops: _nothing,
    check_round.end_round_at_queue_end: _nothing,
    check_round.end_round_at_fresh_half: _nothing,
    check_round.end_round_before_dispatch: _never("a copy has to be late in its consume queue"),
    check_round.end_round_at_young_half: _nothing,
    check_round.end_round_at_time_limit: _TIMES,
    putting_back.put_back_immune_half: _copy,
    putting_back.put_back_and_check: _check,
    putting_back.put_back_unasked: _copy,
    discarding.discard_half: _discard,
    discarding.discard_half_unrecorded: _WRITE_FAILS,
    discarding.discard_instead_of_check: _REPAIR,
    discarding.discard_what_cannot_be_copied: _REPAIR,
    **dict.fromkeys(_WITH_FAILED_READS, _READ_FAILS),
    broken_round.spin_at_failed_check: _WRITE_FAILS,
    broken_round.spin_at_failed_immunity: _WRITE_FAILS,
    **dict.fromkeys(_WITH_OTHER_ROLES, _ROLES),
    broker.persist_offsets: _always(AwaitSaved()),
    broker.flush_log: _POWER,
    broker.crash: _die,
    broker.lose_power: _POWER,
    broker.set_half_offset_back: _OFFSETS,
    broker.set_op_offset_back: _OFFSETS,
    broker.resume_discarded: _never("an operator has to put a discarded half back"),
    broker.tick: _tick,
    broker.step_clock_back: _never("the broker's clock has to step back"),
    **dict.fromkeys(_WITH_DELETED_FILES, _FILES),
    shutdown.begin_stop: _stop,
    shutdown.stop: _nothing,
}
"""Each action of the specification by its function, as `tests/wire/probe/test_staging.py` asks."""

_OF_A_CLIENT: Final = (SendHalf, SendEnd, Disconnect)


def plan(constants: Constants, path: Sequence[Step]) -> ProbePlan:
    """The orders that a schedule comes to; `CannotStageError` if it needs what no client can bring about."""
    machine = TRANSACTIONAL_MESSAGES
    state, before = cast("State", machine.initial(constants)), cast("State", machine.initial(constants))
    stager = Stager(constants, state, before)
    orders: list[Order] = []
    is_sent_inside = False
    for number, step in enumerate(path, start=1):
        before.load(tuple(state.memory.values))
        refused = take(state, constants, step)
        if refused is not None:
            message = f"step {number}, {step}, is refused ({refused.kind}): {refused.rule}"
            raise CannotStageError(message)
        is_between = bool(stager.ends_sent)
        given = list(STAGED[step.action.function](stager, step))
        if is_between and any(isinstance(order, AwaitRound | AwaitCopy | AwaitCheck) for order in given):
            stager.finer["a round comes between the two writes of an END_TRANSACTION"] = None
        if stager.before.round.running and stager.before.role != Role.STOPPING:
            is_sent_inside |= any(isinstance(order, _OF_A_CLIENT) for order in given)
            goes_on = stager.state.round.running and any(isinstance(o, AwaitCopy | AwaitCheck) for o in given)
            if is_sent_inside and goes_on:
                stager.finer["a request arrives in the middle of a round"] = None
            if any(isinstance(order, AwaitOp) for order in given):
                stager.finer["an op message is written in the middle of a round"] = None
        else:
            is_sent_inside = False
        orders += given
    return ProbePlan(tuple(_in_short(orders)), tuple(stager.finer))


def _in_short(orders: Sequence[Order]) -> Iterator[Order]:
    """Of ticks in a row the last counts."""
    for number, order in enumerate(orders):
        after = orders[number + 1] if number + 1 < len(orders) else None
        if isinstance(order, AwaitTick) and isinstance(after, AwaitTick):
            continue
        yield order
