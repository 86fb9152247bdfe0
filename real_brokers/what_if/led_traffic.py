"""The producers of a workload over the wire: each transaction begins, ends and answers its checks as its plan says.

What a simulation draws (`traffic.simulation.producers`) is drawn here by the same distributions, and done at its time
by the machine's clock. Latencies, losses and pauses are those of the machine.
"""

from __future__ import annotations

import queue
import time
from dataclasses import dataclass, field
from heapq import heappop, heappush
from math import inf
from random import Random
from typing import TYPE_CHECKING, Any, Final

from reference.format.properties import IMMUNITY_SECONDS, UNIQUE_KEY
from traffic.workload.defaults import client_figure
from traffic.workload.workload import ListenerAnswer
from wire.client.channel import Address, Answers, BrokerChannel, NoAnswerError
from wire.client.transactions import (
    COMMIT,
    ROLLBACK,
    UNKNOWN,
    HalfName,
    end_transaction_fields,
    half_fields,
    half_in_answer,
    half_of_check,
    heartbeat_body,
)
from wire.remoting.codes import RequestCode
from wire.remoting.messages import decode_records

if TYPE_CHECKING:
    from collections.abc import Callable

    from traffic.workload.workload import TrafficWorkload
    from wire.remoting.command import RemotingCommand

TOPIC: Final = "Orders"
GROUP: Final = "group-0"
_SLEEP_S: Final = 0.002
_CONNECT_S: Final = 3.0
_OUTCOMES: Final = {ListenerAnswer.COMMIT: COMMIT, ListenerAnswer.ROLLBACK: ROLLBACK}


@dataclass(slots=True)
class LedTransaction:
    """One transaction: what is to become of it, and what its producer knows."""

    number: int
    body_bytes: int
    local_ms: float
    """How long its local transaction takes; infinite where it hangs."""
    is_rolled_back: bool
    says_unknown: bool
    """Its first END_TRANSACTION says UNKNOWN."""
    begun_s: float = inf
    attempt: int = 0
    is_over: bool = False
    """Its half is stored, or given up."""
    ends_s: float = inf
    """When its local transaction is over; never where it did not run, or hangs."""
    has_run: bool = False

    @property
    def key(self) -> str:
        """Its UNIQ_KEY, as long as a simulation's."""
        return f"{self.number:032X}"


@dataclass(slots=True)
class LedProducer:
    """One process that sends: its connection, and the one thread of its check pool."""

    number: int
    channel: BrokerChannel | None = None
    free_s: float = 0.0


@dataclass(slots=True)
class LedTraffic:
    """The transactions of a workload, sent to a broker from :meth:`run` on.

    Parameters
    ----------
    address, workload, seed, transactions
        Whom, what, by which draws, and how many.
    """

    address: Address
    workload: TrafficWorkload
    seed: int
    transactions: int
    all: list[LedTransaction] = field(default_factory=list)
    """Those that were begun, by their number."""
    checks: int = 0
    """The checks that came."""
    failed: int = 0
    """The transactions whose half was given up."""
    answered_ms: list[float] = field(default_factory=list)
    """How long each answered send took."""
    decided: dict[str, int] = field(default_factory=dict)
    """By unique key, when a local transaction ended in a commit, in milliseconds since 1970."""
    _events: list[tuple[float, int, Callable[[Any], object], Any]] = field(default_factory=list)
    _number: int = 0
    _sent: dict[tuple[int, int], tuple[LedTransaction, int, float, LedProducer, BrokerChannel]] = field(
        default_factory=dict
    )
    _answers: dict[int, Answers] = field(default_factory=dict)
    _producers: list[LedProducer] = field(default_factory=list)
    _random: Random = field(default_factory=Random)
    _arriving: Random = field(default_factory=Random)
    """Draws when transactions begin and what becomes of them: runs of one seed have the same, whatever is checked."""
    _due_s: float = 0.0

    def run(self, goes_on: Callable[[], bool]) -> None:
        """Send all, and answer checks until somebody says that it is over."""
        self._random = random = Random(self.seed)
        self._arriving = Random(f"{self.seed} arriving")
        self._producers = [LedProducer(number) for number in range(self.workload.arrivals.producers)]
        self._due_s = time.monotonic()
        heartbeat_s = client_figure("heartbeat") / 1_000
        for producer in self._producers:
            self._greet(producer)
            self._put(self._due_s + random.random() * heartbeat_s, self._greet_again, producer)
        self._put(self._due_s, self._begin, None)
        while len(self.all) < self.transactions or goes_on():
            self._take_due()
            self._take_answers()
            self._take_checks()
            time.sleep(_SLEEP_S)
        for producer in self._producers:
            if producer.channel is not None:
                producer.channel.close()

    # --- events -------------------------------------------------------------------------------------------------------

    def _put(self, at_s: float, action: Callable[[Any], object], subject: object) -> None:
        self._number += 1
        heappush(self._events, (at_s, self._number, action, subject))

    def _take_due(self) -> None:
        now = time.monotonic()
        while self._events and self._events[0][0] <= now:
            _, _, action, subject = heappop(self._events)
            action(subject)

    # --- halves -------------------------------------------------------------------------------------------------------

    def _begin(self, _: object) -> None:
        random, arrivals, local = self._arriving, self.workload.arrivals, self.workload.local
        hangs, drawn = random.random() < local.hangs, random.random()
        says_unknown = local.rollback <= drawn < local.rollback + local.unknown
        rolls_back = drawn < local.rollback or (says_unknown and random.random() * (1 - local.unknown) < local.rollback)
        transaction = LedTransaction(
            len(self.all),
            max(1, int(arrivals.body_bytes.draw(random))),
            inf if hangs else local.time_ms.draw(random),
            rolls_back,
            says_unknown,
            time.monotonic(),
        )
        self.all.append(transaction)
        if len(self.all) < self.transactions:
            mean_s = 1 / arrivals.per_second
            wait_s = random.expovariate(1) * mean_s if arrivals.is_poisson else mean_s
            self._due_s += wait_s
            self._put(self._due_s, self._begin, None)
        self._send(transaction)

    def _send(self, transaction: LedTransaction) -> None:
        transaction.attempt += 1
        attempt, now = transaction.attempt, time.monotonic()
        producer = self._producers[int(self._random.random() * len(self._producers))]
        immunity = self.workload.arrivals.immunity_s
        own = {} if immunity is None else {IMMUNITY_SECONDS: str(immunity)}
        try:
            channel = self._channel(producer)
            answers = self._answers.setdefault(id(channel), queue.SimpleQueue())
            fields = half_fields(GROUP, TOPIC, transaction.key, own)
            fields["e"] = transaction.number & 3
            body = bytes(transaction.body_bytes)
            opaque = channel.begin(RequestCode.SEND_MESSAGE_V2, fields, body, answers)
        except NoAnswerError:
            self._fail(transaction, attempt)
            return
        self._sent[id(channel), opaque] = transaction, attempt, now, producer, channel
        client = self.workload.client
        patience_ms = client.attempt_timeout_ms
        if client.total_timeout_ms is not None:
            patience_ms = min(patience_ms, client.total_timeout_ms - 1_000 * (now - transaction.begun_s))
        self._put(now + max(0.0, patience_ms) / 1_000, self._time_out, (transaction, attempt))

    def _time_out(self, what: tuple[LedTransaction, int]) -> None:
        self._fail(*what)

    def _fail(self, transaction: LedTransaction, attempt: int) -> None:
        """An attempt has failed: the next one at once, or none (``DefaultMQProducerImpl#sendDefaultImpl``)."""
        if transaction.is_over or attempt != transaction.attempt:
            return
        client = self.workload.client
        taken_ms = 1_000 * (time.monotonic() - transaction.begun_s)
        if attempt < client.attempts and (client.total_timeout_ms is None or taken_ms < client.total_timeout_ms):
            self._send(transaction)
            return
        transaction.is_over = True
        self.failed += 1

    def _take_answers(self) -> None:
        for answers in list(self._answers.values()):
            while True:
                try:
                    answer = answers.get_nowait()
                except queue.Empty:
                    break
                if answer is not None:
                    self._take_answer(answer, answers)
        for key, (transaction, attempt, _, _, channel) in list(self._sent.items()):
            if not channel.is_open:
                del self._sent[key]
                self._answers.pop(id(channel), None)
                self._fail(transaction, attempt)

    def _take_answer(self, answer: RemotingCommand, answers: Answers) -> None:
        key = next(((place, answer.opaque) for place, own in self._answers.items() if own is answers), (0, 0))
        if key not in self._sent:
            return
        transaction, attempt, sent_s, producer, channel = self._sent.pop(key)
        channel.forget([answer.opaque])
        if attempt != transaction.attempt or transaction.is_over:
            return
        try:
            half = half_in_answer(answer, channel, TOPIC, transaction.key)
        except NoAnswerError:
            self._fail(transaction, attempt)
            return
        now = time.monotonic()
        self.answered_ms.append(1_000 * (now - sent_s))
        transaction.is_over = transaction.has_run = True
        transaction.ends_s = now + transaction.local_ms / 1_000
        if transaction.ends_s < inf:
            self._put(transaction.ends_s, self._end, (transaction, half, producer))

    # --- END_TRANSACTION ----------------------------------------------------------------------------------------------

    def _end(self, what: tuple[LedTransaction, HalfName, LedProducer]) -> None:
        transaction, half, producer = what
        if not transaction.is_rolled_back:
            self.decided[transaction.key] = time.time_ns() // 1_000_000
        says = ROLLBACK if transaction.is_rolled_back else COMMIT
        self._say(half, UNKNOWN if transaction.says_unknown else says, producer, answers_check=False)

    def _say(self, half: HalfName, says: int, producer: LedProducer, *, answers_check: bool) -> None:
        fields = end_transaction_fields(GROUP, half, says, answers_check=answers_check)
        try:
            self._channel(producer).send_oneway(RequestCode.END_TRANSACTION, fields)
        except NoAnswerError:
            return  # a one-way request is lost where nobody listens

    # --- checks -------------------------------------------------------------------------------------------------------

    def _take_checks(self) -> None:
        for producer in self._producers:
            channel = producer.channel
            while channel is not None and (request := channel.asked()) is not None:
                if request.code != RequestCode.CHECK_TRANSACTION_STATE:
                    continue
                self.checks += 1
                half, record = half_of_check(request), decode_records(request.body)[0]
                begins = max(time.monotonic(), producer.free_s)
                producer.free_s = begins + self.workload.checks.after_ms.draw(self._random) / 1_000
                key = record.properties[UNIQUE_KEY]
                self._put(producer.free_s, self._answer, (self.all[int(key, 16)], half, producer))

    def _answer(self, what: tuple[LedTransaction, HalfName, LedProducer]) -> None:
        transaction, half, producer = what
        checks = self.workload.checks
        if not transaction.has_run:
            says = checks.never_run
        elif transaction.local_ms == inf:
            says = ListenerAnswer.UNKNOWN
        elif time.monotonic() < transaction.ends_s:
            says = checks.while_running
        elif self._random.random() < checks.unknown:
            says = ListenerAnswer.UNKNOWN
        else:
            says = ListenerAnswer.ROLLBACK if transaction.is_rolled_back else ListenerAnswer.COMMIT
        if says is not ListenerAnswer.UNKNOWN:
            self._say(half, _OUTCOMES[says], producer, answers_check=True)

    # --- connections --------------------------------------------------------------------------------------------------

    def _channel(self, producer: LedProducer) -> BrokerChannel:
        """The connection of a process, made where there is none; the broker learns of its group by a heartbeat."""
        if producer.channel is None or not producer.channel.is_open:
            producer.channel = BrokerChannel(self.address, _CONNECT_S)
        return producer.channel

    def _greet(self, producer: LedProducer) -> None:
        answers: Answers = queue.SimpleQueue()
        try:
            body = heartbeat_body(f"what-if@{producer.number}", GROUP)
            self._channel(producer).begin(RequestCode.HEART_BEAT, {}, body, answers)
        except NoAnswerError:
            return  # the next one finds it

    def _greet_again(self, producer: LedProducer) -> None:
        self._greet(producer)
        self._put(time.monotonic() + client_figure("heartbeat") / 1_000, self._greet_again, producer)
