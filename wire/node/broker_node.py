"""The broker's process and its surroundings: its clock, its store, its clients, its death and its return."""

from __future__ import annotations

import asyncio
import time
from contextlib import suppress
from typing import TYPE_CHECKING, Any, Final, TypeVar

from reference.broker.broker_controller import BrokerController
from reference.broker.broker_settings import BrokerRole
from reference.client.producer_messages import RemotingError
from reference.cluster.broker_threads import BrokerThreads
from reference.cluster.cluster import until_death
from reference.errors import BrokerIsDownError
from reference.format.errors import DiskHasStoppedError
from reference.simulation.scheduler import Scheduler, Sleep
from reference.simulation.virtual_clock import VirtualClock
from reference.store.message_store import MessageStore
from reference.store.store_checkpoint import StoreCheckpoint
from wire.node.answers import Answers
from wire.node.consumer_groups import ConsumerGroups
from wire.node.crashing_disk import CrashingDisk
from wire.node.faults import NetworkFaults
from wire.node.held_pulls import HeldPulls
from wire.node.ordered_faults import OrderedFaults
from wire.node.pace import MOST_STEPS, Pace
from wire.node.producer_channels import CheckQueue, ProducerChannels
from wire.node.schedule_thread import run_schedule_service, save_delay_offsets
from wire.node.start import Start, lock_store
from wire.node.trace_file import FileRecorder
from wire.remoting.codes import version_of

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from wire.node.surroundings import BrokerPort, ClientChannel, ProxyControl
    from wire.pop.pop_consumption import PopConsumption

T = TypeVar("T")

_MOST_INTERVALS: Final = 2


class BrokerNode:
    """One broker on the wire."""

    def __init__(self, start: Start, say: Callable[[str], None]) -> None:
        self.start = start
        self.say = say
        self.version = version_of(start.release)
        self.disk = CrashingDisk(start.store)
        self._lock = lock_store(start.store)
        now = max(int(time.time() * 1_000), StoreCheckpoint(self.disk).physic_msg_timestamp)
        self.clock = VirtualClock(now)
        self.pace = Pace(self.clock, start.speed)
        self.scheduler = Scheduler(start.seed, self.clock, longest_step_ms=0)
        self.recorder = FileRecorder(self.clock, None)
        self.answers = Answers()
        self.connections: dict[str, ClientChannel] = {}
        """By address of the other side; of a client of a proxy in local mode by its client id."""
        self.channels = ProducerChannels(start.switches)
        self.consumers = ConsumerGroups()
        self.pulls = HeldPulls(self)
        self.ordered = OrderedFaults(self)
        self.faults = NetworkFaults(self, start.seed)
        self.role = BrokerRole.MASTER
        self.settings = start.settings
        """Of a process in its group; and its settings, also as an operator has changed them."""
        self.address = start.settings.store_host
        """HOST:PORT that clients are sent to."""
        self.died = 0
        self.booted_at = now
        """How often its process died, and when the one that serves began, by its clock."""
        self.ports: list[BrokerPort] = []
        """Where clients reach the process: stopped when it has died, and listening again when the next one serves."""
        self.pops: PopConsumption | None = None
        """POP consumption, where clients are served that need it."""
        self.proxies: list[ProxyControl] = []
        """Those before it."""
        self.on_failure: Callable[[BaseException], None] = lambda _: None
        """Called when no process can serve any more."""
        self.on_stop: Callable[[], Awaitable[dict[str, Any]]] = _not_served
        """Stops whatever serves it, as its release does; gives the verdict on the run."""
        self.is_pushed = False
        """Whether time is pushed just now: clients wait until it has passed."""
        self.orders = asyncio.Lock()
        """Held while an order is carried out, so that they are one behind the other."""
        self._broker: BrokerController | None = None
        self._poked = asyncio.Event()
        self._returning: asyncio.Task[None] | None = None

    # --- the process --------------------------------------------------------------------------------------------------

    @property
    def broker(self) -> BrokerController:
        """The process that serves; `BrokerIsDownError` if none does."""
        if self._broker is None:
            message = "the broker's process is gone; the next one has not started yet"
            raise BrokerIsDownError(message)
        return self._broker

    @property
    def is_up(self) -> bool:
        """Whether a process is there; its port may not be open yet."""
        return self._broker is not None

    @property
    def serves(self) -> bool:
        """Whether clients reach a process."""
        return self.is_up and (self._returning is None or self._returning.done())

    def boot(self) -> None:
        """Start a process on what the store holds; `StoreError` if that can't be opened."""
        start = self.start
        self.disk.resume()
        self.consumers.clear()
        store = MessageStore(start.switches, self.clock, self.disk, start.config)
        store.dispatches_at_once = False
        broker = BrokerController(
            start.switches, self.settings, self.clock, store, self.recorder, self.channels, role=self.role
        )
        broker.check_requests = CheckQueue(self.channels, self.faults.send_check)
        threads = BrokerThreads(broker, self.serve, lambda: Sleep(0), rests=True).by_name()
        threads["schedule service"] = run_schedule_service(broker, self.serve)
        threads["save delays"] = save_delay_offsets(broker, self.serve)
        threads["wake pulls"] = self.pulls.wake(broker)
        if self.pops is not None:
            threads["pop consumption"] = self.pops.run(broker)
        for name, steps in threads.items():
            self.scheduler.start(name, until_death(steps), broker)
        self._broker = broker
        self.booted_at = self.clock.now

    def serve(self, broker: BrokerController, work: Callable[[], T]) -> T:
        """Do something that may write; the process dies with its disk.

        Raises
        ------
        RemotingError
            It is gone, or just died.
        """
        try:
            return work()
        except DiskHasStoppedError as error:
            self.say(f"the broker's process died: {error}")
            if broker is self._broker:
                self.crash()
            raise RemotingError(str(error)) from error
        except BrokerIsDownError as error:
            raise RemotingError(str(error)) from error

    def crash(self) -> None:
        """Kill the process (SIGKILL): its connections end, its memory is gone; the next one comes after a while."""
        broker = self._broker
        if broker is None:
            return
        self.died += 1
        if self.disk.crash is not None:
            self.disk.crash.befell += 1
            self.ordered.begin(self.disk.crash, lasts=False)
        self._broker = None
        broker.crash()
        broker.message_store.close()
        self.scheduler.kill(broker)
        self._forget()
        for port in self.ports:
            port.stop()
        self._returning = asyncio.get_running_loop().create_task(self._return())
        self._returning.add_done_callback(self.note_end)

    def note_end(self, task: asyncio.Task[None]) -> None:
        """A task of the broker is over, which is a failure unless it was cancelled or has ended its work."""
        if not task.cancelled() and (error := task.exception()) is not None:
            self.on_failure(error)

    async def _return(self) -> None:
        await asyncio.sleep(self.start.restart_ms / 1_000)
        await self.settle()
        self.boot()
        self.poke()
        for port in self.ports:
            await port.listen()

    async def settle(self) -> None:
        """Wait until ports that are to be closed are, and connections that have ended are gone."""
        for port in self.ports:
            await port.closed()

    def _forget(self) -> None:
        """The process is gone, with what its surroundings had of it."""
        self.faults.forget()
        self.pulls.forget()
        if self.pops is not None:
            self.pops.forget()
        for proxy in self.proxies:
            proxy.lose_broker()

    def restart(self) -> None:
        """Shut the process down, and start the next one; its connections end. `BrokerIsDownError` if it has died."""
        _ = self.broker
        self.stop()
        for connection in list(self.connections.values()):
            connection.close()
        self.boot()
        self.poke()

    def stop(self) -> None:
        """Shut the process down, in the order of its release (``BrokerController#shutdown``)."""
        broker = self._broker
        if broker is None:
            return
        self._broker = None
        self._forget()
        with suppress(DiskHasStoppedError):
            broker.shutdown()
        self.scheduler.kill(broker)

    def close(self) -> None:
        """Give the store back."""
        if self._returning is not None:
            self._returning.cancel()
        self._lock.close()

    # --- time ---------------------------------------------------------------------------------------------------------

    def poke(self) -> None:
        """Wake the threads of the broker that wait for an event."""
        self._poked.set()

    async def run(self) -> None:
        """Let the broker's threads run as time goes, until it is cancelled.

        A timer sets the event that is waited for, as ``asyncio.wait_for`` forgets in 3.11 that it was cancelled where
        that and the event come together.
        """
        loop = asyncio.get_running_loop()
        while True:
            self._poked.clear()
            is_done = self.run_threads()
            seconds = self.pace.seconds_until(self.scheduler.next_instant) if is_done else 0.0
            if seconds == 0.0:
                await asyncio.sleep(0)
                continue
            timer = None if seconds is None else loop.call_later(seconds, self._poked.set)
            try:
                await self._poked.wait()
            finally:
                if timer is not None:
                    timer.cancel()

    def run_threads(self) -> bool:
        """Let them run up to now; False if there is more to do."""
        if self.scheduler.run_due(self.pace.target, MOST_STEPS):
            return True
        if self.pace.speed is None:
            # A pass that gets no further ends by the clock; where nobody pushes that, the pass takes its own time.
            self.clock.advance(1)
        return False

    async def push_clock(self, by_ms: int) -> None:
        """Let time pass at once, and all that is due in it happen: one step to clients, who wait until it has passed.

        In between the event loop goes on, so that signals are heeded, and who asks how far it is gets an answer.
        """
        self.keep_time()
        self.pace.push(by_ms)
        until = self.pace.target
        self.is_pushed = True
        for connection in self.connections.values():
            connection.hold()
        try:
            while not self.run_threads() and (self.pace.speed is None or self.clock.elapsed < until):
                await asyncio.sleep(0)
        finally:
            self.is_pushed = False
            task = asyncio.current_task()
            if task is None or not task.cancelling():  # else the broker stops, and serves nobody any more
                for connection in self.connections.values():
                    connection.go_on()
        self.poke()

    async def let_op_batch_be_written(self) -> None:
        """Let time pass where op messages wait in memory, before a stop that no test has chosen.

        The batch service may come too early once, before ``transactionOpBatchInterval`` is over (A16).
        """
        for _ in range(_MOST_INTERVALS):
            async with self.orders:
                if not self.is_up or not self.broker.transactional_message_service.has_waiting_entries:
                    return
                await self.push_clock(self.settings.op_batch_interval_ms)

    def keep_time(self) -> None:
        """Let the clock stand where time is, and what was due by now be done: a request comes now.

        Where only a test pushes the clock, nothing happens.
        """
        if self.pace.speed is not None and self.pace.target > self.clock.elapsed:
            self.run_threads()

    def step_clock(self, by_ms: int) -> None:
        """Set the broker's wall clock, while no time passes."""
        self.clock.step(by_ms)
        self.poke()

    def change_role(self, role: BrokerRole) -> None:
        """Become a slave, or the master again."""
        broker = self.broker
        self.role = role
        if role is BrokerRole.MASTER:
            broker.change_to_master()
        else:
            broker.change_to_slave()
        self.poke()


async def _not_served() -> dict[str, Any]:
    message = "nobody serves this broker"
    raise BrokerIsDownError(message)
