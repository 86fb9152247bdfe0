"""A broker's process, and all that clients, threads, operators and the disk do to it: an operation each.

Whoever drives a broker does so by these operations, so that another broker can be driven beside it. What it holds is
read from the broker itself.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from reference.broker.broker_controller import BrokerController
from reference.broker.broker_settings import BrokerRole, BrokerSettings
from reference.format.consumer_offsets import ConsumerOffsets, TopicAtGroup
from reference.format.record import QueueOffset
from reference.format.system_topics import CHECK_GROUP, HALF_QUEUE_ID

if TYPE_CHECKING:
    from conformance.java.real_classes import RealDifference
    from fuzz.broker_side.network import OtherMaster
    from reference.broker.processor.end_transaction_processor import (
        EndTransaction,
        EndTransactionRequestHeader,
        EndTransactionStep,
    )
    from reference.broker.processor.send_message_processor import SendMessageRequest, SendMessageResponse
    from reference.broker.transaction.check_outcome import CheckStep
    from reference.broker.transaction.check_round import CheckRound
    from reference.broker.transaction.transactional_message_service import OpBatch
    from reference.errors import ThrownInCheckError
    from reference.format.record import CommitLogOffset
    from reference.simulation.virtual_clock import VirtualClock
    from reference.store.get_message import GetMessageResult
    from reference.store.memory_disk import MemoryDisk
    from reference.store.message_store_config import MessageStoreConfig
    from reference.versions.switches import ReleaseSwitches
    from spec.language import Step


@dataclass(frozen=True, slots=True)
class Doing:
    """What a driver is about: a step, or a question after it."""

    number: int
    """How many steps were taken, this one included."""
    step: Step | None
    is_question: bool = False

    @property
    def what(self) -> str:
        """The step or the question, in words."""
        if self.step is None:
            return "the start"
        return f"asked for {self.step}" if self.is_question else str(self.step)

    @property
    def asked(self) -> Step | None:
        """The question."""
        return self.step if self.is_question else None


class MakeBroker(Protocol):
    """Makes a broker on an empty store: `BrokerController`, or a broken one."""

    def __call__(
        self,
        switches: ReleaseSwitches,
        settings: BrokerSettings,
        clock: VirtualClock,
        *,
        store_config: MessageStoreConfig | None = None,
    ) -> BrokerController:
        """Make it; `store_config` has the sizes of its files."""


class BrokerProcess:
    """The process that serves, and those that follow it on its store.

    Attributes
    ----------
    broker
        The reference broker of the running process; a restart replaces it.
    clock
        Its clock, which other brokers may share.
    doing
        What the driver is about.
    difference
        The first difference of a broker that is driven beside this one.
    """

    def __init__(self, broker: BrokerController) -> None:
        self.broker = broker
        self.clock = broker.clock
        broker.message_store.dispatches_at_once = False
        self.doing = Doing(0, None)
        self.rotten = 0
        """How many records were damaged."""
        self.difference: RealDifference | None = None

    def collect(self) -> None:
        """Wait for the answers of a broker that is driven beside this one."""

    # --- time ---------------------------------------------------------------------------------------------------------

    def advance(self, by: int) -> None:
        """Let so many milliseconds pass."""
        self.clock.advance(by)

    def set_clock(self, by: int) -> None:
        """Set the wall clock forth, or back."""
        self.clock.step(by)

    def oversleep(self, by: int) -> None:
        """The check thread wakes up later than it asked for."""
        self.broker.check_service.oversleep(by)

    # --- clients and operators ----------------------------------------------------------------------------------------

    def connect(self, group: str, channel: str) -> None:
        """A producer of a group sends its heartbeat."""
        self.broker.producer_manager.register_producer(group, channel)

    def disconnect(self, channel: str) -> None:
        """The connection of a producer ends."""
        self.broker.producer_manager.do_channel_close_event(channel)

    def set_channel(self, group: str, channel: str, *, is_active: bool = True, is_writable: bool = True) -> None:
        """The connection of a producer of a group is gone, which nobody has noticed, or busy."""
        known = self.broker.producer_manager.register_producer(group, channel)
        known.is_active, known.is_writable = is_active, is_writable

    def send(self, request: SendMessageRequest) -> SendMessageResponse:
        """A producer sends a message, and is known from then on."""
        return self.broker.send_message(request)

    def begin_end(self, header: EndTransactionRequestHeader) -> EndTransaction:
        """An END_TRANSACTION arrives; `step_end` handles it."""
        return self.broker.end_transaction(header)

    def step_end(self, ending: EndTransaction) -> EndTransactionStep:
        """Take the next step with an END_TRANSACTION."""
        return ending.step()

    def resume_check(self, msg_id: str) -> int:
        """An operator sends RESUME_CHECK_HALF_MESSAGE; gives the code of the answer."""
        return self.broker.admin_broker_processor.resume_check_half_message(msg_id).code

    def update_consumer_offset(self, topic: str, offset: int) -> int:
        """A client sets an offset of the check service's group; gives the code of the answer."""
        processor = self.broker.consumer_manage_processor
        return processor.update_consumer_offset(CHECK_GROUP, topic, HALF_QUEUE_ID, QueueOffset(offset)).code

    def delete_topic(self, topic: str) -> None:
        """An operator deletes a topic."""
        self.broker.admin_broker_processor.delete_topic(topic)

    def update_topic(self, topic: str, queues: int) -> None:
        """An operator gives a topic another number of queues."""
        self.broker.admin_broker_processor.update_topic(topic, queues)

    def map_topic(self, topic: str, begins_at: int) -> None:
        """A topic is static, and this broker's part of its queue 0 begins at an offset."""
        self.broker.topic_queue_mappings[topic] = begins_at

    def let_escape(self, other: OtherMaster) -> None:
        """Halves may escape to another master."""
        self.broker.escape_bridge.send_to_master = other.send

    def another(self, broker: BrokerController) -> BrokerProcess:
        """The process of another master."""
        return BrokerProcess(broker)

    # --- its threads --------------------------------------------------------------------------------------------------

    def dispatch(self) -> None:
        """Enter all stored records into their queues."""
        self.broker.message_store.dispatch()

    def flush(self) -> None:
        """Flush log and queues."""
        self.broker.message_store.flush()

    def persist_offsets(self) -> bool:
        """Save the consumer offsets, if that is due."""
        return self.broker.persist_consumer_offsets()

    def save_offsets(self) -> None:
        """Save the consumer offsets."""
        self.broker.save_consumer_offsets()

    def write_op_batches(self) -> OpBatch:
        """The thread of the op batches runs once."""
        return self.broker.run_op_batch_service()

    def deliver_delayed(self) -> None:
        """The schedule service and the timer store bring what is due."""
        self.broker.schedule_message_service.deliver_due()
        self.broker.timer_message_store.deliver_due()

    def stall_checks(self) -> None:
        """From now on no thread of the pool that sends checks gets on: what it takes waits, as far as it has room."""
        self.broker.check_listener.waits_for_channels = True

    def drop_stalled_checks(self) -> None:
        """What waits in that pool is gone, and there is room again."""
        self.broker.check_listener.waiting.clear()

    def save_counts(self) -> bool:
        """The thread that saves the counts of halves does so, if that is due."""
        return self.broker.persist_transaction_metrics()

    def count_of_halves(self, topic: str) -> int:
        """How many halves of a topic are open, as the broker counts them (5.2.0 and later)."""
        counted = self.broker.transaction_metrics.transaction_counts.get(topic)
        return 0 if counted is None else counted.count

    def end_of_queue(self, topic: str) -> int:
        """The end of a topic's queue 0."""
        return int(self.broker.message_store.get_max_offset_in_queue(topic, HALF_QUEUE_ID))

    def begin_round(self) -> CheckRound | None:
        """The check thread begins a round, if it does."""
        return self.broker.begin_check_round()

    def step_round(self) -> CheckStep | None:
        """One pass of the check round; None when none runs."""
        running = self.broker.check_service.round
        return None if running is None else running.step()

    def interrupt_round(self) -> CheckStep | None:
        """The check thread is interrupted."""
        return self.broker.check_service.interrupt()

    # --- its disk and its files ---------------------------------------------------------------------------------------

    @contextmanager
    def puts_fail(self) -> Iterator[None]:
        """Meanwhile the store refuses every message."""
        self.broker.message_store.is_writeable = False
        yield
        self.broker.message_store.is_writeable = True

    def miss_next_read(self, answer: GetMessageResult | ThrownInCheckError) -> None:
        """The next read of a queue is answered so, whatever is there."""
        self.broker.message_store.miss_next_read(answer)

    def damage(self, place: CommitLogOffset) -> None:
        """A record rots so that it can't be decoded."""
        self.rotten += 1
        self.broker.message_store.damage(place)

    def put_offset(self, topic: str, offset: int | None) -> None:
        """The check service's offset of a queue is another one, as in an older file that is synchronized, or none."""
        committed = {} if offset is None else {HALF_QUEUE_ID: QueueOffset(offset)}
        table = {TopicAtGroup(f"{topic}@{CHECK_GROUP}"): committed}
        self.broker.consumer_offset_manager.put_all(ConsumerOffsets(table))

    def roll_log(self) -> None:
        """What is stored next goes to a file of its own."""
        self.broker.message_store.cleaning.roll_commit_log()

    def delete_files_before(self, end: CommitLogOffset) -> None:
        """The log loses the files that end at a place or before."""
        self.broker.message_store.cleaning.clean_commit_log(end)

    def move_lower_ends(self) -> None:
        """The queues follow what the log has lost."""
        self.broker.message_store.cleaning.clean_consume_queues()

    # --- its end, its role, and the next process ----------------------------------------------------------------------

    def crash(self) -> None:
        """The process dies; `restart` gives the next."""
        self.broker.crash()

    def lose_power(self, end: CommitLogOffset) -> None:
        """The machine loses power, and the log what lies behind a place; `restart` gives the next process."""
        self.broker.lose_power(end)

    def lose_unforced(self, disk: MemoryDisk) -> None:
        """The machine loses power, and the disk all that it was not forced to keep; `restart` gives the next process.

        Of the queues no more is lost than of the log: an entry may be there whose record is gone.
        """
        self.broker.crash()
        disk.lose_power()

    def begin_shutdown(self) -> None:
        """The process begins to stop."""
        self.broker.begin_shutdown()

    def end_shutdown(self) -> None:
        """It stops; `restart` gives the next."""
        self.broker.end_shutdown()

    def restart(self, role: BrokerRole = BrokerRole.MASTER) -> None:
        """The next process begins on the same store."""
        self.broker = self.broker.restart(role)

    def change_to_slave(self) -> None:
        """Another broker of the group is the master now."""
        self.broker.change_to_slave()

    def change_to_master(self) -> None:
        """It is the master again."""
        self.broker.change_to_master()


MakeProcess = Callable[[BrokerController], BrokerProcess]
