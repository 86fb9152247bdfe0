"""Runs the reference broker under a schedule.

The schedule gives the requests, the thread that runs next, and the times of the clocks. A thread pauses where it needs
a store timestamp that the schedule does not give yet. Everything else is the broker's own doing.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from conformance.broker_schedule import (
    Act,
    BrokerSchedule,
    Drain,
    EndAct,
    EndGoesOn,
    KillAct,
    RoundBegins,
    RoundGoesOn,
    SendAct,
    StartAct,
    StopAct,
)
from reference.broker.broker_controller import BrokerController
from reference.broker.recorder import Recorder
from reference.broker.transaction.check_outcome import CheckBranch
from reference.errors import BrokerError
from reference.simulation.virtual_clock import VirtualClock
from reference.store.memory_disk import MemoryDisk
from reference.store.message_store import MessageStore
from reference.versions.versions import STORE_VERSIONS

if TYPE_CHECKING:
    from reference.broker.processor.end_transaction_processor import EndTransaction
    from reference.broker.transaction.transactional_message_check_listener import CheckTransactionStateRequest
    from reference.store.disk import Disk

MOST_STEPS = 1_000_000


class NoStoreTimeError(Exception):
    """A thread needs a store timestamp that the schedule does not give yet: it pauses here."""


class ThreadClock(VirtualClock):
    """The clock of the thread that runs, set by each act; several times are given one after the other."""

    def __init__(self) -> None:
        super().__init__(0)
        self._following: list[int] = []

    def set(self, first: int, *following: int) -> None:
        """Set the next times; the last of them lasts."""
        self.step(first - self._now)
        self._elapsed = first
        self._following = list(following)

    @property
    def now(self) -> int:
        """The next reading."""
        time = self._now
        if self._following:
            self._now = self._elapsed = self._following.pop(0)
        return time


class StoreClock(VirtualClock):
    """The clock under the commit log's lock: each message takes one of the times that were given."""

    def __init__(self) -> None:
        super().__init__(0)
        self.times: list[int] = []
        self.latest = 0

    @property
    def now(self) -> int:
        """The next of the given times; `NoStoreTimeError` where there is none."""
        if not self.times:
            raise NoStoreTimeError
        self.latest = self.times.pop(0)
        return self.latest


class RecorderClock(VirtualClock):
    """The latest time of both clocks; asking it uses none up."""

    def __init__(self, thread: ThreadClock, store: StoreClock) -> None:
        super().__init__(0)
        self._thread, self._store = thread, store

    @property
    def now(self) -> int:
        """The later one of the two clocks' latest times."""
        return max(self._thread.elapsed, self._store.latest)


@dataclass(frozen=True)
class Departure:
    """The act at which the broker left the schedule: a store time was left over or missing, or no process ran."""

    act: int
    """The index of the act."""
    used: int
    """How many of its store times were used."""
    reason: str


class ScheduledRun:
    """One run of the reference broker under a schedule."""

    def __init__(self, schedule: BrokerSchedule, disk: Disk | None = None, *, records: bool = False) -> None:
        self.schedule = schedule
        self.disk: Disk = MemoryDisk() if disk is None else disk
        self.departure: Departure | None = None
        """The first act that could not be carried out; the run ends there."""
        self.check_requests: list[CheckTransactionStateRequest] = []
        self.responses: list[tuple[int, str | None]] = []
        """Its checks; its answers to END_TRANSACTION in the order in which they were given."""
        self.saved_at_kill: list[dict[str, dict[int, int]]] = []
        """The consumer offsets that each killed process left."""
        self.positions: list[int] = []
        """For each act, how many bytes the log had before it."""
        self._switches = STORE_VERSIONS[schedule.version]
        self._settings = schedule.broker_settings()
        self._clock, self._store_clock = ThreadClock(), StoreClock()
        self.recorder = Recorder(RecorderClock(self._clock, self._store_clock), is_on=records)
        """The trace of the run, if it `records`."""
        self._broker: BrokerController | None = None
        self._ends: list[EndTransaction] = []

    @property
    def broker(self) -> BrokerController:
        """The running process."""
        if self._broker is None:
            message = "no broker process runs here"
            raise NotStartedError(message)
        return self._broker

    def run(self) -> ScheduledRun:
        """Carry every act out."""
        for index, act in enumerate(self.schedule.acts):
            self._store_clock.times = []
            self.positions.append(0 if self._broker is None else self._broker.message_store.max_phy_offset)
            try:
                self._take(act)
                left = len(self._store_clock.times)
                reason = f"the broker wrote {left} records fewer than it was given readings for" if left else ""
            except NoStoreTimeError:
                left, reason = 0, "the broker was about to write a record that has no reading"
            except BrokerError as error:
                left, reason = len(self._store_clock.times), str(error)
            if reason:
                given = len(act.stored_at) if isinstance(act, RoundGoesOn) else int(hasattr(act, "stored_at"))
                self.departure = Departure(index, given - left, f"{type(act).__name__.removesuffix('Act')}: {reason}")
                break
            if self._broker is not None:
                self.check_requests += self._broker.check_requests
                self._broker.check_requests.clear()
        if self._broker is not None and self._broker.is_running:
            self._broker.message_store.dispatch()
        return self

    def _take(self, act: Act) -> None:
        match act:
            case StartAct():
                self._start(act)
            case KillAct():
                self._set_clock(act.at)
                self.broker.crash()
                saved = self.broker.consumer_offset_manager.saved
                self.saved_at_kill.append({key: {**queues} for key, queues in saved.table.items()})
            case StopAct():
                self._set_clock(act.chosen_at)
                self.broker.begin_shutdown(wakes_check_service=False)
                self.broker.end_shutdown()
            case SendAct():
                self._set_clock(act.stored_at)
                self._store_clock.times = [act.stored_at]
                self.broker.send_message(act.request)
            case EndAct():
                self._set_clock(act.at)
                self._ends.append(self.broker.end_transaction(act.request))
                self._step_end(len(self._ends) - 1, act.stored_at)
            case EndGoesOn():
                time = act.at if act.at is not None else act.chosen_at
                self._set_clock(time if time is not None else self._clock.elapsed)
                self._step_end(act.end, act.stored_at)
            case Drain():
                self._set_clock(act.chosen_at, act.chosen_at, act.at)
                self._store_clock.times = [act.stored_at]
                self.broker.run_op_batch_service()
            case RoundBegins():
                self._set_clock(act.at)
                self.broker.message_store.dispatch()
                if act.woken:
                    self.broker.check_service.waits_since = act.at - self._settings.transaction_check_interval_ms
                if self.broker.begin_check_round() is None:
                    message = "a check round is not due"
                    raise NotStartedError(message)
            case RoundGoesOn():
                self._round_goes_on(act)

    def _set_clock(self, first: int, *following: int) -> None:
        """Set the thread's clock; what the timers had to do before that comes first."""
        self._clock.set(first)
        while self.broker.is_running and self.broker.persist_consumer_offsets():
            pass
        if self.broker.is_running:
            self.broker.persist_transaction_metrics()
        self._clock.set(first, *following)

    def _start(self, act: StartAct) -> None:
        self._clock.set(act.chosen_at)
        if self._broker is None:
            store = MessageStore(self._switches, self._store_clock, self.disk, self.schedule.store_config())
            store.dispatches_at_once = False
            self._broker = BrokerController(self._switches, self._settings, self._clock, store, self.recorder)
        else:
            self._broker = self._broker.restart()
        self._broker.check_service.waits_since = act.at

    def _step_end(self, number: int, stored_at: int | None) -> None:
        if stored_at is not None:
            self._store_clock.times = [stored_at]
        step = self._ends[number].step()
        if step.response is not None:
            self.responses.append((step.response.code, step.response.remark))

    def _round_goes_on(self, act: RoundGoesOn) -> None:
        broker = self.broker
        check_round = broker.check_service.round
        if check_round is None:
            message = "no check round runs"
            raise NotStartedError(message)
        if act.paused:
            broker.message_store.dispatch()
        for time in act.stored_at:
            self._set_clock(time)
            self._store_clock.times = [time]
            for _ in range(MOST_STEPS):
                step = check_round.step()
                if not self._store_clock.times:
                    break
                if step.branch.is_end or step.branch is CheckBranch.ASLEEP:
                    self._store_clock.times += act.stored_at[act.stored_at.index(time) + 1 :]
                    return
        if act.stored_at:
            return
        self._set_clock(act.at if act.at is not None else self._clock.elapsed)
        for _ in range(MOST_STEPS):
            try:
                step = check_round.step()
            except NoStoreTimeError:
                return
            if step.branch.is_end or step.branch is CheckBranch.ASLEEP:
                return


class NotStartedError(BrokerError):
    """The schedule asks something of a process or a round that does not run."""
