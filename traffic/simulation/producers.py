"""The clients: transactions as they come, their sends and retries, local transactions, and answers to checks.

After ``DefaultMQProducerImpl#sendDefaultImpl`` and ``#checkTransactionState``. The answers of a group come from what
all its processes know (a database that they share), so that it does not matter which of them is asked.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, NamedTuple

from reference.broker.processor.end_transaction_processor import (
    TRANSACTION_ROLLBACK,
    EndTransactionRequestHeader,
)
from reference.broker.processor.send_message_processor import SendMessageRequest
from reference.format.properties import (
    IMMUNITY_SECONDS,
    PRODUCER_GROUP,
    TRANSACTION_PREPARED,
    UNIQUE_KEY,
    WAIT_STORE_OK,
)
from reference.format.record import TRANSACTION_COMMIT, TRANSACTION_PREPARED_TYPE, CommitLogOffset, QueueOffset
from traffic.simulation.ledger import Fate, LocalDecision, TrackedHalf, TrackedTransaction
from traffic.workload.defaults import client_figure
from traffic.workload.workload import ListenerAnswer

if TYPE_CHECKING:
    from traffic.simulation.broker_host import BrokerHost
    from traffic.simulation.check_thread import CheckServiceThread
    from traffic.simulation.requests import BrokerRequests
    from traffic.simulation.running import RunningSimulation

TOPIC: Final = "Orders"
KEY_DIGITS: Final = 32
"""Hexadecimal digits of a UNIQ_KEY, which are the transaction's number here."""
_QUEUES_MASK: Final = 3
_OUTCOMES: Final = {ListenerAnswer.COMMIT: TRANSACTION_COMMIT, ListenerAnswer.ROLLBACK: TRANSACTION_ROLLBACK}


@dataclass(slots=True)
class ProducerProcess:
    """One process that sends."""

    number: int
    group: int
    channel: str
    clock_offset_ms: int
    is_there: bool = True
    has_sent: bool = False
    """The broker has heard of it since it came (``MQClientInstance#sendHeartbeatToAllBroker``)."""
    went_at: float = -1.0
    """When it last went away."""
    stands_from: float = -1.0
    stands_until: float = -1.0
    """Its last pause."""
    free_at: float = 0.0
    """When the one thread of its check pool has answered all that it has."""
    waiting: int = 0
    """The checks that it has not answered."""


class EndOnItsWay(NamedTuple):
    """An END_TRANSACTION on its way to the broker."""

    half: TrackedHalf
    says: int
    epoch: int
    """The process of the broker to which the connection leads."""
    is_answer: bool


class SimulatedProducers:
    """All processes that send, and the listeners of their groups."""

    def __init__(
        self,
        run: RunningSimulation,
        transactions: int,
        host: BrokerHost,
        requests: BrokerRequests,
        checks: CheckServiceThread,
    ) -> None:
        self.left = transactions
        """How many transactions are yet to begin."""
        self._run_of = run
        self._workload = workload = run.workload
        self._events = run.events
        self._random = run.streams.of("clients")
        self._arriving = random = run.streams.of("arrivals")
        self._ledger = run.ledger
        self._counts = run.counts
        self._host = host
        self._requests = requests
        self._hold_max = client_figure("check_request_hold_max")
        self._heartbeat_ms = client_figure("heartbeat")
        arrivals = workload.arrivals
        self._wait_ms = 1000 / arrivals.per_second
        self._processes = [
            ProducerProcess(
                number,
                number % arrivals.groups,
                f"10.0.{number >> 8}.{number & 255}:4242",
                round(random.gauss(0, workload.clock_deviation_ms)) if workload.clock_deviation_ms else 0,
            )
            for number in range(arrivals.producers)
        ]
        self._there = list(self._processes)
        self._of_group = [
            [process for process in self._processes if process.group == group] for group in range(arrivals.groups)
        ]
        self._groups = [f"group-{group}" for group in range(arrivals.groups)]
        self._number = 0
        checks.on_check = self._take_check
        host.on_boot.append(self._reconnect)

    # --- the beginning of transactions --------------------------------------------------------------------------------

    def begin(self, at: float = 0.0) -> None:
        """One transaction begins, so many milliseconds behind the first one, and the next one later."""
        if self.left <= 0:
            return
        self.left -= 1
        events, random = self._events, self._arriving
        now = events.now
        self._counts.arriving_ms = at
        self._run_of.is_arriving = self.left > 0
        if self.left:
            wait = random.expovariate(1) * self._wait_ms if self._workload.arrivals.is_poisson else self._wait_ms
            events.put(self._run_of.quiet_ms + at + wait, self.begin, at + wait)
        turn, fate = random.random(), self._drawn_fate()
        body_bytes = max(1, int(self._workload.arrivals.body_bytes.draw(random)))
        if not self._there:
            self._counts.without_producer += 1
            return
        process = self._there[int(turn * len(self._there))]
        self._counts.transactions += 1
        self._counts.body_bytes += body_bytes
        transaction = TrackedTransaction(self._number, process.number, process.group, body_bytes, now, fate=fate)
        self._number += 1
        self._ledger.transactions[transaction.number] = transaction
        self._send(transaction, max(now, process.stands_until))

    def _drawn_fate(self) -> Fate:
        local, network, random = self._workload.local, self._workload.network, self._arriving
        fate = Fate()
        if network.loss_to_broker:
            fate.loses_half = random.random() < network.loss_to_broker
            fate.loses_end = random.random() < network.loss_to_broker
        if network.loss_from_broker:
            fate.loses_answer = random.random() < network.loss_from_broker
        fate.hangs = bool(local.hangs) and random.random() < local.hangs
        drawn, later = random.random(), random.random()
        if drawn < local.rollback:
            fate.decision = LocalDecision.ROLLBACK
        elif drawn < local.rollback + local.unknown:
            fate.says_unknown = True
            decided = 1 - local.unknown
            if decided and later * decided < local.rollback:
                fate.decision = LocalDecision.ROLLBACK
        fate.local_ms = local.time_ms.draw(random)
        return fate

    # --- the send of a half -------------------------------------------------------------------------------------------

    def _send(self, transaction: TrackedTransaction, at: float) -> None:
        """Send a half: the first attempt, or the next."""
        transaction.attempt += 1
        transaction.attempt_sent_at = at
        transaction.pending += 1
        if transaction.attempt > 1:
            self._counts.sent_again += 1
        host, network = self._host, self._workload.network
        is_first = transaction.attempt == 1
        if transaction.fate.loses_half if is_first else self._is_lost(network.loss_to_broker):
            self._events.put(at + self._patience(transaction, at), self._time_out, (transaction, transaction.attempt))
            return
        arrives = at + network.to_broker_ms.draw(self._random)
        self._events.put(arrives, self._arrive, (transaction, host.epoch, transaction.attempt))

    def _is_lost(self, share: float) -> bool:
        return bool(share) and self._random.random() < share

    def _patience(self, transaction: TrackedTransaction, at: float) -> float:
        """How long the attempt that is sent now waits for its answer."""
        client = self._workload.client
        if client.total_timeout_ms is None:
            return client.attempt_timeout_ms
        left = client.total_timeout_ms - (at - transaction.begun_at)
        return max(0.0, min(client.attempt_timeout_ms, left))

    def _arrive(self, what: tuple[TrackedTransaction, int, int]) -> None:
        """A half arrives at the broker."""
        transaction, epoch, attempt = what
        events, host = self._events, self._host
        now = events.now
        if now < host.waits_until:
            events.put(host.waits_until, self._arrive, what)
            return
        if not host.serves or epoch != host.epoch:
            if attempt != transaction.attempt:
                self._forget(transaction)
            elif host.lost_power:  # nobody refuses the connection
                patience = self._patience(transaction, transaction.attempt_sent_at)
                events.put(max(now, transaction.attempt_sent_at + patience), self._time_out, (transaction, attempt))
            else:
                self._fail(transaction)
            return
        self._greet_with_a_send(self._processes[transaction.producer])
        half = self._requests.store_half(transaction, self._request(transaction))
        if half is None:
            self._fail(transaction)
            return
        if attempt != transaction.attempt or transaction.is_over_for_producer:
            self._forget(transaction)  # its client has stopped waiting for the answer
            return
        network, sent_at = self._workload.network, transaction.attempt_sent_at
        patience = self._patience(transaction, sent_at)
        answered = now + network.from_broker_ms.draw(self._random)
        is_lost = transaction.fate.loses_answer if attempt == 1 else self._is_lost(network.loss_from_broker)
        if is_lost or answered > sent_at + patience:
            events.put(max(now, sent_at + patience), self._time_out, (transaction, attempt))
        elif self._workload.crashes is not None or self._workload.restarts is not None:
            events.put(answered, self._take_answer, (half, host.epoch))
        else:
            self._run(half, answered)

    def _request(self, transaction: TrackedTransaction) -> SendMessageRequest:
        process = self._processes[transaction.producer]
        properties = {
            UNIQUE_KEY: f"{transaction.number:032X}",
            WAIT_STORE_OK: "true",
            TRANSACTION_PREPARED: "true",
            PRODUCER_GROUP: self._groups[transaction.group],
        }
        immunity = self._workload.arrivals.immunity_s
        if immunity is not None:
            properties[IMMUNITY_SECONDS] = str(immunity)
        return SendMessageRequest(
            TOPIC,
            transaction.number & _QUEUES_MASK,
            bytes(min(transaction.body_bytes, self._run_of.most_held_bytes)),
            self._events.clock.now + process.clock_offset_ms,
            properties,
            sys_flag=TRANSACTION_PREPARED_TYPE,
            born_host=process.channel,
        )

    def _take_answer(self, what: tuple[TrackedHalf, int]) -> None:
        """The answer to a send arrives, unless the connection broke."""
        half, epoch = what
        if epoch == self._host.epoch and self._host.broker is not None:
            self._run(half, self._events.now)
            return
        transaction = half.transaction
        if self._host.lost_power:
            patience = self._patience(transaction, transaction.attempt_sent_at)
            time = max(self._events.now, transaction.attempt_sent_at + patience)
            self._events.put(time, self._time_out, (transaction, transaction.attempt))
        else:
            self._fail(transaction)

    def _time_out(self, what: tuple[TrackedTransaction, int]) -> None:
        transaction, attempt = what
        if attempt == transaction.attempt and not transaction.is_over_for_producer:
            self._fail(transaction)
        else:
            self._forget(transaction)

    def _fail(self, transaction: TrackedTransaction) -> None:
        """An attempt has failed: the next one at once, or none (``#sendDefaultImpl``).

        One that has waited for all of the time leaves none for another. (A Java client whose clock says that not a
        millisecond too much has passed sends once more all the same, and does not wait for the answer.)
        """
        transaction.pending -= 1
        client, now = self._workload.client, self._events.now
        total = client.total_timeout_ms
        has_time = total is None or now - transaction.begun_at < total - 1
        if transaction.attempt < client.attempts and has_time and self._is_there(transaction):
            self._send(transaction, now)
            return
        transaction.is_over_for_producer = True
        self._counts.sends_failed += 1
        self._ledger.may_be_over(transaction)

    def _is_there(self, transaction: TrackedTransaction) -> bool:
        """Whether the process that began it has lived since."""
        process = self._processes[transaction.producer]
        return process.is_there and process.went_at < transaction.begun_at

    def _forget(self, transaction: TrackedTransaction) -> None:
        transaction.pending -= 1
        self._ledger.may_be_over(transaction)

    # --- the local transaction ----------------------------------------------------------------------------------------

    def _run(self, half: TrackedHalf, at: float) -> None:
        """The producer knows that its half is stored: the local transaction runs, and END_TRANSACTION is sent."""
        transaction = half.transaction
        if not self._is_there(transaction):
            transaction.is_over_for_producer = True
            self._forget(transaction)
            return
        fate = transaction.fate
        transaction.is_acknowledged = transaction.is_over_for_producer = transaction.has_run = True
        self._counts.acknowledged += 1
        if fate.hangs:
            transaction.decision = LocalDecision.NEVER
            self._forget(transaction)
            return
        transaction.decision, transaction.first_says_unknown = fate.decision, fate.says_unknown
        ends = at + fate.local_ms
        process = self._processes[transaction.producer]
        if process.stands_from <= ends < process.stands_until:
            ends = process.stands_until
        transaction.runs_until = ends
        says = TRANSACTION_ROLLBACK if transaction.decision is LocalDecision.ROLLBACK else TRANSACTION_COMMIT
        self._end(half, says, ends, is_answer=False)

    def _end(self, half: TrackedHalf, says: int, at: float, *, is_answer: bool) -> None:
        """END_TRANSACTION, one-way; counted as pending already."""
        transaction, network = half.transaction, self._workload.network
        if not is_answer and transaction.first_says_unknown:
            self._events.put(at, self._say_unknown, transaction)
            return
        arrives = at + network.to_broker_ms.draw(self._random)
        if self._is_lost(network.loss_to_broker) if is_answer else transaction.fate.loses_end:
            self._events.put(at, self._lose_end, (half.transaction, is_answer))
            return
        if not is_answer:
            transaction.end_arrives_at = arrives
        self._events.put(arrives, self._take_end, EndOnItsWay(half, says, self._host.epoch, is_answer))

    def _say_unknown(self, transaction: TrackedTransaction) -> None:
        """The broker drops an END_TRANSACTION of UNKNOWN: what counts is that the local transaction is over."""
        self._note_decision(transaction)
        self._forget(transaction)

    def _lose_end(self, what: tuple[TrackedTransaction, bool]) -> None:
        """An END_TRANSACTION is lost; unless it answers a check, the local transaction is over with it."""
        transaction, is_answer = what
        if is_answer or self._note_decision(transaction):
            self._counts.ends_lost += 1
        self._forget(transaction)

    def _note_decision(self, transaction: TrackedTransaction) -> bool:
        """The local transaction is over, unless its process was gone before."""
        if not self._has_ended(transaction):
            return False
        if transaction.decision is LocalDecision.COMMIT:
            self._counts.decided_commit += 1
        return True

    def _has_ended(self, transaction: TrackedTransaction) -> bool:
        """Whether the process lived until its local transaction was over; else that never ran, as far as one sees."""
        process = self._processes[transaction.producer]
        if transaction.begun_at < process.went_at < transaction.runs_until:
            transaction.has_run = False
            transaction.end_arrives_at = -1.0
            return False
        return True

    def _take_end(self, end: EndOnItsWay) -> None:
        """END_TRANSACTION arrives at the broker."""
        host, half = self._host, end.half
        transaction, now = half.transaction, self._events.now
        if now < host.waits_until:
            if not end.is_answer:
                transaction.end_arrives_at = host.waits_until
            self._events.put(host.waits_until, self._take_end, end)
            return
        if not end.is_answer and not self._note_decision(transaction):
            self._forget(transaction)
            return
        was_sent_before = end.is_answer or transaction.runs_until < host.up_at
        is_cut = end.epoch != host.epoch and was_sent_before
        if not host.serves or is_cut:
            self._counts.ends_lost += 1
        else:
            self._requests.end_transaction(
                half,
                EndTransactionRequestHeader(
                    self._groups[transaction.group],
                    QueueOffset(half.offset),
                    CommitLogOffset(half.place),
                    end.says,
                    end.is_answer,
                ),
            )
        self._forget(transaction)

    # --- checks -------------------------------------------------------------------------------------------------------

    def _take_check(self, transaction: TrackedTransaction, half: TrackedHalf) -> None:
        """A check is sent to some process of the group, whose one thread answers it in its turn."""
        random, network = self._random, self._workload.network
        if self._is_lost(network.loss_from_broker):
            return
        there = [process for process in self._of_group[transaction.group] if process.is_there]
        if not there:
            return
        process = there[int(random.random() * len(there))]
        if process.waiting > self._hold_max:
            return
        arrives = self._events.now + network.from_broker_ms.draw(random)
        begins = max(arrives, process.free_at, process.stands_until)
        process.free_at = begins + self._workload.checks.after_ms.draw(random)
        process.waiting += 1
        transaction.pending += 1
        self._events.put(process.free_at, self._answer, (half, process, arrives))

    def _answer(self, what: tuple[TrackedHalf, ProducerProcess, float]) -> None:
        """The listener answers a check."""
        half, process, arrived = what
        process.waiting -= 1
        transaction, checks, now = half.transaction, self._workload.checks, self._events.now
        if process.went_at >= arrived or not process.is_there:
            self._forget(transaction)
            return
        if transaction.has_run and now >= transaction.runs_until:
            self._has_ended(transaction)
        if transaction.decision is LocalDecision.NEVER and transaction.has_run:
            says = ListenerAnswer.UNKNOWN
        elif not transaction.has_run or not self._lives_on(transaction):
            says = checks.never_run
        elif now < transaction.runs_until:
            says = checks.while_running
        elif checks.unknown and self._random.random() < checks.unknown:
            says = ListenerAnswer.UNKNOWN
        else:
            says = ListenerAnswer.ROLLBACK if transaction.decision is LocalDecision.ROLLBACK else ListenerAnswer.COMMIT
        if says is ListenerAnswer.UNKNOWN:
            self._forget(transaction)
        else:
            self._end(half, _OUTCOMES[says], now, is_answer=True)

    def _lives_on(self, transaction: TrackedTransaction) -> bool:
        """Whether the local transaction runs on, or has ended, in the process that began it."""
        process = self._processes[transaction.producer]
        return not transaction.begun_at < process.went_at < transaction.runs_until

    # --- what happens to the processes --------------------------------------------------------------------------------

    def pause(self, number: int, lasts_ms: float) -> None:
        """A process stands still for a while."""
        process, now = self._processes[number], self._events.now
        self._counts.producer_pauses += 1
        process.stands_from, process.stands_until = now, now + lasts_ms
        process.free_at = max(process.free_at, process.stands_until)

    def go(self, number: int) -> None:
        """A process stops: what it works on is never ended, its connection is closed."""
        process = self._processes[number]
        self._counts.deployments += 1
        process.is_there = False
        process.went_at = self._events.now
        process.free_at = process.stands_until = 0.0
        self._there.remove(process)
        if self._host.broker is not None:
            self._host.broker.producer_manager.do_channel_close_event(process.channel)

    def come(self, number: int) -> None:
        """The next process of its place starts; the broker knows it from its first send or heartbeat on (A35)."""
        process = self._processes[number]
        process.has_sent = False
        process.is_there = True
        self._there.append(process)
        self._events.put(self._events.now + self._heartbeat_ms, self._greet, (process, self._host.epoch))

    def _reconnect(self) -> None:
        """Each process finds the new broker within a heartbeat, whatever it sends meanwhile."""
        if self._host.epoch <= 1:
            for process in self._processes:
                process.has_sent = True
                self._greet((process, self._host.epoch))
            return
        for process in self._processes:
            wait = self._random.random() * self._heartbeat_ms
            self._events.put(self._events.now + wait, self._greet, (process, self._host.epoch))

    def _greet_with_a_send(self, process: ProducerProcess) -> None:
        """A send brings a heartbeat with it: the first of a process, by its route; or the first on a connection."""
        if self._workload.client.greets_on_connect or not process.has_sent:
            process.has_sent = True
            self._greet((process, self._host.epoch))

    def _greet(self, what: tuple[ProducerProcess, int]) -> None:
        process, epoch = what
        broker = self._host.broker
        if broker is not None and epoch == self._host.epoch and process.is_there:
            broker.producer_manager.register_producer(self._groups[process.group], process.channel)
