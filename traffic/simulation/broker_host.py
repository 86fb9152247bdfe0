"""The broker's machine: the process with its threads, how it dies and comes back, and what each of its steps means.

The broker is the reference broker itself, on a disk in memory. Its threads run as RocketMQ's do: the check service an
interval after its last round, the op batch service by its own time stamps, the flushing of the log and the saving of
offsets where a crash would show the difference. What they do takes no time, but for the passes of a check round where
the workload says so.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from reference.broker.broker_controller import BrokerController
from reference.broker.processor.end_transaction_processor import EndTransactionOutcome
from reference.broker.recorder import Recorder
from reference.broker.transaction.check_outcome import CheckBranch
from reference.cluster.broker_threads import FLUSH_INTERVAL_MS
from reference.cluster.cluster import WRITE_BACK_MS
from reference.format.record import TRANSACTION_COMMIT
from reference.format.system_topics import HALF_QUEUE_ID, HALF_TOPIC, OP_TOPIC
from reference.store.memory_disk import MemoryDisk
from reference.store.message_store import MessageStore
from reference.store.message_store_config import MessageStoreConfig
from traffic.simulation.causes import ON_ITS_WAY, RUNNING, Attribution
from traffic.simulation.ledger import OpState, TrackedHalf

if TYPE_CHECKING:
    from collections.abc import Callable
    from random import Random

    from reference.broker.processor.end_transaction_processor import EndTransactionRequestHeader
    from reference.broker.processor.send_message_processor import SendMessageRequest
    from reference.broker.transaction.check_outcome import CheckStep
    from reference.broker.transaction.check_round import CheckRound
    from traffic.simulation.counts import TrafficCounts
    from traffic.simulation.event_queue import EventQueue
    from traffic.simulation.ledger import Ledger, TrackedTransaction
    from traffic.simulation.simulated_broker import SimulatedBroker
    from traffic.workload.workload import Workload

STORED_BODY_BYTES: Final = 64
"""The most bytes of a body that are held; the rest is counted only, so that large messages take no memory."""
_LOG_FILE_BYTES: Final = 8 << 20
_QUEUE_FILE_BYTES: Final = 20 * 20_000
_CLEANING_MS: Final = 10_000
"""How often files of the log that nothing will read any more are deleted (``cleanResourceInterval``)."""
_LEFT_BEHIND: Final = (
    CheckBranch.SETTLED,
    CheckBranch.PREPARED_HALF_SETTLED,
    CheckBranch.KNOWN_AS_SETTLED,
    CheckBranch.COPY_AHEAD,
    CheckBranch.OP_TO_COME,
    CheckBranch.PASSED_OVER,
)
_PUT_BACKS: Final = (CheckBranch.PUT_BACK_FOR_CHECK, CheckBranch.PUT_BACK_UNASKED, CheckBranch.PUT_BACK_FOR_IMMUNITY)


class BrokerHost:
    """One machine with one broker.

    Attributes
    ----------
    broker
        The process that serves; None between two.
    epoch
        How many processes there have been: a connection is of one of them.
    lost_power
        Whether the last one died with its machine, so that clients hear nothing.
    up_at
        When the next process serves, where none does.
    on_death, on_boot, on_message, on_check
        Called when a process is gone, when the next one serves, when a real message can be read (its queue), and for
        each check that is sent (its transaction and half).
    """

    def __init__(
        self,
        described: SimulatedBroker,
        workload: Workload,
        events: EventQueue,
        random: Random,
        ledger: Ledger,
        counts: TrafficCounts,
    ) -> None:
        self.broker: BrokerController | None = None
        self.epoch = 0
        self.lost_power = False
        self.up_at = 0.0
        self.on_death: list[Callable[[], None]] = []
        self.on_boot: list[Callable[[], None]] = []
        self.on_message: Callable[[int], None] = lambda _: None
        self.on_check: Callable[[TrackedTransaction, TrackedHalf], None] = lambda *_: None
        self.unread_from: Callable[[], int] = lambda: 1 << 62
        """From where on in the log the consumer has yet to read."""
        self.stands_until = 0.0
        """Until then the process stands still."""
        self.disk_until = 0.0
        """Until then nothing can be written."""
        self._described = described
        self._settings = described.settings
        self._switches = described.switches
        self._workload = workload
        self._events = events
        self._random = random
        self._ledger = ledger
        self._counts = counts
        self._causes = Attribution(self._switches, self._settings, clocks_differ=workload.clock_deviation_ms > 0)
        crashes = workload.crashes
        self._may_die = crashes is not None or workload.restarts is not None
        self._disk = MemoryDisk(loses_power=crashes is not None and crashes.power_loss > 0)
        self._config = MessageStoreConfig(
            mapped_file_size_commit_log=_LOG_FILE_BYTES, mapped_file_size_consume_queue=_QUEUE_FILE_BYTES
        )
        self._buffered: dict[int, TrackedHalf] = {}
        self._op_number = 0
        self._saved: list[tuple[float, int]] = []
        self._flushed = self._persisted = -1
        self._stop_began = False
        self._rests = False
        self._due = 0.0
        self._log_end = 0

    # --- the process --------------------------------------------------------------------------------------------------

    def boot(self, _: object = None) -> None:
        """The next process serves."""
        clock = self._events.clock
        store = MessageStore(self._switches, clock, self._disk, self._config)
        self.broker = broker = BrokerController(
            self._switches, self._settings, clock, store, Recorder(clock, is_on=False)
        )
        self._stop_began = False
        self._persisted = self._flushed = -1
        self._rests = False
        if self.epoch:
            self._take_up_what_is_left(broker)
        self.epoch += 1
        self._put_for_process(self._settings.transaction_check_interval_ms, self._begin_round)
        self._put_for_process(_CLEANING_MS, self._clean)
        if self._switches.batches_ops:
            self._put_op_batch(self._settings.op_batch_interval_ms)
        if self._may_die:
            self._put_for_process(FLUSH_INTERVAL_MS, self._flush)
            self._put_for_process(self._settings.flush_consumer_offset_delay_ms, self._save_offsets)
        crashes, restarts = self._workload.crashes, self._workload.restarts
        if crashes is not None:
            self._put_for_process(self._random.expovariate(1 / crashes.every_ms), self._crash)
        if restarts is not None:
            self._put_for_process(restarts.every_ms, self._begin_stop)
        if self._disk.loses_power and self.epoch == 1:
            self._write_back()
        for told in self.on_boot:
            told()

    def _take_up_what_is_left(self, broker: BrokerController) -> None:
        """What the new process finds, and what is gone with the old one."""
        ledger = self._ledger
        half_offset = broker.consumer_offset_manager.query_offset(HALF_TOPIC, HALF_QUEUE_ID)
        if self.lost_power:
            store = broker.message_store
            ledger.lose_messages_from(store.max_phy_offset, store.get_max_offset_in_queue(OP_TOPIC, HALF_QUEUE_ID))
            ledger.lose_from(store.get_max_offset_in_queue(HALF_TOPIC, HALF_QUEUE_ID), half_offset)
        ledger.reopen_from(half_offset)

    def _put_for_process(self, after_ms: float, action: Callable[[], None]) -> None:
        """Let a thread of this process do something after a while, if the process lives then."""
        self._events.put(self._events.now + after_ms, self._do_for_process, (self.epoch, action))

    def _do_for_process(self, what: tuple[int, Callable[[], None]]) -> None:
        epoch, action = what
        if epoch != self.epoch or self.broker is None:
            return
        if self._events.now < self.waits_until:
            self._events.put(self.waits_until, self._do_for_process, what)
            return
        action()

    @property
    def waits_until(self) -> float:
        """Until when nothing can be written: the process stands still, or the disk does."""
        return max(self.stands_until, self.disk_until)

    def pause(self, lasts_ms: float) -> None:
        """The process stands still for a while (a GC pause)."""
        self._counts.broker_pauses += 1
        self.stands_until = max(self.stands_until, self._events.now + lasts_ms)

    def stall(self, lasts_ms: float) -> None:
        """The disk takes nothing for a while."""
        self._counts.disk_stalls += 1
        self.disk_until = max(self.disk_until, self._events.now + lasts_ms)

    def _crash(self) -> None:
        crashes = self._workload.crashes
        broker = self.broker
        if broker is None or crashes is None:
            return
        self._counts.crashes += 1
        self.lost_power = self._random.random() < crashes.power_loss
        broker.crash()
        if self.lost_power:
            self._counts.power_losses += 1
            self._disk.lose_power()
        self._note_open_transactions()
        self._op_entries_die(OpState.DIED_WITH_CRASH)
        self._causes.fork = "B16"
        self._gone(crashes.restart_ms.draw(self._random))

    def _begin_stop(self) -> None:
        """An orderly stop: what runs goes on to its end where the release waits for it (``#shutdown``)."""
        broker = self.broker
        if broker is None:
            return
        self._counts.restarts += 1
        self._stop_began = True
        broker.begin_shutdown()
        self._end_stop()

    def _end_stop(self) -> None:
        broker, restarts = self.broker, self._workload.restarts
        if broker is None or restarts is None:
            return
        running = broker.check_service.round
        if running is not None and self._switches.joins_round_first:
            self._take_passes(running)
            if not running.is_over:
                self._put_for_process(1.0, self._end_stop)
                return
        broker.end_shutdown()
        self._op_entries_die(OpState.DIED_WITH_STOP)
        self._causes.fork = "A29" if not self._switches.joins_round_first else "B16"
        self.lost_power = False
        self._gone(restarts.away_ms)

    def _gone(self, away_ms: float) -> None:
        _ = self.log_end
        self.broker = None
        self.up_at = self._events.now + away_ms
        self._events.put(self.up_at, self.boot, None)
        for told in self.on_death:
            told()

    def _note_open_transactions(self) -> None:
        now = self._events.now
        for half in self._ledger.halves.values():
            if half.transaction.settled_at < 0 and not half.is_passed:
                half.transaction.crashed_at = now

    def _op_entries_die(self, how: OpState) -> None:
        for half in self._buffered.values():
            half.op = how
        self._buffered.clear()

    # --- requests -----------------------------------------------------------------------------------------------------

    @property
    def serves(self) -> bool:
        """Whether a request is taken."""
        return self.broker is not None and not self._stop_began

    def store_half(self, transaction: TrackedTransaction, request: SendMessageRequest) -> TrackedHalf | None:
        """Store a half; None where it is refused."""
        broker = self.broker
        if broker is None:
            return None
        response = broker.send_message(request)
        if response.result is None or response.result.physical_offset is None:
            return None
        store = broker.message_store
        offset = store.get_max_offset_in_queue(HALF_TOPIC, HALF_QUEUE_ID) - 1
        half = TrackedHalf(transaction, offset, response.result.physical_offset)
        self._ledger.store(half)
        transaction.halves += 1
        if transaction.halves > 1:
            self._counts.twin_halves += 1
        if self.lost_power and offset < broker.transactional_message_bridge.fetch_consume_offset(HALF_TOPIC):
            transaction.lost_by = transaction.lost_by or "B14"
            self._ledger.passed(half)
        self._grew(transaction)
        return half

    def end_transaction(self, half: TrackedHalf, header: EndTransactionRequestHeader) -> bool:
        """Carry an END_TRANSACTION out; False where it is refused."""
        broker = self.broker
        if broker is None:
            return False
        ending = broker.end_transaction(header)
        is_done = True
        while not ending.is_over:
            step = ending.step()
            if step.outcome is EndTransactionOutcome.MESSAGE_STORED and step.stored is not None:
                place = step.stored.physical_offset
                self._committed(half, 0 if place is None else place)
            elif step.outcome in (EndTransactionOutcome.REFUSED, EndTransactionOutcome.DROPPED):
                self._counts.ends_refused += step.outcome is EndTransactionOutcome.REFUSED
                is_done = False
            elif step.outcome is EndTransactionOutcome.IGNORED:
                is_done = False
            else:
                self._marked(half, header, step.outcome)
        if self._described.flushes_each_message:
            broker.message_store.flush()
        return is_done

    def _committed(self, half: TrackedHalf, place: int) -> None:
        transaction = half.transaction
        if transaction.committed:
            first = transaction.committed[0][0]
            transaction.doubled_by = transaction.doubled_by or self._causes.of_second_delivery(first, half)
        if transaction.is_rolled_back and not transaction.committed:
            self._counts.befell("delivered_after_rollback", "A12")
        if transaction.is_discarded and not transaction.committed:
            self._counts.befell("delivered_after_discard", "A14")
        transaction.committed.append((half, place))
        self._settled(transaction)
        self._grew(transaction)
        self.on_message(transaction.number & 3)

    def _marked(self, half: TrackedHalf, header: EndTransactionRequestHeader, outcome: EndTransactionOutcome) -> None:
        """Its op message is stored, buffered or lost."""
        half.is_named = True
        if outcome is EndTransactionOutcome.OP_BUFFERED:
            half.op, half.buffered_at = OpState.BUFFERED, self._events.now
            self._buffered[half.offset] = half
            self._wake_op_batch()
        elif outcome is EndTransactionOutcome.OP_STORED:
            self._op_stored((half.offset,))
        elif outcome is EndTransactionOutcome.OP_LOST:
            half.op = OpState.NOT_STORED
        if header.commit_or_rollback != TRANSACTION_COMMIT:
            half.transaction.is_rolled_back = True
            self._settled(half.transaction)

    def _settled(self, transaction: TrackedTransaction) -> None:
        if transaction.settled_at < 0:
            now = self._events.now
            transaction.settled_at = now
            if transaction.crashed_at >= 0:
                self._counts.crash_to_settlement_ms.add(now - transaction.crashed_at)
                transaction.crashed_at = -1.0

    def _grew(self, transaction: TrackedTransaction) -> None:
        """A record of a message is in the log: count the part of its body that is not held."""
        if transaction.body_bytes > STORED_BODY_BYTES:
            self._counts.log_bytes += transaction.body_bytes - STORED_BODY_BYTES

    # --- the op batch service -----------------------------------------------------------------------------------------

    def _put_op_batch(self, after_ms: float) -> None:
        self._op_number += 1
        number = self._op_number
        self._put_for_process(after_ms, lambda: self._run_op_batch(number))

    def _wake_op_batch(self) -> None:
        """A batch that has grown large wakes the service; so does the first entry after a rest."""
        broker = self.broker
        if broker is None:
            return
        service = broker.transactional_message_service
        if any(context.total_size > self._settings.op_msg_max_size for context in service.delete_context.values()):
            self._put_op_batch(0.0)
        elif self._rests:
            self._rests = False
            waited = self._events.now - self._due
            interval = self._settings.op_batch_interval_ms
            self._put_op_batch(max(0.0, interval - waited % interval if waited > 0 else -waited))

    def _run_op_batch(self, number: int) -> None:
        """``TransactionalOpBatchService#run``; it rests while there is nothing that it could write (A17)."""
        broker = self.broker
        if broker is None or number != self._op_number or self._stop_began:
            return
        batch = broker.run_op_batch_service()
        for record in batch.written:
            self._op_stored(
                tuple(int(text) for text in record.body.split(b",") if text), op_offset=record.queue_offset
            )
        interval = self._settings.op_batch_interval_ms
        service = broker.transactional_message_service
        wait = max(0, batch.wakeup_timestamp - broker.clock.now)
        if not service.has_waiting_entries:
            self._rests, self._due = True, self._events.now + (wait or interval)
        elif wait or batch.written:
            self._put_op_batch(wait)
        else:  # it spins until the batch is due (A17)
            due = min(context.last_write_timestamp for context in service.delete_context.values()) + interval
            self._put_op_batch(max(1, due - broker.clock.now))

    def _op_stored(self, offsets: tuple[int, ...], op_offset: int | None = None) -> None:
        broker = self.broker
        if broker is None:
            return
        if op_offset is None:
            op_offset = broker.message_store.get_max_offset_in_queue(OP_TOPIC, HALF_QUEUE_ID) - 1
        halves = self._ledger.halves
        for offset in offsets:
            self._buffered.pop(offset, None)
            half = halves.get(offset)
            if half is not None:
                half.op, half.op_offset = OpState.STORED, op_offset

    # --- check rounds -------------------------------------------------------------------------------------------------

    def _begin_round(self) -> None:
        broker = self.broker
        if broker is None or self._stop_began:
            return
        began = broker.begin_check_round()
        if began is None:
            self._put_next_round(broker)
            return
        self._counts.rounds += 1
        end = broker.message_store.get_max_offset_in_queue(HALF_TOPIC, HALF_QUEUE_ID)
        self._counts.half_queue_depth.add(max(0, end - began.half_offset))
        self._go_on(began)

    def _go_on(self, check_round: CheckRound) -> None:
        wait = self._take_passes(check_round)
        if check_round.is_over:
            if self.broker is not None:
                self._put_next_round(self.broker)
        else:
            self._put_for_process(wait, lambda: self._go_on(check_round))

    def _put_next_round(self, broker: BrokerController) -> None:
        waited = broker.clock.elapsed - broker.check_service.waits_since
        self._put_for_process(max(1, self._settings.transaction_check_interval_ms - waited), self._begin_round)

    def _take_passes(self, check_round: CheckRound) -> float:
        """Take passes of the loop until time has to pass; gives how much, in milliseconds."""
        broker, pass_ms = self.broker, self._workload.pass_ms
        passed, halves = self._ledger.passed, self._ledger.halves
        clock = self._events.clock
        while not check_round.is_over:
            step = check_round.step()
            branch = step.branch
            if branch is CheckBranch.SETTLED:
                half = halves.get(step.half)
                if half is not None:
                    passed(half)
            elif branch is CheckBranch.ASLEEP:
                return max(1.0, check_round.wakes_at - clock.elapsed)
            elif branch is CheckBranch.OPS_PULLED:
                found = check_round.op_remove_map.pull_result.found
                if found is None:  # nothing changes before the clock does
                    return max(1.0, check_round.wakes_at - clock.elapsed)
            elif branch in (CheckBranch.PUT_BACK_FAILED, CheckBranch.DISCARD_FAILED, CheckBranch.ESCAPE_FAILED):
                return 1.0
            else:
                self._look_at(step, check_round)
            if broker is not None and broker.check_requests:
                broker.check_requests.clear()
            if pass_ms:
                return pass_ms
        return 0.0

    def _look_at(self, step: CheckStep, check_round: CheckRound) -> None:
        half = self._ledger.halves.get(step.half)
        if half is None or step.branch.is_end:
            return
        if step.branch in _PUT_BACKS:
            self._put_back(half, step, check_round)
        elif step.branch is CheckBranch.DISCARDED:
            self._discarded(half, step, check_round)
        elif step.branch in _LEFT_BEHIND:
            self._ledger.passed(half)

    def _put_back(self, half: TrackedHalf, step: CheckStep, check_round: CheckRound) -> None:
        copied = step.record
        if copied is None:
            return
        transaction, now = half.transaction, self._events.now
        for_immunity = step.branch is CheckBranch.PUT_BACK_FOR_IMMUNITY
        cause = self._causes.of_put_back(half, check_round, now, for_immunity=for_immunity)
        if not half.copies:
            half.left_for_immunity = for_immunity
        half.copies += 1
        copy = TrackedHalf(transaction, copied.queue_offset, copied.physical_offset, half, for_immunity, cause)
        self._ledger.store(copy)
        self._grew(transaction)
        if step.branch is CheckBranch.PUT_BACK_FOR_CHECK:
            self._counts.checks += 1
            self._note_check(transaction, cause, now)
            self.on_check(transaction, copy)
        elif for_immunity:
            self._counts.put_back_for_immunity += 1
        else:
            self._counts.unasked += 1
        self._ledger.passed(half)

    def _note_check(self, transaction: TrackedTransaction, cause: str, now: float) -> None:
        """Whether a check is needless: of a half that is settled, or whose producer still works on it."""
        if transaction.settled_at >= 0:
            self._counts.befell("checked_needlessly", cause or self._causes.fork)
        elif transaction.is_running(now):
            self._counts.befell("checked_needlessly", RUNNING)
        elif transaction.end_arrives_at >= now:
            self._counts.befell("checked_needlessly", ON_ITS_WAY)

    def _discarded(self, half: TrackedHalf, step: CheckStep, check_round: CheckRound) -> None:
        transaction = half.transaction
        is_too_old = step.check_times is None or step.check_times < self._settings.transaction_check_max
        cause = self._causes.of_discard(half, is_too_old=is_too_old)
        if not transaction.is_discarded:
            self._counts.befell("discarded", cause)
        transaction.is_discarded = True
        if step.record is None:
            transaction.lost_by = transaction.lost_by or ("B31" if self._switches.keeps_discarded else "A31")
        else:
            self._grew(transaction)
        self._settled(transaction)
        self._ledger.passed(half)

    # --- what a crash shows -------------------------------------------------------------------------------------------

    def _flush(self) -> None:
        """``CommitLog.FlushRealTimeService#run``, where there is something to flush."""
        broker = self.broker
        if broker is None:
            return
        end = int(broker.message_store.max_phy_offset)
        if end != self._flushed:
            broker.message_store.flush()
            self._flushed = end
        self._put_for_process(FLUSH_INTERVAL_MS, self._flush)

    def _save_offsets(self) -> None:
        """The timer of ``BrokerController#initialize``; halves before what it has saved come no more."""
        broker = self.broker
        if broker is None:
            return
        offsets = broker.consumer_offset_manager
        if offsets.changes != self._persisted:
            self._persisted = offsets.changes
            broker.persist_consumer_offsets()
            self._saved.append((self._events.now, offsets.query_offset(HALF_TOPIC, HALF_QUEUE_ID)))
        safe = self._events.now - (WRITE_BACK_MS if self._disk.loses_power else 0)
        while self._saved and self._saved[0][0] <= safe:
            self._ledger.forget_passed(self._saved.pop(0)[1])
        self._put_for_process(max(1, self._settings.flush_consumer_offset_interval_ms), self._save_offsets)

    def _write_back(self, _: object = None) -> None:
        """The operating system brings small files to the disk."""
        self._disk.flush()
        self._events.put(self._events.now + WRITE_BACK_MS, self._write_back, None)

    def _clean(self) -> None:
        """Delete the files of the log that nobody will read any more, and what queues hold of them."""
        broker = self.broker
        if broker is None:
            return
        store = broker.message_store
        needed = int(store.max_phy_offset)
        for half in self._ledger.halves.values():
            needed = min(needed, half.place)
            break
        offsets = broker.consumer_offset_manager
        for topic, end in ((HALF_TOPIC, HALF_QUEUE_ID), (OP_TOPIC, HALF_QUEUE_ID)):
            offset = offsets.query_offset(topic, end)
            if 0 <= offset < store.get_max_offset_in_queue(topic, end):
                needed = min(needed, store.get_commit_log_offset_in_queue(topic, end, offset))
            elif offset < 0:
                needed = 0
        needed = min(needed, self.unread_from())
        store.cleaning.clean_commit_log(type(store.max_phy_offset)(needed))
        store.cleaning.clean_consume_queues()
        self._put_for_process(_CLEANING_MS, self._clean)

    @property
    def log_end(self) -> int:
        """The end of the commit log in bytes; where no process serves, as the last one has left it."""
        if self.broker is not None:
            self._log_end = int(self.broker.message_store.max_phy_offset)
        return self._log_end

