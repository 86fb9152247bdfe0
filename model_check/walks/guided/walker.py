"""Guided walks: weighted ones, of which those go on that come near a violation which plain walks hardly meet.

1. The first population is one of plain weighted walks. What it violates often needs no help.
2. `LEARNED_FROM` is searched in the same environment, as far as its quota goes, and from each clause that is violated
   there the chance to violate it is computed backwards to every state (`graph.py`), and kept by what transactions see
   of the states (`views.py`, `promises.py`).
3. In each later population the walks are thinned by what their states promise for the clauses that were rare in the
   first (`population.py`). The weights of the walks that violate a clause add up to an unbiased estimate of the share
   of plain weighted walks that do, whatever was learned.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import TYPE_CHECKING, Any, Final

import numpy as np
import numpy.typing as npt

from model_check.did_you_mean import require_known
from model_check.errors import ModelCheckError
from model_check.explicit.code_generation.emit import OBSERVED
from model_check.instances import load_instance
from model_check.walks.choices import CHOICES, GUIDED
from model_check.walks.guided.graph import search_graph
from model_check.walks.guided.population import MOST, Population, walk_together
from model_check.walks.guided.promises import Promises, learn
from model_check.walks.guided.state_space import LAW, StateSpace
from model_check.walks.walk import Walker, require_numbers

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from model_check.walks.guided.graph import WalkGraph
    from model_check.walks.guided.views import Words
    from model_check.world import World
    from spec.constants import Instance

LEARNED_FROM: Final = {load_instance("tiny"): 150_000, load_instance("small"): 150_000}
"""The instances that are searched, and how many states of each."""

RARE: Final = 0.01
"""A clause is rare if the first population estimates a smaller share of walks that violate it."""

MOST_STEPS: Final = 10_000
"""Of a walk: the states of a whole population are held in memory, 600 MB of them."""


@dataclass(frozen=True)
class Learned:
    """The promises by which the walks of an environment are guided."""

    promises: Promises  # of all clauses that are violated in some searched instance
    expanded: Mapping[Instance, int]  # instance → states whose steps were all taken there: what learning cost


class GuidedWalker(Walker):
    """Walks in populations; a walk depends on the world, the seed, the most steps and its number only.

    Walk n is one of those that are at the end of population n ÷ `MOST`. Where these are fewer, some have several
    numbers.
    """

    def __init__(self, world: World, weights: Mapping[str, int] | None = None) -> None:
        super().__init__(world, LAW, weights)
        self.world, self._weights, self.space = world, weights, StateSpace.of(world, weights)
        self.population = lru_cache(maxsize=2)(self._population)
        self.rare = lru_cache(maxsize=4)(self._rare)

    def search(self, instance: Instance, quota: int) -> WalkGraph:
        """An instance in the environment of the walks, with their weights."""
        return search_graph(StateSpace.of(self.world.on(instance), self._weights), quota)

    @cached_property
    def learned(self) -> Learned:
        """The promises of this environment, which is searched when they are first asked for."""
        graphs = {size: self.search(size, quota) for size, quota in LEARNED_FROM.items()}
        seen = np.unique(np.concatenate([graph.violated() for graph in graphs.values()])).tolist()
        return Learned(learn(tuple(graphs.values()), seen), {size: graph.expanded for size, graph in graphs.items()})

    def _rare(self, seed: int, steps: int) -> Promises:
        """The promises of the clauses for which walks are split."""
        shares = self.population(seed, 0, steps).shares
        clauses = self.learned.promises.clauses
        return self.learned.promises.only(clauses[shares[clauses] < RARE].tolist())

    def _population(self, seed: int, number: int, steps: int) -> Population:
        """The population of this number; number 0 is plain.

        Raises what `walk` does.
        """
        if steps > MOST_STEPS:
            msg = f"--steps {steps}: expected at most {MOST_STEPS} with --choice {GUIDED}, which holds whole walks"
            raise ModelCheckError(msg)
        promises = self.rare(seed, steps) if number else None
        return walk_together(self.space, promises, steps, np.random.default_rng([seed, number]))

    def _walk(
        self, seed: int, first: int, count: int, steps: int
    ) -> tuple[dict[str, npt.NDArray[Any]], npt.NDArray[np.int32]]:
        parts = list(self._walked(seed, first, count, steps))
        taken = np.concatenate([part.steps for part in parts]).astype(np.int32)
        states = np.concatenate([part.states for part in parts])
        rows = np.empty((len(OBSERVED), len(taken)), dtype=np.int32)
        self._compiled.module.observe_each(states.reshape(-1), len(taken), taken, self._K, rows)
        columns: dict[str, npt.NDArray[Any]] = {
            "trace": np.concatenate([part.walks for part in parts]),
            "time": np.concatenate([_times(part, self._tick) for part in parts]),
            "step": np.concatenate([part.places for part in parts]).astype(np.int32),
        }
        return columns | dict(zip(OBSERVED, rows, strict=True)), taken

    def visited(self, seed: int, first: int, count: int, steps: int) -> npt.NDArray[np.uint64]:
        """As `Walker.visited`."""
        parts = self._walked(seed, first, count, steps)
        hashes = [self.space.hashes(self._initial[None, :]), *(self.space.hashes(part.states) for part in parts)]
        distinct: npt.NDArray[np.uint64] = np.unique(np.concatenate(hashes))
        return distinct

    def violated(self, seed: int, first: int, count: int, steps: int) -> tuple[npt.NDArray[np.int64], int]:
        """As `Walker.violated`."""
        parts = list(self._walked(seed, first, count, steps))
        return np.concatenate([part.met for part in parts]), sum(len(part.steps) for part in parts)

    def _walked(self, seed: int, first: int, count: int, steps: int) -> Iterator[_Walked]:
        """These walks, a part from each population; one at least."""
        require_numbers(seed, first, count, steps)
        for number in range(first // MOST, max(-(-(first + count) // MOST), first // MOST + 1)):
            numbers = np.arange(max(first, number * MOST), min(first + count, (number + 1) * MOST))
            yield _past(self.population(seed, number, steps), numbers)


@dataclass(frozen=True)
class _Walked:
    """Some walks of a population."""

    walks: Words  # shape (steps,): the number of the walk
    places: Words  # the place in it
    steps: Words  # the number of the step
    states: Words  # shape (steps, words): the state behind it
    met: Words  # shape (walks, words of a verdict): what each of them violates


def _past(population: Population, numbers: Words) -> _Walked:
    """The steps and states of the walks of these numbers, up to where they ended."""
    ends = numbers % MOST % len(population.met)
    way = population.lineage(ends)
    steps = np.stack([place.steps[column] for place, column in zip(population.places, way.T, strict=True)], axis=1)
    states = np.stack([place.states[column] for place, column in zip(population.places, way.T, strict=True)], axis=1)
    walk, place = np.nonzero(steps >= 0)
    return _Walked(numbers[walk], place, steps[walk, place], states[walk, place], population.met[ends])


def _times(walked: _Walked, tick: Words) -> Words:
    """The clock behind each step, which begins anew with each walk."""
    passed = np.cumsum(tick[walked.steps])
    begins = np.flatnonzero(walked.places == 0)
    before = passed[begins] - tick[walked.steps[begins]]
    lengths = np.diff(np.append(begins, len(passed)))
    found: Words = passed - np.repeat(before, lengths)
    return found


def instances_walked(choice: str, instance: Instance) -> tuple[Instance, ...]:
    """The instances whose code the walks of a choice on an instance run."""
    return tuple(dict.fromkeys((instance, *LEARNED_FROM))) if choice == GUIDED else (instance,)


def walker_for(world: World, choice: str) -> Walker:
    """The walker of a choice, one of `model_check.walks.choices.CHOICES` or `GUIDED`.

    Raises what `Walker` does.
    """
    require_known("choice", choice, (*CHOICES, GUIDED))
    return GuidedWalker(world) if choice == GUIDED else Walker(world, choice)
