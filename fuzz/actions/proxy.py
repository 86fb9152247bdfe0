"""The proxy between producers and broker: what it passes on, what it knows nothing of, and its restart."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fuzz.actions.record import Driven, drives, expect
from fuzz.broker_side.producers import transaction_of_key
from reference.broker.response import FLUSH_DISK_TIMEOUT
from reference.format.record import CommitLogOffset
from spec.state import End, Local

if TYPE_CHECKING:
    from fuzz.broker_side.broker_side import BrokerSide
    from spec.language import Step


def _pass_on(
    side: BrokerSide, transaction: int, half: int, proxy: int, says: End, *, answers_check: bool = False
) -> None:
    """A proxy sends an END_TRANSACTION for the half that it knows."""
    data = side.proxies.take(transaction, proxy)
    expect("the half that the proxy names", half, None if data is None else data.queue_offset)
    if data is not None:
        side.known_places[half] = CommitLogOffset(data.commit_log_offset)
    side.network.send(half, says, claims_check=answers_check)


def _decides(local: Local, says: End) -> Driven:
    """The producer ends a running local transaction, and a proxy passes on what it says."""

    def do(side: BrokerSide, step: Step) -> None:
        half, proxy = step.arguments
        transaction = side.records.transactions[half]
        side.producers.local[transaction] = local
        _pass_on(side, transaction, half, proxy, says)

    return drives("decide")(do)


def _decides_unheard(local: Local) -> Driven:
    def do(side: BrokerSide, step: Step) -> None:
        transaction, proxy = step.arguments
        side.producers.local[transaction] = local
        expect("what the proxy knows of it", None, side.proxies.take(transaction, proxy))

    return drives("decide")(do)


def _answers(says: End) -> Driven:
    """A check is answered, and a proxy passes on what it says; `End.NONE` stands for what the producer knows."""

    def do(side: BrokerSide, step: Step) -> None:
        named, half, proxy = step.arguments
        transaction = transaction_of_key(side.take_check_request(half).transaction_id or "")
        answer = says if says is not End.NONE else side.producers.says(transaction)
        _pass_on(side, transaction, named, proxy, answer, answers_check=True)

    return drives("check")(do)


commit_through_proxy = _decides(Local.COMMIT, End.COMMIT)
roll_back_through_proxy = _decides(Local.ROLLBACK, End.ROLLBACK)
commit_unknown_to_proxy = _decides_unheard(Local.COMMIT)
roll_back_unknown_to_proxy = _decides_unheard(Local.ROLLBACK)


@drives("unrun")
def fail_a_stored_send(side: BrokerSide, step: Step) -> None:
    """The answer to the send, which was still to come, is that the record was not flushed in time."""
    transaction, proxy = step.arguments
    sent = side.producers.sent[transaction]
    expect("the answer to the send", FLUSH_DISK_TIMEOUT, sent.answer.but_flush_timed_out().response.code)
    side.proxies.forget(transaction, sent.queue_offset, proxy)
    side.producers.local[transaction] = Local.NEVER_RUN


answer_check_through_proxy = _answers(End.NONE)
answer_too_early_through_proxy = _answers(End.ROLLBACK)
roll_back_for_another_service = _answers(End.ROLLBACK)
ask_another_service = drives("check")(lambda side, step: side.take_check_request(step.arguments[0]))


@drives("check")
def answer_unknown_to_proxy(side: BrokerSide, step: Step) -> None:
    half, proxy = step.arguments
    transaction = transaction_of_key(side.take_check_request(half).transaction_id or "")
    expect("what the proxy knows of it", None, side.proxies.take(transaction, proxy))


@drives("check")
def relay_through_other_proxy(side: BrokerSide, step: Step) -> None:
    half, proxy = step.arguments
    request = next(one for one in side.broker.check_requests if one.tran_state_table_offset == half)
    transaction = transaction_of_key(request.transaction_id or "")
    side.proxies.forget(transaction, request.tran_state_table_offset, 0)
    side.proxies.note(transaction, request.tran_state_table_offset, request.commit_log_offset, proxy)


@drives("leave")
def restart_proxy(side: BrokerSide, step: Step) -> None:
    """The checks on their way through it are lost; through the first one the broker knew the producers."""
    (proxy,) = step.arguments
    known, requests = side.proxies.halves_of(proxy), side.broker.check_requests
    for request in [one for one in requests if one.tran_state_table_offset in known]:
        requests.remove(request)
    side.proxies.clear(proxy)
    if proxy == 0:
        side.leave_broker()
