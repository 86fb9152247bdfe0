"""Producers: their sends, decisions and answers, their coming and going."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Final

from fuzz.actions import end_transaction as end
from fuzz.actions.record import Driven, drives, expect
from fuzz.broker_side.broker_records import TICK_MS
from fuzz.broker_side.producers import end_transaction, half_message, poisonous_padding, transaction_of_key
from reference.broker.processor.end_transaction_processor import EndTransactionOutcome
from reference.broker.response import FLUSH_DISK_TIMEOUT, SERVICE_NOT_AVAILABLE, SUCCESS
from reference.format.properties import CHECK_TIMES, PREPARED_QUEUE_OFFSET
from reference.format.system_topics import HALF_TOPIC
from spec.state import End, Local, Producer

if TYPE_CHECKING:
    from fuzz.broker_side.broker_side import BrokerSide
    from reference.broker.processor.send_message_processor import SendMessageRequest
    from reference.format.record import LogRecord
    from spec.language import Refused, Step

_SEND: Final = "the answer to the send"

# --- sends ------------------------------------------------------------------------------------------------------------


def _send(side: BrokerSide, step: Step, request: SendMessageRequest) -> None:
    expect(_SEND, SUCCESS, side.send(step.arguments[0], request).response.code)


def _send_new(side: BrokerSide, step: Step, *, skew: int = 0, **carried: int) -> None:
    transaction, immunity = step.arguments[:2]
    _send(side, step, half_message(transaction, immunity, side.clock.now + skew, **carried))


def _let_half_rot(side: BrokerSide, transaction: int) -> None:
    """The same message rots each time that it is sent."""
    side.producers.rotting.add(transaction)
    side.process.damage(side.producers.sent[transaction].place)


def _send_to_slave(side: BrokerSide, step: Step, _: Refused) -> bool:
    """A slave takes no messages; a producer that it does not know would be known by the try."""
    is_asked = side.broker.role.is_slave and side.producers.are is Producer.ONLINE
    if is_asked:
        request = half_message(step.arguments[0], step.arguments[1], side.clock.now)
        expect(_SEND, SERVICE_NOT_AVAILABLE, side.process.send(request).response.code)
    return is_asked


def _carries_what_the_broker_writes(side: BrokerSide, step: Step) -> bool:
    """A message with checks counted, or with an original, that is sent again.

    It carries the same again, and the specification sends its second half without.
    """
    sent = side.producers.sent.get(step.arguments[0])
    return sent is not None and not sent.request.properties.keys().isdisjoint((CHECK_TIMES, PREPARED_QUEUE_OFFSET))


send_half = drives("send", "other send", "bad send", ask=_send_to_slave, after="send_undecodable_half")(_send_new)
send_half_by_another_clock = drives("other send")(
    lambda side, step: _send_new(side, step, skew=step.arguments[2] * TICK_MS)
)
send_half_with_checks = drives("other send")(lambda side, step: _send_new(side, step, checks=step.arguments[2]))


@drives("other send")
def send_half_with_original(side: BrokerSide, step: Step) -> None:
    transaction, original = step.arguments
    immunity = side.broker.settings.transaction_timeout_ms // TICK_MS
    _send(side, step, half_message(transaction, immunity, side.clock.now, original=original))


@drives("bad send")
def send_poison_half(side: BrokerSide, step: Step) -> None:
    _send_new(side, step, padding=poisonous_padding(side.broker.switches, step.arguments[1]))


@drives("bad send")
def send_undecodable_half(side: BrokerSide, step: Step) -> None:
    _send_new(side, step)
    _let_half_rot(side, step.arguments[0])


@drives("twice", unless=_carries_what_the_broker_writes, after="overtake")
def send_half_again(side: BrokerSide, step: Step) -> None:
    """A client takes the birth anew at each try (``DefaultMQProducerImpl#sendKernelImpl``)."""
    transaction = step.arguments[0]
    _send(side, step, replace(side.producers.sent[transaction].request, born_timestamp=side.clock.now))
    if transaction in side.producers.rotting:
        _let_half_rot(side, transaction)


# --- local transactions -----------------------------------------------------------------------------------------------


def _decide(side: BrokerSide, step: Step, local: Local, says: End) -> None:
    """The local transaction comes to an end, and the producer says so for the half that its send stored."""
    side.producers.local[step.arguments[0]] = local
    side.network.send(side.producers.sent[step.arguments[0]].queue_offset, says)


def _resolves(local: Local) -> Driven:
    def do(side: BrokerSide, step: Step) -> None:
        side.producers.local[step.arguments[0]] = local

    return drives("decide")(do)


def _say_unknown(side: BrokerSide, half: int) -> None:
    """UNKNOWN is sent as well, and dropped by the broker; a slave refuses whatever comes."""
    expected = end.refuse_end_as_slave.expected if side.broker.role.is_slave else end.DROPPED
    expect(end.ANSWER, expected, end.answer_of(side.ask_end(side.header(half, End.NONE))))


def _in_its_place(side: BrokerSide, transaction: int) -> LogRecord | None:
    """The record in the place in which the transaction's send was stored."""
    sent = side.producers.sent.get(transaction)
    return None if sent is None else side.broker.message_store.look_message_by_offset(sent.place)


def _finds_something(side: BrokerSide, step: Step) -> bool:
    """An END_TRANSACTION for a half that a power loss has taken, where it finds something all the same.

    What stands in the half's place in bytes decides whether it finds nothing or another half, and the specification
    allows both.
    """
    record, sent = _in_its_place(side, step.arguments[0]), side.producers.sent.get(step.arguments[0])
    return record is not None and sent is not None and record.queue_offset == sent.queue_offset


def _finds_no_half(side: BrokerSide, step: Step) -> bool:
    """The same, where it finds no half."""
    record = _in_its_place(side, step.arguments[0])
    return record is None or record.topic != HALF_TOPIC or not _finds_something(side, step)


commit_locally = drives("decide")(lambda side, step: _decide(side, step, Local.COMMIT, End.COMMIT))
roll_back_locally = drives("decide")(lambda side, step: _decide(side, step, Local.ROLLBACK, End.ROLLBACK))


@drives("unrun")
def roll_back_unrun(side: BrokerSide, step: Step) -> None:
    """The answer to the send, which was still to come, is that the record was not flushed in time."""
    answer = side.producers.sent[step.arguments[0]].answer.but_flush_timed_out()
    expect(_SEND, FLUSH_DISK_TIMEOUT, answer.response.code)
    _decide(side, step, Local.NEVER_RUN, End.ROLLBACK)


@drives("decide")
def leave_it_unknown(side: BrokerSide, step: Step) -> None:
    side.producers.local[step.arguments[0]] = Local.UNKNOWN
    _say_unknown(side, side.producers.sent[step.arguments[0]].queue_offset)


resolve_to_commit = _resolves(Local.COMMIT)
resolve_to_rollback = _resolves(Local.ROLLBACK)


@drives("late", needs=("power_loss",), unless=_finds_something)
def commit_what_is_gone(side: BrokerSide, step: Step) -> None:
    side.producers.local[step.arguments[0]] = Local.COMMIT
    sent = side.producers.sent[step.arguments[0]]
    header = end_transaction(sent.queue_offset, sent.place, End.COMMIT, answers_check=False)
    expect(end.ANSWER, EndTransactionOutcome.REFUSED.value, side.ask_end(header).outcome.value)


@drives("late", needs=("power_loss",), unless=_finds_no_half)
def commit_another_half(side: BrokerSide, step: Step) -> None:
    _decide(side, step, Local.COMMIT, End.COMMIT)
    sent = side.producers.sent[step.arguments[0]]
    side.known_places[sent.queue_offset] = sent.place
    side.network.handled[sent.queue_offset].foreign = True


# --- checks and connections -------------------------------------------------------------------------------------------


@drives("check")
def answer_check(side: BrokerSide, step: Step) -> None:
    request = side.take_check_request(step.arguments[0])
    says = side.producers.says(transaction_of_key(request.transaction_id or ""))
    if says is End.NONE:
        _say_unknown(side, step.arguments[0])
    else:
        side.network.send(step.arguments[0], says)


@drives("check")
def answer_check_too_early(side: BrokerSide, step: Step) -> None:
    side.take_check_request(step.arguments[0])
    side.network.send(step.arguments[0], End.ROLLBACK)


lose_all_producers = drives("leave")(lambda side, _: side.disconnect(Producer.OFFLINE))
restart_producers = drives("leave")(lambda side, _: side.disconnect(Producer.UNREGISTERED))
connect_again = drives("come back", needs=("offline_producer", "restart_proxy"))(lambda side, _: side.connect())
