"""A broker with its threads, and producers and consumers around it, in one scheduler: a run is a seed.

The broker's process dies when its disk stops, with all its threads and connections, and comes back after a while. What
was on its way to it, or back, is lost then, as it is with a connection that breaks.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar

from reference.broker.broker_controller import BrokerController
from reference.broker.broker_settings import BrokerRole, BrokerSettings
from reference.broker.recorder import Recorder
from reference.client.message_client_id_setter import MessageClientIDSetter
from reference.client.producer import TransactionMQProducer
from reference.client.producer_messages import RejectedExecutionError, RemotingError, TransactionListener
from reference.cluster.broker_threads import BrokerThreads
from reference.errors import BrokerIsDownError
from reference.format.errors import DiskHasStoppedError
from reference.simulation.scheduler import Scheduler, Sleep, Steps, Until
from reference.simulation.virtual_clock import VirtualClock
from reference.store.memory_disk import MemoryDisk
from reference.store.message_store import MessageStore
from reference.store.message_store_config import MessageStoreConfig
from reference.versions.versions import STORE_VERSIONS

if TYPE_CHECKING:
    from collections.abc import Callable

    from reference.broker.processor.end_transaction_processor import EndTransactionRequestHeader
    from reference.broker.processor.send_message_processor import SendMessageRequest, SendMessageResponse
    from reference.broker.transaction.transactional_message_check_listener import CheckTransactionStateRequest

START_MS = 1_700_000_000_000
RESTART_MS = 2_000
"""From a process's death until the next one serves."""

LONGEST_TRANSFER_MS = 3
"""The most that a request or an answer is on its way."""

WRITE_BACK_MS = 30_000
"""When the operating system has brought a small file to the disk (``vm.dirty_expire_centisecs``)."""

HEARTBEAT_BROKER_INTERVAL_MS = 30_000
"""``heartbeatBrokerInterval``: when the broker hears of a producer again at the latest."""

T = TypeVar("T")


class Cluster:
    """One broker and its clients.

    Parameters
    ----------
    seed
        Decides who runs when, how long things take, and with which queue a producer begins.
    disk
        Where its files are; when it stops, the process dies.
    beside
        Another cluster whose scheduler and clock it shares.
    """

    def __init__(
        self,
        seed: int,
        version: str,
        settings: BrokerSettings,
        config: MessageStoreConfig | None = None,
        disk: MemoryDisk | None = None,
        beside: Cluster | None = None,
    ) -> None:
        self.version = version
        self.switches = STORE_VERSIONS[version]
        self.settings = settings
        self.config = MessageStoreConfig() if config is None else config
        self.disk = MemoryDisk() if disk is None else disk
        scheduler = Scheduler(seed, VirtualClock(START_MS)) if beside is None else beside.scheduler
        self.scheduler: Scheduler = scheduler
        self.clock: VirtualClock = scheduler.clock
        self.role = BrokerRole.MASTER
        """The role of the next process in its group."""
        self.other_master: Cluster | None = None
        """Where halves escape to while a slave acts for the master."""
        self.recorder = Recorder(self.clock)
        self.broker: BrokerController | None = None
        """The process that serves; None before it has started, and between two."""
        self.producers: dict[str, TransactionMQProducer] = {}
        self.refused: list[tuple[int, str | None, EndTransactionRequestHeader]] = []
        """The answers other than success to END_TRANSACTIONs, which no producer reads: code, remark and request."""
        self.died_at: list[int] = []
        """When a process died, by the broker's clock."""
        self.programs = 0
        """How many client programs have not come to their end."""
        self._in_flight = 0
        self._last_change = ((0, 0), 0)
        self.scheduler.start("boot", self._boot(0))
        self.scheduler.start("write back", self._write_back())

    # --- clients ------------------------------------------------------------------------------------------------------

    def producer(self, group: str, listener: TransactionListener, **options: int) -> TransactionMQProducer:
        """Add a producer; `options` are those of :class:`TransactionMQProducer`."""
        number = len(self.producers) + 1
        ids = MessageClientIDSetter(self.clock, f"192.0.2.{number}", 1_000 + number, 0x4E0E2F2A)
        first_queue = self.scheduler.random.randrange(1 << 31)
        producer = TransactionMQProducer(group, listener, self, self.clock, ids, first_queue=first_queue, **options)
        self.producers[group] = producer
        self.scheduler.start(f"{group} heartbeat", self._send_heartbeats(group))
        return producer

    def run_program(self, name: str, steps: Steps[object]) -> None:
        """Start what a client does; the run is not at rest before it has ended."""
        self.programs += 1
        self.scheduler.start(name, self._count_program(steps))

    def connected(self) -> Steps[BrokerController]:
        """Wait until a broker serves."""
        yield Until(lambda: self.broker is not None)
        while self.broker is None:
            yield Until(lambda: self.broker is not None)
        return self.broker

    # --- running ------------------------------------------------------------------------------------------------------

    def shutdown(self) -> bool:
        """Shut the broker down; False if its disk stopped first, so that it died and will come back."""
        broker = self.broker
        if broker is None:
            return False
        try:
            self.serve(broker, broker.shutdown)
        except RemotingError:
            return False
        self.scheduler.kill(broker)
        self.broker = None
        return self.other_master is None or self.other_master.shutdown()

    def crash(self) -> None:
        """Kill the broker's process where it stands; it comes back after a while."""
        self._die(self.broker)

    def serve(self, broker: BrokerController, work: Callable[[], T]) -> T:
        """Let a broker's thread do something that may write; its process dies with the disk.

        Raises
        ------
        RemotingError
            The process is dead, or just died.
        """
        try:
            return work()
        except DiskHasStoppedError as error:
            self._die(broker)
            raise RemotingError(str(error)) from error
        except BrokerIsDownError as error:
            raise RemotingError(str(error)) from error

    # --- the network --------------------------------------------------------------------------------------------------

    def call(self, work: Callable[[BrokerController], T]) -> Steps[T]:
        """A request that is answered; `work` is what one thread of the broker does for it.

        Raises
        ------
        RemotingError
            No broker serves, or it died before the answer was back.
        """
        broker = self.broker
        if broker is None:
            yield None
            message = "connect to the broker failed"
            raise RemotingError(message)
        yield self.transfer()
        answer = self.serve(broker, lambda: work(broker))
        yield self.transfer()
        if self.broker is not broker:
            message = "the connection to the broker broke"
            raise RemotingError(message)
        return answer

    def send_message(self, request: SendMessageRequest) -> Steps[SendMessageResponse]:
        """See :class:`reference.client.producer.MQClientAPI`."""

        def work(broker: BrokerController) -> SendMessageResponse:
            response = broker.send_message(request)
            _ = response.record  # it is read while it is sure to be there
            return response

        return (yield from self.call(work))

    def end_transaction_oneway(self, header: EndTransactionRequestHeader) -> None:
        """See :class:`reference.client.producer.MQClientAPI`."""
        if self.broker is not None:
            self._in_flight += 1
            self.scheduler.start("end transaction", self._handle_end(self.broker, header))

    def take_escaped(self, request: SendMessageRequest) -> SendMessageResponse | None:
        """Another broker's half, and the answer to it; None if there is none."""
        broker = self.broker
        if broker is None:
            return None
        try:
            return self.serve(broker, lambda: broker.take_escaped(request))
        except RemotingError:
            return None

    def _handle_end(self, broker: BrokerController, header: EndTransactionRequestHeader) -> Steps[None]:
        try:
            yield self.transfer()
            end = self.serve(broker, lambda: broker.end_transaction(header))
            while not end.is_over:
                step = self.serve(broker, end.step)
                if step.response is not None and step.response.code:
                    self.refused.append((step.response.code, step.response.remark, header))
                yield None
        except RemotingError:
            pass  # one-way: nobody hears of it
        finally:
            self._in_flight -= 1

    def _transfer_checks(self, broker: BrokerController) -> Steps[None]:
        """Take check requests to the producer of their group (``Broker2Client#checkProducerTransactionState``)."""
        while True:
            yield Until(lambda: bool(broker.check_requests))
            self._in_flight += 1
            self.scheduler.start("check", self._deliver_check(broker.check_requests.popleft()))

    def _deliver_check(self, request: CheckTransactionStateRequest) -> Steps[None]:
        yield self.transfer()
        self._in_flight -= 1
        try:
            self.producers[request.producer_group or ""].check_transaction_state(request, self.run_program)
        except RejectedExecutionError:
            return  # the client's netty thread logs it

    def _send_heartbeats(self, group: str) -> Steps[None]:
        while True:
            broker = yield from self.connected()
            broker.producer_manager.register_producer(group, group)
            yield Sleep(HEARTBEAT_BROKER_INTERVAL_MS)

    def transfer(self) -> Sleep:
        """How long a request or an answer is on its way."""
        return Sleep(self.scheduler.random.randint(0, LONGEST_TRANSFER_MS))

    def _count_program(self, steps: Steps[object]) -> Steps[None]:
        yield from steps
        self.programs -= 1

    # --- the broker's process -----------------------------------------------------------------------------------------

    def _boot(self, after_ms: int) -> Steps[None]:
        yield Sleep(after_ms)
        try:
            store = MessageStore(self.switches, self.clock, self.disk, self.config)
            store.dispatches_at_once = False
            broker = BrokerController(self.switches, self.settings, self.clock, store, self.recorder, role=self.role)
        except DiskHasStoppedError:
            self._die(None)
            return
        if self.other_master is not None:
            broker.escape_bridge.send_to_master = self.other_master.take_escaped
        self.broker = broker
        threads = BrokerThreads(broker, self.serve, self.transfer).by_name()
        for name, steps in (threads | {"send checks": self._transfer_checks(broker)}).items():
            self.scheduler.start(name, until_death(steps), broker)

    def _die(self, broker: BrokerController | None) -> None:
        """The process is gone, and with it all that was not stored; the next one comes later."""
        self.died_at.append(self.clock.now)
        self.broker = None
        if broker is not None:
            if broker.is_running:
                broker.crash()
            self.scheduler.kill(broker)
        if self.disk.loses_power:
            self.disk.lose_power()
        else:
            self.disk.resume()
        self.scheduler.start("boot", self._boot(RESTART_MS))

    def _write_back(self) -> Steps[None]:
        while True:
            yield Sleep(WRITE_BACK_MS)
            self.disk.flush()

    @property
    def is_idle(self) -> bool:
        """Whether every program has ended, nothing is on its way, and a broker serves with nothing in its memory."""
        broker = self.broker
        if broker is None or self.programs or self._in_flight or broker.message_store.is_behind:
            return False
        contexts = broker.transactional_message_service.delete_context.values()
        return not any(context.context_queue for context in contexts)

    def is_at_rest(self) -> bool:
        """Whether every program has ended and three check intervals have left no record; asked before each step."""
        if self.broker is None or not self.is_idle:
            return False
        if self.other_master is not None and not self.other_master.is_at_rest():
            return False
        now = int(self.broker.message_store.max_phy_offset), len(self.died_at)
        if now != self._last_change[0]:
            self._last_change = now, self.clock.elapsed
            return False
        return self.clock.elapsed - self._last_change[1] >= 3 * self.settings.transaction_check_interval_ms


def until_death(steps: Steps[None]) -> Steps[None]:
    """A thread of the broker ends where its process dies."""
    try:
        yield from steps
    except RemotingError:
        return
