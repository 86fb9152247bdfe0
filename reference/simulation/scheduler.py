"""The scheduler: one seed decides every interleaving of the threads of brokers and clients, and time is virtual.

A thread is a generator. It runs alone until it yields, which it does wherever another thread may come in between:
behind each write, and where it waits. The scheduler draws the next thread from those that can run, lets a little time
pass for what it did, and, when none can run, sets the clock to the next instant at which one can.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Generator
from dataclasses import dataclass, field
from random import Random
from typing import TYPE_CHECKING, TypeVar

from reference.errors import BrokerError

if TYPE_CHECKING:
    from reference.simulation.virtual_clock import VirtualClock

LONGEST_STEP_MS = 2
"""The most that passes on the clock while one thread runs from one yield to the next."""

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Sleep:
    """Wait for some time (``Thread#sleep``, ``ServiceThread#waitForRunning``)."""

    ms: int


@dataclass(frozen=True, slots=True)
class Until:
    """Wait until something is so, at most for some time if that is given; it is looked at before each step."""

    condition: Callable[[], bool]
    at_most_ms: int | None = None

    @classmethod
    def changed(cls, before: object, now: Callable[[], object]) -> Until:
        """Wait until a value is not what it was before."""
        return cls(lambda: now() != before)


Steps = Generator[Sleep | Until | None, None, T]
"""A thread as a generator: it yields how long it waits, or None where others may run in between."""


@dataclass(eq=False)
class Thread:
    """One thread."""

    name: str
    """Shown in the scheduler's log."""
    steps: Steps[object]
    process: object
    """The process that it dies with, None for none."""
    is_over: bool = False
    """Whether it has come to its end, or was killed."""
    wakes_at: int | None = 0
    condition: Callable[[], bool] | None = field(default=None, repr=False)


class NothingCanRunError(BrokerError):
    """Every thread waits for something that none of them will do."""


class Scheduler:
    """Runs threads on one virtual clock.

    Parameters
    ----------
    seed
        Decides all that is left open; the same seed on the same threads gives the same run.
    longest_step_ms
        The most that passes on the clock in a step; 0 where somebody else lets the time pass.

    Examples
    --------
    >>> from reference.simulation.virtual_clock import VirtualClock
    >>> words = []
    >>> def say(word):
    ...     words.append(word)
    ...     yield Sleep(1_000)
    ...     words.append(word.upper())
    >>> scheduler = Scheduler(7, VirtualClock())
    >>> for word in ("half", "op"):
    ...     _ = scheduler.start(word, say(word))
    >>> scheduler.run(lambda: not scheduler.threads)
    >>> sorted(words[:2]), sorted(words[2:])
    (['half', 'op'], ['HALF', 'OP'])
    """

    def __init__(self, seed: int, clock: VirtualClock, longest_step_ms: int = LONGEST_STEP_MS) -> None:
        self.clock = clock
        self._longest_step_ms = longest_step_ms
        self.random = Random(seed)
        """The one source of chance; whoever else needs some draws it from here."""
        self.threads: list[Thread] = []
        """Those that have not come to their end."""
        self.steps = 0
        self._digest = hashlib.sha256()

    @property
    def digest(self) -> str:
        """Digest of the order of all steps so far: who ran, and when."""
        return self._digest.hexdigest()

    @property
    def next_instant(self) -> int | None:
        """The earliest time at which a thread wakes by the clock, perhaps past; None if none waits for one."""
        return min((thread.wakes_at for thread in self.threads if thread.wakes_at is not None), default=None)

    def run_due(self, until: int, most_steps: int) -> bool:
        """Run what can run up to an instant, to which the clock is advanced in the end.

        False if `most_steps` were taken before that: the clock stands where it stood, and there may be more to do.
        """
        for _ in range(most_steps):
            ready = [thread for thread in self.threads if self._is_ready(thread)]
            if ready:
                self._step(ready[self.random.randrange(len(ready))] if len(ready) > 1 else ready[0])
                continue
            instant = self.next_instant
            if instant is None or instant > until:
                self.clock.advance(max(0, until - self.clock.elapsed))
                return True
            self.clock.advance(instant - self.clock.elapsed)
        return False

    def start(self, name: str, steps: Steps[object], process: object = None) -> Thread:
        """Start a thread."""
        thread = Thread(name, steps, process, wakes_at=self.clock.elapsed)
        self.threads.append(thread)
        return thread

    def kill(self, process: object) -> None:
        """End the threads of a process where they stand."""
        for thread in self.threads:
            if thread.process is process:
                thread.is_over = True
        self.threads = [thread for thread in self.threads if not thread.is_over]

    def run(self, is_enough: Callable[[], bool]) -> None:
        """Run threads until something is so; `NothingCanRunError` if nothing that could make it so is left."""
        while not is_enough():
            self._step(self._choose())

    def _choose(self) -> Thread:
        while True:
            ready = [thread for thread in self.threads if self._is_ready(thread)]
            if ready:
                return ready[self.random.randrange(len(ready))] if len(ready) > 1 else ready[0]
            instant = self.next_instant
            if instant is None:
                names = ", ".join(thread.name for thread in self.threads) or "no thread is left"
                message = f"nothing can run any more: {names}"
                raise NothingCanRunError(message)
            self.clock.advance(instant - self.clock.elapsed)

    def _is_ready(self, thread: Thread) -> bool:
        if thread.wakes_at is not None and thread.wakes_at <= self.clock.elapsed:
            return True
        return thread.condition is not None and thread.condition()

    def _step(self, thread: Thread) -> None:
        self.steps += 1
        self._digest.update(f"{self.clock.elapsed} {thread.name}\n".encode())
        try:
            wait = next(thread.steps)
        except StopIteration:
            thread.is_over = True
        else:
            self._let_wait(thread, wait)
        if thread.is_over and thread in self.threads:
            self.threads.remove(thread)
        self.clock.advance(self.random.randint(0, self._longest_step_ms))

    def _let_wait(self, thread: Thread, wait: Sleep | Until | None) -> None:
        now = self.clock.elapsed
        thread.condition = None
        match wait:
            case None:
                thread.wakes_at = now
            case Sleep(ms):
                thread.wakes_at = now + ms
            case Until(condition, at_most_ms):
                thread.condition = condition
                thread.wakes_at = None if at_most_ms is None else now + at_most_ms
