"""A run of one transaction among others made concrete: a run of a few transactions, without others, that is it for one.

What one among others breaks is broken only if many break it, too, for actions of others may do more than a broker does.
So the run is looked for: a search of one to four transactions goes only to states whose projection on one of them is on
the path, the farthest along it first.
"""

from __future__ import annotations

import heapq
import time
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Final, cast

import numpy as np
import numpy.typing as npt

from model_check.any_number.projection import Projection, Words
from model_check.any_number.simulation import STEPS, expand
from model_check.counterexample.unfolded import unfolded, without_forgetting
from model_check.errors import EvaluationError
from model_check.explicit.code_generation.compile import compile_machine
from model_check.explicit.exploration import Progress
from spec.language import Step, holds, take
from spec.transactional_messages import AMONG_OTHERS, TRANSACTIONAL_MESSAGES

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from model_check.explicit.code_generation.compile import Compiled
    from model_check.explicit.exploration import Report
    from model_check.world import World
    from spec.constants import Constants
    from spec.language import Property
    from spec.state import State

MOST_TRANSACTIONS: Final = 4
"""So many transactions are tried, fewer first."""

MOST_STATES: Final = 100_000
"""So many states are reached for a clause, of each number of transactions."""

AT_ONCE: Final = 512
"""States that are expanded together."""

OF_ANOTHER: Final = 2
"""So many more places in each queue for each other transaction."""

_MARKS: Final = ("round.met", "round.held")
"""What one among others knows and a path may lack: the run is looked for without them."""


@dataclass(frozen=True, slots=True)
class Concrete:
    """The run of several transactions, and where it can be taken."""

    world: World
    steps: tuple[Step, ...]


def concrete_runs(
    world: World,
    paths: Mapping[Property, Sequence[Step]],
    *,
    most_states: int = MOST_STATES,
    report: Report | None = None,
) -> dict[Property, Concrete]:
    """By clause, the first run found that breaks it as its path in the crowded world does; none where none is found.

    `report` is called now and then with the states reached. Raises `EvaluationError` when a step of a path cannot be
    taken.
    """
    instance = replace(world.instance, crowded=0)
    left = {clause: _without_forgetting(world.constants, path) for clause, path in paths.items()}
    found: dict[Property, Concrete] = {}
    for transactions in range(1, MOST_TRANSACTIONS + 1):
        if not left:
            break
        more = OF_ANOTHER * (transactions - 1)
        lengths = [_lengths(*one) for one in left.values()]
        sizes = {name: max(one[name] for one in lengths) + more for name in lengths[0]}
        many = world.on(without_forgetting(instance, {"transactions": transactions, **sizes}))
        search = _RunLike.of(many, most_states, report)
        for clause, (_, path) in list(left.items()):
            steps = search.run_like(path, clause)
            if steps is not None:
                found[clause] = Concrete(many, steps)
                del left[clause]
    return found


def _without_forgetting(constants: Constants, path: Sequence[Step]) -> tuple[Constants, Sequence[Step]]:
    if not constants.forgets:
        return constants, path
    plain = unfolded(AMONG_OTHERS, constants, path)
    return without_forgetting(constants, plain.sizes), plain.steps


def _lengths(constants: Constants, path: Sequence[Step]) -> dict[str, int]:
    """How long the queues get along a path."""
    state = cast("State", AMONG_OTHERS.initial(constants))
    halves = ops = 1
    for values in _values(constants, path):
        state.load(values)
        halves, ops = max(halves, state.half_length), max(ops, state.op_length)
    return {"half_slots": halves, "op_slots": ops}


def _values(constants: Constants, path: Sequence[Step]) -> list[tuple[int, ...]]:
    """The states along a path of one among others.

    Raises `EvaluationError` when a step of it cannot be taken.
    """
    state = AMONG_OTHERS.initial(constants)
    found = [state.canonical()]
    for step in path:
        refused = take(state.load(found[-1]), constants, step)
        if refused is not None:
            msg = f"{step}, on a path among others, cannot be taken: {refused}"
            raise EvaluationError(msg)
        found.append(state.canonical())
    return found


@dataclass
class _Nodes:
    """The states that were reached, each with the transaction that is followed and how far along the path it is."""

    words: list[Words] = field(default_factory=list)
    of: list[tuple[int, int]] = field(default_factory=list)
    """The parent and the step from it; -1 of the first."""
    known: set[bytes] = field(default_factory=set)
    heap: list[tuple[int, int, int]] = field(default_factory=list)
    """Minus how far along the path, steps from the first, number."""

    def add(self, words: Words, parent: int, step: int, depth: int) -> int | None:
        """Add a state unless it is known; its words begin with the transaction and how far along the path it is."""
        key = words.tobytes()
        if key in self.known:
            return None
        self.known.add(key)
        self.words.append(words)
        self.of.append((parent, step))
        heapq.heappush(self.heap, (-int(words[1]), depth, len(self.words) - 1))
        return len(self.words) - 1

    def path_to(self, number: int) -> list[int]:
        """The numbers of the steps to a state."""
        steps = []
        while number >= 0:
            number, step = self.of[number]
            steps.append(step)
        return steps[-2::-1]


@dataclass(frozen=True)
class _RunLike:
    """The search of one instance of many."""

    constants: Constants
    many: Compiled
    projection: Projection
    most_states: int
    report: Report | None

    @classmethod
    def of(cls, world: World, most_states: int, report: Report | None) -> _RunLike:
        """That of a world."""
        many = compile_machine(TRANSACTIONAL_MESSAGES, world.constants)
        return cls(world.constants, many, Projection.of(many, world.constants), most_states, report)

    def run_like(self, path: Sequence[Step], clause: Property) -> tuple[Step, ...] | None:
        """A run of many that goes along the path of one among others, and breaks the clause at its end."""
        many, projection = self.many, self.projection
        wanted, switches = _along(projection, path), many.switches(self.constants)
        nodes, state = _Nodes(), TRANSACTIONAL_MESSAGES.initial(self.constants)
        began, generated = time.monotonic(), 0
        first = many.packing.pack(state.canonical())
        for t in range(self.constants.transactions):
            nodes.add(np.concatenate(([t, 0], first)), -1, -1, 0)
        while nodes.heap and len(nodes.words) < self.most_states:
            chosen = [heapq.heappop(nodes.heap) for _ in range(min(AT_ONCE, len(nodes.heap)))]
            rows = np.array([nodes.words[number] for _, _, number in chosen])
            after, steps, parents = expand(many, switches, np.ascontiguousarray(rows[:, 2:]))
            generated += len(after)
            if self.report is not None:
                farthest, seconds = max(row[1] for row in rows), time.monotonic() - began
                self.report(Progress(len(nodes.words), generated, int(farthest), len(nodes.heap), seconds))
            seen = _without_marks(projection, projection(after)[np.arange(len(after)), rows[parents, 0]])
            for row, places in _matches(seen, wanted, rows[parents, 1]):
                _, depth, number = chosen[parents[row]]
                for place in places:
                    words = np.concatenate(([rows[parents[row], 0], place], after[row]))
                    new = nodes.add(words, number, int(steps[row]), depth + 1)
                    if new is None or place < len(wanted) - 1:
                        continue
                    if not holds(state.load(many.packing.unpack(after[row])), self.constants, clause):
                        return tuple(many.steps[step] for step in nodes.path_to(new))
        return None


def _along(projection: Projection, path: Sequence[Step]) -> Words:
    """The distinct states along the path, shape (states, words), as projections of many are compared with them."""
    words = np.array([projection.compiled.packing.pack(values) for values in _values(projection.one, path)])
    projection.clear(words)
    words = _without_marks(projection, words)
    differs = np.concatenate(([True], (words[1:] != words[:-1]).any(axis=1)))
    return np.ascontiguousarray(words[differs])


def _without_marks(projection: Projection, words: Words) -> Words:
    """Without what one among others knows of the cursor, and of an op message that is left undone."""
    packing = projection.compiled.packing
    plain = words.copy()
    cells = np.array(packing.cells, dtype=np.int64)
    for slot, (word, shift, mask, _) in zip(packing.slots, cells, strict=True):
        if slot.label in _MARKS:
            plain[:, word] &= ~(mask << shift)
    return plain


def _matches(seen: Words, wanted: Words, places: npt.NDArray[np.int64]) -> list[tuple[int, list[int]]]:
    """Of each state the places on the path at which it may stand: where it stood, and so many steps ahead."""
    found: dict[int, list[int]] = {}
    for ahead in range(STEPS + 1):
        at = places + ahead
        is_on = at < len(wanted)
        fits = np.zeros(len(seen), dtype=bool)
        fits[is_on] = (seen[is_on] == wanted[at[is_on]]).all(axis=1)
        for row in np.flatnonzero(fits):
            found.setdefault(int(row), []).append(int(at[row]))
    return list(found.items())
