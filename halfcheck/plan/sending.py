"""Sends what is decided in a plan, one request by one, as long as what each rests on is still so.

Each answer is on the disk before the next request is sent: after an end in the middle the same command goes on behind
what was sent. The first that is refused is the last one, by the broker or because something happened since the plan.
"""

from __future__ import annotations

import time
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

from files.alone import alone
from halfcheck.plan.plan import PlanError, SentRequest, read_plan, write_plan
from halfcheck.plan.planning import identity_and_settings
from halfcheck.plan.risks import Decision
from halfcheck.plan.since import SinceThePlan
from spark_trace_analysis.audit.rules.transaction_row import DELIVERED, DISCARDED, OP, PUT_BACK, local_time
from wire.client.channel import BrokerChannel, NoAnswerError, RefusedError
from wire.remoting.codes import ResponseCode

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence
    from pathlib import Path

    from halfcheck.plan.plan import BrokerPlan, PlannedRequest
    from reference.format.broker_conf import BrokerConf
    from spark_trace_analysis.audit.rules.transaction_row import HistoryEvent
    from wire.client.channel import Address

_OP_BATCHES: Final = 2
"""An op message is written so many intervals behind its END_TRANSACTION at most (A16)."""
_BESIDES_S: Final = 2.0
_PAUSE_S: Final = 0.2

_HAPPENED: Final = {
    PUT_BACK: "was put back into the half queue",
    DISCARDED: "was discarded",
    DELIVERED: "was delivered",
    OP: "was settled",
}

_EXPECTED: Final = {
    Decision.RESUME: (PUT_BACK,), Decision.COMMIT: (DELIVERED, OP), Decision.ROLLBACK: (OP,),
}  # fmt: skip
"""The records that each decision leaves."""


@dataclass(frozen=True, slots=True)
class SentPlan:
    """What was sent of a plan by one command.

    Attributes
    ----------
    numbers
        Those of the requests.
    stopped
        Why it went no further; empty if all that is decided was carried out and seen.
    """

    plan: BrokerPlan
    numbers: tuple[int, ...]
    stopped: str = ""


def send_plan(file: Path, address: Address, sleep: Callable[[float], None] = time.sleep) -> SentPlan:
    """Send what is decided in a plan's file and was not sent yet, and write into it what came of each.

    Raises
    ------
    PlanError
        The file is no plan, or nothing in it is decided; the plan is for another broker or release, or what one of its
        requests rests on is not so any more: then nothing was sent.
    NoAnswerError
        The broker can't be read; nothing was sent then, either.
    """
    with alone(file):
        plan = read_plan(file)
        if plan.broker != str(address):
            message = f"--plan {file} is a plan for {plan.broker}, and --broker is {address}: nothing was sent"
            raise PlanError(message)
        decided = plan.decided
        if not decided and plan.open:
            message = f'--plan {file}: nothing in it is decided: fill in a "decision"; nothing was sent'
            raise PlanError(message)
        _require_known(file, decided)
        with BrokerChannel(address) as channel:
            conf = _settings_of_same_broker(file, plan, channel)
            since = SinceThePlan(channel, plan, conf.mapped_file_size)
            since.look()
            problems = [problem for one in decided if (problem := what_is_not_so(one, since))]
            if problems:
                more = f" (and {len(problems) - 1} more)" if len(problems) > 1 else ""
                message = f"--plan {file}: nothing was sent: {problems[0]}{more}; plan again, it keeps the decisions"
                raise PlanError(message)
            return _Sending(file, plan, channel, since, sleep).send(decided)


def what_is_not_so(request: PlannedRequest, since: SinceThePlan) -> str:
    """What a request rests on and is not so any more, as far as was read; '' if all is; raises `NoAnswerError`."""
    events = since.events(request)
    if events:
        first = events[0]
        what, when = _HAPPENED[first.event], local_time(first.time)
        return f"request {request.number}: since the plan was made {request.unique_key} {what}, at {when}"
    if not since.is_there(request):
        place = f"{request.record_topic}, queue {request.record_queue}, {request.record_offset}"
        return f"request {request.number}: {request.unique_key} is not at {place} any more"
    return ""


def _require_known(file: Path, decided: Iterable[PlannedRequest]) -> None:
    """Refuse to go on where a request was sent and no answer was recorded."""
    for one in decided:
        if one.sent is not None and one.sent.code is None:
            message = (
                f"--plan {file}: request {one.number} was sent, and no answer is known: plan again, which reads what "
                "came of it; nothing was sent"
            )
            raise PlanError(message)


def _settings_of_same_broker(file: Path, plan: BrokerPlan, channel: BrokerChannel) -> BrokerConf:
    """The broker's settings; `PlanError` if it is another one than the plan's, or has another release by now."""
    now, conf = identity_and_settings(channel)
    for what, then, found in (
        ("brokerClusterName", plan.cluster, now.cluster),
        ("brokerName", plan.name, now.name),
        ("brokerId", plan.broker_id, now.broker_id),
        ("the release", plan.release, now.release or plan.release),
    ):
        if then != found:
            message = (
                f"--plan {file}: {what} was {then}, and is {found} now: {channel.address} is not the broker that the "
                "plan was made for; nothing was sent"
            )
            raise PlanError(message)
    return conf


@dataclass(slots=True)
class _Sending:
    """One go at a plan."""

    file: Path
    plan: BrokerPlan
    channel: BrokerChannel
    since: SinceThePlan
    sleep: Callable[[float], None]

    def send(self, decided: Sequence[PlannedRequest]) -> SentPlan:
        """Send what is decided, up to the first that is refused; then read back what came of it."""
        sent: list[PlannedRequest] = []
        stopped = ""
        for one in decided:
            try:
                self.since.look()
                stopped = what_is_not_so(one, self.since)
                if stopped:
                    break
                answered = self._sent(one)
            except NoAnswerError as error:
                stopped = str(error)
                break
            sent.append(answered)
            if answered.sent is None or answered.sent.code != ResponseCode.SUCCESS:
                stopped = f"request {one.number} is refused"
                break
        unseen = self._read_back(sent)
        numbers = tuple(one.number for one in sent)
        return SentPlan(self.plan, numbers, stopped or unseen)

    def _sent(self, one: PlannedRequest) -> PlannedRequest:
        """Send one request; the file says before that it is sent, and then what was answered."""
        if one.decision is None:
            raise AssertionError(one)
        begun = SentRequest(at=time.time_ns() // 1_000_000, decision=one.decision)
        self._record(replace(one, sent=begun))
        try:
            answer = self.channel.ask(one.code, one.header)
        except RefusedError as error:
            answered = replace(begun, code=int(ResponseCode.NO_PERMISSION), remark=str(error))
        else:
            remark = next(iter((answer.remark or "").splitlines()), "")
            answered = replace(begun, code=answer.code, remark=remark)
        return self._record(replace(one, sent=answered))

    def _read_back(self, sent: Sequence[PlannedRequest]) -> str:
        """Wait until each request that was carried out is seen in the queues; which one is not."""
        waiting = [one for one in sent if one.sent is not None and one.sent.code == ResponseCode.SUCCESS]
        batch_s = self.plan.settings["transactionOpBatchInterval"] / 1_000
        end = time.monotonic() + _OP_BATCHES * batch_s + _BESIDES_S
        try:
            while waiting:
                self.since.look()
                for one in tuple(waiting):
                    if one.sent is not None and (seen := _seen(one, self.since.events(one))):
                        self._record(replace(one, sent=replace(one.sent, seen=seen)))
                        waiting.remove(one)
                if waiting and time.monotonic() > end:
                    break
                if waiting:
                    self.sleep(_PAUSE_S)
        except NoAnswerError as error:
            return str(error)
        if not waiting:
            return ""
        return f"request {waiting[0].number} was answered, and nothing of it is seen: audit the broker again"

    def _record(self, changed: PlannedRequest) -> PlannedRequest:
        self.plan = self.plan.with_request(changed)
        write_plan(self.file, self.plan)
        return changed


def _seen(request: PlannedRequest, events: Sequence[HistoryEvent]) -> str:
    """What a request has left, in words; '' as long as something of it is missing."""
    if request.sent is None:
        return ""
    first = {event.event: event for event in reversed(events)}
    expected = _EXPECTED[request.sent.decision]
    if any(word not in first for word in expected):
        return ""
    queues = {DELIVERED: f"{request.topic}, queue {request.real_queue}", OP: "the op queue"}
    return "; ".join(
        f"it {_HAPPENED[word]}: {queues.get(word, 'the half queue')} at {first[word].offset}, "
        f"byte {first[word].at} of the commit log"
        for word in expected
    )
