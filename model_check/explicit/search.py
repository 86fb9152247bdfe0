"""Breadth-first search over packed states, level by level, with one thread or several.

A level is finished before the next begins, so that every number is the same whatever the number of threads. Parents
are not stored: a path is rebuilt backwards through the levels, and of all shortest ones the first in the order of
actions and parameters is given, in whatever order the states were found.
"""

from __future__ import annotations

import signal
import threading
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from time import perf_counter
from typing import TYPE_CHECKING, Any

import numpy as np

from model_check.errors import DiskFull, EvaluationError, OutOfRoom
from model_check.explicit.checkpoint import Checkpoints, Position
from model_check.explicit.code_generation.compile import compile_machine
from model_check.explicit.code_generation.runs import RUN
from model_check.explicit.exploration import Exploration, Progress, Report, expected_states
from model_check.explicit.kernel_texts.records import BAD_STATE, BAD_STEP, GENERATED
from model_check.explicit.state_store.regions import MOST_STATES, Counts
from model_check.explicit.state_store.resources import EXACT, Resources
from model_check.explicit.state_store.store import StateStore
from spec.language import Machine, Refused, SpecificationError

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator

__all__ = ["Exploration", "Progress", "explore"]

CHUNK, LARGE_CHUNK = RUN, 1024
"""Parents that a thread claims at a time, at least and at most: neighbours have successors in common.

Always a multiple of the first, so that the order in which one thread finds states does not depend on it.
"""

PART_FOR_CHUNKS = 64
"""At most one part of so many of the memory is held ready for the successors of large chunks."""

PARENTS_A_CALL = 1 << 18
"""Parents that one call of the kernel expands, about: the interval of progress reports and of interruptions."""

PARENTS_A_BOUNDED_CALL = 1 << 15
"""The same where the states are bounded: by so much a search may exceed the bound."""

PARENTS_A_CALL_ON_DISK = 1 << 11
"""The same when states are read from files: the interval at which pages are released."""

LEVELS_A_CALL = 256
"""Levels that one call of the kernel finishes at most: it costs as much as a hundred states, and they may be small."""

FORGETTING_OUT_OF_RANGE = "forgetting what is over: a value left its declared range; the CPython engine says which"


def explore(
    machine: Machine,
    constants: object,
    *,
    threads: int = 1,
    most_states: int | None = None,
    until: Collection[int] = (),
    report: Report | None = None,
    resources: Resources | None = None,
    title: str = "",
) -> Exploration:
    """Search all reachable states, or until `most_states` are stored or Ctrl-C ends it (`complete` says which).

    With `until`, the search also ends behind the first level at which each clause of these numbers has been violated
    (each witness seen): the depths of all that were seen by then are those of the whole search.

    Parameters
    ----------
    resources
        Memory, disk and checkpoints; all of the machine's memory, and no checkpoints, when None.
    title
        The name of the search in its checkpoints.

    Raises
    ------
    EvaluationError
        When a step leaves a declared range; names the step and the state.
    OutOfRoom
        When memory or disk are full; names the numbers of states, and the remedies.
    ModelCheckError
        When there is nothing to resume, or it is another search.
    """
    started = perf_counter()
    resources = resources or Resources()
    compiled = compile_machine(machine, constants, fingerprints=resources.fingerprint_bits != EXACT)
    with ExitStack() as stack:
        checkpoints = None
        if resources.checkpoint is not None:
            checkpoints = Checkpoints(resources, resources.checkpoint, compiled, constants, title)
            stack.callback(checkpoints.close)
        saved = None if checkpoints is None else checkpoints.last
        store = StateStore(compiled, threads, resources, 1 if saved is None else len(saved.counts))
        stack.callback(store.regions.close)
        executor = stack.enter_context(ThreadPoolExecutor(threads))
        raise_if_pressed = stack.enter_context(interruption())
        switches = compiled.switches(constants)
        if saved is None:
            exploration = _new_exploration(store, constants, switches)
        else:
            exploration = _resumed_exploration(store, constants, saved, executor)
        store.warm_up(switches, executor)
        exploration.compile_seconds = perf_counter() - started
        _Search(exploration, switches, executor, checkpoints, most_states, report, raise_if_pressed, until).run()
    return exploration


def _new_exploration(store: StateStore, constants: object, switches: Counts) -> Exploration:
    """The initial state only."""
    compiled = store.compiled
    store.enter_first(compiled.packing.pack(compiled.machine.initial(constants).canonical()), switches)
    levels = [np.zeros(store.region_count, dtype=np.int64), store.counts.copy()]
    exploration = Exploration(compiled, constants, store, levels)
    seen = store.seen()
    claims = len(compiled.machine.clauses) + len(compiled.machine.witnesses)
    exploration.seen_at = tuple(0 if seen >> bit & 1 else None for bit in range(claims))
    return exploration


def _resumed_exploration(
    store: StateStore, constants: object, saved: Position, executor: ThreadPoolExecutor
) -> Exploration:
    """The exploration at a checkpoint."""
    counts, levels = saved.padded(store.region_count)
    padding = [0] * (store.region_count - len(saved.checksums))
    store.restore(counts, saved.checksums + padding, saved.seen, executor)
    exploration = Exploration(store.compiled, constants, store, levels)
    exploration.claimed[0] = saved.claimed
    exploration.generated = saved.generated
    exploration.seen_at = tuple(saved.seen_at)
    exploration.seconds = saved.seconds
    exploration.resumed_from = saved.distinct
    return exploration


@dataclass
class _Search:
    """One run over the levels that are left."""

    exploration: Exploration
    switches: Counts
    executor: ThreadPoolExecutor
    checkpoints: Checkpoints | None
    most_states: int | None
    report: Report | None
    raise_if_pressed: Callable[[], None]
    until: Collection[int]

    def __post_init__(self) -> None:
        self.store = self.exploration.store
        self.seconds_before = self.exploration.seconds
        self.expanded_before = self._expanded()
        self.started = perf_counter()
        self.expected: int | None = None
        self.seen = 0

    @property
    def seconds(self) -> float:
        """Of the search, up to now."""
        return self.seconds_before + perf_counter() - self.started

    def run(self) -> None:
        """Expand level after level."""
        exploration, levels = self.exploration, self.exploration.levels
        try:
            while exploration.complete and (levels[-1] > levels[-2]).any():
                if self.until and all(exploration.seen_at[bit] is not None for bit in self.until):
                    exploration.complete = False
                    break
                if self.report is not None:
                    self.expected = expected_states(exploration.sizes)
                self._expand()
        except KeyboardInterrupt:
            exploration.complete = False
        except OutOfRoom as error:
            raise OutOfRoom(self._with_checkpoint(error)) from error
        exploration.seconds = self.seconds
        if self.checkpoints is not None:
            self.checkpoints.write(self.store, exploration.position(exploration.seconds))
        if not exploration.complete and exploration.claimed[0] > 0:
            self._finish_level()
        if (levels[-1] == levels[-2]).all():
            levels.pop()
        exploration.distinct = int(self.store.counts.sum())
        exploration.peak_bytes = max(exploration.peak_bytes, self.store.bytes)

    def _finish_level(self) -> None:
        self.exploration.levels.append(self.store.counts.copy())
        self.exploration.claimed[0] = 0
        self._note_depths()

    def _note_depths(self) -> None:
        """Note the last level as the depth of all that is seen for the first time."""
        exploration = self.exploration
        seen, depth = self.store.seen(), len(exploration.levels) - 2
        if seen != self.seen:
            self.seen = seen
            exploration.seen_at = tuple(
                depth if at is None and seen >> bit & 1 else at for bit, at in enumerate(exploration.seen_at)
            )

    @property
    def _level_size(self) -> int:
        """The states of the last level."""
        starts, ends = self.exploration.levels[-2:]
        return int((ends - starts).sum())

    def _expand(self) -> None:
        """Expand a part of the last level, or that and levels behind it; `complete` is false if it was left early."""
        exploration, store = self.exploration, self.store
        store.make_room(CHUNK, self.executor)
        # The depths of a part of a level are not noted yet, and pages of files are released after each call.
        levels = 0 if exploration.claimed[0] or exploration.disk_bytes else LEVELS_A_CALL
        enough = MOST_STATES if self.most_states is None else self.most_states
        finished = store.search(
            exploration.levels[-2], exploration.levels[-1], exploration.claimed, self._chunk(), self._parents_a_call(),
            levels, enough, self.switches, self.executor,
        )  # fmt: skip
        exploration.levels += finished
        exploration.claimed[0] = min(int(exploration.claimed[0]), self._level_size)
        if finished and not exploration.claimed[0]:
            self._note_depths()
        self._take_results()
        if exploration.complete and 0 < exploration.claimed[0] == self._level_size:
            self._finish_level()

    def _chunk(self) -> int:
        """Parents that a thread claims at a time at most."""
        in_memory = self.store.memory // (PART_FOR_CHUNKS * self.store.most_bytes)
        return max(CHUNK, min(in_memory, LARGE_CHUNK) // CHUNK * CHUNK)

    def _parents_a_call(self) -> int:
        """Parents that all threads expand before they come back."""
        if self.exploration.disk_bytes:
            return PARENTS_A_CALL_ON_DISK
        return PARENTS_A_CALL if self.most_states is None else PARENTS_A_BOUNDED_CALL

    def _take_results(self) -> None:
        """Add up the numbers of a call, raise its errors, and report progress."""
        exploration, store = self.exploration, self.store
        exploration.generated += int(store.outs[:, GENERATED].sum())
        exploration.peak_bytes = max(exploration.peak_bytes, store.bytes)
        for out in store.outs[: store.threads]:
            if out[BAD_STEP] == store.kernels.SWEPT_OUT_OF_RANGE:
                raise EvaluationError(FORGETTING_OUT_OF_RANGE)
            if out[BAD_STEP] >= 0:
                raise EvaluationError(_out_of_range(exploration, int(out[BAD_STATE]), int(out[BAD_STEP])))
        if self.checkpoints is not None:
            self.checkpoints.write_if_due(store, exploration.position(self.seconds))
        if self.report is not None:
            self.report(self._progress())
        self.raise_if_pressed()
        distinct = int(store.counts.sum())
        is_over = distinct == self._expanded()
        if self.most_states is not None and distinct >= self.most_states and not is_over:
            exploration.complete = False

    def _expanded(self) -> int:
        return int(self.exploration.levels[-2].sum() + self.exploration.claimed[0])

    def _progress(self) -> Progress:
        exploration, distinct, expanded = self.exploration, int(self.store.counts.sum()), self._expanded()
        expected = None if self.expected is None else max(self.expected, distinct)
        left = None
        if expected is not None and expanded > self.expanded_before:
            left = (expected - expanded) * (perf_counter() - self.started) / (expanded - self.expanded_before)
        depth = len(exploration.levels) - (2 if exploration.claimed[0] else 3)  # of the last level none is expanded yet
        return Progress(distinct, exploration.generated, depth, distinct - expanded, self.seconds, expected, left)

    def _with_checkpoint(self, error: OutOfRoom) -> str:
        """The message of an error with the place of the states, which are saved if that is possible."""
        message = str(error)
        if self.checkpoints is None:
            if isinstance(error, DiskFull):
                distinct = int(self.store.counts.sum())
                message += f", {distinct:,} states were found: make room, or give a folder with more (--disk DIR)"
            return message
        with suppress(OutOfRoom):
            self.checkpoints.write(self.store, self.exploration.position(self.seconds))
        last = self.checkpoints.last
        if last is None:
            return f"{message}; there is no checkpoint yet"
        return (
            f"{message}; the checkpoint in {self.checkpoints.folder} with {last.distinct:,} states is whole: "
            "make room and go on with --resume"
        )


def _out_of_range(exploration: Exploration, number: int, step: int) -> str:
    """Take the step again in the CPython engine, which names the field that left its range."""
    compiled, constants = exploration.compiled, exploration.constants
    words = exploration.store.words_of(number)
    state = compiled.machine.initial(constants).load(compiled.packing.unpack(words))
    try:
        compiled.steps[step].action.function(state, constants, *compiled.steps[step].arguments)
        state.canonical()
    except (SpecificationError, Refused) as error:
        return f"{compiled.steps[step]}: {error}"
    return f"{compiled.steps[step]}: a value left its declared range in the compiled engine only"


@contextmanager
def interruption() -> Iterator[Callable[[], None]]:
    """Defer Ctrl-C to where a search is whole, between two calls of the kernels.

    Gives a function that raises KeyboardInterrupt if Ctrl-C was pressed since; until it is called, nothing does.
    Where another handler was set, or outside of the main thread, nothing is changed.
    """
    pressed: list[int] = []

    def raise_if_pressed() -> None:
        if pressed:
            pressed.clear()
            raise KeyboardInterrupt

    def note(number: int, _frame: Any) -> None:
        pressed.append(number)

    is_main = threading.current_thread() is threading.main_thread()
    if not is_main or signal.getsignal(signal.SIGINT) is not signal.default_int_handler:
        yield raise_if_pressed
        return
    signal.signal(signal.SIGINT, note)
    try:
        yield raise_if_pressed
    finally:
        signal.signal(signal.SIGINT, signal.default_int_handler)
