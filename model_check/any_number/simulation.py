"""The simulation: each step of one of many transactions is a step of one among others, or changes nothing of it.

Compared on the states that a search of many has found, or that walks pass. Actions of `spec.chapters.others` may come
before the step and behind it. Distinct pairs of projections are compared once: a state and what a step of the many
makes of it, as one transaction sees both.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

import numpy as np
import numpy.typing as npt

from model_check.any_number.projection import Projection, Words
from model_check.any_number.rows import DistinctRows
from model_check.errors import EvaluationError
from spec.transactional_messages import AMONG_OTHERS

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator

    from model_check.explicit.code_generation.compile import Compiled
    from spec.constants import Constants
    from spec.language import Machine, Step

AT_ONCE: Final = 2048
"""States that are expanded together."""

MOST_PROJECTED: Final = 10_000_000
"""So many states keep the numbers of their projections, lest one be projected twice."""

PAIRS_AT_ONCE: Final = 512
"""Pairs that are compared together."""

STEPS: Final = 3
"""So many steps of one among others may stand for one of the many, all but one of them of others."""

Numbers = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class SimulationDifference:
    """A step of one of many transactions that one among others cannot follow."""

    step: Step
    transaction: int
    values: tuple[int, ...]
    """The state of the many before it."""


@dataclass
class SimulationResult:
    """The result of a comparison."""

    states: int = 0
    transitions: int = 0
    """Steps of the many, each seen by every transaction."""
    pairs: int = 0
    """Distinct pairs of projections that differ."""
    differences: list[SimulationDifference] = field(default_factory=list)
    """The first of each action."""
    broken: dict[str, int] = field(default_factory=dict)
    """By action how many pairs cannot be followed."""


class Simulator:
    """Compares steps of many transactions with those of one among others, pairs that were compared before left out.

    The one takes no step of the actions named in `without`: for seeing that they are needed. It is of `machine`.
    """

    def __init__(
        self, many: Compiled, constants: Constants, without: Collection[str] = (), *, machine: Machine = AMONG_OTHERS
    ) -> None:
        self.many, self.constants = many, constants
        self.projection = Projection.of(many, constants, machine)
        self.result = SimulationResult()
        self._switches = many.switches(constants)
        one = self.projection.compiled
        self._of_one = one.switches(self.projection.one, reachable=False)
        of_many = {action.name for action in many.machine.actions}
        self._is_of_others = np.array([step.action.name not in of_many for step in one.steps])
        self._is_taken = np.array([step.action.name not in without for step in one.steps])
        self._states = DistinctRows(many.packing.words)
        self._projections = DistinctRows(self.projection.compiled.packing.words)
        self._known = DistinctRows(2)
        self._projected = np.empty((0, constants.transactions), dtype=np.int64)
        """Of each state the numbers of its projections."""

    def compare(self, states: Words) -> None:
        """Compare all steps from some states of the many, shape (count, words)."""
        for first in range(0, len(states), AT_ONCE):
            self._compare(np.ascontiguousarray(states[first : first + AT_ONCE]))

    def walk(self, walkers: int, steps: int, seed: int) -> None:
        """Compare all steps from the states that so many random walks pass: deeper than a search, and not complete."""
        random = np.random.default_rng(seed)
        first = self.many.packing.pack(self.many.machine.initial(self.constants).canonical())
        states = np.repeat(first[None], walkers, axis=0)
        for _ in range(steps):
            after, parents = self._compare(states)
            if not len(after):
                return
            order = np.argsort(parents, kind="stable")
            _, firsts, counts = np.unique(parents[order], return_index=True, return_counts=True)
            chosen = firsts + (random.random(len(firsts)) * counts).astype(np.int64)
            states = np.ascontiguousarray(after[order[chosen]])

    def _compare(self, states: Words) -> tuple[Words, Numbers]:
        """Compare all steps from some states; their successors, and from which of the states each is."""
        after, steps, parents = expand(self.many, self._switches, states)
        before, behind = self._project(states), self._project(after)
        self.result.states += len(states)
        self.result.transitions += len(steps)
        pairs = np.column_stack((before[parents].reshape(-1), behind.reshape(-1)))
        moved = np.flatnonzero(pairs[:, 0] != pairs[:, 1])
        places = moved[self._known.add(pairs[moved])[1]]
        a, b = (self._projections.of(pairs[places, side]) for side in (0, 1))
        self.result.pairs += len(places)
        if not len(places):
            return after, parents
        parts = np.array_split(np.arange(len(places)), -(-len(places) // PAIRS_AT_ONCE))
        followed = np.concatenate([self._are_followed(a[part], b[part]) for part in parts])
        for place in places[~followed]:
            number, t = divmod(int(place), self.constants.transactions)
            step = self.many.steps[steps[number]]
            name = step.action.name
            self.result.broken[name] = self.result.broken.get(name, 0) + 1
            if self.result.broken[name] == 1:
                values = self.many.packing.unpack(states[parents[number]])
                self.result.differences.append(SimulationDifference(step, t, values))
        return after, parents

    def _project(self, states: Words) -> Numbers:
        """The numbers of the projections of states on each transaction; each state is projected once."""
        if self._states.count > MOST_PROJECTED:
            self._states.clear()
        numbers, new = self._states.add(states)
        count = self._states.count
        if len(self._projected) < count:
            grown = np.empty((2 * count, self._projected.shape[1]), dtype=np.int64)
            grown[: len(self._projected)] = self._projected
            self._projected = grown
        found = self.projection(states[new])
        of_new, _ = self._projections.add(found.reshape(-1, found.shape[2]))
        self._projected[count - len(new) : count] = of_new.reshape(found.shape[:2])
        return self._projected[numbers]

    def _are_followed(self, a: Words, b: Words) -> npt.NDArray[np.bool_]:
        """Whether one transaction among others gets from each `a` to its `b`.

        By one step at most that is not of others, and so many steps in all. In its rows, `nodes` have which state of
        `a` they come from, whether that step was taken, and their words.
        """
        froms, sources = np.unique(_rows(a), return_inverse=True)
        sources = sources.reshape(-1)
        nodes = np.column_stack((np.arange(len(froms)), np.zeros(len(froms), np.int64), _words(froms)))
        wanted, claims = self.projection.without_claims(b), self.projection.claims(b)
        goals = _rows(np.column_stack((sources, wanted)))
        # one that only forgets that it stands on a half of its own stays where it is
        kept = (self.projection.without_claims(a) == wanted).all(axis=1)
        followed: npt.NDArray[np.bool_] = kept & (claims | ~self.projection.claims(a))
        for left in range(STEPS - 1, -1, -1):
            begun = [np.empty((0, nodes.shape[1]), dtype=np.int64)]
            for first in range(0, len(nodes), AT_ONCE):
                after = self._after(nodes[first : first + AT_ONCE])
                found = _rows(np.column_stack((after[:, 0], self.projection.without_claims(after[:, 2:]))))
                is_claimed = self.projection.claims(after[:, 2:])
                followed |= np.isin(goals, found[~is_claimed]) | (claims & np.isin(goals, found[is_claimed]))
                if left:
                    begun.append(_words(np.unique(_rows(after))))
            rows = _words(np.unique(_rows(np.concatenate(begun))))
            nodes = rows[np.isin(rows[:, 0], sources[~followed])]
        return followed

    def _after(self, nodes: Words) -> Words:
        """All steps from some nodes: any where none was taken yet that is not of others, else those of others."""
        after, steps, parents = expand(self.projection.compiled, self._of_one, nodes[:, 2:])
        is_of_others, was_taken = self._is_of_others[steps], nodes[parents, 1] > 0
        taken = self._is_taken[steps] & (is_of_others | ~was_taken)
        self.projection.clear(after)
        rows: Words = np.column_stack((nodes[parents, 0], was_taken | ~is_of_others, after))[taken]
        return rows


def expand(compiled: Compiled, switches: Words, states: Words) -> tuple[Words, Numbers, Numbers]:
    """All steps from some states: the successors, the steps' numbers, and which states they were taken from."""
    words, most = compiled.packing.words, len(compiled.steps)
    if not len(states):
        return np.empty((0, words), np.int64), np.empty(0, np.int64), np.empty(0, np.int64)
    after, steps, parents = map(np.concatenate, zip(*_expanded(compiled, switches, states, words, most), strict=True))
    return after, steps, parents


def _expanded(
    compiled: Compiled, switches: Words, states: Words, words: int, most: int
) -> Iterator[tuple[Words, Numbers, Numbers]]:
    room = AT_ONCE * most
    found, steps, parents = np.empty(room * words, np.int64), np.empty(room, np.int32), np.empty(room, np.int64)
    for first in range(0, len(states), AT_ONCE):
        part = np.ascontiguousarray(states[first : first + AT_ONCE])
        count, place = compiled.module.expand(part.reshape(-1), 0, len(part), switches, found, steps, parents, room)
        if count < 0:
            msg = f"{compiled.steps[-1 - count]}: a value left its declared range in state {place}"
            raise EvaluationError(msg)
        after = found[: count * words].reshape(count, words).copy()
        yield after, steps[:count].astype(np.int64), parents[:count] + first


def _record(words: int) -> np.dtype[np.void]:
    return np.dtype((np.void, 8 * words))


def _rows(words: Words) -> npt.NDArray[np.void]:
    """Rows as one value each."""
    return np.ascontiguousarray(words).view(_record(words.shape[1])).reshape(-1)


def _words(rows: npt.NDArray[np.void]) -> Words:
    return np.ascontiguousarray(rows).view(np.int64).reshape(len(rows), rows.dtype.itemsize // 8)
