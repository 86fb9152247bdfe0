"""Breadth-first search over packed states, level by level, with one thread or several.

A level is finished before the next begins, so that every number is the same whatever the number of threads. Parents
are not stored: a path is rebuilt backwards through the levels, and of all shortest ones the first in the order of
actions and parameters is given, in whatever order the states were found.
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, suppress
from dataclasses import dataclass
from time import perf_counter
from typing import TYPE_CHECKING

import numpy as np

from model_check.errors import DiskFull, EvaluationError, OutOfRoom
from model_check.explicit.checkpoint import Checkpoints, Position
from model_check.explicit.code_generation.compile import compile_machine
from model_check.explicit.code_generation.runs import RUN
from model_check.explicit.expected_states import expected_states
from model_check.explicit.exploration import Exploration, Progress, Report
from model_check.explicit.interruption import interruption
from model_check.explicit.state_store.regions import MOST_STATES
from model_check.explicit.state_store.resources import EXACT, Resources
from model_check.explicit.state_store.store import StateStore
from spec.language import Machine, Refused, SpecificationError

if TYPE_CHECKING:
    from collections.abc import Callable, Collection

    from model_check.explicit.state_store.regions import Counts

__all__ = ["Exploration", "Progress", "explore"]

CHUNK, LARGE_CHUNK = RUN, 1024
"""Parents that a thread takes at a time, at least and at most: those that are neighbours have successors in common.

Always a multiple of the first, so that the order in which one thread finds states does not depend on it.
"""

PART_FOR_CHUNKS = 64
"""At most one part of so many of the memory is held ready for the successors of large chunks."""

AT_ONCE = 1 << 18
"""Parents that one call of the kernel expands, about: how often progress is shown and an interruption is heard."""

AT_ONCE_WHERE_BOUNDED = 1 << 15
"""The same where so many states are wanted at most: by how much a search may go beyond that."""

AT_ONCE_ON_DISK = 1 << 11
"""The same when states are read from files: how often what was read is let go of."""

LEVELS = 256
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
        Memory, disk and checkpoints; what the machine has, and no checkpoints, when None.
    title
        What is searched, so that a checkpoint can say of what it is.

    Raises
    ------
    EvaluationError
        When a step leaves a declared range; names the step and the state.
    OutOfRoom
        When memory or disk are full; says what was found, and what to do.
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
        stack.callback(store.found.close)
        executor = stack.enter_context(ThreadPoolExecutor(threads))
        raise_if_pressed = stack.enter_context(interruption())
        switches = compiled.switches(constants)
        found = _begun(store, constants, switches) if saved is None else _resumed(store, constants, saved, executor)
        store.warm_up(switches, executor)
        found.compile_seconds = perf_counter() - started
        _Search(found, switches, executor, checkpoints, most_states, report, raise_if_pressed, until).run()
    return found


def _begun(store: StateStore, constants: object, switches: Counts) -> Exploration:
    """The initial state only."""
    compiled = store.compiled
    store.enter_first(compiled.packing.pack(compiled.machine.initial(constants).canonical()), switches)
    found = Exploration(compiled, constants, store, [np.zeros(store.regions, dtype=np.int64), store.counts.copy()])
    seen = store.seen()
    claims = len(compiled.machine.clauses) + len(compiled.machine.witnesses)
    found.seen_at = tuple(0 if seen >> bit & 1 else None for bit in range(claims))
    return found


def _resumed(store: StateStore, constants: object, saved: Position, executor: ThreadPoolExecutor) -> Exploration:
    """What a checkpoint holds."""
    counts, levels = saved.padded(store.regions)
    padding = [0] * (store.regions - len(saved.checksums))
    store.restore(counts, saved.checksums + padding, saved.seen, executor)
    found = Exploration(store.compiled, constants, store, levels)
    found.claimed[0] = saved.claimed
    found.generated = saved.generated
    found.seen_at = tuple(saved.seen_at)
    found.seconds = saved.seconds
    found.resumed_from = saved.distinct
    return found


@dataclass
class _Search:
    """One run over the levels that are left."""

    found: Exploration
    switches: Counts
    executor: ThreadPoolExecutor
    checkpoints: Checkpoints | None
    most_states: int | None
    report: Report | None
    raise_if_pressed: Callable[[], None]
    until: Collection[int]

    def __post_init__(self) -> None:
        self.store = self.found.store
        self.before = self.found.seconds
        self.expanded_before = self._expanded()
        self.started = perf_counter()
        self.expected: int | None = None
        self.seen = 0

    @property
    def seconds(self) -> float:
        """Of the search, up to now."""
        return self.before + perf_counter() - self.started

    def run(self) -> None:
        """Expand level after level."""
        found, levels = self.found, self.found.levels
        try:
            while found.complete and (levels[-1] > levels[-2]).any():
                if self.until and all(found.seen_at[bit] is not None for bit in self.until):
                    found.complete = False
                    break
                if self.report is not None:
                    self.expected = expected_states(found.sizes)
                self._go_on()
        except KeyboardInterrupt:
            found.complete = False
        except OutOfRoom as error:
            raise OutOfRoom(self._with_checkpoint(error)) from error
        found.seconds = self.seconds
        if self.checkpoints is not None:
            self.checkpoints.write(self.store, found.position(found.seconds))
        if not found.complete and found.claimed[0] > 0:
            self._finish_level()
        if (levels[-1] == levels[-2]).all():
            levels.pop()
        found.distinct = int(self.store.counts.sum())
        found.peak_bytes = max(found.peak_bytes, self.store.bytes)

    def _finish_level(self) -> None:
        self.found.levels.append(self.store.counts.copy())
        self.found.claimed[0] = 0
        self._note_what_is_seen()

    def _note_what_is_seen(self) -> None:
        """What is seen now for the first time is seen in the last level."""
        found = self.found
        seen, depth = self.store.seen(), len(found.levels) - 2
        if seen != self.seen:
            self.seen = seen
            found.seen_at = tuple(
                depth if at is None and seen >> bit & 1 else at for bit, at in enumerate(found.seen_at)
            )

    @property
    def _level(self) -> int:
        """The states of the last level."""
        starts, ends = self.found.levels[-2:]
        return int((ends - starts).sum())

    def _go_on(self) -> None:
        """Expand a part of the last level, or that and levels behind it; `complete` is false if it was left early."""
        found, store = self.found, self.store
        store.make_room(CHUNK, self.executor)
        # What a part of a level has seen is not noted yet, and pages of files are let go of after each call.
        levels = 0 if found.claimed[0] or found.disk_bytes else LEVELS
        enough = MOST_STATES if self.most_states is None else self.most_states
        finished = store.search(
            found.levels[-2],
            found.levels[-1],
            found.claimed,
            self._most_at_a_time(),
            self._at_once(),
            levels,
            enough,
            self.switches,
            self.executor,
        )
        found.levels += finished
        found.claimed[0] = min(int(found.claimed[0]), self._level)
        if finished and not found.claimed[0]:
            self._note_what_is_seen()
        self._look_at_outcome()
        if found.complete and 0 < found.claimed[0] == self._level:
            self._finish_level()

    def _most_at_a_time(self) -> int:
        """Parents that a thread takes at a time at most."""
        in_memory = self.store.memory // (PART_FOR_CHUNKS * self.store.most_bytes)
        return max(CHUNK, min(in_memory, LARGE_CHUNK) // CHUNK * CHUNK)

    def _at_once(self) -> int:
        """Parents that all threads expand before they come back."""
        if self.found.disk_bytes:
            return AT_ONCE_ON_DISK
        return AT_ONCE if self.most_states is None else AT_ONCE_WHERE_BOUNDED

    def _look_at_outcome(self) -> None:
        found, store = self.found, self.store
        found.generated += int(store.outs[:, 1].sum())
        found.peak_bytes = max(found.peak_bytes, store.bytes)
        for out in store.outs[: store.threads]:
            if out[2] == store.kernels.SWEPT_OUT_OF_RANGE:
                raise EvaluationError(FORGETTING_OUT_OF_RANGE)
            if out[2] >= 0:
                raise EvaluationError(_out_of_range(found, int(out[3]), int(out[2])))
        if self.checkpoints is not None:
            self.checkpoints.write_if_due(store, found.position(self.seconds))
        if self.report is not None:
            self.report(self._progress())
        self.raise_if_pressed()
        distinct = int(store.counts.sum())
        is_over = distinct == self._expanded()
        if self.most_states is not None and distinct >= self.most_states and not is_over:
            found.complete = False

    def _expanded(self) -> int:
        return int(self.found.levels[-2].sum() + self.found.claimed[0])

    def _progress(self) -> Progress:
        found, distinct, expanded = self.found, int(self.store.counts.sum()), self._expanded()
        expected = None if self.expected is None else max(self.expected, distinct)
        left = None
        if expected is not None and expanded > self.expanded_before:
            left = (expected - expanded) * (perf_counter() - self.started) / (expanded - self.expanded_before)
        depth = len(found.levels) - (2 if found.claimed[0] else 3)  # nothing of the last level is expanded yet
        return Progress(distinct, found.generated, depth, distinct - expanded, self.seconds, expected, left)

    def _with_checkpoint(self, error: OutOfRoom) -> str:
        """Save what was found, if that is possible, and say where."""
        message = str(error)
        if self.checkpoints is None:
            if isinstance(error, DiskFull):
                distinct = int(self.store.counts.sum())
                message += f", {distinct:,} states were found: make room, or give a folder with more (--disk DIR)"
            return message
        with suppress(OutOfRoom):
            self.checkpoints.write(self.store, self.found.position(self.seconds))
        last = self.checkpoints.last
        if last is None:
            return f"{message}; there is no checkpoint yet"
        return (
            f"{message}; the checkpoint in {self.checkpoints.folder} with {last.distinct:,} states is whole: "
            "make room and go on with --resume"
        )


def _out_of_range(found: Exploration, number: int, step: int) -> str:
    """Take the step again in the CPython engine, which says which field left its range."""
    compiled = found.compiled
    state = compiled.machine.initial(found.constants).load(compiled.packing.unpack(found.store.words_of(number)))
    try:
        compiled.steps[step].action.function(state, found.constants, *compiled.steps[step].arguments)
        state.canonical()
    except (SpecificationError, Refused) as error:
        return f"{compiled.steps[step]}: {error}"
    return f"{compiled.steps[step]}: a value left its declared range in the compiled engine only"
