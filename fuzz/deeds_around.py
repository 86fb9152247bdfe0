"""What a step of the specification does to producers and network, and what these do to the broker."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Final

from fuzz.answers import DROPPED, ENDS, answered, told_end
from fuzz.broker_side.requests import half_message, poisonous_padding
from fuzz.broker_side.time_unit import TICK_MS
from reference.broker.processor.end_transaction_processor import EndTransactionOutcome
from reference.broker.response import FLUSH_DISK_TIMEOUT, SUCCESS
from spec.state import End, Local, Producer, Settled

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from fuzz.broker_side.broker_side import BrokerSide
    from fuzz.lockstep.pair import Lockstep
    from reference.broker.processor.send_message_processor import SendMessageRequest
    from reference.broker.transaction.transactional_message_check_listener import CheckTransactionStateRequest
    from spec.language import Step

_ANSWER: Final = "the answer to END_TRANSACTION"

# --- sends ------------------------------------------------------------------------------------------------------------


def _send_half(pair: Lockstep, step: Step) -> None:
    transaction, immunity = step.arguments
    _send(pair, step, half_message(transaction, immunity, pair.side.clock.now))


def _send_half_by_another_clock(pair: Lockstep, step: Step) -> None:
    transaction, immunity, skew = step.arguments
    _send(pair, step, half_message(transaction, immunity, pair.side.clock.now + skew * TICK_MS))


def _send_half_with_checks(pair: Lockstep, step: Step) -> None:
    transaction, immunity, checks = step.arguments
    _send(pair, step, half_message(transaction, immunity, pair.side.clock.now, checks=checks))


def _send_poison_half(pair: Lockstep, step: Step) -> None:
    transaction, immunity = step.arguments
    padding = poisonous_padding(pair.side.broker.switches, immunity)
    _send(pair, step, half_message(transaction, immunity, pair.side.clock.now, padding=padding))


def _send_undecodable_half(pair: Lockstep, step: Step) -> None:
    _send_half(pair, step)
    _let_half_rot(pair, step.arguments[0])


def _send_half_again(pair: Lockstep, step: Step) -> None:
    """A client takes the birth anew at each try (``DefaultMQProducerImpl#sendKernelImpl``)."""
    transaction = step.arguments[0]
    _send(pair, step, replace(pair.side.producers.sent[transaction].request, born_timestamp=pair.side.clock.now))
    if transaction in pair.side.producers.rotting:
        _let_half_rot(pair, transaction)


def _let_half_rot(pair: Lockstep, transaction: int) -> None:
    """The same message rots each time that it is sent."""
    pair.side.producers.rotting.add(transaction)
    pair.side.broker.message_store.damage(pair.side.producers.sent[transaction].place)


def _send(pair: Lockstep, step: Step, request: SendMessageRequest) -> None:
    answer = pair.side.send(step.arguments[0], request)
    pair.expect(str(step), "the answer to the send", str(SUCCESS), str(answer.response.code))


# --- local transactions -----------------------------------------------------------------------------------------------


def _decide(local: Local, says: End) -> Callable[[Lockstep, Step], None]:
    """The local transaction comes to an end, and the producer says so for the half that its send stored."""

    def deed(pair: Lockstep, step: Step) -> None:
        producers = pair.side.producers
        producers.local[step.arguments[0]] = local
        pair.side.network.send(producers.sent[step.arguments[0]].queue_offset, says)

    return deed


def _roll_back_unrun(pair: Lockstep, step: Step) -> None:
    """The answer to the send, which was still to come, is that the record was not flushed in time."""
    answer = pair.side.producers.sent[step.arguments[0]].answer.but_flush_timed_out()
    pair.expect(str(step), "the answer to the send", str(FLUSH_DISK_TIMEOUT), str(answer.response.code))
    _decide(Local.NEVER_RUN, End.ROLLBACK)(pair, step)


def _leave_it_unknown(pair: Lockstep, step: Step) -> None:
    pair.side.producers.local[step.arguments[0]] = Local.UNKNOWN
    _say_unknown(pair, step, pair.side.producers.sent[step.arguments[0]].queue_offset)


def _resolve(local: Local) -> Callable[[Lockstep, Step], None]:
    def deed(pair: Lockstep, step: Step) -> None:
        pair.side.producers.local[step.arguments[0]] = local

    return deed


def _commit_what_is_gone(pair: Lockstep, step: Step) -> None:
    side = pair.side
    side.producers.local[step.arguments[0]] = Local.COMMIT
    outcome = side.ask_end(pair.direct_header(step.arguments[0])).outcome
    pair.expect(str(step), _ANSWER, EndTransactionOutcome.REFUSED.value, outcome.value)


def _commit_another_half(pair: Lockstep, step: Step) -> None:
    _decide(Local.COMMIT, End.COMMIT)(pair, step)
    sent = pair.side.producers.sent[step.arguments[0]]
    pair.side.told_places[sent.queue_offset] = sent.place
    pair.side.network.handled[sent.queue_offset].foreign = True


# --- checks -----------------------------------------------------------------------------------------------------------


def _answer_check(pair: Lockstep, step: Step) -> None:
    request = _take_check_request(pair, step)
    says = pair.side.producers.says(pair.transaction_of(request))
    if says is End.NONE:
        _say_unknown(pair, step, step.arguments[0])
    else:
        pair.side.network.send(step.arguments[0], says)


def _answer_check_too_early(pair: Lockstep, step: Step) -> None:
    _take_check_request(pair, step)
    pair.side.network.send(step.arguments[0], End.ROLLBACK)


def _lose_check(pair: Lockstep, step: Step) -> None:
    _take_check_request(pair, step)


def _take_check_request(pair: Lockstep, step: Step) -> CheckTransactionStateRequest:
    return pair.side.take_check_request(step.arguments[0])


def _say_unknown(pair: Lockstep, step: Step, half: int) -> None:
    """UNKNOWN is sent as well, and dropped by the broker; a slave refuses whatever comes."""
    expected = ENDS["refuse_end_as_slave"] if pair.side.broker.role.is_slave else DROPPED
    answer = answered(pair.side.ask_end(pair.header(half, End.NONE)))
    pair.expect(str(step), _ANSWER, told_end(expected), told_end(answer))


# --- connections ------------------------------------------------------------------------------------------------------


def _of_the_side(do: Callable[[BrokerSide], None]) -> Callable[[Lockstep, Step], None]:
    def deed(pair: Lockstep, _: Step) -> None:
        do(pair.side)

    return deed


# --- the network ------------------------------------------------------------------------------------------------------


def _lose_end(pair: Lockstep, step: Step) -> None:
    pair.side.network.forget_first(step.arguments[0])


def _duplicate_end(pair: Lockstep, step: Step) -> None:
    network, half = pair.side.network, step.arguments[0]
    was_committed = network.handled[half].settled is Settled.COMMITTED
    network.send_stray(half, End.COMMIT if was_committed else End.ROLLBACK)


def _double_end(pair: Lockstep, step: Step) -> None:
    pair.side.network.repeat(step.arguments[0])


def _overtake(pair: Lockstep, step: Step) -> None:
    pair.side.network.overtake(step.arguments[0])


def _send_wrong(says: End, *, claims_check: bool = False) -> Callable[[Lockstep, Step], None]:
    def deed(pair: Lockstep, step: Step) -> None:
        pair.side.network.send_stray(step.arguments[0], says, claims_check=claims_check)

    return deed


# --- the other master -------------------------------------------------------------------------------------------------


def _settle_elsewhere(says: End) -> Callable[[Lockstep, Step], None]:
    def deed(pair: Lockstep, step: Step) -> None:
        code = pair.side.other_master.settle(step.arguments[0], says)
        pair.expect(str(step), "the other master's answer to END_TRANSACTION", str(SUCCESS), str(code))

    return deed


DEEDS_AROUND: Final[Mapping[str, Callable[[Lockstep, Step], None]]] = {
    "send_half": _send_half,
    "send_half_by_another_clock": _send_half_by_another_clock,
    "send_half_with_checks": _send_half_with_checks,
    "send_poison_half": _send_poison_half,
    "send_undecodable_half": _send_undecodable_half,
    "send_half_again": _send_half_again,
    "commit_locally": _decide(Local.COMMIT, End.COMMIT),
    "roll_back_locally": _decide(Local.ROLLBACK, End.ROLLBACK),
    "roll_back_unrun": _roll_back_unrun,
    "leave_it_unknown": _leave_it_unknown,
    "resolve_to_commit": _resolve(Local.COMMIT),
    "resolve_to_rollback": _resolve(Local.ROLLBACK),
    "commit_what_is_gone": _commit_what_is_gone,
    "commit_another_half": _commit_another_half,
    "answer_check": _answer_check,
    "answer_check_too_early": _answer_check_too_early,
    "lose_check": _lose_check,
    "lose_all_producers": _of_the_side(lambda side: side.disconnect(Producer.OFFLINE)),
    "restart_producers": _of_the_side(lambda side: side.disconnect(Producer.UNREGISTERED)),
    "connect_again": _of_the_side(lambda side: side.connect_again()),
    "lose_end": _lose_end,
    "duplicate_end": _duplicate_end,
    "double_end": _double_end,
    "overtake": _overtake,
    "send_wrong_commit": _send_wrong(End.COMMIT),
    "send_wrong_rollback": _send_wrong(End.ROLLBACK),
    "answer_with_wrong_commit": _send_wrong(End.COMMIT, claims_check=True),
    "answer_with_wrong_rollback": _send_wrong(End.ROLLBACK, claims_check=True),
    "deliver_escaped": _settle_elsewhere(End.COMMIT),
    "roll_back_escaped": _settle_elsewhere(End.ROLLBACK),
}
"""By the action's name."""
