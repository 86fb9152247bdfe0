"""The broker's machine: its process, how that dies and comes back, and when it stands still.

The broker is the reference broker itself, on a disk in memory. Its threads run as RocketMQ's do (`check_thread.py`,
`op_batch_thread.py`, `storage_threads.py`). What they do takes no time, but for the passes of a check round where the
workload says so.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, Protocol

from reference.broker.broker_controller import BrokerController
from reference.broker.recorder import Recorder
from reference.format.system_topics import HALF_QUEUE_ID, HALF_TOPIC, OP_TOPIC
from reference.store.memory_disk import MemoryDisk
from reference.store.message_store import MessageStore
from reference.store.message_store_config import MessageStoreConfig
from traffic.simulation.causes import Attribution
from traffic.simulation.ledger import OpState, TrackedHalf

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from traffic.simulation.running import RunningSimulation
    from traffic.workload.workload import PlannedRestarts

_LOG_FILE_BYTES: Final = 8 << 20
_QUEUE_FILE_BYTES: Final = 20 * 20_000
"""Files smaller than RocketMQ's, so that what nobody reads any more can be deleted soon."""


class HostedThread(Protocol):
    """A thread of the broker's process."""

    def start(self, broker: BrokerController) -> None:
        """A process has started: begin to run in it."""


class BrokerHost:
    """One machine with one broker.

    Attributes
    ----------
    run, switches, settings
        The simulation; the release and its settings.
    broker
        The process that runs; None between two.
    disk
        What a process leaves behind.
    epoch
        How many processes there have been: a connection is one to one of them.
    lost_power
        Whether the last one died with its machine, so that clients hear nothing.
    up_at
        When the last process began to serve, or the next one will.
    stands_until, disk_until, waits_until
        Until then the process stands still; the disk takes nothing; nothing can be written, for one or the other.
    is_stopping
        An orderly stop has begun.
    causes
        Why something befalls a transaction.
    buffered
        The halves whose op entries wait in memory, by offset.
    threads, on_death, on_boot
        What starts with each process; what is called when one is gone, and when the next one serves.
    """

    def __init__(self, run: RunningSimulation) -> None:
        self.run = run
        self.settings = run.broker.settings
        self.switches = run.broker.switches
        self.broker: BrokerController | None = None
        crashes = run.workload.crashes
        self.disk = MemoryDisk(loses_power=crashes is not None and crashes.power_loss > 0, counts_writes=False)
        self._chance = run.streams.of("crashes")
        self.epoch = 0
        self.lost_power = False
        self.up_at = 0.0
        self.stands_until = self.disk_until = self.waits_until = 0.0
        self.is_stopping = False
        self.causes = Attribution(self.switches, self.settings, clocks_differ=run.workload.clock_deviation_ms > 0)
        self.buffered: dict[int, TrackedHalf] = {}
        self.threads: list[HostedThread] = []
        self.on_death: list[Callable[[], None]] = []
        self.on_boot: list[Callable[[], None]] = []
        self.finish_round: Callable[[], bool] = lambda: True
        """Takes passes of the round that runs, and says whether it is over."""
        self._config = MessageStoreConfig(
            mapped_file_size_commit_log=_LOG_FILE_BYTES, mapped_file_size_consume_queue=_QUEUE_FILE_BYTES
        )
        self._log_end = 0

    @property
    def serves(self) -> bool:
        """Whether a request is taken."""
        return self.broker is not None and not self.is_stopping

    @property
    def log_end(self) -> int:
        """The end of the commit log in bytes; where no process runs, as the last one has left it."""
        if self.broker is not None:
            self._log_end = int(self.broker.message_store.max_phy_offset)
        return self._log_end

    def put(self, after_ms: float, action: Callable[[], None]) -> None:
        """Let a thread of this process do something after a while, if the process lives then."""
        self.run.events.put(self.run.events.now + after_ms, self._do, (self.epoch, action))

    def _do(self, what: tuple[int, Callable[[], None]]) -> None:
        epoch, action = what
        if epoch != self.epoch or self.broker is None:
            return
        if self.run.events.now < self.waits_until:
            self.run.events.put(self.waits_until, self._do, what)
            return
        action()

    # --- begin and end of a process -----------------------------------------------------------------------------------

    def boot(self, _: object = None) -> None:
        """The next process serves."""
        run = self.run
        clock = run.events.clock
        store = MessageStore(self.switches, clock, self.disk, self._config)
        broker = BrokerController(self.switches, self.settings, clock, store, Recorder(clock, is_on=False))
        self.broker = broker
        self.is_stopping = False
        if self.epoch:
            self._take_up_what_is_left(broker)
        self.epoch += 1
        for thread in self.threads:
            thread.start(broker)
        restarts, life_ms = run.workload.restarts, self._life_ms()
        if life_ms is not None:
            self.put(life_ms, self._crash)
        if restarts is not None:
            self.put(self._restart_ms(restarts), self._begin_stop)
        for call in self.on_boot:
            call()

    def _life_ms(self) -> float | None:
        """How long the process that has begun serves until it crashes; None for as long as anybody looks."""
        run = self.run
        lives, crashes = run.lives, run.workload.crashes
        if lives is not None:
            return lives[self.epoch - 1][0] if self.epoch <= len(lives) else None
        if crashes is None:
            return None
        return self._quiet_ms + self._chance.expovariate(1) * crashes.every_ms

    def _restart_ms(self, restarts: PlannedRestarts) -> float:
        """How long the process that has begun serves until it is restarted; traffic begins anywhere between two."""
        share = self.run.streams.of("restarts").random() if self.epoch == 1 else 1.0
        return self._quiet_ms + share * restarts.every_ms

    @property
    def _quiet_ms(self) -> float:
        """How long the process that has begun has no traffic yet, in which nothing ends it."""
        return self.run.quiet_ms if self.epoch == 1 else 0.0

    def _take_up_what_is_left(self, broker: BrokerController) -> None:
        """What the new process finds, and what is gone with the old one."""
        ledger, store = self.run.ledger, broker.message_store
        half_offset = broker.consumer_offset_manager.query_offset(HALF_TOPIC, HALF_QUEUE_ID)
        if self.lost_power:
            ledger.lose_messages_from(store.max_phy_offset, store.get_max_offset_in_queue(OP_TOPIC, HALF_QUEUE_ID))
            ledger.lose_from(store.get_max_offset_in_queue(HALF_TOPIC, HALF_QUEUE_ID), half_offset)
        ledger.reopen_from(half_offset)

    def _crash(self) -> None:
        run, crashes, broker = self.run, self.run.workload.crashes, self.broker
        if broker is None or crashes is None or not (run.is_arriving or run.lives):
            return
        run.counts.crashes += 1
        self.lost_power = self._chance.random() < crashes.power_loss
        broker.crash()
        if self.lost_power:
            run.counts.power_losses += 1
            self.disk.lose_power()
        run.ledger.note_crash(run.events.now)
        self._op_entries_die(OpState.DIED_WITH_CRASH)
        self.causes.fork = "B16"
        away_ms = crashes.restart_ms.draw(self._chance)
        self._gone(run.lives[self.epoch - 1][1] if run.lives else away_ms)

    def _begin_stop(self) -> None:
        """An orderly stop begins (``BrokerController#shutdown``): no connection is left."""
        if self.broker is None or not self.run.is_arriving:
            return
        self.run.counts.restarts += 1
        self.is_stopping = True
        self.broker.begin_shutdown()
        self._end_stop()

    def _end_stop(self) -> None:
        """The process ends, after the round that runs where the release waits for it (5.3.4 and later; A29)."""
        broker, restarts = self.broker, self.run.workload.restarts
        if broker is None or restarts is None:
            return
        if self.switches.joins_round_first and not self.finish_round():
            self.put(1.0, self._end_stop)
            return
        broker.end_shutdown()
        self._op_entries_die(OpState.DIED_WITH_STOP)
        self.causes.fork = "B16" if self.switches.joins_round_first else "A29"
        self.lost_power = False
        self._gone(restarts.away_ms)

    def _gone(self, away_ms: float) -> None:
        _ = self.log_end
        self.broker = None
        self.up_at = self.run.events.now + away_ms
        self.run.events.put(self.up_at, self.boot, None)
        for call in self.on_death:
            call()

    def _op_entries_die(self, how: OpState) -> None:
        for half in self.buffered.values():
            half.op = how
        self.buffered.clear()

    def write_store(self, folder: Path) -> None:
        """Stop the process, if one runs, and write what is on the disk."""
        _ = self.log_end
        if self.broker is not None:
            self.broker.begin_shutdown(wakes_check_service=False)
            self.broker.end_shutdown()
            self.broker = None
        self.disk.write_to(folder)

    # --- what makes it stand still ------------------------------------------------------------------------------------

    def pause(self, lasts_ms: float) -> None:
        """The process stands still for a while (a GC pause)."""
        self.run.counts.broker_pauses += 1
        self.stands_until = max(self.stands_until, self.run.events.now + lasts_ms)
        self.waits_until = max(self.waits_until, self.stands_until)

    def stall(self, lasts_ms: float) -> None:
        """The disk takes nothing for a while."""
        self.run.counts.disk_stalls += 1
        self.disk_until = max(self.disk_until, self.run.events.now + lasts_ms)
        self.waits_until = max(self.waits_until, self.disk_until)
